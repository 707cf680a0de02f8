//go:build linux

package node

import (
	"slices"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
	"github.com/ariadne-mc/ariadne/internal/leaf/inspect"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/tcp"
	"github.com/ariadne-mc/ariadne/internal/machine/sys"

	"golang.org/x/sys/unix"
)

// Watch implements inspect.Steppable.
func (n *Node) Watch(f func(*inspect.Effect) error) { n.watching = f }

// effected is how much a step had brought about when it was looked at last.
type effected struct {
	messages, lines int
	unflushed       []tcp.Unflushed
	log             *disk.Log
}

func (n *Node) effected() effected {
	return effected{len(n.k.Out), len(n.k.Logs), tcp.AllUnflushed(n.k), n.k.Files.Log}
}

// handleWatched runs the handler of the call that th stands in. If somebody watches the node, the
// watcher sees the effect of the call.
func (n *Node) handleWatched(th *thread) kernel.Result {
	if n.watching == nil {
		return sys.Handle(th.k)
	}
	if th.k.Call.NR == unix.SYS_EXIT_GROUP {
		n.watchEnd(th)
	}
	before := n.effected()
	r := sys.Handle(th.k)
	after := n.effected()
	e := inspect.Effect{PID: th.k.Proc.PID, TID: th.k.TID,
		Messages: [2]int{before.messages, after.messages}, Lines: [2]int{before.lines, after.lines}}
	for _, op := range after.log.Since(before.log) {
		if op.Changes() {
			e.Operations = append(e.Operations, op.String())
		}
	}
	for _, u := range after.unflushed {
		if !slices.Contains(before.unflushed, u) {
			e.Flows = append(e.Flows, u.Flow)
		}
	}
	if before.messages < after.messages || before.lines < after.lines || len(e.Operations)+len(e.Flows) > 0 {
		must(n.watching(&e))
	}
	return r
}
