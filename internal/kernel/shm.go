package kernel

// Shm is what the node knows of a System V shared memory segment that Linux does
// not: Linux has it, in the node's own IPC namespace, with real ids and times.
type Shm struct {
	UID, GID, CUID, CGID int
	Creator, Last        int   // processes
	Attached, Changed    int64 // s of CLOCK_REALTIME
}

// MadeShm notes that t has made or found the segment id.
func (t *Thread) MadeShm(id int) {
	n := t.Node()
	if n.Shm[id] == nil {
		u, g := t.Proc.UID, t.Proc.GID
		n.Shm[id] = &Shm{UID: u, GID: g, CUID: u, CGID: g, Creator: t.Proc.PID, Changed: n.realNow() / 1e9}
	}
}

// UsedShm notes that t has attached the segment.
func (t *Thread) UsedShm(id int) {
	if s := t.Node().Shm[id]; s != nil {
		s.Last, s.Attached = t.Proc.PID, t.Node().realNow()/1e9
	}
}
