//go:build linux

package node

import (
	"cmp"
	"math"
	"slices"

	"github.com/ariadne-mc/ariadne/internal/machine/tracee"
)

const pageSize = 4096

type page [pageSize]byte

var zeroPage page

// pageAt is a page of a process, and its content.
type pageAt struct {
	at   uint64
	page *page // never changed
}

// pages lists the pages in which a process may differ from its fork, by address.
type pages []pageAt

// newPages allocates pages, each by itself: some are kept much longer than others.
func newPages(n int) []*[pageSize]byte {
	to := make([]*[pageSize]byte, n)
	for i := range to {
		to[i] = new([pageSize]byte)
	}
	return to
}

// merge returns the list with fresh pages in the place of old ones. A fresh page with the old
// content becomes the old page, so that a comparison of pointers finds them equal. One with the
// content that it has in the fork, as far as that is known, is left out if base does not have it.
func (old pages) merge(fresh pages, fork map[uint64]*page, base pages) (all pages) {
	if len(fresh) == 0 {
		return old
	}
	all = make(pages, 0, len(old)+len(fresh))
	for len(old) > 0 || len(fresh) > 0 {
		if len(fresh) == 0 || old.first() < fresh[0].at {
			all, old = append(all, old[0]), old[1:]
			continue
		}
		f := fresh[0]
		fresh = fresh[1:]
		was, forked := old.takeAt(f.at), fork[f.at]
		switch {
		case forked != nil && *forked == *f.page && !base.has(f.at):
			continue
		case was != nil && *was == *f.page:
			f.page = was
		}
		all = append(all, f)
	}
	return all
}

// compare compares the page's address with another.
func (p pageAt) compare(at uint64) int { return cmp.Compare(p.at, at) }

// has reports whether there is a page at an address.
func (p pages) has(at uint64) bool {
	_, ok := slices.BinarySearchFunc(p, at, pageAt.compare)
	return ok
}

// first is the address of the first page, or the highest one if the list is empty.
func (p pages) first() uint64 {
	if len(p) == 0 {
		return math.MaxUint64
	}
	return p[0].at
}

// takeAt removes the first page from the list and returns its content, if it is at that address;
// else nil.
func (p *pages) takeAt(at uint64) *page {
	if p.first() != at {
		return nil
	}
	q := (*p)[0].page
	*p = (*p)[1:]
	return q
}

// without returns the list without pages that lie in some ranges, which are in order.
func (p pages) without(gone []tracee.Range) pages {
	if !slices.ContainsFunc(gone, func(r tracee.Range) bool { return len(p.in(r)) > 0 }) {
		return p
	}
	return slices.DeleteFunc(slices.Clone(p), func(one pageAt) bool { return lies(one.at, gone) })
}

// in are the pages in a range.
func (p pages) in(r tracee.Range) pages {
	from, _ := slices.BinarySearchFunc(p, r.Start, pageAt.compare)
	to, _ := slices.BinarySearchFunc(p, r.End, pageAt.compare)
	return p[from:max(from, to)]
}

// lies reports whether an address is in one of some ranges, which are in order.
func lies(at uint64, in []tracee.Range) bool {
	i, _ := slices.BinarySearchFunc(in, at, func(r tracee.Range, at uint64) int {
		if r.End <= at {
			return -1
		}
		return 1
	})
	return i < len(in) && in[i].Start <= at
}
