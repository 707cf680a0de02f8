package kernel

import "sort"

// Shm is what the node knows of a System V shared memory segment. Linux has the
// memory, in the node's own IPC namespace, with real ids and times.
type Shm struct {
	UID, GID, CUID, CGID        int
	Creator, Last               int   // processes
	Attached, Detached, Changed int64 // s of CLOCK_REALTIME
}

// ShmMap says which segment a process has attached at which address.
type ShmMap map[uint64]int

// MadeShm notes that t has made or found the segment id.
func (t *Thread) MadeShm(id int) {
	n := t.Node()
	if n.Shm[id] == nil {
		u, g := t.Proc.UID, t.Proc.GID
		n.Shm[id] = &Shm{UID: u, GID: g, CUID: u, CGID: g, Creator: t.Proc.PID, Changed: n.realNow() / 1e9}
	}
}

// AttachedShm notes that t has attached a segment at addr, DetachedShm that it
// has detached what was there.
func (t *Thread) AttachedShm(id int, addr uint64) {
	t.Proc.Shm[addr] = id
	if s := t.Node().Shm[id]; s != nil {
		s.Last, s.Attached = t.Proc.PID, t.Node().realNow()/1e9
	}
}
func (t *Thread) DetachedShm(addr uint64) { t.Proc.detachShm(addr) }

func (p *Process) detachShm(addr uint64) {
	if s := p.Node.Shm[p.Shm[addr]]; s != nil {
		s.Last, s.Detached = p.PID, p.Node.realNow()/1e9
	}
	delete(p.Shm, addr)
}

// fork returns a copy for a child.
func (m ShmMap) fork() ShmMap {
	c := ShmMap{}
	for addr, id := range m {
		c[addr] = id
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
