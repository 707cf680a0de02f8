package sys

import (
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/channels/ipc"

	"golang.org/x/sys/unix"
)

// Commands of semctl, msgctl and shmctl.
const (
	ipcRmid = 0
	ipcSet  = 1
	ipcStat = 2
	ipcInfo = 3

	semGetPID  = 11
	semGetVal  = 12
	semGetAll  = 13
	semGetNCnt = 14
	semGetZCnt = 15
	semSetVal  = 16
	semSetAll  = 17
	semStat    = 18
	semInfo    = 19
	semStatAny = 20
)

// ipc64 lays out a struct ipc64_perm.
func ipc64(p *ipc.Perm) []byte {
	b := le.AppendUint32(nil, uint32(p.Key))
	for _, v := range []int{p.UID, p.GID, p.CUID, p.CGID, int(p.Mode)} {
		b = le.AppendUint32(b, uint32(v))
	}
	b = le.AppendUint16(b, uint16(p.ID>>15))
	return append(b, make([]byte, 48-len(b))...)
}

// setIPC takes owner and mode from a struct ipc64_perm at addr (IPC_SET).
func setIPC(t *kernel.Thread, p *ipc.Perm, addr uint64) kernel.Errno {
	b, e := readBytes(t, addr, 48)
	if e != 0 {
		return e
	}
	if !p.Owned(t) {
		return unix.EPERM
	}
	p.UID, p.GID = int(int32(le.Uint32(b[4:]))), int(int32(le.Uint32(b[8:])))
	p.Mode = p.Mode&^0o777 | le.Uint32(b[20:])&0o777
	p.Touch(t.Node())
	return 0
}

func sysSemget(t *kernel.Thread, a Args) kernel.Result {
	if n := int(int32(a[1])); n < 0 || n > ipc.SemLimitsOf(t.Node()).PerSet {
		return kernel.Fail(unix.EINVAL)
	}
	s, e := ipc.SemsOf(t.Node()).Open(t, int(int32(a[0])), int(int32(a[1])), uint32(a[2]))
	if e != 0 {
		return kernel.Fail(e)
	}
	return kernel.Ret(int64(s.ID))
}

func sysSemop(t *kernel.Thread, a Args) kernel.Result {
	return semop(t, a)
}

func sysSemtimedop(t *kernel.Thread, a Args) kernel.Result {
	if e := timeoutArg(t, a[3], readTimespec); e != 0 {
		return kernel.Fail(e)
	}
	return semop(t, a)
}

func semop(t *kernel.Thread, a Args) kernel.Result {
	switch {
	case t.Wait.Woken:
		return kernel.RetOr(0, kernel.Errno(t.Wait.Aux[0]))
	case ipc.WaitsOnSem(t) && timedOut(t):
		return kernel.Fail(unix.EAGAIN)
	case ipc.WaitsOnSem(t):
		return t.Block(kernel.RestartNever)
	}
	set, ops, e := readSemops(t, a)
	if e != 0 {
		return kernel.Fail(e)
	}
	block, would, e := set.Do(t, ops)
	switch {
	case e != 0:
		return kernel.Fail(e)
	case !would:
		set.Update()
		return kernel.Ret(0)
	case block.Flags&ipc.NoWait != 0 || timedOut(t):
		return kernel.Fail(unix.EAGAIN)
	}
	set.Wait(t, ops, block)
	return t.Block(kernel.RestartNever)
}

// readSemops reads semop's list and finds its set.
func readSemops(t *kernel.Thread, a Args) (*ipc.SemSet, []ipc.SemOp, kernel.Errno) {
	n := a[2] & 0xffffffff
	if n == 0 || int32(a[0]) < 0 {
		return nil, nil, unix.EINVAL
	}
	if n > uint64(ipc.SemLimitsOf(t.Node()).Ops) {
		return nil, nil, unix.E2BIG
	}
	b, e := readBytes(t, a[1], int(n)*6)
	if e != 0 {
		return nil, nil, e
	}
	set := ipc.SemsOf(t.Node()).Get(int(int32(a[0])))
	if set == nil {
		return nil, nil, unix.EINVAL
	}
	rights := uint32(ipc.Read)
	var ops []ipc.SemOp
	for ; len(b) > 0; b = b[6:] {
		op := ipc.SemOp{Num: int(le.Uint16(b)), Op: int(int16(le.Uint16(b[2:]))), Flags: int(le.Uint16(b[4:]))}
		if op.Num >= len(set.Sems) {
			return nil, nil, unix.EFBIG
		}
		if op.Op != 0 {
			rights = ipc.Write
		}
		ops = append(ops, op)
	}
	if !set.Allows(t, rights) {
		return nil, nil, unix.EACCES
	}
	return set, ops, 0
}

func sysSemctl(t *kernel.Thread, a Args) kernel.Result {
	n, id := t.Node(), int(int32(a[0]))
	num, cmd, arg := int(int32(a[1])), int32(a[2]), a[3]
	if id < 0 {
		return kernel.Fail(unix.EINVAL)
	}
	switch cmd {
	case ipcInfo, semInfo:
		return kernel.RetOr(ipc.SemsOf(n).Last(), t.M.WriteMem(arg, semInfoOf(n, cmd == semInfo)))
	case semStat, semStatAny:
		set, ok := ipc.SemsOf(n).At(id)
		if !ok {
			return kernel.Fail(unix.EINVAL)
		}
		return statSem(t, set, arg, cmd == semStatAny, set.ID)
	}
	set := ipc.SemsOf(n).Get(id)
	if set == nil {
		return kernel.Fail(unix.EINVAL)
	}
	switch cmd {
	case ipcRmid:
		if !set.Owned(t) {
			return kernel.Fail(unix.EPERM)
		}
		ipc.SemsOf(t.Node()).Remove(set)
		return kernel.Ret(0)
	case ipcSet:
		return kernel.RetOr(0, setIPC(t, &set.Perm, arg))
	case ipcStat:
		return statSem(t, set, arg, false, 0)
	case semGetPID, semGetVal, semGetAll, semGetNCnt, semGetZCnt:
		if !set.Allows(t, ipc.Read) {
			return kernel.Fail(unix.EACCES)
		}
	case semSetVal, semSetAll:
		if !set.Allows(t, ipc.Write) {
			return kernel.Fail(unix.EACCES)
		}
	default:
		return kernel.Fail(unix.EINVAL)
	}
	switch cmd {
	case semGetAll:
		var b []byte
		for _, s := range set.Sems {
			b = le.AppendUint16(b, uint16(s.Value))
		}
		return kernel.RetOr(0, t.M.WriteMem(arg, b))
	case semSetAll:
		return setAllSems(t, set, arg)
	}
	if v := int32(arg); cmd == semSetVal && (v < 0 || v > ipc.SemMaxValue) {
		return kernel.Fail(unix.ERANGE)
	}
	if num < 0 || num >= len(set.Sems) {
		return kernel.Fail(unix.EINVAL)
	}
	switch cmd {
	case semGetPID:
		return kernel.Ret(int64(set.Sems[num].PID))
	case semGetVal:
		return kernel.Ret(int64(set.Sems[num].Value))
	case semGetNCnt, semGetZCnt:
		return kernel.Ret(int64(set.Waiting(num, cmd == semGetZCnt)))
	}
	return kernel.RetOr(0, set.SetValues(t, num, []int{int(int32(arg))}))
}

func setAllSems(t *kernel.Thread, set *ipc.SemSet, addr uint64) kernel.Result {
	b, e := readBytes(t, addr, 2*len(set.Sems))
	if e != 0 {
		return kernel.Fail(e)
	}
	values := make([]int, len(set.Sems))
	for i := range values {
		values[i] = int(le.Uint16(b[2*i:]))
	}
	return kernel.RetOr(0, set.SetValues(t, 0, values))
}

// semInfoOf lays out a struct seminfo: limits or, in part, what is in use.
func semInfoOf(n *kernel.Node, used bool) []byte {
	most := ipc.SemLimitsOf(n)
	size, adjust := 20, ipc.SemMaxValue
	if used {
		size, adjust = len(ipc.SemsOf(n).All()), ipc.SemsOf(n).Count()
	}
	const total, undo = 1024000000, 500 // SEMMNS and SEMOPM, whatever is set
	var b []byte
	for _, v := range []int{total, most.Sets, most.Total, total, most.PerSet, most.Ops, undo, size, ipc.SemMaxValue,
		adjust} {
		b = le.AppendUint32(b, uint32(v))
	}
	return b
}

// statSem writes a struct semid64_ds and returns ret. anyone: whoever asks.
func statSem(t *kernel.Thread, set *ipc.SemSet, addr uint64, anyone bool, ret int) kernel.Result {
	if !anyone && !set.Allows(t, ipc.Read) {
		return kernel.Fail(unix.EACCES)
	}
	b := ipc64(&set.Perm)
	for _, v := range []uint64{seconds(t.Node(), set.Used), 0, seconds(t.Node(), set.Changed), 0, uint64(len(set.Sems)),
		0, 0} {
		b = le.AppendUint64(b, v)
	}
	return kernel.RetOr(ret, t.M.WriteMem(addr, b))
}
