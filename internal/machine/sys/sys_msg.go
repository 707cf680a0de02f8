package sys

import (
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/channels/ipc"

	"golang.org/x/sys/unix"
)

func sysMsgget(t *kernel.Thread, a Args) kernel.Result {
	q, e := ipc.MsgQueuesOf(t.Node()).Open(t, int(int32(a[0])), uint32(a[1]))
	if e != 0 {
		return kernel.Fail(e)
	}
	return kernel.Ret(int64(q.ID))
}

// sysMsgsnd: a waiting sender looks again, in order of arrival, when there may
// be room or the queue is gone.
func sysMsgsnd(t *kernel.Thread, a Args) kernel.Result {
	q := ipc.MsgQueuesOf(t.Node()).Get(int(int32(a[0])))
	if q == nil && t.Wait.Runs > 0 {
		return kernel.Fail(unix.EIDRM)
	}
	most, _, _ := ipc.MsgLimits(t.Node())
	if int64(a[2]) < 0 || a[2] > uint64(most) || q == nil {
		return kernel.Fail(unix.EINVAL)
	}
	b, e := readBytes(t, a[1], 8+int(a[2]))
	if e != 0 {
		return kernel.Fail(e)
	}
	m := ipc.Msg{Type: int64(le.Uint64(b)), Data: b[8:]}
	switch {
	case m.Type < 1:
		return kernel.Fail(unix.EINVAL)
	case !q.Allows(t, ipc.Write):
		return kernel.Fail(unix.EACCES)
	case q.Full(len(m.Data)) && a[3]&ipc.NoWait != 0:
		return kernel.Fail(unix.EAGAIN)
	case q.Full(len(m.Data)):
		return t.Block(kernel.RestartNoHand, &q.Room)
	}
	q.Send(t, m)
	return kernel.Ret(0)
}

func sysMsgrcv(t *kernel.Thread, a Args) kernel.Result {
	w := ipc.MsgWant{Type: int64(a[3]), Size: int(a[2]), Flags: int(a[4])}
	copies := w.Flags&ipc.MsgCopy != 0
	if copies && (w.Flags&ipc.MsgExcept != 0 || w.Flags&ipc.NoWait == 0) {
		return kernel.Fail(unix.EINVAL)
	}
	if t.Wait.Woken {
		m, e := ipc.Got(t)
		return storeMsg(t, a, m, e)
	}
	if ipc.WaitsForMsg(t) {
		return t.Block(kernel.RestartNoHand)
	}
	q := ipc.MsgQueuesOf(t.Node()).Get(int(int32(a[0])))
	if q == nil || w.Size < 0 {
		return kernel.Fail(unix.EINVAL)
	}
	if !q.Allows(t, ipc.Read) {
		return kernel.Fail(unix.EACCES)
	}
	if copies {
		m, e := q.Copy(w)
		return storeMsg(t, a, m, e)
	}
	m, e := q.Receive(t, w)
	if e == unix.ENOMSG && w.Flags&ipc.NoWait == 0 {
		q.Wait(t, w)
		return t.Block(kernel.RestartNoHand)
	}
	return storeMsg(t, a, m, e)
}

// storeMsg writes a received message and returns its length.
func storeMsg(t *kernel.Thread, a Args, m ipc.Msg, e kernel.Errno) kernel.Result {
	if e != 0 {
		return kernel.Fail(e)
	}
	data := m.Data[:min(len(m.Data), int(a[2]))]
	return kernel.RetOr(len(data), t.M.WriteMem(a[1], append(le.AppendUint64(nil, uint64(m.Type)), data...)))
}

func sysMsgctl(t *kernel.Thread, a Args) kernel.Result {
	const stat, info, statAny = 11, 12, 13
	n, id, cmd := t.Node(), int(int32(a[0])), int32(a[1])
	if id < 0 || cmd < 0 {
		return kernel.Fail(unix.EINVAL)
	}
	switch cmd {
	case ipcInfo, info:
		return kernel.RetOr(ipc.MsgQueuesOf(n).Last(), t.M.WriteMem(a[2], msgInfo(n, cmd == info)))
	case stat, statAny:
		q, ok := ipc.MsgQueuesOf(n).At(id)
		if !ok {
			return kernel.Fail(unix.EINVAL)
		}
		return statMsgQueue(t, q, a[2], cmd == statAny, q.ID)
	}
	q := ipc.MsgQueuesOf(n).Get(id)
	if q == nil {
		return kernel.Fail(unix.EINVAL)
	}
	switch cmd {
	case ipcRmid:
		if !q.Owned(t) {
			return kernel.Fail(unix.EPERM)
		}
		ipc.MsgQueuesOf(n).Remove(q)
		return kernel.Ret(0)
	case ipcSet:
		return setMsgQueue(t, q, a[2])
	case ipcStat:
		return statMsgQueue(t, q, a[2], false, 0)
	}
	return kernel.Fail(unix.EINVAL)
}

// msgInfo lays out a struct msginfo: limits or, in part, what is in use.
func msgInfo(n *kernel.Node, used bool) []byte {
	message, queue, queues := ipc.MsgLimits(n)
	pool, headers, bytes := 512000, 16384, 16384 // whatever is set
	if used {
		list := ipc.MsgQueuesOf(n).All()
		pool, headers, bytes = len(list), 0, 0
		for _, q := range list {
			headers, bytes = headers+len(q.Msgs), bytes+q.Bytes
		}
	}
	const segment, segments = 16, 0xffff
	var b []byte
	for _, v := range []int{pool, headers, message, queue, queues, segment, bytes, segments} {
		b = le.AppendUint32(b, uint32(v))
	}
	return b
}

func setMsgQueue(t *kernel.Thread, q *ipc.MsgQueue, addr uint64) kernel.Result {
	b, e := readBytes(t, addr+88, 8)
	if e != 0 {
		return kernel.Fail(e)
	}
	size := int(le.Uint64(b))
	if _, most, _ := ipc.MsgLimits(t.Node()); size > most && !t.Capable(unix.CAP_SYS_RESOURCE) {
		return kernel.Fail(unix.EPERM)
	}
	if e := setIPC(t, &q.Perm, addr); e != 0 {
		return kernel.Fail(e)
	}
	q.MaxBytes = size
	q.Room.Notify(kernel.Out)
	return kernel.Ret(0)
}

// statMsgQueue writes a struct msqid64_ds and returns ret. anyone: whoever asks.
func statMsgQueue(t *kernel.Thread, q *ipc.MsgQueue, addr uint64, anyone bool, ret int) kernel.Result {
	if !anyone && !q.Allows(t, ipc.Read) {
		return kernel.Fail(unix.EACCES)
	}
	b := ipc64(&q.Perm)
	for _, v := range []uint64{seconds(t.Node(), q.Sent), seconds(t.Node(), q.Received), seconds(t.Node(), q.Changed),
		uint64(q.Bytes), uint64(len(q.Msgs)), uint64(q.MaxBytes)} {
		b = le.AppendUint64(b, v)
	}
	b = le.AppendUint32(le.AppendUint32(b, uint32(q.LastSender)), uint32(q.LastReceiver))
	return kernel.RetOr(ret, t.M.WriteMem(addr, append(b, make([]byte, 16)...)))
}
