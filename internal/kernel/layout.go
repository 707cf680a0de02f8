package kernel

// Ariadne's own mapping in every process of a node: the same addresses in all.
// The first page is the clock (virtual time, read by the vDSO image without a
// stop), then the vDSO image, then scratch memory for injected calls. Clock and
// scratch are shared by the node's processes: only one thread runs at a time.
const (
	AreaBase    = 0x6f0000000000
	ClockAddr   = AreaBase
	VDSOAddr    = AreaBase + 0x1000
	ScratchAddr = AreaBase + 0x3000
	ScratchSize = 0x3000
	AreaSize    = 0x6000
)
