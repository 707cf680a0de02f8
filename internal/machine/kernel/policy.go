package kernel

// MemoryPolicy says from which memory nodes a thread wants memory (set_mempolicy(2)). There is one,
// so it is remembered and shown, and changes nothing.
type MemoryPolicy struct {
	Mode  int
	Nodes uint64
}
