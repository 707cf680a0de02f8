//go:build linux

package stack

import (
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk/block"
)

// Fault is how a device fails at one request.
type Fault string

// The faults. Those that are silent report success.
const (
	// FailWrite, FailFlush and FailRead fail with EIO, once, and change nothing.
	FailWrite Fault = "write" // also one that writes zeros
	FailFlush Fault = "flush"
	FailRead  Fault = "read"
	// Vanish fails with EIO, and so do all requests to the device from then on, of all kinds.
	Vanish Fault = "vanish"
	// LostWrite never makes a write durable, whatever is flushed afterwards.
	LostWrite Fault = "lost_write"
	// GarbledWrite stores other bytes in a sector of a write.
	GarbledWrite Fault = "garbled_write"
	// GarbledRead returns other bytes of a sector. The stored bytes stay right.
	GarbledRead Fault = "garbled_read"
	// LostFlush makes nothing durable. A later flush does.
	LostFlush Fault = "lost_flush"
)

// Faults are all of them, in the order in which a check has them.
var Faults = []Fault{FailWrite, FailFlush, FailRead, Vanish, LostWrite, GarbledWrite, GarbledRead, LostFlush}

// Silent reports whether the device reports success.
func (f Fault) Silent() bool {
	return f == LostWrite || f == GarbledWrite || f == GarbledRead || f == LostFlush
}

// OfReads reports whether the fault is one of reads.
func (f Fault) OfReads() bool { return f == FailRead || f == GarbledRead }

// Words is the fault at the request of a number, in words.
func (f Fault) Words(at int) string {
	switch f {
	case Vanish:
		return fmt.Sprintf("the device vanishes at request %d", at)
	case LostWrite:
		return fmt.Sprintf("write %d is lost", at)
	case GarbledWrite:
		return fmt.Sprintf("write %d is garbled", at)
	case GarbledRead:
		return fmt.Sprintf("read %d is garbled", at)
	case LostFlush:
		return fmt.Sprintf("flush %d is lost", at)
	}
	return fmt.Sprintf("%s %d fails", f, at)
}

// requestKind is a kind of requests to a device.
type requestKind uint8

const (
	reads requestKind = iota + 1
	writes
	zeros // and discards
	flushes
)

// request is one to a disk. continues: it may be a part of an earlier one.
type request struct {
	kind           requestKind
	device         int
	offset, length int64
	continues      bool
}

// may reports whether a fault may happen at a request. The kernel divides a write that does not
// begin with a page in two, and a large one in several. If a later part failed alone, the loop
// device would take the write for done. So a part that may belong to the one before does not fail.
// Nor is a discard lost that may do nothing.
func (f Fault) may(r request) bool {
	switch f {
	case FailWrite:
		return (r.kind == writes || r.kind == zeros) && !r.continues
	case FailFlush, LostFlush:
		return r.kind == flushes
	case FailRead, GarbledRead:
		return r.kind == reads
	case Vanish:
		return !r.continues
	}
	return r.kind == writes
}

// Requests counts the requests to the disks of a stack at which each fault may happen, and has one
// of them happen.
type Requests struct {
	mu     sync.Mutex
	on     bool
	counts map[Fault]int
	fault  Fault
	at     int   // from 1; 0: none happens
	sector int64 // bytes that are garbled, or 0: all of a request
	seed   uint64
	struck string // the request at which it happened, in words, or ""
	gone   int    // the device that has vanished, or -1
}

// NewRequests counts requests. A fault happens at the one of those at which it may that has the
// number at, from 1; 0: at none. sector is how many bytes are garbled, or 0 for all of a request.
// seed chooses which.
func NewRequests(fault Fault, at int, sector int64, seed uint64) *Requests {
	return &Requests{counts: map[Fault]int{}, fault: fault, at: at, sector: sector, seed: seed, gone: -1}
}

// Count begins to count, or stops. A device that has vanished stays away.
func (r *Requests) Count(on bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.on = on
}

// Counts is at how many requests a fault could have happened.
func (r *Requests) Counts(f Fault) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.counts[f]
}

// Struck is the request at which the fault has happened, in words, or "".
func (r *Requests) Struck() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.struck
}

// vanished reports whether a device has vanished. A nil Requests has no faults.
func (r *Requests) vanished(device int) bool {
	if r == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.gone == device
}

// take takes in a request, and returns the fault that happens at it, or "". A device that has
// vanished still does what may be the rest of a request that it has begun.
func (r *Requests) take(q request) Fault {
	if r == nil {
		return ""
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone == q.device && !q.continues {
		return Vanish
	}
	if !r.on {
		return ""
	}
	for _, f := range Faults {
		if f.may(q) {
			r.counts[f]++
		}
	}
	if r.at == 0 || r.struck != "" || !r.fault.may(q) || r.counts[r.fault] != r.at {
		return ""
	}
	if r.fault == Vanish {
		r.gone = q.device
	}
	r.struck = q.String()
	return r.fault
}

// String is the request in words.
func (q request) String() string {
	if q.kind == reads {
		o := block.Op{Kind: block.Write, Device: q.device, Offset: q.offset, Length: q.length}
		return "read" + o.String()[len("write"):]
	}
	kind := map[requestKind]block.Kind{writes: block.Write, zeros: block.Zero, flushes: block.Flush}[q.kind]
	o := block.Op{Kind: kind, Device: q.device, Offset: q.offset, Length: q.length}
	return o.String()
}

// garbledBytes is how many bytes there are to one bit that is garbled: few enough that each record
// of a program has one, and so many that most of its format stays.
const garbledBytes = 32

// garble changes bits in a sector of b, which is at an offset of a disk.
func (r *Requests) garble(b []byte, offset int64) {
	draw := rand.New(rand.NewPCG(r.seed, uint64(r.at)))
	lo, hi := int64(0), int64(len(b))
	if r.sector > 0 && hi > 0 {
		first := offset / r.sector
		n := first + draw.Int64N((offset+hi-1)/r.sector-first+1)
		lo, hi = max(n*r.sector-offset, 0), min((n+1)*r.sector-offset, hi)
	}
	for ; lo < hi; lo += garbledBytes {
		b[lo+draw.Int64N(min(garbledBytes, hi-lo))] ^= 1 << draw.IntN(8)
	}
}

// Count has requests to the devices of some nodes counted, which nobody uses yet.
func (w *Worker) Count(nodes []uint64, r *Requests) {
	for _, n := range nodes {
		w.server.find(n).requests = r
	}
}
