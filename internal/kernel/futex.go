package kernel

// Futexes are the node's futex queues.
type Futexes struct{}

func (f *Futexes) init() {}
