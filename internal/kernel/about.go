package kernel

// What a node says of itself, the same on every host (uname, sysinfo, /proc).
const (
	Release  = "6.1.0"
	Version  = "#1 SMP"
	MemTotal = uint64(4 << 30) // bytes
	MemFree  = uint64(3 << 30)
	MaxFiles = uint64(1048576) // /proc/sys/fs/nr_open
)
