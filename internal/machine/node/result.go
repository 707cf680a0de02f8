//go:build linux

package node

import (
	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/sys"

	"golang.org/x/sys/unix"
)

// finish ends the call with result v, then delivers what signals are pending.
func (n *Node) finish(th *thread, v int64) bool {
	if v == -int64(unix.ETXTBSY) {
		n.checkBusy(th)
	}
	n.record(th, v)
	n.countAsking(th.k, v)
	if e := kernel.Errno(-v); e == unix.ENFILE || e == unix.EMFILE {
		n.blameHost(th, e)
	}
	must(th.tr.Return(v))
	return n.leaveCall(th)
}

// finishUnseen ends a call with result v as if Linux had made it, whose result nobody looks at.
func (n *Node) finishUnseen(th *thread, v int64) bool {
	n.record(th, nativeResult)
	must(th.tr.Return(v))
	if th.k.HasSignal() {
		return n.leaveCall(th)
	}
	th.k.EndWait()
	th.k.Call.InCall = false
	return true
}

// leaveCall is the way out of every call whose registers are set.
func (n *Node) leaveCall(th *thread) bool {
	k := th.k
	saved := k.Wait.SavedMask
	k.EndWait()
	k.Call.InCall = false
	n.expirePassed(th) // it may have set a timer for a time that is past
	if saved != nil {
		// It was not interrupted: what only its own mask let through goes on waiting.
		k.M.SetSigMask(*saved)
	}
	return n.deliverSignals(th)
}

// record adds the finished call to the step's stream.
func (n *Node) record(th *thread, v int64) {
	n.step.stream.addCall(th.k.TID, th.k.Call.NR, v)
	if v > 0 && sys.Of(th.k.Call.NR).Transfers {
		n.step.moves()
	}
	if n.cfg.TraceCalls {
		n.step.trace = append(n.step.trace,
			ariadne.CallRecord{TID: th.k.TID, NR: th.k.Call.NR, Result: v, Hash: n.step.memory.take()})
	}
}

// nativeResult stands in the call stream for a result that was not looked at.
const nativeResult = 1 << 62
