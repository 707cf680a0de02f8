//go:build linux

package node

import (
	"fmt"
	"path"
	"slices"
	"strconv"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// A process that a fault kills dies of SIGKILL, as if somebody at the machine had sent it: its
// kernel closes what it had open, its parent gets SIGCHLD. The others go on. That it ended is no
// death of one of the node's commands, nor is it when a shell ends with its status.

// programName is the name of the program that a process runs, as the process was started by it: a
// script's or link's.
func programName(p *kernel.Process) string {
	name := p.Exe
	if len(p.Args) > 0 && p.Args[0] != "" {
		name = p.Args[0]
	}
	return ariadne.Plain(path.Base(name))
}

// eachProcess calls f with the processes that faults may kill and their names, which are unique:
// the program's and which of those that run it, by process id.
func (n *Node) eachProcess(f func(p *kernel.Process, name string)) {
	count := map[string]int{}
	for _, pid := range n.k.PIDs() {
		p := n.k.Procs[pid]
		if p == nil || p.Dead || p == n.k.Init.Proc {
			continue
		}
		name := programName(p)
		count[name]++
		if name += "#" + strconv.Itoa(count[name]); n.cfg.Faults.Kill.Of(name) {
			f(p, name)
		}
	}
}

// victims are the names of the processes that faults may kill.
func (n *Node) victims() []string {
	all := []string{}
	n.eachProcess(func(_ *kernel.Process, name string) { all = append(all, name) })
	return all
}

// killing is the alternative that a thread's process is killed, or none.
func (n *Node) killing(th *thread) (alternatives []string) {
	if !n.cfg.Faults.Kill.May || n.cfg.Faults.Kill.Between {
		return nil
	}
	n.eachProcess(func(p *kernel.Process, name string) {
		if p == th.k.Proc {
			alternatives = append(alternatives, ariadne.Alternative(ariadne.Kill{Process: name}))
		}
	})
	return alternatives
}

func init() {
	strikesBy(ariadne.Killed, func(n *Node, k ariadne.Kill) { n.kill(k.Process) })
}

// kill kills a process.
func (n *Node) kill(name string) {
	found := false
	n.eachProcess(func(p *kernel.Process, its string) {
		if its != name || found {
			return
		}
		found = true
		exits := n.k.Exits
		n.keepSegments()
		n.endProcess(p, 0, int(unix.SIGKILL), false)
		n.k.Exits, n.lost = exits, true
		if p.Command >= 0 {
			n.runAgain(p.Command)
		}
	})
	if !found {
		must(fmt.Errorf("there is no process %s to be killed", name))
	}
}

// dropKilledEnds takes out the ends of the node's commands that are not its own doing: a shell has
// passed on that of what was killed.
func (n *Node) dropKilledEnds() {
	if !n.lost {
		return
	}
	n.k.Exits = slices.DeleteFunc(n.k.Exits, func(e ariadne.Exit) bool {
		if e.Status != 128+int(unix.SIGKILL) {
			return false
		}
		n.runAgain(e.Command)
		return true
	})
}

// runAgain has a command that has ended by a kill run again, if the spec says so.
func (n *Node) runAgain(command int) {
	if after := n.cfg.Faults.Kill.Restart; after > 0 {
		n.k.RunAgain(command, n.k.Now.Add(after))
	}
}

// relaunchDue runs the commands again whose time has come: by what the node's restart has in the
// place of each, if it has that.
func (n *Node) relaunchDue() error {
	for n.k.HasDueAgain() {
		command := n.k.DueAgain()
		if command < len(n.cfg.Commands) && n.cfg.Restart != nil {
			command += len(n.cfg.Commands)
		}
		if err := n.launch(command, n.cfg.Programs()[command]); err != nil {
			return &ariadne.SetupError{Err: fmt.Errorf("node %s: %w", n.cfg.Name, err)}
		}
	}
	return nil
}
