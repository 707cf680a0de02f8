//go:build linux

package node

import (
	"fmt"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"
	"github.com/ariadne-mc/ariadne/internal/machine/sys"

	"golang.org/x/sys/unix"
)

// Frozen processes have files open and mapped, and Linux does not execute what somebody has
// open for writing, nor seals what somebody has mapped writable. Where it refuses something
// because of them, a node without copies would go another way: that is counted, and the
// step is marked.

// onlyFrozen counts that a checkpoint stood in the way of th.
func (n *Node) onlyFrozen(th *thread, what string) {
	n.k.Refuse(th.k, what, "a checkpoint uses the file; --strategy random makes none", false)
	n.step.unreplayable = true
}

// checkBusy looks whether a call that failed with ETXTBSY failed because of the node's own
// processes.
func (n *Node) checkBusy(th *thread) {
	if n.home.users < 2 {
		return
	}
	own := false
	sys.Paths(th.k, func(name string, _ bool) {
		at, _, _ := n.follow(name)
		var st unix.Stat_t
		own = own || unix.Fstatat(n.home.view.root, at[1:], &st, 0) == nil &&
			n.uses(inode.Key{Dev: st.Dev, Ino: st.Ino})
	})
	if !own {
		n.onlyFrozen(th, callName(th.k.Call.NR)+" of a busy file")
	}
}

// uses reports whether a process executes the file, or has it open for writing.
func (n *Node) uses(key inode.Key) bool {
	for _, p := range n.hostFiles() {
		if p.file.Key() == key && p.flags&unix.O_ACCMODE != unix.O_RDONLY {
			return true
		}
	}
	for _, p := range n.processes() {
		var st unix.Stat_t
		if unix.Stat(fmt.Sprintf("/proc/%d/exe", p.threads[0].tr.TID), &st) == nil && st.Dev == key.Dev &&
			st.Ino == key.Ino {
			return true
		}
	}
	return false
}

// sealsFrozen reports whether th is about to seal a memory file that a checkpoint may have:
// there it is not sealed, and no seal is ever broken.
func (n *Node) sealsFrozen(th *thread) bool {
	c := &th.k.Call
	if c.NR != unix.SYS_FCNTL || int(c.Args[1]) != unix.F_ADD_SEALS || n.home.tree == nil {
		return false
	}
	h, ok := th.k.Proc.FDs.Get(int(int32(c.Args[0]))).File.(*kernel.HostFile)
	if !ok || !n.home.tree.Follows(n.treeID(h.Key())) {
		return false
	}
	n.onlyFrozen(th, "fcntl F_ADD_SEALS")
	return true
}
