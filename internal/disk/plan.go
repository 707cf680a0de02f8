package disk

import (
	"math"
	"slices"
)

// A plan splits the operations of a log into atoms, which are on the disk wholly or not at all, and says for a
// model which atoms are there only with which others, and which are durable. An image is a set of
// atoms that holds the durable ones and with each atom all that it needs.
//
// Each place (a name, a sector of a file, its size, its attributes) has its atoms in order, each
// of which needs the one before it: what reaches the disk is what the cache held at some time, with
// all that was done to the place by then. What more is needed is the model's.
type plan struct {
	model Model
	ops   int // added so far
	atoms []atom
	live  []int32 // atoms that are not durable, in order
	fresh []int32 // those of the operation that was added last

	inodes map[uint64]*inode
	list   []*inode // in order of first sight
	names  map[place]*entry
	dirs   map[uint64][]*entry // by directory
	order  []*entry            // in order of first sight
	// changed and written are the names and inodes that have atoms. A sync looks at no others.
	changed []*entry
	written []*inode

	// chain is the last atom of what is kept in order: all of it (prefix), metadata (ordered).
	chain int32
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

	// What it does. Data are bytes lo to hi; they and size are of op.Ino.
	ino    *inode
	lo, hi int64
	size   int64 // or -1
	sets   []setting
	attr   bool
	xattr  bool
	// before and after are hashes of its bytes, once somebody has asked.
	before, after *sum
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
	index int    // in order
	in    *inode // the directory
	start *inode // what it stood for before all
	base  *inode // what it stands for by the atoms that are forgotten
	now   *inode
	atoms []int32 // in order
	hash  map[uint64]sum
}

// inode is an inode that some operation was about.
type inode struct {
	ino uint64
	// outside is how many names it has that no operation has changed.
	outside int
	known   bool     // outside is
	entries []*entry // that ever stood for it
	index   int
	created int32 // the atom that made it, if it is a directory

	// atoms are those of its data, size and attributes, but for those that were forgotten.
	atoms []int32
	// base is what it is without atoms, start what it was when the log began.
	base, start content
	touched     bool  // there was an atom
	size        int64 // now
	sized       bool  // base.size and start.size are known
	lastSize    int32
	lastAttr    int32
	lastX       map[string]int32
	sector      map[int64]int32 // the last atom on each sector, by number
	spans       []span          // atoms on more than a sector, in order
	// cells are the parts of the content that atoms tell apart; stale: they are to be computed again.
	cells []cell
	stale bool

	// meta and dataMeta are the last atoms on the chain that fsync and fdatasync wait for.
	meta, dataMeta int32
	// pending are atoms by which blocks are allocated: of its size, and data where there was a hole.
	pending []int32
	cut     bool // to nothing, and not closed since
	blocks  blocks
}

type span struct {
	lo, hi int64
	atom   int32
}

func newPlan(m Model) *plan {
	return &plan{model: m, inodes: map[uint64]*inode{}, names: map[place]*entry{}, dirs: map[uint64][]*entry{}, chain: none, moved: none, begun: map[int][]int32{}}
}

func (p *plan) inode(ino uint64) *inode {
	in := p.inodes[ino]
	if in == nil {
		in = &inode{ino: ino, outside: 1, index: len(p.list), lastSize: none, lastAttr: none, lastX: map[string]int32{}, sector: map[int64]int32{}, meta: none, dataMeta: none, created: none}
		p.inodes[ino] = in
		p.list = append(p.list, in)
	}
	return in
}

// count enters how many names an inode has after an operation that has given it so many more.
func (in *inode) count(links, more int) {
	if in.known {
		return
	}
	in.known, in.outside = true, links-more
	for _, e := range in.entries {
		if e.start == in {
			in.outside--
		}
	}
}

// entry finds a name, which stood for was before the operation at hand.
func (p *plan) entry(dir uint64, name string, was *inode) *entry {
	e := p.names[place{dir, name}]
	if e == nil {
		e = &entry{place: place{dir, name}, index: len(p.order), in: p.inode(dir), start: was, base: was, now: was}
		p.names[e.place] = e
		p.dirs[dir] = append(p.dirs[dir], e)
		p.order = append(p.order, e)
		if was != nil {
			was.outside--
			was.entries = append(was.entries, e)
		}
	}
	return e
}

// add enters the next operation.
func (p *plan) add(op *Op) {
	p.fresh = nil
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
}

// attribute enters what changes an inode's attributes.
func (p *plan) attribute(a atom) {
	op := a.op
	in := p.inode(op.Ino)
	a.ino = in
	last := in.lastAttr
	if op.Kind == SetAttr {
		a.attr = true
		if in.start.attr == nil {
			in.start.attr = &op.OldAttr
		}
		in.lastAttr = int32(len(p.atoms))
	} else {
		a.xattr = true
		if _, ok := in.lastX[op.Xattr]; !ok {
			in.lastX[op.Xattr] = none
			if in.start.x == nil {
				in.start.x = map[string]value{}
			}
			in.start.x[op.Xattr] = value{op.Old, op.Absent}
		}
		last = in.lastX[op.Xattr]
		in.lastX[op.Xattr] = int32(len(p.atoms))
	}
	in.meta = p.put(a, last)
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
	p.live, p.fresh = append(p.live, n), append(p.fresh, n)
	if a.ino != nil {
		if len(a.ino.atoms) == 0 {
			p.written = append(p.written, a.ino)
		}
		a.ino.atoms, a.ino.touched = append(a.ino.atoms, n), true
		a.ino.stale = a.ino.stale || a.hi > a.lo
	}
	for _, s := range a.sets {
		if len(s.entry.atoms) == 0 {
			p.changed = append(p.changed, s.entry)
		}
		s.entry.atoms = append(s.entry.atoms, n)
		s.entry.now = s.ino
		if s.ino != nil && !slices.Contains(s.ino.entries, s.entry) {
			s.ino.entries = append(s.ino.entries, s.entry)
		}
	}
	return n
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
			n := p.put(a)
			in.touch(a.lo, a.hi, unit, n)
			if a.size >= 0 {
				in.lastSize, size = n, a.size
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
		in.touch(a.lo, a.hi, p.model.sector, n)
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
			in.lastSize = p.enter(s, []int32{in.lastSize})
		case op.Flags&Direct != 0:
			in.lastSize = p.put(s, append(inPage, in.lastSize)...)
			in.meta, in.dataMeta = in.lastSize, in.lastSize
		default:
			in.lastSize = p.enter(s, append(inPage, in.lastSize, p.chain))
			if fresh { // else the file grows within blocks that it has
				in.pending = append(in.pending, in.lastSize)
			}
		}
		inPage = nil
	}
	in.size = max(op.Size, op.OldSize)
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
		needs = append(needs, in.lastSize)
	}
	n := p.put(a, needs...)
	if a.hi > a.lo {
		in.cover(a.lo, a.hi, p.model.sector, n)
	}
	if a.size >= 0 {
		in.lastSize = n
	}
	in.meta, in.dataMeta, in.size = n, n, op.Size
	switch op.Kind {
	case Truncate:
		in.cut = in.cut || op.Size == 0
		in.blocks.truncate(op.Size)
	case Zero:
		in.blocks.punch(a.lo, a.hi)
	}
}

// rename enters what changes names.
func (p *plan) rename(a atom) {
	op := a.op
	in := p.inode(op.Ino)
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
		in.sized = true
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
			left.known, left.outside, left.sized = true, 0, true
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
	for _, e := range p.dirs[dir.ino] {
		if len(e.atoms) > 0 {
			needs = append(needs, e.atoms[len(e.atoms)-1])
		}
	}
	return needs
}

// begin notes what a sync that takes time makes durable when it ends: what it would if it ended now.
func (p *plan) begin(op *Op) {
	sync := *op
	sync.Kind = op.Sync
	p.sync(&sync)
	for _, n := range p.live {
		if a := &p.atoms[n]; a.durable {
			a.durable = false
			p.begun[op.Begun] = append(p.begun[op.Begun], n)
		}
	}
}

// end is that of a sync of this number. One that began before the log did has nothing left to do.
func (p *plan) end(number int) {
	for _, n := range p.begun[number] {
		p.atoms[n].durable = true
	}
	delete(p.begun, number)
	p.forget()
}

// sync makes durable what the operation says.
func (p *plan) sync(op *Op) {
	switch {
	case op.Kind == Sync || p.model.order == prefix:
		for _, n := range p.live {
			p.atoms[n].durable = true
		}
	default:
		in := p.inode(op.Ino)
		writes := func(a *atom) bool { return op.Flags&Ranged == 0 || a.size >= 0 || op.within(a) }
		allocates := slices.ContainsFunc(in.pending, func(n int32) bool { return !p.atoms[n].durable && writes(&p.atoms[n]) })
		for _, n := range in.atoms {
			a := &p.atoms[n]
			switch {
			case a.attr || a.xattr:
				if p.model.order == ordered || op.Kind == Fdatasync { // the chain has them, or nobody
					continue
				}
			case !writes(a):
				continue
			}
			p.settle(n)
		}
		for _, e := range p.dirs[op.Ino] {
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
	a := &p.atoms[n]
	if a.durable {
		return
	}
	a.durable = true
	for _, m := range a.needs {
		p.settle(m)
	}
}

// forget lets go of durable atoms that no image needs any more.
func (p *plan) forget() {
	durable := func(n int32) bool { return p.atoms[n].durable }
	p.live = slices.DeleteFunc(p.live, durable)
	for _, e := range p.changed {
		for len(e.atoms) > 0 && durable(e.atoms[0]) {
			for _, s := range p.atoms[e.atoms[0]].sets {
				if s.entry == e {
					e.base = s.ino
				}
			}
			e.atoms = e.atoms[1:]
		}
	}
	p.changed = slices.DeleteFunc(p.changed, func(e *entry) bool { return len(e.atoms) == 0 })
	for _, in := range p.written {
		in.pending = slices.DeleteFunc(in.pending, durable)
		if len(in.atoms) > 0 && !slices.ContainsFunc(in.atoms, func(n int32) bool { return !durable(n) }) {
			p.bake(in)
		}
	}
	p.written = slices.DeleteFunc(p.written, func(in *inode) bool { return len(in.atoms) == 0 })
}

// blocks are where a file has room on the disk, in so far as it matters for the order of data and metadata: what
// was below its end when the log begins has.
type blocks struct {
	end   int64 // page below which all is allocated, but for holes
	holes []span
	more  map[int64]bool
}

func (b *blocks) allocated(at int64) bool {
	n := at / page
	return b.more[n] || n < b.end && !slices.ContainsFunc(b.holes, func(h span) bool { return h.lo <= n && n < h.hi })
}

func (b *blocks) allocate(at int64) {
	if !b.allocated(at) {
		if b.more == nil {
			b.more = map[int64]bool{}
		}
		b.more[at/page] = true
	}
}

func (b *blocks) truncate(size int64) {
	b.punch(size, math.MaxInt64-page)
	b.end = min(b.end, (size+page-1)/page)
}

func (b *blocks) punch(lo, hi int64) {
	h := span{lo: (lo + page - 1) / page, hi: hi / page}
	if h.lo >= h.hi {
		return
	}
	for n := range b.more {
		if h.lo <= n && n < h.hi {
			delete(b.more, n)
		}
	}
	if h.lo < b.end {
		b.holes = append(b.holes, h)
	}
}

// opened notes what a file is when an operation first changes it.
func (in *inode) opened(op *Op) {
	if !in.sized {
		in.sized, in.size = true, op.OldSize
		in.base.size, in.start.size = op.OldSize, op.OldSize
		in.blocks.end = (op.OldSize + page - 1) / page
	}
}

// before are the last atoms on bytes of the file.
func (in *inode) before(lo, hi, sector int64) (needs []int32) {
	if first, last := lo/sector, (hi-1)/sector; last-first < int64(len(in.sector)) {
		for s := first; s <= last; s++ {
			if n, ok := in.sector[s]; ok {
				needs = append(needs, n)
			}
		}
	} else {
		for s, n := range in.sector {
			if first <= s && s <= last {
				needs = append(needs, n)
			}
		}
	}
	for _, s := range in.spans {
		if s.lo < hi && lo < s.hi {
			needs = append(needs, s.atom)
		}
	}
	return needs
}

// touch makes an atom the last on the sectors of some bytes.
func (in *inode) touch(lo, hi, sector int64, n int32) {
	for s := lo / sector; s <= (hi-1)/sector; s++ {
		in.sector[s] = n
	}
}

// cover does so where there may be many.
func (in *inode) cover(lo, hi, sector int64, n int32) {
	lo, hi = lo/sector*sector, (hi+sector-1)/sector*sector
	for s := range in.sector {
		if lo <= s*sector && s*sector < hi {
			delete(in.sector, s)
		}
	}
	in.spans = slices.DeleteFunc(in.spans, func(s span) bool { return lo <= s.lo && s.hi <= hi })
	in.spans = append(in.spans, span{lo, hi, n})
}
