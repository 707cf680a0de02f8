//go:build linux

package system

import (
	"sync"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
	"github.com/ariadne-mc/ariadne/internal/machine/node"
	"github.com/ariadne-mc/ariadne/internal/machine/tracee"
	"github.com/ariadne-mc/ariadne/internal/system/machines"

	"golang.org/x/sys/unix"
)

// Processes is the Factory of real processes. All that is started by a thread is
// pinned to one processor (Enter).
type Processes struct {
	// Files, when not nil, is told behind each step of a node all that has been done to its files.
	Files func(ariadne.NodeID, *disk.Log)
	// Pages: checkpoints are pages where that is possible, and nodes go back to them in place.
	Pages bool
}

// Enter implements Places.
func (Processes) Enter(i int) error {
	cpus, err := processors()
	if err != nil {
		return err
	}
	return tracee.Pin(cpus[i%len(cpus)])
}

// Start implements Factory.
func (p Processes) Start(c NodeConfig) (memo.Instance, error) {
	n := node.Start(node.Config{
		Machine: machines.Of(c.Spec, int(c.Node.ID), nodeSeed(c.Spec.Seed, int(c.Node.ID))), TraceCalls: c.Calls,
		Interrupt: c.Interrupt,
		Logs:      p.Files != nil, Seen: c.Seen, Pages: p.Pages,
	})
	return freezable{starting{n, c.Spec, c.Node, c.Learnt, c.Sought, p.Files}}, nil
}

// nodeSeed gives each node a seed of its own: equal ones make elections drag.
func nodeSeed(seed uint64, index int) uint64 {
	return (seed+1)*0x9e3779b97f4a7c15 ^ uint64(index+1)*0xc2b2ae3d27d4eb4f
}

// processors lists those that Ariadne may use, as it was started.
var processors = sync.OnceValues(func() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, err
	}
	var cpus []int
	for i := range 1024 {
		if set.IsSet(i) {
			cpus = append(cpus, i)
		}
	}
	return cpus, nil
})
