//go:build linux

package stack

import (
	"sync"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk/block"
)

// RequestKind is a kind of requests that may fail.
type RequestKind string

// The kinds of requests.
const (
	Reads   RequestKind = "read"
	Writes  RequestKind = "write" // also those that write zeros
	Flushes RequestKind = "flush"
)

// Requests counts the requests to the devices of a stack, and has one of them fail with EIO. Such a
// request changes nothing, and no Recorder logs it.
type Requests struct {
	mu     sync.Mutex
	on     bool
	counts map[RequestKind]int
	kind   RequestKind
	at     int // from 1; 0: none fails
	failed bool
}

// NewRequests counts requests. The one of a kind that has the number at fails, from 1; 0: none.
func NewRequests(kind RequestKind, at int) *Requests {
	return &Requests{counts: map[RequestKind]int{}, kind: kind, at: at}
}

// Count begins to count, or stops.
func (r *Requests) Count(on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.on = on
}

// Counts are how many requests of a kind there were.
func (r *Requests) Counts(kind RequestKind) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts[kind]
}

// Failed reports whether a request has failed.
func (r *Requests) Failed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failed
}

// fails takes in a request, and reports whether it fails.
func (r *Requests) fails(kind RequestKind) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.on {
		return false
	}
	r.counts[kind]++
	if kind != r.kind || r.counts[kind] != r.at {
		return false
	}
	r.failed = true
	return true
}

// fails takes in a request to a device, and reports whether it fails. The kernel divides a write
// that does not begin with a page in two, and a large one in several. If a later part failed alone,
// the loop device would take the write for done. So a part that may belong to the one before does
// not fail, and is no request of its own.
func (d *served) fails(kind RequestKind, offset, length int64) bool {
	if d.requests == nil {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch kind {
	case Flushes:
		d.ends = nil
	case Writes:
		if d.ends == nil {
			d.ends = map[int64]bool{}
		}
		continues := offset%block.PageSize == 0 && d.ends[offset]
		if d.ends[offset+length] = true; continues {
			return false
		}
	}
	return d.requests.fails(kind)
}

// Count has requests to the devices of some nodes counted, which nobody uses yet.
func (w *Worker) Count(nodes []uint64, r *Requests) {
	for _, n := range nodes {
		w.server.find(n).requests = r
	}
}
