//go:build linux

package node

import (
	"fmt"
	"os"
	"path"

	"ariadne"
	"ariadne/internal/kernel/dialog"
	"ariadne/internal/kernel/net"
	"ariadne/internal/sys"

	"golang.org/x/sys/unix"
)

// A node that is down has no processes. Its files are as they were. When only its programs were
// killed (ariadne.Crashed), its kernel lives on, and answers what arrives. When the machine
// stopped (ariadne.Stopped), a new kernel begins, and what was in memory is gone.

// falls enters the call at whose entry th stands as a place of the step, if the node may go down
// there, and reports whether it does. It is one where something that others can see, or that
// stays, has happened since the last such place, or the beginning of the step.
func (n *Node) falls(th *thread) bool {
	if th.k.Call.Passed || n.outages == nil {
		return false
	}
	on, ok := sys.Visible(th.k)
	if !ok {
		return false
	}
	if !n.step.visible {
		n.step.visible = true
		return false
	}
	if dialog.Spared(n.k) {
		return false
	}
	taken := n.step.course.At(th.k.TID, callName(th.k.Call.NR)+"/before", on, n.outages)
	if taken == "" {
		return false
	}
	o, err := ariadne.ParseOutage(taken)
	must(err)
	n.step.outage = &o
	return true
}

// fall takes the node down.
func (n *Node) fall(o ariadne.Outage) {
	k := n.k
	if o.Down == ariadne.Stopped {
		net.Flush(k) // that is under way; its end nobody hears of
	}
	exits, ended, sent := k.Exits, k.CommandsEnded, k.Out
	n.keepSegments()
	for _, pid := range k.PIDs() {
		p := k.Procs[pid]
		if p == nil || p.Dead || p == k.Init.Proc {
			continue
		}
		n.endProcess(p, 0, int(unix.SIGKILL), false)
	}
	k.Exits, k.CommandsEnded = exits, ended // of a fault nobody dies
	n.polled, n.calm, n.house = polling{}, 0, 0
	n.step.down, n.step.back = o.Down, ariadne.EndOf(k.Now, o.For, 0)
	if o.Down == ariadne.Stopped {
		k.Out = sent
		n.powerOff(o)
	}
}

// powerOff leaves of the machine what is on its disks.
func (n *Node) powerOff(o ariadne.Outage) {
	old := n.k
	n.closeCarried()
	n.boots++
	n.k = newKernel(n.cfg, n.def, n.boots)
	k := n.k
	k.Files = old.Files
	clear(k.Files.Mapped)
	k.Logs, k.Exits, k.Refusals, k.Used, k.Asked = old.Logs, old.Exits, old.Refusals, old.Used, old.Asked
	k.Out, k.RealBase = old.Out, old.RealBase
	// Nothing happens to it before it is switched on, or ever.
	k.Now = ariadne.EndOf(old.Now, max(o.For, 0), 0)
	// It has run for as long as it was down, at most.
	k.MonoBase = -int64(k.Now) + int64(k.Rand.Uint64()%uint64(k.Now-old.Now+1))
	n.orphans = nil
	base, _ := n.ownFiles()
	for _, dir := range []string{"tmp", "run", "dev/shm"} {
		must(emptyDir(path.Join(base, dir)))
	}
	n.files = nil // what has changed was not told
}

// emptyDir removes what is in a directory, which need not be there.
func emptyDir(dir string) error {
	list, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		return nil
	}
	for _, e := range list {
		if err == nil {
			err = os.RemoveAll(path.Join(dir, e.Name()))
		}
	}
	if err != nil {
		return fmt.Errorf("empty %s: %w", dir, err)
	}
	return nil
}
