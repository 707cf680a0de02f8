// Package disktest says what a loss of power may leave in a way that is as simple as can be: it
// tries each set of the pieces of the operations. Tests compare package disk, and searches that use
// it, with that.
//
// Invariant: it uses nothing of package disk but the operations and the names of models.
package disktest

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
)

// Root is the number of the directory in which all files are.
const Root = 2

// model is a persistence model, as docs/guides/storage.md has it.
type model struct {
	order  string
	sector int64
}

const (
	page     = 4096
	prefix   = "prefix"
	ordered  = "ordered"
	anyOrder = "any"
)

func modelOf(of disk.Model) model {
	m := model{of.String(), page}
	if order, _, small := strings.Cut(m.order, ":"); small {
		m = model{order, 512}
	}
	return m
}

// Images are the files that a loss of power may leave after some operations, of those that were
// there before, as they are shown, and how many sets of pieces leave them.
func Images(of disk.Model, before *FS, ops []*disk.Op, show func(*FS) string) (images map[string]bool, sets int) {
	return modelOf(of).images(before, ops, show)
}

// Pieces is into how many an operation is cut.
func Pieces(of disk.Model, op *disk.Op) int { return len(modelOf(of).pieces(op, 0)) }

// FS is a file system as simple as can be.
type FS struct {
	Names map[[2]any]uint64 // by directory and name
	Files map[uint64]*File
}

// File is an inode of it.
type File struct {
	Dir  bool
	Data []byte // of which size can be seen
	Size int64
	Mode uint32
	X    map[string]string
}

// NewFS returns one with an empty directory.
func NewFS() *FS { return &FS{map[[2]any]uint64{}, map[uint64]*File{Root: {Dir: true}}} }

// Clone returns a copy.
func (f *FS) Clone() *FS {
	g := &FS{maps.Clone(f.Names), map[uint64]*File{}}
	for ino, n := range f.Files {
		m := *n
		m.Data, m.X = bytes.Clone(n.Data), maps.Clone(n.X)
		g.Files[ino] = &m
	}
	return g
}

// Put writes bytes, and zeros up to a length.
func (n *File) Put(at int64, b []byte, length int64) {
	if need := at + length; int64(len(n.Data)) < need {
		n.Data = append(n.Data, make([]byte, need-int64(len(n.Data)))...)
	}
	clear(n.Data[at : at+length])
	copy(n.Data[at:at+length], b)
}

// Get is what can be seen of bytes.
func (n *File) Get(lo, hi int64) []byte {
	hi = min(hi, n.Size, int64(len(n.Data)))
	if lo >= hi {
		return nil
	}
	return bytes.Clone(n.Data[lo:hi])
}

// Links is how many names an inode has.
func (f *FS) Links(ino uint64) (n int) {
	for _, i := range f.Names {
		if i == ino {
			n++
		}
	}
	return n
}

// String is all that can be seen, from the Root.
func (f *FS) String() string {
	var out []string
	var walk func(dir uint64, path string)
	walk = func(dir uint64, path string) {
		for key, ino := range f.Names {
			if key[0] != dir {
				continue
			}
			n, name := f.Files[ino], path+"/"+key[1].(string)
			data := make([]byte, n.Size)
			copy(data, n.Data[:min(int64(len(n.Data)), n.Size)])
			out = append(out,
				fmt.Sprintf("%s: inode %d, mode %o, size %d, %v, %q", name, ino, n.Mode, n.Size, n.X, shorten(data)))
			if n.Dir {
				walk(ino, name)
			}
		}
	}
	walk(Root, "")
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
	op           *disk.Op
	at           int
	lo, hi, size int64 // size: -1 if it stays
	page         int64 // of a size that grows by a write: which page makes it grow
}

// pieces cuts up an operation.
func (m model) pieces(op *disk.Op, at int) (all []piece) {
	switch op.Kind {
	case disk.Fsync, disk.Fdatasync, disk.Sync, disk.SyncRange, disk.Close, disk.Submit:
		return nil
	case disk.Create:
		if op.Dir == 0 {
			return nil
		}
	case disk.Allocate:
		if op.Size == op.OldSize {
			return nil
		}
	case disk.Write:
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
	case disk.Truncate, disk.Zero:
		p := piece{op: op, at: at, size: -1}
		if op.Size != op.OldSize {
			p.size = op.Size
		}
		if op.Kind == disk.Zero {
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
func (p *piece) file() bool { return p.op.Kind <= disk.Shift }
func (p *piece) grows() bool {
	return p.file() && p.size >= 0 && p.op.Kind == disk.Write
}

// names are the entries that it changes.
func (p *piece) names() (n [][2]any) {
	switch p.op.Kind {
	case disk.Create, disk.Link, disk.Unlink:
		n = [][2]any{{p.op.Dir, p.op.Name}}
	case disk.Rename:
		n = [][2]any{{p.op.Dir, p.op.Name}, {p.op.ToDir, p.op.ToName}}
	}
	return n
}

// metadata reports whether ext4 puts it into a transaction when the call is made.
func (p *piece) metadata() bool {
	return p.op.Kind != disk.Write || p.grows() && p.op.Flags&disk.Direct != 0
}

// removes are the inodes of which it removes a name.
func (p *piece) removes() []uint64 {
	switch {
	case p.op.Kind == disk.Unlink:
		return []uint64{p.op.Ino}
	case p.op.Kind == disk.Rename && p.op.Flags&disk.Exchange == 0 && p.op.Over != 0:
		return []uint64{p.op.Over}
	}
	return nil
}

// allocates reports whether it needs blocks that the file did not have before its operation: it has
// data for them, or is the size of what is there.
func (p *piece) allocates(ops []*disk.Op) bool {
	pg := p.lo / page
	switch {
	case p.op.Kind != disk.Write:
		return false
	case p.grows() && p.op.Flags&disk.Direct != 0:
		return false
	case p.grows():
		pg = p.page
	case !p.data():
		return false
	}
	has, first := false, true
	for _, o := range ops[:p.at] {
		if o.Ino != p.op.Ino || o.Kind > disk.Shift {
			continue
		}
		if first {
			first, has = false, pg*page < o.OldSize
		}
		switch {
		case o.Kind == disk.Write && o.Offset < (pg+1)*page && o.Offset+o.Length > pg*page:
			has = true
		case o.Kind == disk.Truncate && o.Size <= pg*page:
			has = false
		case o.Kind == disk.Zero && o.Offset <= pg*page && o.Offset+o.Length >= (pg+1)*page:
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
func (m model) needs(ops []*disk.Op, x, y *piece) bool {
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
	if earlier && x.op.Kind == y.op.Kind && x.op.Ino == y.op.Ino &&
		(x.op.Kind == disk.SetAttr || x.op.Kind == disk.SetXattr && x.op.Xattr == y.op.Xattr) {
		return true
	}
	for _, n := range x.names() {
		if earlier && slices.Contains(y.names(), n) {
			return true
		}
	}
	isDir := func(o *disk.Op) bool { return o.Attr.Mode&disk.TypeMask == disk.TypeDir }
	if m.order == anyOrder {
		if !earlier {
			return false
		}
		if y.op.Kind == disk.Create && isDir(y.op) &&
			slices.ContainsFunc(x.names(), func(n [2]any) bool { return n[0] == y.op.Ino }) {
			return true
		}
		if slices.ContainsFunc(x.removes(), func(d uint64) bool {
			return slices.ContainsFunc(y.names(), func(n [2]any) bool { return n[0] == d })
		}) {
			return true
		}
		moves := func(o *disk.Op) bool { return o.Kind == disk.Rename && isDir(o) && o.Dir != o.ToDir }
		return moves(x.op) && moves(y.op)
	}
	// Ordered.
	switch {
	case earlier && y.metadata() && (x.metadata() || x.allocates(ops) || x.grows()):
		return true
	case x.grows() && y.at == x.at && y.data():
		return y.lo/page == x.page
	case earlier && x.metadata() && y.allocates(ops):
		// Blocks are allocated before the rename over another file, and at the close after a cut.
		if x.op.Kind == disk.Rename && x.op.Over != 0 && x.op.Flags&disk.Exchange == 0 && x.op.Ino == y.op.Ino {
			return true
		}
		cut := false
		for i, o := range ops[:x.at] {
			if o.Ino == y.op.Ino && o.Kind == disk.Truncate && o.Size == 0 {
				cut = true
			}
			if o.Ino == y.op.Ino && o.Kind == disk.Close {
				if cut && i > y.at {
					return true
				}
				cut = false
			}
		}
	}
	return false
}

// images are all that can be left, found by trying each set of pieces.
func (m model) images(before *FS, ops []*disk.Op, show func(*FS) string) (images map[string]bool, subsets int) {
	var all []piece
	for i, op := range ops {
		all = append(all, m.pieces(op, i)...)
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
		f := before.Clone()
		for i := range all {
			if set>>i&1 != 0 {
				f.piece(&all[i])
			}
		}
		images[show(f)] = true
	}
	return images, subsets
}

// durable are the pieces that a sync makes durable, without those that these need.
func (m model) durable(ops []*disk.Op, all []piece, op *disk.Op, at int) (set uint) {
	if !op.Barrier() {
		return 0
	}
	if op.Begun > 0 { // it makes durable what it would have when it began
		began := slices.IndexFunc(ops, func(o *disk.Op) bool { return o.Kind == disk.Submit && o.Begun == op.Begun })
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
	if op.Kind == disk.Sync || m.order == prefix {
		return of(func(*piece) bool { return true })
	}
	names := of(func(p *piece) bool {
		return slices.ContainsFunc(p.names(), func(n [2]any) bool { return n[0] == op.Ino })
	})
	data := of(func(p *piece) bool {
		inRange := op.Flags&disk.Ranged == 0 || p.size >= 0 || p.lo < (op.Offset+op.Length+page-1)/page*page &&
			op.Offset/page*page < p.hi
		return p.file() && p.op.Ino == op.Ino && inRange
	})
	attr := of(func(p *piece) bool {
		return (p.op.Kind == disk.SetAttr || p.op.Kind == disk.SetXattr) && p.op.Ino == op.Ino
	})
	switch {
	case m.order == anyOrder && op.Kind == disk.Fdatasync:
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
		if op.Kind == disk.Fsync {
			concerns = concerns || attr>>i&1 != 0 || len(p.names()) > 0 && (p.op.Ino == op.Ino || p.op.Over == op.Ino)
		} else {
			concerns = concerns || p.op.Kind == disk.Create && p.op.Ino == op.Ino
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
func (f *FS) piece(p *piece) {
	op := p.op
	at := func(dir uint64, name string, ino uint64) {
		if ino == 0 {
			delete(f.Names, [2]any{dir, name})
		} else {
			f.Names[[2]any{dir, name}] = ino
		}
	}
	switch op.Kind {
	case disk.Write, disk.Truncate, disk.Zero, disk.Allocate:
		n := f.Files[op.Ino]
		if p.data() {
			var b []byte
			if op.Kind == disk.Write {
				b = op.New[p.lo-op.Offset : p.hi-op.Offset]
			}
			n.Put(p.lo, b, p.hi-p.lo)
		}
		if p.size >= 0 {
			n.Size = p.size
		}
	case disk.Create, disk.Link:
		at(op.Dir, op.Name, op.Ino)
	case disk.Unlink:
		at(op.Dir, op.Name, 0)
	case disk.Rename:
		left := uint64(0)
		if op.Flags&disk.Exchange != 0 {
			left = op.Over
		}
		at(op.Dir, op.Name, left)
		at(op.ToDir, op.ToName, op.Ino)
	case disk.SetAttr:
		f.Files[op.Ino].Mode = op.Attr.Mode
	case disk.SetXattr:
		if op.Gone {
			delete(f.Files[op.Ino].X, op.Xattr)
		} else {
			f.Files[op.Ino].X[op.Xattr] = string(op.New)
		}
	}
}

// Restore makes of the files as they are now what an image says.
func (f *FS) Restore(i *disk.Image) *FS {
	f = f.Clone()
	for _, n := range i.Names {
		if n.Ino == 0 {
			delete(f.Names, [2]any{n.Dir, n.Name})
		} else {
			f.Names[[2]any{n.Dir, n.Name}] = n.Ino
		}
	}
	for _, file := range i.Files {
		n := f.Files[file.Ino]
		if file.Size >= 0 {
			n.Data, n.Size = n.Data[:min(int64(len(n.Data)), n.Size, file.Size)], file.Size
		}
		for _, e := range file.Data {
			if e.Offset+int64(len(e.Bytes)) > n.Size {
				panic("bytes beyond the end")
			}
			n.Put(e.Offset, e.Bytes, int64(len(e.Bytes)))
		}
		if file.Attr != nil {
			n.Mode = file.Attr.Mode
		}
		for _, x := range file.Xattrs {
			if x.Gone {
				delete(n.X, x.Name)
			} else {
				n.X[x.Name] = string(x.Value)
			}
		}
	}
	return f
}
