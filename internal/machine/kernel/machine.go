package kernel

import (
	"cmp"
	"fmt"

	"github.com/ariadne-mc/ariadne"
)

// The machine that every node shows: uname, sysinfo, /proc and /sys agree.
const (
	OSRelease = "6.1.0-ariadne"
	// OSRelease26 is what UNAME26 makes of it: 60 and the minor number.
	OSRelease26 = "2.6.61-ariadne"
	OSVersion   = "#1 SMP PREEMPT_DYNAMIC Ariadne"

	MemTotal = 8 << 30 // bytes
	PIDMax   = 32768
)

// VersionLine is the content of /proc/version.
func VersionLine() string {
	return "Linux version " + OSRelease + " (ariadne@localhost) (gcc 12.2.0) " + OSVersion
}

// MemTotal is how much memory the node has, MemFree how much of it is shown to be free.
func (n *Node) MemTotal() int64 {
	if n.Memory > 0 {
		return n.Memory
	}
	return MemTotal
}

// MemoryForObjects is how many bytes objects of the kernel of a machine with so much memory may
// hold, and its messages that have not arrived: half of it. 0: the machine has MemTotal.
func MemoryForObjects(memory int64) int64 { return cmp.Or(memory, MemTotal) / 2 }

func (n *Node) MemFree() int64 { return n.MemTotal() / 2 }

// MemInfo is the content of /proc/meminfo of a machine with so much memory.
func MemInfo(memory int64) string {
	MemTotal, MemFree := int(memory), int(memory)/2
	kb := func(name string, bytes int) string { return fmt.Sprintf("%-16s%8d kB\n", name+":", bytes/1024) }
	return kb("MemTotal", MemTotal) + kb("MemFree", MemFree) + kb("MemAvailable", MemFree+MemFree/2) +
		kb("Buffers", 0) + kb("Cached", MemFree/2) + kb("SwapCached", 0) + kb("Active", MemFree/4) + kb("Inactive",
		MemFree/4) +
		kb("SwapTotal", 0) + kb("SwapFree", 0) + kb("Dirty", 0) + kb("Writeback", 0) + kb("AnonPages", MemFree/4) +
		kb("Mapped", MemFree/16) + kb("Shmem", 0) + kb("Slab", MemFree/64) + kb("CommitLimit",
		MemTotal/2) + kb("Committed_AS", MemFree/4) +
		kb("VmallocTotal", 1<<45) + kb("VmallocUsed",
		0) + "HugePages_Total:       0\nHugePages_Free:        0\n" + kb("Hugepagesize", 2<<20)
}

// EthernetAddr is the hardware address of a node's eth0.
func EthernetAddr(id ariadne.NodeID) [6]byte {
	return [6]byte{0x02, 0, 0, 0, byte((id + 1) >> 8), byte(id + 1)}
}
