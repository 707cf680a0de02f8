//go:build linux

package node

import (
	"fmt"
	"path"
	"slices"
	"strconv"

	"ariadne"
	"ariadne/internal/kernel"

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

// eachProcess calls f with the processes that faults may kill and their names, which are unique: the
// program's and which of those that run it, by process id.
func (n *Node) eachProcess(f func(p *kernel.Process, name string)) {
	count := map[string]int{}
	for _, pid := range n.k.PIDs() {
		p := n.k.Procs[pid]
		if p == nil || p.Dead || p == n.k.Init.Proc {
			continue
		}
		name := programName(p)
		count[name]++
		if name += "#" + strconv.Itoa(count[name]); n.cfg.Spec.Kill.Of(name) {
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
	if !n.kills || n.cfg.Spec.Kill.Between {
		return nil
	}
	n.eachProcess(func(p *kernel.Process, name string) {
		if p == th.k.Proc {
			alternatives = append(alternatives, ariadne.NodeFault{Kill: name}.Alternative())
		}
	})
	return alternatives
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
	})
	if !found {
		must(fmt.Errorf("there is no process %s to be killed", name))
	}
}

// exits are the ends of the node's commands that are its own doing.
func (n *Node) exits() []ariadne.Exit {
	if !n.lost {
		return n.k.Exits
	}
	return slices.DeleteFunc(n.k.Exits, func(e ariadne.Exit) bool { return e.Status == 128+int(unix.SIGKILL) })
}
