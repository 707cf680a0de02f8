//go:build linux

package stack

import (
	"testing"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk/block"
)

// TestRequests: the request of a number fails, once, and only while requests are counted. A part of
// a write that may continue another one is no request.
func TestRequests(t *testing.T) {
	const page = block.PageSize
	d, _ := joined(t, &Component{}, nil, 16*page)
	d.requests = NewRequests(Writes, 3)
	type request struct {
		kind           RequestKind
		offset, length int64
		fails          bool
	}
	do := func(all []request) {
		t.Helper()
		for i, r := range all {
			if got := d.fails(r.kind, r.offset, r.length); got != r.fails {
				t.Errorf("request %d, %+v: %v", i, r, got)
			}
		}
	}
	do([]request{{Writes, 0, page, false}, {Writes, 0, page, false}, {Writes, 0, page, false}})
	d.requests.Count(true)
	do([]request{
		{Writes, 1024, page - 1024, false}, {Writes, page, page, false}, // one
		{Reads, 0, page, false},
		{Writes, 4 * page, page, false},
		{Writes, page, page, false},         // it may continue the first
		{Writes, 5 * page, page, false},     // and this one the second
		{Writes, 8*page + 1024, 1024, true}, // the third
		{Writes, 9 * page, page, false},
		{Flushes, 0, 0, false}, {Writes, page, page, false}, // no more
	})
	if !d.requests.Failed() || d.requests.Counts(Writes) != 5 || d.requests.Counts(Flushes) != 1 ||
		d.requests.Counts(Reads) != 1 {
		t.Errorf("%d writes, %d flushes", d.requests.Counts(Writes), d.requests.Counts(Flushes))
	}
}
