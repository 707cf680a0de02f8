//go:build linux

package node

import (
	"fmt"
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/tcp"
)

// exposePorts exposes at which TCP ports the node's programs take connections at the end of a step:
// now, and before its last crash. A port that they close themselves is none.
func (n *Node) exposePorts() {
	if n.cfg.Serves == nil || n.step.over() || n.alive() == 0 {
		return
	}
	var ports []string
	for _, pid := range n.k.PIDs() {
		p := n.k.Procs[pid]
		if p.Dead {
			continue
		}
		for _, fd := range p.FDs.Numbers() {
			// A port that the kernel has chosen is another one the next time.
			if c, ok := p.FDs.Get(fd).File.(*tcp.Socket); ok && c.Listening() && c.Bound.Port() != 0 {
				ports = append(ports, fmt.Sprint(c.Bound.Port()))
			}
		}
	}
	slices.Sort(ports)
	ports = slices.Compact(ports)
	for _, name := range n.cfg.Serves {
		for _, port := range n.serves {
			if !slices.Contains(ports, port) {
				n.k.Expose(0, ariadne.Exposure{Name: name, Key: port, Ends: true})
			}
		}
		for _, port := range ports {
			if !slices.Contains(n.serves, port) {
				n.k.Expose(0, ariadne.Exposure{Name: name, Values: []string{port}})
			}
		}
	}
	n.serves = ports
}
