package kernel

import (
	"sort"

	"golang.org/x/sys/unix"
)

// Shm is a System V shared memory segment. Linux has the memory, under an id that
// the program never sees: a copy of the node may have made and removed segments that
// this one knows nothing of. What is shown is the node's: id, key, who has attached.
type Shm struct {
	IPCPerm
	Real               int // Linux's id
	Size               uint64
	Creator, Last      int   // processes
	Attached, Detached int64 // ns of CLOCK_REALTIME
	Removed            bool  // goes when nobody has it attached any more
}

func (s *Shm) perm() *IPCPerm { return &s.IPCPerm }

// Shms are the segments of a node.
type Shms struct{ ipcTable[*Shm] }

// ShmMax is the largest size of a segment (shmget(2)).
const ShmMax = 1<<64 - 1 - 1<<24

// ShmMap says which segment a process has attached at which address.
type ShmMap map[uint64]*Shm

// Open is shmget: alloc makes memory of the size and returns Linux's id for it.
func (m *Shms) Open(t *Thread, key int, size uint64, flags uint32, alloc func() (int, Errno)) (*Shm, Errno) {
	s, fresh, e := m.open(t, key, flags)
	switch {
	case e != 0:
		return nil, e
	case !fresh && size > s.Size, fresh && (size == 0 || size > ShmMax):
		return nil, unix.EINVAL
	case !fresh:
		return s, 0
	}
	real, e := alloc()
	if e != 0 {
		return nil, e
	}
	s = &Shm{IPCPerm: newPerm(t, key, flags), Real: real, Size: size, Creator: t.Proc.PID}
	m.add(s)
	return s, 0
}

// Get returns the segment of an id, or nil.
func (m *Shms) Get(id int) *Shm {
	s, _ := m.get(id)
	return s
}

// Remove is IPC_RMID. Linux keeps the memory, which other copies of the node may
// still need, until the node is gone.
func (m *Shms) Remove(n *Node, s *Shm) {
	s.Removed, s.Key = true, 0
	m.leave(n, s)
}

// leave forgets a removed segment that nobody has attached.
func (m *Shms) leave(n *Node, s *Shm) {
	if s.Removed && s.Attachments(n) == 0 {
		m.remove(s)
	}
}

// Attachments is how often it is attached.
func (s *Shm) Attachments(n *Node) int {
	count := 0
	for _, p := range n.Procs {
		for _, at := range p.Shm {
			if at == s {
				count++
			}
		}
	}
	return count
}

// AttachShm notes that t has attached a segment at addr, DetachShm that it has
// detached what was there.
func (t *Thread) AttachShm(s *Shm, addr uint64) {
	t.Proc.Shm[addr] = s
	s.Last, s.Attached = t.Proc.PID, t.Node().realNow()
	t.Node().SharesMemory = true
}
func (t *Thread) DetachShm(addr uint64) { t.Proc.detachShm(addr) }

func (p *Process) detachShm(addr uint64) {
	s := p.Shm[addr]
	if s == nil {
		return
	}
	delete(p.Shm, addr)
	s.Last, s.Detached = p.PID, p.Node.realNow()
	p.Node.Shms.leave(p.Node, s)
}

// fork returns a copy for a child.
func (m ShmMap) fork() ShmMap {
	c := ShmMap{}
	for addr, s := range m {
		c[addr] = s
	}
	return c
}

// leaveShm detaches all: the process ends or runs another program.
func (p *Process) leaveShm() {
	var at []uint64
	for addr := range p.Shm {
		at = append(at, addr)
	}
	sort.Slice(at, func(i, j int) bool { return at[i] < at[j] })
	for _, addr := range at {
		p.detachShm(addr)
	}
}
