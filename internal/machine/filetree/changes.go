//go:build linux

package filetree

import (
	"maps"
	"os"
	"slices"
)

// Read reads the content of a file. It shares pages with an earlier content, old, which may be nil.
func Read(f *os.File, old *Content) (*Content, error) {
	if old == nil {
		old = &Content{}
	}
	return readContent(f, old)
}

// A Change is bytes of a file that are others than they were. Zeros at their ends may be left out.
type Change struct {
	Offset   int64
	Old, New []byte
}

// Changes are what is other in c than in old, page by page, in order, up to the shorter size.
func (c *Content) Changes(old *Content) (all []Change) {
	numbers := map[int64]bool{}
	for _, pages := range []map[int64]*page{old.pages, c.pages} {
		for n := range pages {
			if a, b := old.pages[n], c.pages[n]; a != b {
				numbers[n] = true
			}
		}
	}
	end := min(c.Size, old.Size)
	for _, n := range slices.Sorted(maps.Keys(numbers)) {
		before, now := new(page), new(page)
		if p := old.pages[n]; p != nil {
			before = p
		}
		if p := c.pages[n]; p != nil {
			now = p
		}
		first, last := 0, int(min(pageSize, max(end-n*pageSize, 0)))
		for first < last && before[first] == now[first] {
			first++
		}
		for last > first && before[last-1] == now[last-1] {
			last--
		}
		if first < last {
			all = append(all, Change{n*pageSize + int64(first), before[first:last], now[first:last]})
		}
	}
	return all
}
