package disk

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"ariadne"

	"pgregory.net/rapid"
)

// fs is a file system as simple as can be. Apply changes it as an operation says, and nothing else
// of this package is used by it.
type fs struct {
	names map[[2]any]uint64 // by directory and name
	files map[uint64]*node
}

type node struct {
	dir  bool
	data []byte // of which size can be seen
	size int64
	mode uint32
	x    map[string]string
}

func newFS() *fs { return &fs{map[[2]any]uint64{}, map[uint64]*node{root: {dir: true}}} }

func (f *fs) clone() *fs {
	g := &fs{maps.Clone(f.names), map[uint64]*node{}}
	for ino, n := range f.files {
		m := *n
		m.data, m.x = bytes.Clone(n.data), maps.Clone(n.x)
		g.files[ino] = &m
	}
	return g
}

func (n *node) put(at int64, b []byte, length int64) {
	if need := at + length; int64(len(n.data)) < need {
		n.data = append(n.data, make([]byte, need-int64(len(n.data)))...)
	}
	clear(n.data[at : at+length])
	copy(n.data[at:at+length], b)
}

// get is what can be seen of bytes.
func (n *node) get(lo, hi int64) []byte {
	hi = min(hi, n.size, int64(len(n.data)))
	if lo >= hi {
		return nil
	}
	return bytes.Clone(n.data[lo:hi])
}

func (f *fs) links(ino uint64) (n int) {
	for _, i := range f.names {
		if i == ino {
			n++
		}
	}
	return n
}

// String is all that can be seen, from the root.
func (f *fs) String() string {
	var out []string
	var walk func(dir uint64, path string)
	walk = func(dir uint64, path string) {
		for key, ino := range f.names {
			if key[0] != dir {
				continue
			}
			n, name := f.files[ino], path+"/"+key[1].(string)
			data := make([]byte, n.size)
			copy(data, n.data[:min(int64(len(n.data)), n.size)])
			out = append(out, fmt.Sprintf("%s: inode %d, mode %o, size %d, %v, %q", name, ino, n.mode, n.size, n.x, shorten(data)))
			if n.dir {
				walk(ino, name)
			}
		}
	}
	walk(root, "")
	slices.Sort(out)
	return fmt.Sprint(out)
}

// shorten says of which runs some bytes consist.
func shorten(b []byte) (s string) {
	for len(b) > 0 {
		n := 1
		for n < len(b) && b[n] == b[0] {
			n++
		}
		s += fmt.Sprintf("%c*%d ", b[0], n)
		b = b[n:]
	}
	return s
}

// piece is a part of an operation that is on the disk or is not.
type piece struct {
	op           *Op
	at           int
	lo, hi, size int64 // size: -1 if it stays
	page         int64 // of a size that grows by a write: which page makes it grow
}

// pieces cuts up an operation.
func pieces(m Model, op *Op, at int) (all []piece) {
	switch op.Kind {
	case Fsync, Fdatasync, Sync, SyncRange, Close, Submit:
		return nil
	case Create:
		if op.Dir == 0 {
			return nil
		}
	case Allocate:
		if op.Size == op.OldSize {
			return nil
		}
	case Write:
		for lo := op.Offset; lo < op.Offset+op.Length; {
			hi := min(lo-lo%m.sector+m.sector, op.Offset+op.Length)
			p := piece{op: op, at: at, lo: lo, hi: hi, size: -1}
			if m.order == prefix && hi > op.OldSize {
				p.size = hi
			}
			all = append(all, p)
			lo = hi
		}
		for pg := op.Offset / page; pg*page < op.Offset+op.Length && m.order != prefix; pg++ {
			if size := min((pg+1)*page, op.Offset+op.Length); size > op.OldSize {
				all = append(all, piece{op: op, at: at, size: size, page: pg})
			}
		}
		return all
	case Truncate, Zero:
		p := piece{op: op, at: at, size: -1}
		if op.Size != op.OldSize {
			p.size = op.Size
		}
		if op.Kind == Zero {
			p.lo, p.hi = op.Offset, op.Offset+op.Length
		} else if op.Size < op.OldSize {
			p.lo, p.hi = op.Size, op.OldSize
		} else if op.Size == op.OldSize {
			return nil
		}
		return []piece{p}
	}
	return []piece{{op: op, at: at, size: op.Size}}
}

func (p *piece) data() bool { return p.hi > p.lo }
func (p *piece) file() bool { return p.op.Kind <= Shift }
func (p *piece) grows() bool {
	return p.file() && p.size >= 0 && p.op.Kind == Write
}

// names are the entries that it changes.
func (p *piece) names() (n [][2]any) {
	switch p.op.Kind {
	case Create, Link, Unlink:
		n = [][2]any{{p.op.Dir, p.op.Name}}
	case Rename:
		n = [][2]any{{p.op.Dir, p.op.Name}, {p.op.ToDir, p.op.ToName}}
	}
	return n
}

// metadata reports whether ext4 puts it into a transaction when the call is made.
func (p *piece) metadata() bool {
	return p.op.Kind != Write || p.grows() && p.op.Flags&Direct != 0
}

// removes are the inodes of which it removes a name.
func (p *piece) removes() []uint64 {
	switch {
	case p.op.Kind == Unlink:
		return []uint64{p.op.Ino}
	case p.op.Kind == Rename && p.op.Flags&Exchange == 0 && p.op.Over != 0:
		return []uint64{p.op.Over}
	}
	return nil
}

// allocates reports whether it needs blocks that the file did not have before its operation.
func (p *piece) allocates(ops []*Op) bool {
	if !p.data() || p.op.Kind != Write {
		return p.grows() && p.op.Flags&Direct == 0
	}
	pg := p.lo / page
	has, first := false, true
	for _, o := range ops[:p.at] {
		if o.Ino != p.op.Ino || o.Kind > Shift {
			continue
		}
		if first {
			first, has = false, pg*page < o.OldSize
		}
		switch {
		case o.Kind == Write && o.Offset < (pg+1)*page && o.Offset+o.Length > pg*page:
			has = true
		case o.Kind == Truncate && o.Size <= pg*page:
			has = false
		case o.Kind == Zero && o.Offset <= pg*page && o.Offset+o.Length >= (pg+1)*page:
			has = false
		}
	}
	if first {
		has = pg*page < p.op.OldSize
	}
	return !has
}

// needs reports whether x cannot be on the disk without y, which is of an earlier operation or
// the same.
func (m Model) needs(ops []*Op, x, y *piece) bool {
	if m.order == prefix {
		return y.at < x.at || y.at == x.at && y.lo < x.lo
	}
	earlier := y.at < x.at
	// The same place.
	if x.file() && y.file() && x.op.Ino == y.op.Ino {
		if earlier && x.data() && y.data() && x.lo/m.sector <= (y.hi-1)/m.sector && y.lo/m.sector <= (x.hi-1)/m.sector {
			return true
		}
		if x.size >= 0 && y.size >= 0 && (earlier || y.at == x.at && y.size < x.size) {
			return true
		}
	}
	if earlier && x.op.Kind == y.op.Kind && x.op.Ino == y.op.Ino && (x.op.Kind == SetAttr || x.op.Kind == SetXattr && x.op.Xattr == y.op.Xattr) {
		return true
	}
	for _, n := range x.names() {
		if earlier && slices.Contains(y.names(), n) {
			return true
		}
	}
	isDir := func(o *Op) bool { return o.Attr.Mode&TypeMask == TypeDir }
	if m.order == anyOrder {
		if !earlier {
			return false
		}
		if y.op.Kind == Create && isDir(y.op) && slices.ContainsFunc(x.names(), func(n [2]any) bool { return n[0] == y.op.Ino }) {
			return true
		}
		if slices.ContainsFunc(x.removes(), func(d uint64) bool {
			return slices.ContainsFunc(y.names(), func(n [2]any) bool { return n[0] == d })
		}) {
			return true
		}
		moves := func(o *Op) bool { return o.Kind == Rename && isDir(o) && o.Dir != o.ToDir }
		return moves(x.op) && moves(y.op)
	}
	// Ordered.
	switch {
	case earlier && y.metadata() && (x.metadata() || x.allocates(ops)):
		return true
	case x.grows() && y.at == x.at && y.data():
		return y.lo/page == x.page
	case earlier && x.metadata() && y.allocates(ops):
		// Blocks are allocated before the rename over another file, and at the close after a cut.
		if x.op.Kind == Rename && x.op.Over != 0 && x.op.Flags&Exchange == 0 && x.op.Ino == y.op.Ino {
			return true
		}
		cut := false
		for i, o := range ops[:x.at] {
			if o.Ino == y.op.Ino && o.Kind == Truncate && o.Size == 0 {
				cut = true
			}
			if o.Ino == y.op.Ino && o.Kind == Close {
				if cut && i > y.at {
					return true
				}
				cut = false
			}
		}
	}
	return false
}

// dumb returns all that can be left, by trying each set of pieces.
func (m Model) dumb(before *fs, ops []*Op) (images map[string]bool, subsets int) {
	var all []piece
	for i, op := range ops {
		all = append(all, pieces(m, op, i)...)
	}
	needs := make([]uint, len(all))
	for i := range all {
		for j := range all {
			if i != j && all[j].at <= all[i].at && m.needs(ops, &all[i], &all[j]) {
				needs[i] |= 1 << j
			}
		}
	}
	var durable uint
	for i, op := range ops {
		durable |= m.durable(ops, all, op, i)
	}
	for again := true; again; { // what is durable needs
		was := durable
		for i := range all {
			if durable>>i&1 != 0 {
				durable |= needs[i]
			}
		}
		again = durable != was
	}
	images = map[string]bool{}
	for set := uint(0); set < 1<<len(all); set++ {
		if set&durable != durable {
			continue
		}
		legal := true
		for i := range all {
			legal = legal && (set>>i&1 == 0 || set&needs[i] == needs[i])
		}
		if !legal {
			continue
		}
		subsets++
		f := before.clone()
		for i := range all {
			if set>>i&1 != 0 {
				f.piece(&all[i])
			}
		}
		images[f.String()] = true
	}
	return images, subsets
}

// durable are the pieces that a sync makes durable, without those that these need.
func (m Model) durable(ops []*Op, all []piece, op *Op, at int) (set uint) {
	if !op.Kind.syncs() {
		return 0
	}
	if op.Begun > 0 { // it makes durable what it would have when it began
		began := slices.IndexFunc(ops, func(o *Op) bool { return o.Kind == Submit && o.Begun == op.Begun })
		then := *op
		then.Begun = 0
		return m.durable(ops, all, &then, began)
	}
	of := func(is func(*piece) bool) (s uint) {
		for i := range all {
			if all[i].at < at && is(&all[i]) {
				s |= 1 << i
			}
		}
		return s
	}
	if op.Kind == Sync || m.order == prefix {
		return of(func(*piece) bool { return true })
	}
	names := of(func(p *piece) bool {
		return slices.ContainsFunc(p.names(), func(n [2]any) bool { return n[0] == op.Ino })
	})
	data := of(func(p *piece) bool {
		inRange := op.Flags&Ranged == 0 || p.size >= 0 || p.lo < (op.Offset+op.Length+page-1)/page*page && op.Offset/page*page < p.hi
		return p.file() && p.op.Ino == op.Ino && inRange
	})
	attr := of(func(p *piece) bool { return (p.op.Kind == SetAttr || p.op.Kind == SetXattr) && p.op.Ino == op.Ino })
	switch {
	case m.order == anyOrder && op.Kind == Fdatasync:
		return names | data
	case m.order == anyOrder:
		return names | data | attr
	}
	// Ordered: the last piece of metadata that concerns the inode has all others before it. Where
	// blocks are allocated by the sync, so has that.
	last, set := -1, names|data
	earlier := uint(0) // durable before
	for i, o := range ops[:at] {
		earlier |= m.durable(ops, all, o, i)
	}
	for again := true; again; {
		was := earlier
		for i := range all {
			for j := range all {
				if earlier>>i&1 != 0 && i != j && all[j].at <= all[i].at && m.needs(ops, &all[i], &all[j]) {
					earlier |= 1 << j
				}
			}
		}
		again = earlier != was
	}
	for i := range all {
		p := &all[i]
		if p.at >= at {
			continue
		}
		concerns := p.file() && p.metadata() && p.op.Ino == op.Ino
		if op.Kind == Fsync {
			concerns = concerns || attr>>i&1 != 0 || len(p.names()) > 0 && (p.op.Ino == op.Ino || p.op.Over == op.Ino)
		} else {
			concerns = concerns || p.op.Kind == Create && p.op.Ino == op.Ino
		}
		if concerns || names>>i&1 != 0 {
			last = max(last, p.at)
		}
		if data>>i&1 != 0 && p.allocates(ops) && earlier>>i&1 == 0 {
			last = math.MaxInt
		}
	}
	return set | of(func(p *piece) bool { return p.metadata() && p.at <= last })
}

// piece puts a piece onto the disk.
func (f *fs) piece(p *piece) {
	op := p.op
	at := func(dir uint64, name string, ino uint64) {
		if ino == 0 {
			delete(f.names, [2]any{dir, name})
		} else {
			f.names[[2]any{dir, name}] = ino
		}
	}
	switch op.Kind {
	case Write, Truncate, Zero, Allocate:
		n := f.files[op.Ino]
		if p.data() {
			var b []byte
			if op.Kind == Write {
				b = op.New[p.lo-op.Offset : p.hi-op.Offset]
			}
			n.put(p.lo, b, p.hi-p.lo)
		}
		if p.size >= 0 {
			n.size = p.size
		}
	case Create, Link:
		at(op.Dir, op.Name, op.Ino)
	case Unlink:
		at(op.Dir, op.Name, 0)
	case Rename:
		left := uint64(0)
		if op.Flags&Exchange != 0 {
			left = op.Over
		}
		at(op.Dir, op.Name, left)
		at(op.ToDir, op.ToName, op.Ino)
	case SetAttr:
		f.files[op.Ino].mode = op.Attr.Mode
	case SetXattr:
		if op.Gone {
			delete(f.files[op.Ino].x, op.Xattr)
		} else {
			f.files[op.Ino].x[op.Xattr] = string(op.New)
		}
	}
}

// restore makes of the files as they are now what an image says.
func (f *fs) restore(i *Image) *fs {
	f = f.clone()
	for _, n := range i.Names {
		if n.Ino == 0 {
			delete(f.names, [2]any{n.Dir, n.Name})
		} else {
			f.names[[2]any{n.Dir, n.Name}] = n.Ino
		}
	}
	for _, file := range i.Files {
		n := f.files[file.Ino]
		if file.Size >= 0 {
			n.data, n.size = n.data[:min(int64(len(n.data)), n.size, file.Size)], file.Size
		}
		for _, e := range file.Data {
			if e.Offset+int64(len(e.Bytes)) > n.size {
				panic("bytes beyond the end")
			}
			n.put(e.Offset, e.Bytes, int64(len(e.Bytes)))
		}
		if file.Attr != nil {
			n.mode = file.Attr.Mode
		}
		for _, x := range file.Xattrs {
			if x.Gone {
				delete(n.x, x.Name)
			} else {
				n.x[x.Name] = string(x.Value)
			}
		}
	}
	return f
}

// workload makes up an operation, and does it.
func (f *fs) workload(t *rapid.T, next *uint64, small bool) (op Op, ok bool) {
	name := func(label string) (uint64, string) {
		dirs := []uint64{root}
		for _, ino := range slices.Sorted(maps.Keys(f.files)) {
			if ino != root && f.files[ino].dir && f.links(ino) > 0 {
				dirs = append(dirs, ino)
			}
		}
		return rapid.SampledFrom(dirs).Draw(t, label+" dir"), rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, label)
	}
	empty := func(ino uint64) bool {
		for key := range f.names {
			if key[0] == ino {
				return false
			}
		}
		return true
	}
	below := func(dir, in uint64) bool { // dir is in, or below it
		for dir != root {
			if dir == in {
				return true
			}
			for key, ino := range f.names {
				if ino == dir {
					dir = key[0].(uint64)
					break
				}
			}
		}
		return false
	}
	kind := func(ino uint64) uint32 {
		if f.files[ino].dir {
			return TypeDir | 0o755
		}
		return TypeRegular | 0o644
	}
	var regular, every []uint64
	for _, ino := range slices.Sorted(maps.Keys(f.files)) {
		every = append(every, ino)
		if !f.files[ino].dir {
			regular = append(regular, ino)
		}
	}
	op.Kind = rapid.SampledFrom([]Kind{Write, Write, Write, Write, Truncate, Allocate, Zero, Create, Create, Link, Unlink, Rename, Rename, SetAttr, SetXattr, Fsync, Fsync, Fdatasync, Sync, Close}).Draw(t, "kind")
	letter := byte('A' + *next%26)
	switch op.Kind {
	case Write, Truncate, Allocate, Zero, Close, SetAttr, SetXattr:
		if len(regular) == 0 {
			return op, false
		}
		op.Ino = rapid.SampledFrom(regular).Draw(t, "file")
	case Fsync, Fdatasync:
		op.Ino = rapid.SampledFrom(every).Draw(t, "file")
	}
	n := f.files[op.Ino]
	sizes := []int64{0, 1, 100, 512, 700, 4000, 4096, 4500, 8192}
	if small {
		sizes = []int64{0, 1, 100, 512, 700, 1024}
	}
	if (op.Kind == Fsync || op.Kind == Fdatasync) && !n.dir && rapid.IntRange(0, 2).Draw(t, "ranged") == 0 {
		op.Flags, op.Offset, op.Length = Ranged, rapid.SampledFrom(sizes).Draw(t, "offset"), rapid.SampledFrom(sizes[1:]).Draw(t, "length")
	}
	switch op.Kind {
	case Write:
		op.Offset = rapid.SampledFrom(append(sizes, n.size)).Draw(t, "offset")
		op.Length = rapid.SampledFrom(sizes[1:]).Draw(t, "length")
		if small {
			op.Length = min(op.Length, 700)
		}
		op.New, op.Old = bytes.Repeat([]byte{letter}, int(op.Length)), n.get(op.Offset, op.Offset+op.Length)
		op.OldSize, op.Size = n.size, max(n.size, op.Offset+op.Length)
		if rapid.IntRange(0, 4).Draw(t, "direct") == 0 {
			op.Flags = Direct
		}
		n.put(op.Offset, op.New, op.Length)
		n.size = op.Size
	case Truncate:
		op.OldSize, op.Size = n.size, rapid.SampledFrom(sizes).Draw(t, "size")
		if op.Size < op.OldSize {
			op.Old = n.get(op.Size, op.OldSize)
			n.put(op.Size, nil, op.OldSize-op.Size)
		}
		n.size = op.Size
	case Allocate:
		op.OldSize, op.Size = n.size, max(n.size, rapid.SampledFrom(sizes).Draw(t, "size"))
		n.size = op.Size
	case Zero:
		op.Offset, op.Length = rapid.SampledFrom(sizes).Draw(t, "offset"), rapid.SampledFrom(sizes[1:]).Draw(t, "length")
		op.Old, op.OldSize, op.Size = n.get(op.Offset, op.Offset+op.Length), n.size, n.size
		n.put(op.Offset, nil, op.Length)
	case SetAttr:
		op.OldAttr = Attr{Mode: n.mode}
		op.Attr = Attr{Mode: n.mode&TypeMask | rapid.SampledFrom([]uint32{0o600, 0o644}).Draw(t, "mode")}
		n.mode = op.Attr.Mode
	case SetXattr:
		op.Xattr = rapid.SampledFrom([]string{"user.a", "user.b"}).Draw(t, "xattr")
		was, had := n.x[op.Xattr]
		op.Old, op.Absent = []byte(was), !had
		if op.Gone = had && rapid.Bool().Draw(t, "gone"); op.Gone {
			delete(n.x, op.Xattr)
		} else {
			op.New = []byte{letter}
			n.x[op.Xattr] = string(op.New)
		}
	case Create:
		op.Dir, op.Name = name("name")
		if f.names[[2]any{op.Dir, op.Name}] != 0 {
			return op, false
		}
		*next++
		op.Ino, op.Links = *next, 1
		m := &node{dir: rapid.IntRange(0, 2).Draw(t, "directory") == 0, x: map[string]string{}}
		f.files[op.Ino] = m
		m.mode = kind(op.Ino)
		op.Attr.Mode = m.mode
		f.names[[2]any{op.Dir, op.Name}] = op.Ino
	case Link:
		op.Dir, op.Name = name("name")
		fromDir, from := name("from")
		op.Ino = f.names[[2]any{fromDir, from}]
		if op.Ino == 0 || f.files[op.Ino].dir || f.names[[2]any{op.Dir, op.Name}] != 0 {
			return op, false
		}
		f.names[[2]any{op.Dir, op.Name}] = op.Ino
		op.Links = f.links(op.Ino)
	case Unlink:
		op.Dir, op.Name = name("name")
		op.Ino = f.names[[2]any{op.Dir, op.Name}]
		if op.Ino == 0 || !empty(op.Ino) {
			return op, false
		}
		op.Attr.Mode = kind(op.Ino)
		delete(f.names, [2]any{op.Dir, op.Name})
		op.Links = f.links(op.Ino)
	case Rename:
		op.Dir, op.Name = name("name")
		op.ToDir, op.ToName = name("to")
		from, to := [2]any{op.Dir, op.Name}, [2]any{op.ToDir, op.ToName}
		op.Ino, op.Over = f.names[from], f.names[to]
		if op.Ino == 0 || op.Ino == op.Over || from == to || below(op.ToDir, op.Ino) {
			return op, false
		}
		op.Attr.Mode = kind(op.Ino)
		exchange := op.Over != 0 && rapid.IntRange(0, 3).Draw(t, "exchange") == 0
		switch {
		case exchange && below(op.Dir, op.Over):
			return op, false
		case exchange:
			op.Flags = Exchange
			f.names[from], f.names[to] = op.Over, op.Ino
		case op.Over != 0 && (f.files[op.Over].dir != f.files[op.Ino].dir || !empty(op.Over)):
			return op, false
		default:
			delete(f.names, from)
			f.names[to] = op.Ino
		}
		op.Links, op.OverLinks = f.links(op.Ino), 0
		if op.Over != 0 {
			op.OverLinks = f.links(op.Over)
		}
	}
	return op, true
}

// TestDumb compares the images with those of a model that tries each set of pieces of operations.
func TestDumb(t *testing.T) {
	for _, m := range []Model{Prefix, Ordered, Any, {ordered, smallSector}, {anyOrder, smallSector}} {
		t.Run(m.String(), func(t *testing.T) {
			most, images, sets, ended := 0, 0, 0, 0
			rapid.Check(t, func(t *rapid.T) {
				f := newFS()
				f.files[3] = &node{size: 600, data: bytes.Repeat([]byte{'x'}, 600), mode: TypeRegular | 0o644, x: map[string]string{"user.a": "old"}}
				f.names[[2]any{uint64(root), "a"}] = 3
				before, next := f.clone(), uint64(3)
				var ops []*Op
				var l, window *Log
				var underWay []Op // syncs that have begun
				enter := func(op Op) {
					ops = append(ops, &op)
					l, window = l.Append(op), window.Append(op)
					if op.Kind.syncs() && window.Durable() {
						window = nil
					}
				}
				n, begun := 0, 0
				for range rapid.IntRange(1, 9).Draw(t, "operations") {
					if len(underWay) > 0 && rapid.IntRange(0, 2).Draw(t, "ends") == 0 {
						i := rapid.IntRange(0, len(underWay)-1).Draw(t, "which")
						enter(underWay[i])
						underWay = slices.Delete(underWay, i, i+1)
						ended++
						continue
					}
					g, was := f.clone(), next
					op, ok := g.workload(t, &next, m.sector == smallSector)
					if ok && op.Kind.syncs() && rapid.Bool().Draw(t, "takes time") {
						begun++
						op.Begun = begun
						underWay = append(underWay, op)
						op.Kind, op.Sync = Submit, op.Kind
					}
					more := len(pieces(m, &op, 0))
					if !ok || n+more > 11 {
						next = was
						continue
					}
					n += more
					f = g
					enter(op)
					for ino, made := range f.files { // those that are not there yet
						if before.files[ino] == nil {
							before.files[ino] = &node{dir: made.dir, mode: op.Attr.Mode, x: map[string]string{}}
						}
					}
				}
				want, subsets := m.dumb(before, ops)
				i := m.Images(l, Choice{Limit: 1 << 20})
				got := map[string]bool{}
				for k, lost := range i.Lost {
					image := i.Image(k)
					if again := i.without(lost); again.Digest != image.Digest {
						t.Fatalf("image without %v again: %v", lost, again)
					}
					s := f.restore(image).String()
					if got[s] {
						t.Errorf("twice: %s", s)
					}
					got[s] = true
					if !want[s] {
						t.Errorf("lost %v: %s", lost, s)
					}
				}
				for s := range want {
					if !got[s] {
						t.Errorf("missing: %s", s)
					}
				}
				if l.Durable() && len(want) != 1 {
					t.Errorf("%d images of what is durable", len(want))
				}
				if !i.Exact || int(i.Legal) != subsets || i.Subsets != subsets {
					t.Errorf("%d of %v subsets (exact: %v), want %d", i.Subsets, i.Legal, i.Exact, subsets)
				}
				// A log that begins again whenever all is durable has the same images. By ordered it may matter
				// besides where a file had holes, and that it was cut.
				i = m.Images(window, Choice{Limit: 1 << 20})
				rest := map[string]bool{}
				for k := range i.Lost {
					rest[f.restore(i.Image(k)).String()] = true
				}
				if len(i.Lost) == 0 {
					rest[f.String()] = true
				}
				if m.order != ordered && !maps.Equal(rest, got) {
					t.Errorf("%d images of what is left of the log, want %d", len(rest), len(got))
				}
				if t.Failed() {
					for k, op := range ops {
						t.Logf("%d: %v %+v", k, op, *op)
					}
				}
				// Along the log each image is formed once.
				w := NewWalk(m, Choice{Limit: 1 << 20})
				points, walked := map[string]bool{}, 0
				for k, op := range ops {
					at, _ := m.dumb(before, ops[:k+1])
					maps.Copy(points, at)
					walked += len(w.Add(op).Lost)
				}
				if len(ops) > 0 && walked != len(points) {
					t.Errorf("%d images along the log, want %d", walked, len(points))
				}
				most, images, sets = max(most, len(want)), images+len(want), sets+subsets
			})
			if t.Logf("%d images of %d subsets, %d at most; %d syncs that took time", images, sets, most, ended); ended == 0 {
				t.Error("no sync took time")
			}
		})
	}
}

// without is the image that lacks some parts, and what needs them.
func (i *Images) without(lost Lost) *Image {
	s := i.plan.everything()
	for _, n := range i.plan.live {
		if a := &i.plan.atoms[n]; slices.Contains(lost, Part{a.at, a.part}) {
			s.lose(n)
		}
	}
	return s.image()
}

// digests are those of all images.
func (i *Images) digests() (all []ariadne.Digest) {
	for n := range i.kept {
		all = append(all, i.Image(n).Digest)
	}
	return all
}
