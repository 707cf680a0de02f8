package disk

import (
	"cmp"
	"math"
	"slices"
)

// A plan splits the operations of a log into atoms, which are on the disk wholly or not at all, and
// says for a model which atoms are there only with which others, and which are durable. An image is
// a set of atoms that holds the durable ones and with each atom all that it needs.
//
// Each place (a name, a sector of a file, its size, its attributes) has its atoms in order, each
// of which needs the one before it. The disk gets what the cache held at some time, with every
// earlier change of the place. The model decides what else an atom needs.
type plan struct {
	model Model
	ops   int // added so far
	atoms []atom
	live  atomSet // those that are not durable
	fresh int32   // the first of the operation that was added last; it has all from there on

	inodes map[uint64]*inode
	names  map[place]*entry
	// total is the hash of all that the log has changed, when nothing is lost.
	total sum
	// settled are atoms that became durable and are not forgotten yet.
	settled []int32
	// looked are the names and inodes that the last operation was about: what they add to the total
	// is to be found out again.
	looked struct {
		entries []*entry
		inodes  []*inode
	}
	view int // counts states that were looked at
	// few is that of newPlan. saved is how many atoms may still be lost besides what a point may
	// cost (far).
	few, saved int

	// chain is the last atom of what is kept in order: all of it (prefix), metadata (ordered).
	chain int32
	// linked is what the chain was before the last operation, and with it are the atoms that it
	// needs, with itself.
	linked int32
	with   atomSet
	// joined are atoms that the next one on the chain needs.
	joined []int32
	// begun are the atoms that syncs which take time make durable when they end, by number.
	begun map[int][]int32
	// moved is the last atom that put a directory into another one.
	moved int32
}

const none = int32(-1)

// atom is a part of an operation.
type atom struct {
	op      *Op
	at      int // the operation's position in the log
	part    int // which of its parts
	needs   []int32
	needed  []int32 // by which later ones
	durable bool

	// The effect of the atom. Data are bytes lo to hi; they and size are of op.Ino.
	ino    *inode
	lo, hi int64
	size   int64 // or -1
	sets   []setting
	attr   bool
	xattr  bool // op.Xattr
}

// setting is one name that an atom changes.
type setting struct {
	entry *entry
	ino   *inode // nil: none
}

type place struct {
	dir  uint64
	name string
}

// entry is a name that some operation has changed.
type entry struct {
	place
	in    *inode // the directory
	start *inode // what it stood for before all
	base  *inode // what it stands for by the atoms that are forgotten
	now   *inode
	atoms []int32 // in order
	adds  sum     // to the plan's total
	hash  map[uint64]sum

	// view is the last state that was looked at in which it may stand for something else than now:
	// for value.
	view  int
	value *inode
}

// inode is an inode that some operation was about.
type inode struct {
	ino uint64
	// outside is how many names it has that no operation has changed.
	outside int
	known   bool     // outside is
	started int      // for how many entries it stood before all
	named   []*entry // that stand for it now
	entries []*entry // of a directory: its names
	open    []*entry // of them those that have atoms
	created int32    // the atom that made it, if it is a directory

	// atoms are those of its data, size and attributes that are not durable, in order. The lists
	// behind are of those that were not forgotten.
	atoms  []int32
	sizes  []int32
	attrs  []int32
	xattrs map[string][]int32
	// cells are the parts of the content that atoms tell apart, in order; last is the last atom on
	// each of its sectors.
	cells []*cell
	last  spans
	// base is what it is without atoms, start what it was when the log began.
	base, start content
	touched     bool // there was an atom
	sized       bool // base.size and start.size are known

	// The inode when nothing is lost: whether it has a name, its size, the hash of its bytes, as
	// in content, and what it adds to the plan's total.
	reached bool
	size    int64
	data    sum
	adds    sum
	// from and to are where the last operation has changed bytes.
	from, to int64

	// meta and dataMeta are the last atoms on the chain that fsync and fdatasync wait for.
	meta, dataMeta int32
	// timed are the atoms that set its time of modification, in order, behind the last durable one.
	// setBy is the operation that set it before them, or nil.
	timed []int32
	setBy *Op
	// pending are atoms by which blocks are allocated: of its size, and data where there was a
	// hole.
	pending []int32
	cut     bool // to nothing, and not closed since
	blocks  blocks

	// In the last states that were looked at in which it may be something else: which of its atoms
	// are lost, by which names it has besides those that stand for it now, and whether it has any.
	view  int
	lost  []int32
	gains []*entry
	climb int
	reach int8 // 1 yes, 2 no, 3 is being looked at
	check int
}

func newPlan(m Model) *plan {
	return &plan{model: m, few: few, inodes: map[uint64]*inode{}, names: map[place]*entry{}, chain: none, linked: none,
		moved: none, begun: map[int][]int32{}}
}

func (p *plan) inode(ino uint64) *inode {
	in := p.inodes[ino]
	if in == nil {
		in = &inode{ino: ino, outside: 1, reached: true, from: math.MaxInt64, meta: none, dataMeta: none, created: none}
		p.inodes[ino] = in
	}
	return in
}

// count enters how many names an inode has after an operation that has given it so many more.
func (in *inode) count(links, more int) {
	if in.known {
		return
	}
	in.known, in.outside = true, links-more-in.started
}

// entry finds a name, which stood for was before the operation at hand.
func (p *plan) entry(dir uint64, name string, was *inode) *entry {
	e := p.names[place{dir, name}]
	if e == nil {
		e = &entry{place: place{dir, name}, in: p.inode(dir), start: was, base: was, now: was}
		p.names[e.place] = e
		e.in.entries = append(e.in.entries, e)
		if was != nil {
			was.outside--
			was.started++
			was.named = append(was.named, e)
		}
	}
	return e
}

// add enters the next operation.
func (p *plan) add(op *Op) {
	p.advance()
	at := p.ops
	p.ops++
	a := atom{op: op, at: at, size: -1}
	switch op.Kind {
	case Write:
		p.write(a)
	case Truncate, Allocate, Zero, Shift:
		p.resize(a)
	case Create, Link, Unlink, Rename:
		p.rename(a)
	case SetAttr, SetXattr:
		p.attribute(a)
	case Fsync, Fdatasync, Sync:
		if op.Begun > 0 {
			p.end(op.Begun)
		} else {
			p.sync(op)
			p.forget()
		}
	case Submit:
		p.begin(op)
	case Close:
		if in := p.inode(op.Ino); in.cut && p.model.order == ordered {
			p.joined, in.cut = append(p.joined, in.pending...), false
		}
	}
	p.computeTotals()
}

// advance notes what the chain needs before an operation is added.
func (p *plan) advance() {
	p.fresh = int32(len(p.atoms))
	if p.linked == p.chain {
		return
	}
	p.linked = p.chain
	p.with.trimTo(max(p.with.from, p.live.from))
	for stack := []int32{p.chain}; len(stack) > 0; {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if !p.atoms[n].durable && !p.with.has(n) {
			p.with.add(n)
			stack = append(stack, p.atoms[n].needs...)
		}
	}
}

// attribute enters what changes an inode's attributes.
func (p *plan) attribute(a atom) {
	op := a.op
	in := p.inode(op.Ino)
	a.ino = in
	before := in.attrs
	if op.Kind == SetAttr {
		a.attr = true
		if in.start.attr == nil {
			in.start.attr = &op.OldAttr
		}
	} else {
		a.xattr = true
		before = in.xattrs[op.Xattr]
		if _, ok := in.start.x[op.Xattr]; !ok {
			if in.start.x == nil {
				in.start.x = map[string]value{}
			}
			in.start.x[op.Xattr] = value{op.Old, op.Absent}
		}
	}
	in.meta = p.put(a, latest(before))
}

// latest is the last atom of a list, or none.
func latest(atoms []int32) int32 {
	if len(atoms) == 0 {
		return none
	}
	return atoms[len(atoms)-1]
}

// put enters an atom that belongs to the chain of metadata, if the model has one.
func (p *plan) put(a atom, needs ...int32) int32 {
	if p.model.order != anyOrder {
		needs = append(append(needs, p.chain), p.joined...)
		p.joined = nil
		n := p.enter(a, needs)
		p.chain = n
		return n
	}
	return p.enter(a, needs)
}

// enter enters an atom.
func (p *plan) enter(a atom, needs []int32) int32 {
	n := int32(len(p.atoms))
	slices.Sort(needs)
	for _, m := range slices.Compact(needs) {
		if m != none && !p.atoms[m].durable {
			a.needs = append(a.needs, m)
			p.atoms[m].needed = append(p.atoms[m].needed, n)
		}
	}
	p.atoms = append(p.atoms, a)
	if len(p.live.words) == 0 {
		p.live.from = n &^ 63
	}
	p.live.add(n)
	if in := a.ino; in != nil {
		in.atoms, in.touched = append(in.atoms, n), true
		p.lookAtInode(in)
		if a.op.sets() {
			in.timed = append(in.timed, n)
		}
		switch {
		case a.attr:
			in.attrs = append(in.attrs, n)
		case a.xattr:
			if in.xattrs == nil {
				in.xattrs = map[string][]int32{}
			}
			in.xattrs[a.op.Xattr] = append(in.xattrs[a.op.Xattr], n)
		}
		if a.size >= 0 {
			in.sizes = append(in.sizes, n)
		}
		if a.hi > a.lo {
			in.from, in.to = min(in.from, a.lo), max(in.to, a.hi)
			p.placeAtom(in, n)
			in.last.set(a.lo/p.model.sector*p.model.sector, (a.hi+p.model.sector-1)/p.model.sector*p.model.sector, n)
		}
	}
	for _, s := range a.sets {
		e := s.entry
		if len(e.atoms) == 0 {
			e.in.open = append(e.in.open, e)
		}
		e.atoms = append(e.atoms, n)
		e.in.timed = append(e.in.timed, n)
		p.looked.entries = append(p.looked.entries, e)
		if e.now == s.ino {
			continue
		}
		if was := e.now; was != nil {
			was.named = slices.DeleteFunc(was.named, func(o *entry) bool { return o == e })
			p.lookAtInode(was)
		}
		if e.now = s.ino; e.now != nil {
			e.now.named = append(e.now.named, e)
			p.lookAtInode(e.now)
		}
	}
	return n
}

// lookAtInode notes that an operation is about an inode.
func (p *plan) lookAtInode(in *inode) {
	if n := len(p.looked.inodes); n == 0 || p.looked.inodes[n-1] != in {
		p.looked.inodes = append(p.looked.inodes, in)
	}
}

// most is in how many parts a write is split. Larger ones are torn at fewer places.
const most = 4096

func (p *plan) write(a atom) {
	op := a.op
	in := p.inode(op.Ino)
	in.opened(op)
	unit := p.model.sector
	for op.Length/unit >= most {
		unit *= 2
	}
	a.ino = in
	size, chain := op.OldSize, p.chain
	var inPage []int32 // atoms of the page
	for lo := op.Offset; lo < op.end(); lo = a.hi {
		a.lo, a.hi, a.size = lo, min((lo/unit+1)*unit, op.end()), -1
		grown := int64(-1)
		if a.hi > size && (a.hi == op.end() || a.hi%page == 0) {
			grown = a.hi
		}
		if p.model.order == prefix {
			a.size = max(a.hi, size)
			if a.size == op.OldSize {
				a.size = -1
			}
			p.put(a)
			if a.size >= 0 {
				size = a.size
			}
			a.part++
			continue
		}
		needs := in.before(a.lo, a.hi, p.model.sector)
		fresh := p.model.order == ordered && !in.blocks.allocated(a.lo)
		if fresh {
			needs = append(needs, chain)
		}
		n := p.enter(a, needs)
		if fresh {
			in.pending = append(in.pending, n)
		}
		inPage = append(inPage, n)
		a.part++
		if a.hi%page == 0 || a.hi == op.end() {
			in.blocks.allocate(a.lo)
		}
		if grown < 0 {
			if a.hi%page == 0 {
				inPage = nil
			}
			continue
		}
		s := atom{op: op, at: a.at, part: a.part, ino: in, size: grown}
		size = grown
		a.part++
		switch {
		case p.model.order == anyOrder:
			p.enter(s, []int32{latest(in.sizes)})
		case op.Flags&Direct != 0:
			n := p.put(s, append(inPage, latest(in.sizes))...)
			in.meta, in.dataMeta = n, n
		default:
			n := p.enter(s, append(inPage, latest(in.sizes), p.chain))
			if fresh { // else the file grows within blocks that it has
				in.pending = append(in.pending, n)
			}
		}
		inPage = nil
	}
}

// resize enters what changes a file at one blow.
func (p *plan) resize(a atom) {
	op := a.op
	in := p.inode(op.Ino)
	in.opened(op)
	a.ino = in
	if op.Size != op.OldSize {
		a.size = op.Size
	}
	switch {
	case op.Kind == Truncate && op.Size < op.OldSize:
		a.lo, a.hi = op.Size, op.OldSize
	case op.Kind == Zero:
		a.lo, a.hi = op.Offset, op.end()
	case op.Kind == Shift:
		a.lo, a.hi = op.Offset, max(op.OldSize, op.Size)
	}
	if a.size < 0 && a.lo == a.hi {
		return
	}
	var needs []int32
	if a.hi > a.lo {
		needs = in.before(a.lo, a.hi, p.model.sector)
	}
	if a.size >= 0 {
		needs = append(needs, latest(in.sizes))
	}
	n := p.put(a, needs...)
	in.meta, in.dataMeta = n, n
	switch op.Kind {
	case Truncate:
		in.cut = in.cut || op.Size == 0
		in.blocks.truncate(op.Size)
	case Zero:
		in.blocks.clear((a.lo+page-1)/page, a.hi/page)
	}
}

// rename enters what changes names.
func (p *plan) rename(a atom) {
	op := a.op
	in := p.inode(op.Ino)
	p.lookAtInode(in)
	var needs []int32
	set := func(dir uint64, name string, was, now *inode) {
		e := p.entry(dir, name, was)
		if len(e.atoms) > 0 {
			needs = append(needs, e.atoms[len(e.atoms)-1])
		}
		if e.in.created != none {
			needs = append(needs, e.in.created)
		}
		a.sets = append(a.sets, setting{e, now})
	}
	dirs := []*inode{in}
	switch op.Kind {
	case Create:
		in.known, in.outside = true, 0
		in.sized, in.setBy = true, op
		if op.Dir == 0 {
			return
		}
		set(op.Dir, op.Name, nil, in)
	case Link:
		in.count(op.Links, 1)
		set(op.Dir, op.Name, nil, in)
	case Unlink:
		in.count(op.Links, -1)
		set(op.Dir, op.Name, in, nil)
		needs = append(needs, p.within(in)...)
	case Rename:
		var over, left *inode
		if op.Over != 0 {
			over = p.inode(op.Over)
			p.lookAtInode(over)
			dirs = append(dirs, over)
			if over == in && op.Flags&Exchange == 0 {
				return
			}
		}
		in.count(op.Links, 0)
		if op.Flags&Exchange != 0 {
			over.count(op.OverLinks, 0)
			left = over
		} else if over != nil {
			over.count(op.OverLinks, -1)
			needs = append(needs, p.within(over)...)
			if p.model.order == ordered {
				needs = append(needs, in.pending...) // auto_da_alloc
			}
		}
		if op.Flags&Whiteout != 0 {
			left = p.inode(op.Left)
			left.known, left.outside, left.sized, left.setBy = true, 0, true, op
			dirs = append(dirs, left)
		}
		set(op.Dir, op.Name, in, left)
		set(op.ToDir, op.ToName, over, in)
		if op.directory() && op.Dir != op.ToDir {
			needs = append(needs, p.moved)
		}
	}
	n := p.put(a, needs...)
	if op.Kind == Create && op.directory() {
		in.created = n
	}
	if op.Kind == Rename && op.directory() && op.Dir != op.ToDir {
		p.moved = n
	}
	for _, s := range a.sets {
		dirs = append(dirs, s.entry.in)
	}
	for _, d := range dirs {
		d.meta = n
	}
	if op.Kind == Create {
		in.dataMeta = n
	}
	for _, s := range a.sets {
		s.entry.in.dataMeta = n
	}
}

// within are the last atoms on the names in a directory.
func (p *plan) within(dir *inode) (needs []int32) {
	for _, e := range dir.open {
		needs = append(needs, e.atoms[len(e.atoms)-1])
	}
	return needs
}

// begin notes what a sync that takes time makes durable when it ends: what it would if it ended
// now.
func (p *plan) begin(op *Op) {
	sync := *op
	sync.Kind = op.Sync
	p.sync(&sync)
	for _, n := range p.settled {
		p.atoms[n].durable = false
	}
	slices.Sort(p.settled)
	p.begun[op.Begun], p.settled = p.settled, nil
}

// end is that of a sync of this number. One that began before the log did has nothing left to do.
func (p *plan) end(number int) {
	for _, n := range p.begun[number] {
		p.settle(n)
	}
	delete(p.begun, number)
	p.forget()
}

// sync makes durable what the operation says.
func (p *plan) sync(op *Op) {
	switch {
	case op.Kind == Sync || p.model.order == prefix:
		for n := range p.live.all {
			p.settle(n)
		}
	default:
		in := p.inode(op.Ino)
		writes := func(a *atom) bool { return op.Flags&Ranged == 0 || a.size >= 0 || op.within(a) }
		allocates := slices.ContainsFunc(in.pending, func(n int32) bool {
			return !p.atoms[n].durable && writes(&p.atoms[n])
		})
		for _, n := range in.atoms {
			a := &p.atoms[n]
			switch {
			case a.attr || a.xattr:
				// the chain has them, or nobody
				if p.model.order == ordered || op.Kind == Fdatasync {
					continue
				}
			case !writes(a):
				continue
			}
			p.settle(n)
		}
		for _, e := range in.open {
			for _, n := range e.atoms {
				p.settle(n)
			}
		}
		if p.model.order == ordered {
			upTo := in.meta
			if op.Kind == Fdatasync {
				upTo = in.dataMeta
			}
			if allocates { // in a transaction that has all metadata before it
				upTo = p.chain
			}
			if upTo != none {
				p.settle(upTo)
			}
		}
	}
}

// within reports whether an atom is of the pages that a sync of a range writes.
func (o *Op) within(a *atom) bool {
	return o.Offset/page*page < a.hi && (o.Length == 0 || a.lo < (o.end()+page-1)/page*page)
}

// settle makes an atom durable, with what it needs.
func (p *plan) settle(n int32) {
	for stack := []int32{n}; len(stack) > 0; {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if a := &p.atoms[n]; !a.durable {
			a.durable = true
			p.settled = append(p.settled, n)
			stack = append(stack, a.needs...)
		}
	}
}

// forget lets go of atoms that have become durable and that no image needs any more.
func (p *plan) forget() {
	durable := func(n int32) bool { return p.atoms[n].durable }
	var dirs, written []*inode
	for _, n := range p.settled {
		p.live.remove(n)
		a := &p.atoms[n]
		for _, s := range a.sets {
			if e := s.entry; len(e.atoms) > 0 && durable(e.atoms[0]) {
				e.forget(p)
				dirs = append(dirs, e.in)
			}
		}
		if a.ino != nil {
			written = append(written, a.ino)
		}
	}
	p.settled = p.settled[:0]
	p.live.trim()
	once := func(list []*inode) []*inode {
		slices.SortFunc(list, func(a, b *inode) int { return cmp.Compare(a.ino, b.ino) })
		return slices.Compact(list)
	}
	for _, dir := range once(dirs) {
		dir.open = slices.DeleteFunc(dir.open, func(e *entry) bool { return len(e.atoms) == 0 })
		dir.settleTime(p)
	}
	for _, in := range once(written) {
		in.settleTime(p)
		in.pending = slices.DeleteFunc(in.pending, durable)
		if in.atoms = slices.DeleteFunc(in.atoms, durable); len(in.atoms) == 0 {
			in.bake(p)
		}
	}
}

// forget takes into an entry's base what its first atoms do, which are durable.
func (e *entry) forget(p *plan) {
	for len(e.atoms) > 0 && p.atoms[e.atoms[0]].durable {
		e.base = p.atoms[e.atoms[0]].stands(e)
		e.atoms = e.atoms[1:]
	}
}

// settleTime forgets the atoms that set an inode's time of modification before a durable one did,
// and that one.
func (in *inode) settleTime(p *plan) {
	for i, n := range slices.Backward(in.timed) {
		if p.atoms[n].durable {
			in.setBy, in.timed = p.atoms[n].op, in.timed[i+1:]
			return
		}
	}
}

// stands says for what a name stands by an atom that sets it.
func (a *atom) stands(e *entry) *inode {
	for _, s := range a.sets {
		if s.entry == e {
			return s.ino
		}
	}
	panic("disk: an atom that does not set its name")
}

// blocks are the pages for which a file has room on the disk, in so far as it matters for the order
// of data and metadata: what was below its end when the log begins has.
type blocks struct{ spans }

func (b *blocks) allocated(at int64) bool {
	from, to := b.within(at/page, at/page+1)
	return from < to
}

func (b *blocks) allocate(at int64) {
	if n := at / page; !b.allocated(at) {
		b.set(n, n+1, none)
	}
}

func (b *blocks) truncate(size int64) { b.clear((size+page-1)/page, math.MaxInt64) }

// opened notes what a file is when an operation first changes it.
func (in *inode) opened(op *Op) {
	if !in.sized {
		in.sized, in.size = true, op.OldSize
		in.base.size, in.start.size = op.OldSize, op.OldSize
		in.blocks.set(0, (op.OldSize+page-1)/page, none)
	}
}

// before are the last atoms on the sectors of bytes of the file.
func (in *inode) before(lo, hi, sector int64) (needs []int32) {
	from, to := in.last.within(lo/sector*sector, (hi+sector-1)/sector*sector)
	for _, s := range in.last[from:to] {
		needs = append(needs, s.atom)
	}
	return needs
}
