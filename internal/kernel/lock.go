package kernel

// Locks are the node's file locks: flock, POSIX record locks, OFD locks.
type Locks struct{}

func (l *Locks) init() {}
