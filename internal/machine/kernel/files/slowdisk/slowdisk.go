// Package slowdisk is the syncs of a node that take time. Such a sync ends in a later step than it
// begins in, by a message of the node to itself (ariadne.Disk). Until then the calling thread
// waits, and only a signal that kills its process wakes it: Linux's state D. The sync continues
// without the thread.
//
// It does not decide when syncs take time, and how long: the node does (Asker). The log of the
// node's files knows what is written (internal/machine/kernel/files/inode).
package slowdisk

import (
	"net/netip"
	"slices"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
)

// Asker is a Tracee that knows who decides.
type Asker interface {
	// Stall returns how long it takes to write a file to the disk, or with "" all of them. Not ok:
	// no time.
	Stall(file string) (length time.Duration, ok bool)
}

// Sync is one that takes time.
type Sync struct {
	number int    // since the machine was switched on
	what   string // in words
	length time.Duration
	ends   []disk.Op // what is entered in the log when it ends
	begun  bool
	ended  bool
	value  int64 // of the call
	ender  Ender // or nil
	wait   kernel.Queue
}

// Ender is told that a sync has ended which no call waits for.
type Ender interface{ SyncEnded(n *kernel.Node) }

// state is what is under way at a node.
type state struct {
	begun    int
	underWay []*Sync
}

// call is the sync that a thread's call makes.
type call struct{ sync *Sync }

var (
	states = kernel.NewSlot[*kernel.Node, state]()
	calls  = kernel.NewSlot[*kernel.Thread, call]()
)

// Of is the sync that t's call makes, and that takes time, or nil.
func Of(t *kernel.Thread) *Sync {
	if c := calls.Peek(t); c != nil {
		return c.sync
	}
	return nil
}

// Ask asks whether the call that t stands in takes time, which is about to have a file written to
// the disk, or with "" all of them. If so it is Of(t) until it has ended. nil: it takes none.
func Ask(t *kernel.Thread, what, file string) *Sync {
	a, ok := t.M.(Asker)
	if !ok {
		return nil
	}
	length, ok := a.Stall(file)
	if !ok {
		return nil
	}
	if file != "" {
		what += " of " + file
	}
	s := &Sync{what: what, length: length}
	calls.Of(t).sync = s
	return s
}

// Submit enters in the log of the node's files that it begins to write one of them.
func (s *Sync) Submit(n *kernel.Node, op disk.Op) { s.ends = append(s.ends, n.Files.Submit(op)) }

// Begin lets it begin. If ender is nil the call waits for it, and then returns v.
func (s *Sync) Begin(t *kernel.Thread, v int64, ender Ender) {
	n := t.Node()
	all := states.Of(n)
	all.begun++
	all.underWay = append(all.underWay, s)
	s.number, s.begun, s.value, s.ender = all.begun, true, v, ender
	var addr netip.Addr
	if len(n.Addrs) > 0 {
		addr = n.Addrs[0]
	}
	n.Out = append(n.Out,
		ariadne.Message{From: n.ID, To: n.ID, Flow: ariadne.OwnFlow(ariadne.Disk, addr, n.Boots), Seq: s.number,
			Data: []byte(s.what), Sent: n.Now, Window: int(s.length)})
	if ender != nil {
		calls.Of(t).sync = nil
	}
}

// Drop forgets that t's call would take time: it has written nothing.
func Drop(t *kernel.Thread) { calls.Of(t).sync = nil }

// Wait is what becomes of the call that waits for it.
func (s *Sync) Wait(t *kernel.Thread) kernel.Result {
	if s.ended {
		calls.Of(t).sync = nil
		return kernel.Ret(s.value)
	}
	t.Wait.Uninterruptible = true
	return t.Block(kernel.RestartAlways, &s.wait)
}

// Begun reports whether it has begun.
func (s *Sync) Begun() bool { return s.begun }

// Deliver lets a sync end. If the process whose call it was has been killed, what was written is on
// the disk all the same.
func Deliver(n *kernel.Node, m *ariadne.Message) {
	all := states.Peek(n)
	if all == nil || m.Flow.Epoch != n.Boots {
		return
	}
	i := slices.IndexFunc(all.underWay, func(s *Sync) bool { return s.number == m.Seq })
	if i < 0 {
		return
	}
	s := all.underWay[i]
	all.underWay = slices.Delete(all.underWay, i, i+1)
	for _, op := range s.ends {
		n.Files.Enter(op)
	}
	s.ends, s.ended = nil, true
	s.wait.Notify(kernel.In)
	if s.ender != nil {
		s.ender.SyncEnded(n)
	}
}
