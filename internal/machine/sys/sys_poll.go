package sys

import (
	"math/bits"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

func sysPoll(t *kernel.Thread, a Args) kernel.Result {
	if ms := int64(int32(a[2])); ms >= 0 {
		setTimeout(t, ariadne.Time(ms*1e6))
	}
	return poll(t, a[0], a[1], kernel.RestartNoHand)
}

func sysPpoll(t *kernel.Thread, a Args) kernel.Result {
	if e := timeoutArg(t, a[2], readTimespec); e != 0 {
		return kernel.Fail(e)
	}
	if e := swapMask(t, a[3], a[4]); e != 0 {
		return kernel.Fail(e)
	}
	r := poll(t, a[0], a[1], kernel.RestartNoHand)
	storeRemaining(t, r, a[2], appendTimespec)
	return r
}

// poll looks at nfds descriptors once and decides.
func poll(t *kernel.Thread, addr, nfds uint64, restart kernel.Restart) kernel.Result {
	if most, _ := t.Proc.Rlimit(unix.RLIMIT_NOFILE); nfds > most {
		return kernel.Fail(unix.EINVAL)
	}
	b, e := readBytes(t, addr, int(nfds)*8)
	if e != 0 {
		return kernel.Fail(e)
	}
	var queues []*kernel.Queue
	count := 0
	for p := b; len(p) > 0; p = p[8:] {
		ev, q := ready(t, fdOf(uint64(le.Uint32(p))), kernel.Events(le.Uint16(p[4:])))
		le.PutUint16(p[6:], uint16(ev))
		if ev != 0 {
			count++
		}
		queues = append(queues, q)
	}
	if count == 0 && (!timedOut(t) || t.HasSignal()) {
		return t.Block(restart, queues...)
	}
	if t.Wait.Runs > 0 {
		// Linux writes what has come and nothing else.
		if now, e := readLate(t, addr, len(b)); e == 0 {
			for i := 0; i < len(b); i += 8 {
				copy(b[i:i+6], now[i:])
			}
		}
	}
	if e := t.M.WriteMem(addr, b); e != 0 {
		return kernel.Fail(e)
	}
	return kernel.Ret(int64(count))
}

// ready returns which of the wanted events hold for fd, and where changes are
// announced. Negative numbers are passed over.
func ready(t *kernel.Thread, fd int, want kernel.Events) (kernel.Events, *kernel.Queue) {
	if fd < 0 {
		return 0, nil
	}
	of := t.FDs().Get(fd)
	if of == nil || of.Flags&unix.O_PATH != 0 {
		return kernel.NVal, nil
	}
	return of.File.Ready() & (want | kernel.Err | kernel.Hup), of.File.Changed()
}

// readSelectTimeout reads a struct timeval in which, as select(2) alone allows,
// the microseconds may make up seconds.
func readSelectTimeout(t *kernel.Thread, addr uint64) (ariadne.Time, kernel.Errno) {
	b, e := readBytes(t, addr, 16)
	if e != 0 {
		return 0, e
	}
	sec, usec := int64(le.Uint64(b)), int64(le.Uint64(b[8:]))
	if sec < 0 || usec < 0 {
		return 0, unix.EINVAL
	}
	return asTime(sec+usec/1e6, usec%1e6*1000)
}

// storeRemaining writes what is left of the timeout back, as ppoll, select and
// pselect6 do however they end.
func storeRemaining(t *kernel.Thread, r kernel.Result, addr uint64, layout func([]byte, ariadne.Time) []byte) {
	if addr == 0 || t.Proc.Persona&stickyTimeouts != 0 || !t.Wait.HasDeadline || r.Op == kernel.OpBlock &&
		!interrupted(t) {
		return
	}
	// Linux ignores a fault here too.
	left := max(0, t.Wait.Deadline-t.Node().Now)
	t.M.WriteMem(addr, layout(nil, left))
	if left > 0 {
		t.Node().TellTime()
	}
}

func sysSelect(t *kernel.Thread, a Args) kernel.Result {
	if e := timeoutArg(t, a[4], readSelectTimeout); e != 0 {
		return kernel.Fail(e)
	}
	r := selectFDs(t, a)
	storeRemaining(t, r, a[4], appendTimeval)
	return r
}

func sysPselect6(t *kernel.Thread, a Args) kernel.Result {
	if e := timeoutArg(t, a[4], readTimespec); e != 0 {
		return kernel.Fail(e)
	}
	if a[5] != 0 {
		b, e := readBytes(t, a[5], 16)
		if e != 0 {
			return kernel.Fail(e)
		}
		if e := swapMask(t, le.Uint64(b), le.Uint64(b[8:])); e != 0 {
			return kernel.Fail(e)
		}
	}
	r := selectFDs(t, a)
	storeRemaining(t, r, a[4], appendTimespec)
	return r
}

const (
	pollRdBand = 0x80
	pollWrBand = 0x200
)

// selectEvents are the poll events that put a descriptor into each of select's three sets.
var selectEvents = [3]kernel.Events{
	kernel.In | kernel.RdNorm | pollRdBand | kernel.Hup | kernel.Err | kernel.NVal,
	kernel.Out | kernel.WrNorm | pollWrBand | kernel.Err | kernel.NVal,
	kernel.Pri | kernel.NVal,
}

// selectFDs looks at the descriptors of the three sets once and decides.
func selectFDs(t *kernel.Thread, a Args) kernel.Result {
	nfds := int(int32(a[0]))
	if nfds < 0 {
		return kernel.Fail(unix.EINVAL)
	}
	nfds = min(nfds, tableSize(t.FDs()))
	var sets, out [3][]byte
	size := (nfds + 63) / 64 * 8
	for i, addr := range a[1:4] {
		sets[i], out[i] = make([]byte, size), make([]byte, size)
		if addr == 0 {
			continue
		}
		if e := t.ReadOnce(addr, sets[i]); e != 0 {
			return kernel.Fail(e)
		}
	}
	count, queues, e := selectScan(t, nfds, sets, out)
	if e != 0 {
		return kernel.Fail(e)
	}
	if count == 0 && (!timedOut(t) || t.HasSignal()) {
		return t.Block(kernel.RestartNoHand, queues...)
	}
	for i, addr := range a[1:4] {
		if addr == 0 {
			continue
		}
		if e := t.M.WriteMem(addr, out[i]); e != 0 {
			return kernel.Fail(e)
		}
	}
	return kernel.Ret(int64(count))
}

// selectScan fills out with the ready members of sets.
func selectScan(t *kernel.Thread, nfds int, sets, out [3][]byte) (count int, queues []*kernel.Queue, e kernel.Errno) {
	for fd := 0; fd < nfds; fd++ {
		at, bit := fd/8, byte(1)<<(fd%8)
		if (sets[0][at]|sets[1][at]|sets[2][at])&bit == 0 {
			continue
		}
		if t.FDs().Get(fd) == nil {
			return 0, nil, unix.EBADF
		}
		ev, q := ready(t, fd, ^kernel.Events(0))
		queues = append(queues, q)
		for i, mask := range selectEvents {
			if sets[i][at]&bit != 0 && ev&mask != 0 {
				out[i][at] |= bit
				count++
			}
		}
	}
	return count, queues, 0
}

// tableSize is how many numbers a descriptor table has room for, roughly as in
// Linux: select looks at no higher ones, even if they are in its sets.
func tableSize(f *kernel.FDTable) int {
	highest := 0
	if s := f.Numbers(); len(s) > 0 {
		highest = s[len(s)-1]
	}
	return max(64, 1<<bits.Len(uint(highest)))
}
