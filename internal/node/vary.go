//go:build linux

package node

import (
	"strings"

	"ariadne/internal/kernel"
	"ariadne/internal/spec"
	"ariadne/internal/sys"

	"golang.org/x/sys/unix"
)

// alternatives are what may happen at a call instead, by its number: the same slice each time.
type alternatives map[int][]string

// failures are those of calls that the spec lets fail in a node.
func failures(s *spec.Spec, def *spec.Node) alternatives {
	calls := s.FailingCalls(def.ID)
	if calls == nil {
		return nil
	}
	all := alternatives{}
	for nr := range sys.Table {
		if others := calls[sys.Table[nr].Name]; others != nil {
			all[nr] = others
		}
	}
	return all
}

// vary enters the call at whose entry th stands as a place of the step, if something else may
// happen there, and says with which error it is to fail; 0: it is made. A call that waits is a place when it begins.
func (n *Node) vary(th *thread) kernel.Errno {
	k := th.k
	if k.Call.Passed {
		return 0
	}
	k.Call.Passed = true
	all := n.failing[k.Call.NR]
	if all == nil {
		return 0
	}
	on, ok := sys.CouldFail(k)
	if !ok || !n.cfg.Spec.Fail.On(on) {
		return 0
	}
	_, name, failed := strings.Cut(n.step.course.At(k.TID, callName(k.Call.NR), on, all), ":")
	if !failed {
		return 0
	}
	e, ok := sys.Errno(name)
	if !ok {
		panic(toolError{unix.EINVAL})
	}
	return e
}

// failCall ends a call that was never made.
func (n *Node) failCall(th *thread, e kernel.Errno) bool {
	v := -int64(e)
	n.record(th, v)
	must(th.tr.Return(v))
	return n.leaveCall(th)
}
