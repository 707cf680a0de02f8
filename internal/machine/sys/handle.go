package sys

import (
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/slowdisk"

	"golang.org/x/sys/unix"
)

// Handle runs the handler of the call that t stands in.
func Handle(t *kernel.Thread) kernel.Result {
	nr := t.Call.NR
	if nr < 0 || nr >= len(Table) || Table[nr].Name == "" {
		t.Node().Refuse(t, callName(nr), formatArgs(t.Call.NR, t.Call.Args), false)
		return kernel.Fail(unix.ENOSYS)
	}
	r := &Table[nr]
	if r.Level == Refused {
		t.Node().Refuse(t, r.Name, formatArgs(t.Call.NR, t.Call.Args), r.Harmless)
		if r.Errno != 0 {
			return kernel.Fail(r.Errno)
		}
		return kernel.Fail(unix.ENOSYS)
	}
	if e := mayFollow(t); e != 0 {
		return kernel.Fail(e)
	}
	var slow *slowdisk.Sync
	if t.Node().Stalls && r.syncs != nil {
		if slow = slowdisk.Of(t); slow != nil {
			return slow.Wait(t)
		}
		slow = r.stalls(t)
	}
	done, res := r.record(t), kernel.Native
	if r.Handler != nil {
		res = r.Handler(t, t.Call.Args)
	}
	if (done != nil || slow != nil) && res.Op == kernel.OpNative {
		res = kernel.Ret(run(t))
	}
	if done != nil {
		v := int64(-1)
		if res.Op == kernel.OpReturn {
			v = res.Value
		}
		done(v)
	}
	if slow != nil {
		return stalled(t, slow, res)
	}
	if res.Op == kernel.OpBlock && t.Wait.Absolute && t.Wait.Runs == 0 {
		t.Node().TellTime() // later the time would have come, and the call would not wait
	}
	return res
}
