package ipc

import (
	"maps"
	"math"
	"slices"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// Shm is a System V shared memory segment. Linux has the memory, under an id that
// the program never sees: a copy of the node may have made and removed segments that
// this one knows nothing of. Programs see the id, the key and the attached processes of this node.
type Shm struct {
	Perm
	Real               int // Linux's id
	Size               uint64
	Creator, Last      int   // processes
	Attached, Detached int64 // ns of CLOCK_REALTIME
	Removed            bool  // goes when nobody has it attached any more
	Locked             bool  // SHM_LOCK
}

func (s *Shm) perm() *Perm { return &s.Perm }

// Shms are the segments of a node.
type Shms struct {
	table[*Shm]
	gone []*Shm // the node has them no longer, and Linux has them still
}

var (
	shms     = kernel.NewSlot[*kernel.Node, Shms]()
	attached = kernel.NewSlot[*kernel.Process, shmMap]()
)

// ShmsOf returns the node's segments.
func ShmsOf(n *kernel.Node) *Shms { return shms.Of(n) }

func init() {
	kernel.Register("ipc", kernel.Hooks{
		Forks: func(parent, child *kernel.Process, flags uint64) {
			if m := attached.Peek(parent); m != nil && flags&unix.CLONE_VM == 0 {
				*attached.Of(child) = maps.Clone(*m)
			}
		},
		Execs:        func(t *kernel.Thread) { leaveShm(t.Proc) },
		ProcessExits: leaveShm,
	})
}

// shmMax is the largest size of a segment at first (shmget(2)).
const shmMax = 1<<64 - 1 - 1<<24

const pageSize = 4096

// The settings of segments: bytes in one, pages in all, segments.
var (
	shmMaxSize = kernel.NewUnsignedSetting("kernel/shmmax", shmMax)
	shmAll     = kernel.NewUnsignedSetting("kernel/shmall", shmMax)
	shmMni     = kernel.NewSetting("kernel/shmmni", 0, 32768, 4096)
	shmNext    = kernel.NewSetting("kernel/shm_next_id", 0, math.MaxInt32, -1)
)

// ShmLimits are these.
func ShmLimits(n *kernel.Node) (size, pages uint64, segments int) {
	return uint64(shmMaxSize.Of(n)), uint64(shmAll.Of(n)), int(shmMni.Of(n))
}

// Pages is how many a segment has.
func (s *Shm) Pages() uint64 { return pages(s.Size) }

func pages(size uint64) uint64 { return (size + pageSize - 1) / pageSize }

// Pages is how many all segments have.
func (m *Shms) Pages() (n uint64) {
	for _, s := range m.objects {
		n += s.Pages()
	}
	return n
}

// shmMap says which segment a process has attached at which address.
type shmMap map[uint64]*Shm

// AttachedAt returns the segment that p has attached at addr, or nil.
func AttachedAt(p *kernel.Process, addr uint64) *Shm {
	if m := attached.Peek(p); m != nil {
		return (*m)[addr]
	}
	return nil
}

// TakeGone returns Linux's ids of the segments that the node has no longer.
func (m *Shms) TakeGone() (real []int) {
	for _, s := range m.gone {
		real = append(real, s.Real)
	}
	m.gone = nil
	return real
}

// GonePages is how many pages these have.
func (m *Shms) GonePages() (n uint64) {
	for _, s := range m.gone {
		n += s.Pages()
	}
	return n
}

// Open is shmget: alloc makes memory of the size and returns Linux's id for it. All segments
// together have no more pages than the machine, whatever the settings are.
func (m *Shms) Open(t *kernel.Thread, key int, size uint64, flags uint32, alloc func() (int, kernel.Errno)) (*Shm,
	kernel.Errno) {
	s, fresh, e := m.findObject(t, key, flags)
	most, all, segments := ShmLimits(t.Node())
	switch {
	case e != 0:
		return nil, e
	case !fresh && size > s.Size, fresh && (size == 0 || size > most):
		return nil, unix.EINVAL
	case !fresh:
		return s, 0
	case m.Pages()+pages(size) > all || len(m.objects) >= segments:
		return nil, unix.ENOSPC
	case m.Pages()+pages(size) > uint64(t.Node().MemTotal())/pageSize:
		return nil, unix.ENOMEM
	}
	real, e := alloc()
	if e != 0 {
		return nil, e
	}
	s = &Shm{Perm: NewPerm(t, key, flags), Real: real, Size: size, Creator: t.Proc.PID}
	m.add(t.Node(), shmNext, s)
	return s, 0
}

// Get returns the segment of an id, or nil.
func (m *Shms) Get(id int) *Shm {
	s, _ := m.get(id)
	return s
}

// Remove is IPC_RMID. Linux keeps the memory, which other copies of the node may
// still need (TakeGone).
func (m *Shms) Remove(n *kernel.Node, s *Shm) {
	s.Removed = true
	m.forgetKey(s)
	m.leave(n, s)
}

// leave forgets a removed segment that nobody has attached.
func (m *Shms) leave(n *kernel.Node, s *Shm) {
	if s.Removed && s.Attachments(n) == 0 {
		m.remove(s)
		m.gone = append(m.gone, s)
	}
}

// Attachments is how often it is attached.
func (s *Shm) Attachments(n *kernel.Node) int {
	count := 0
	for _, p := range n.Procs {
		m := attached.Peek(p)
		if m == nil {
			continue
		}
		for _, at := range *m {
			if at == s {
				count++
			}
		}
	}
	return count
}

// AttachShm notes that t has attached a segment at addr, DetachShm that it has
// detached what was there.
func AttachShm(t *kernel.Thread, s *Shm, addr uint64) {
	m := attached.Of(t.Proc)
	if *m == nil {
		*m = shmMap{}
	}
	(*m)[addr] = s
	s.Last, s.Attached = t.Proc.PID, t.Node().RealNow()
	t.Node().SharesMemory = true
}
func DetachShm(t *kernel.Thread, addr uint64) { detachShm(t.Proc, addr) }

func detachShm(p *kernel.Process, addr uint64) {
	s := AttachedAt(p, addr)
	if s == nil {
		return
	}
	delete(*attached.Of(p), addr)
	s.Last, s.Detached = p.PID, p.Node.RealNow()
	shms.Of(p.Node).leave(p.Node, s)
}

// leaveShm detaches all: the process ends or runs another program.
func leaveShm(p *kernel.Process) {
	m := attached.Peek(p)
	if m == nil {
		return
	}
	for _, addr := range slices.Sorted(maps.Keys(*m)) {
		detachShm(p, addr)
	}
}
