package kernel

import "github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/area"

// kept is what a call has read of its arguments in memory. Linux reads most of them once, when the
// call begins. A handler that runs again finds here what it read then, whatever other threads have
// written there since.
type kept struct {
	at    []keptAt
	bytes []byte
	next  int // a handler reads in the same order again
}

// keptAt is bytes[from:from+size], read at addr.
type keptAt struct {
	addr       uint64
	from, size int
}

// ReadOnce is M.ReadMem for the arguments of a call that Linux reads once, before it waits. Memory
// that Linux reads late, as data that is to be sent when there is room, is read by M.ReadMem.
func (t *Thread) ReadOnce(addr uint64, b []byte) Errno {
	if t.Wait.Runs > 0 && t.kept.read(addr, b) {
		return 0
	}
	e := t.M.ReadMem(addr, b)
	if e == 0 && !area.Holds(addr) {
		t.kept.add(addr, b)
	}
	return e
}

// ReadAgain has all be read again that the call reads from now on: of several messages each is one.
func (t *Thread) ReadAgain() { t.kept.forget() }

func (k *kept) add(addr uint64, b []byte) {
	k.at = append(k.at, keptAt{addr, len(k.bytes), len(b)})
	k.bytes = append(k.bytes, b...)
}

func (k *kept) read(addr uint64, b []byte) bool {
	for range k.at {
		if k.next >= len(k.at) {
			k.next = 0
		}
		x := k.at[k.next]
		k.next++
		if x.addr == addr && x.size == len(b) {
			copy(b, k.bytes[x.from:])
			return true
		}
	}
	return false
}

// forget keeps no more than the memory for what comes next, unless that is much.
func (k *kept) forget() {
	const much = 1 << 16
	if cap(k.bytes) > much {
		*k = kept{}
		return
	}
	*k = kept{at: k.at[:0], bytes: k.bytes[:0]}
}
