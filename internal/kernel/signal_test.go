package kernel

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestSigInfoRoundTrip(t *testing.T) {
	for _, i := range []SigInfo{
		{Signo: 10, Code: SIUser, PID: 5, UID: 1000},
		{Signo: 40, Code: SIQueue, PID: 5, UID: 1000, Value: 1<<63 + 7},
		{Signo: 40, Code: SITimer, TimerID: 3, Overrun: 9, Value: 8},
		{Signo: int(unix.SIGCHLD), Code: CLDKilled, PID: 6, UID: 7, Status: 9},
		{Signo: int(unix.SIGCHLD), Code: SIUser, PID: 6, UID: 7, Value: 4},
		{Signo: int(unix.SIGSEGV), Code: 1, Addr: 0xdeadbeef000},
		{Signo: int(unix.SIGIO), Code: 1, Band: unix.POLLIN, FD: 11},
		{Signo: 14, Code: SIKernel},
	} {
		b := i.Encode()
		if len(b) != SigInfoSize {
			t.Fatalf("%d bytes", len(b))
		}
		if got := DecodeSigInfo(b); got != i {
			t.Errorf("got %+v, want %+v", got, i)
		}
	}
}

// flat is a Machine over a few words of memory.
type flat struct {
	Machine
	mem []byte
}

const flatBase = 0x1000

func (f flat) ReadMem(addr uint64, b []byte) Errno {
	if addr < flatBase || addr+uint64(len(b)) > flatBase+uint64(len(f.mem)) {
		return unix.EFAULT
	}
	copy(b, f.mem[addr-flatBase:])
	return 0
}

func (f flat) WriteMem(addr uint64, b []byte) Errno {
	if addr < flatBase || addr+uint64(len(b)) > flatBase+uint64(len(f.mem)) {
		return unix.EFAULT
	}
	copy(f.mem[addr-flatBase:], b)
	return 0
}

// Whatever a program leaves in its robust list, its thread's end comes to an
// end, and only words that hold its id are changed.
func TestBrokenRobustLists(t *testing.T) {
	for seed := range uint64(500) {
		n := NewNode(0, "n0", seed)
		_, th := n.NewProcess(nil)
		f := flat{mem: make([]byte, 256)}
		th.M = f
		r := NewRand(seed)
		for i := 0; i < len(f.mem); i += 8 {
			v := uint64(th.TID)
			if r.Uint64()%3 > 0 {
				v = flatBase + r.Uint64()%uint64(len(f.mem)) // often a pointer into the list
			}
			for j := range 8 {
				f.mem[i+j] = byte(v >> (8 * j))
			}
		}
		before := append([]byte(nil), f.mem...)
		th.RobustList = flatBase + r.Uint64()%64*8
		th.Exit()
		for i := 0; i < len(before); i += 4 {
			old, now := getWord(before[i:]), getWord(f.mem[i:])
			if old != now && (old&FutexTIDMask != uint32(th.TID) || now != old&FutexWaiters|FutexOwnerDied) {
				t.Fatalf("seed %d: word %#x became %#x", seed, old, now)
			}
		}
	}
}

func getWord(b []byte) uint32 {
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

func TestIPCIDsAreNotReused(t *testing.T) {
	n := NewNode(0, "n0", 1)
	_, th := n.NewProcess(nil)
	th.Proc.SetUser(0, 0)
	seen := map[int]bool{}
	var live []*SemSet
	for range 200 {
		if len(live) > 0 && n.Rand.Uint64()%2 == 0 {
			i := int(n.Rand.Uint64() % uint64(len(live)))
			SemsOf(n).Remove(live[i])
			live = append(live[:i], live[i+1:]...)
			continue
		}
		s, e := SemsOf(n).Open(th, 0, 1, 0)
		if e != 0 || seen[s.ID] {
			t.Fatalf("id %d, %v", s.ID, e)
		}
		seen[s.ID] = true
		live = append(live, s)
		if SemsOf(n).Get(s.ID) != s {
			t.Fatalf("id %d leads elsewhere", s.ID)
		}
	}
}
