//go:build linux

package crash

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"iter"

	"golang.org/x/sys/unix"
)

// names are the entries of a directory, which do not change: a changed directory has others, which
// share most with them. They are a tree in order of the names, of which each has a greater rank
// than what is below it. So equal ones have one form. nil are none.
type names struct {
	*member
	left, right *names

	size int32 // entries
	dirs int32 // of them those of directories
	// files that have several names, here and in what is below; each as often as it is there
	several int32

	// all is over all that is here and below, listed over names and types; when known.
	known       bool
	all, listed tally
}

// member is what stands for a name, wherever in the tree it is.
type member struct {
	name string
	rank uint64
	file *file

	// own is of all that there is of it, told of its name and type; when summed.
	summed    bool
	own, told tally
}

// tally is a hash of a set: the sum of those of its members, modulo 2^64 in each half.
type tally struct{ a, b uint64 }

func (t tally) plus(u tally) tally { return tally{t.a + u.a, t.b + u.b} }

func tallyOf(b []byte) tally {
	d := sha256.Sum256(b)
	return tally{binary.LittleEndian.Uint64(d[:]), binary.LittleEndian.Uint64(d[8:])}
}

func (t tally) append(b []byte) []byte {
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, t.a), t.b)
}

// rankOf is the hash FNV-1a of a name, stirred.
func rankOf(name string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// above reports whether an entry is above one of another name.
func (e *member) above(o *member) bool {
	return e.rank > o.rank || e.rank == o.rank && e.name < o.name
}

// with returns an entry with others below it.
func (e *member) with(left, right *names) *names {
	m := &names{member: e, left: left, right: right, size: 1}
	switch {
	case e.file.directory():
		m.dirs, m.several = 1, int32(e.file.names.count())
	case len(e.file.links) > 1:
		m.several = 1
	}
	for _, o := range []*names{left, right} {
		if o != nil {
			m.size, m.dirs, m.several = m.size+o.size, m.dirs+o.dirs, m.several+o.several
		}
	}
	return m
}

// count is how many files there are with several names.
func (n *names) count() int {
	if n == nil {
		return 0
	}
	return int(n.several)
}

func (n *names) len() int {
	if n == nil {
		return 0
	}
	return int(n.size)
}

// directories is how many entries are such.
func (n *names) directories() int {
	if n == nil {
		return 0
	}
	return int(n.dirs)
}

// get is what a name stands for, or nil.
func (n *names) get(name string) *file {
	for n != nil && n.name != name {
		if name < n.name {
			n = n.left
		} else {
			n = n.right
		}
	}
	if n == nil {
		return nil
	}
	return n.file
}

// split returns the entries before a name and behind it, and what it stands for.
func (n *names) split(name string) (before *names, f *file, behind *names) {
	switch {
	case n == nil:
		return nil, nil, nil
	case name < n.name:
		before, f, behind = n.left.split(name)
		return before, f, n.with(behind, n.right)
	case name > n.name:
		before, f, behind = n.right.split(name)
		return n.with(n.left, before), f, behind
	}
	return n.left, n.file, n.right
}

// set returns the entries with one that is new or stands for something else.
func (n *names) set(name string, f *file) *names {
	return n.insert(&member{name: name, rank: rankOf(name), file: f})
}

func (n *names) insert(e *member) *names {
	switch {
	case n == nil:
		return e.with(nil, nil)
	case n.name == e.name:
		return e.with(n.left, n.right)
	case e.above(n.member):
		before, _, behind := n.split(e.name)
		return e.with(before, behind)
	case e.name < n.name:
		return n.with(n.left.insert(e), n.right)
	}
	return n.with(n.left, n.right.insert(e))
}

// remove returns the entries without one.
func (n *names) remove(name string) *names {
	switch {
	case n == nil:
		return nil
	case name < n.name:
		return n.with(n.left.remove(name), n.right)
	case name > n.name:
		return n.with(n.left, n.right.remove(name))
	}
	return join(n.left, n.right)
}

// join returns the entries of two, of which those of the second come behind those of the first.
func join(l, r *names) *names {
	switch {
	case l == nil:
		return r
	case r == nil:
		return l
	case l.above(r.member):
		return l.with(l.left, join(l.right, r))
	}
	return r.with(join(l, r.left), r.right)
}

// each yields the entries, in order.
func (n *names) each() iter.Seq2[string, *file] {
	return func(yield func(string, *file) bool) { n.visit(yield) }
}

func (n *names) visit(yield func(string, *file) bool) bool {
	return n == nil || n.left.visit(yield) && yield(n.name, n.file) && n.right.visit(yield)
}

// sum returns the hashes over all that there is of an entry, and over its name and type. Most of a
// changed tree has entries that were there before.
func (e *member) sum() (own, told tally) {
	if !e.summed {
		b := e.file.sumAlone()
		e.own = tallyOf(append(b[:], e.name...))
		e.told = tallyOf(fmt.Appendf(nil, "%o %s", e.file.attr.Mode&unix.S_IFMT, e.name))
		e.summed = true
	}
	return e.own, e.told
}

// sums returns the hashes over all that is here and below, and over names and types. It is who
// forms images that finds them out, alone.
func (n *names) sums() (all, listed tally) {
	if n == nil {
		return tally{}, tally{}
	}
	if !n.known {
		n.all, n.listed = n.sum()
		for _, o := range []*names{n.left, n.right} {
			all, listed := o.sums()
			n.all, n.listed = n.all.plus(all), n.listed.plus(listed)
		}
		n.known = true
	}
	return n.all, n.listed
}

// differing yields the names that do not stand for the very same in two directories, with what they
// stand for there.
func differing(a, b *names, yield func(name string, a, b *file)) {
	switch {
	case a == b:
	case a == nil:
		differing(nil, b.left, yield)
		yield(b.name, nil, b.file)
		differing(nil, b.right, yield)
	case b == nil:
		differing(a.left, nil, yield)
		yield(a.name, a.file, nil)
		differing(a.right, nil, yield)
	case a.name != b.name && b.above(a.member):
		before, f, behind := a.split(b.name)
		differing(before, b.left, yield)
		if f != b.file {
			yield(b.name, f, b.file)
		}
		differing(behind, b.right, yield)
	default:
		before, f, behind := b.split(a.name)
		differing(a.left, before, yield)
		if f != a.file {
			yield(a.name, a.file, f)
		}
		differing(a.right, behind, yield)
	}
}
