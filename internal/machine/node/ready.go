//go:build linux

package node

import (
	"slices"

	"golang.org/x/sys/unix"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/inet"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/tcp"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/udp"
)

// ready reports whether the node is, at the end of a step, what it must be for others to be
// switched on.
func (n *Node) ready(lines []ariadne.LogLine) bool {
	r := &n.cfg.Ready
	if r.Line != nil {
		return slices.ContainsFunc(lines, func(l ariadne.LogLine) bool {
			return l.Stream != ariadne.Exposed && r.Line.MatchString(l.Text)
		})
	}
	if r.Port == 0 || n.step.over() {
		return false
	}
	for _, family := range []int{unix.AF_INET, unix.AF_INET6} {
		if slices.ContainsFunc(tcp.List(n.k, family), func(e inet.Entry) bool {
			return inet.State(e.State) == inet.Listening && serves(&e, r.Port)
		}) ||
			slices.ContainsFunc(udp.List(n.k, family), func(e inet.Entry) bool {
				return !e.Remote.IsValid() && serves(&e, r.Port)
			}) {
			return true
		}
	}
	return false
}

// serves reports whether other nodes reach a socket at a port.
func serves(e *inet.Entry, port uint16) bool {
	return e.Local.Port() == port && !e.Local.Addr().IsLoopback()
}
