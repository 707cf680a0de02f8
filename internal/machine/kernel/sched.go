package kernel

import "golang.org/x/sys/unix"

// Sched is a thread's scheduling policy as sched_setattr(2) has it. It is kept
// and shown; one thread of a node runs at a time whatever it says.
type Sched struct {
	Policy                    int
	Priority                  int
	ResetOnFork               bool
	Runtime, Deadline, Period uint64 // SCHED_DEADLINE, ns
	IOPrio                    int    // ioprio_set
}

// inherited is the policy of a new thread.
func (s Sched) inherited() Sched {
	if s.ResetOnFork {
		return Sched{Policy: unix.SCHED_NORMAL, IOPrio: s.IOPrio}
	}
	return s
}
