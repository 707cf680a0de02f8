package kernel

import (
	"fmt"
	"slices"

	"github.com/ariadne-mc/ariadne"
)

// Again is a command of the spec's that is to be run again, as by who looks after it (systemd, a
// container's runtime). The node layer runs those whose time has come.
type Again struct {
	node    *Node
	Command int // its index in the spec
	timer   *Timer
}

// RunAgain has a command that has ended run again at a time.
func (n *Node) RunAgain(command int, at ariadne.Time) {
	a := &Again{node: n, Command: command}
	a.timer = n.AddTimer(at, a)
	n.again = append(n.again, a)
	n.CommandsEnded--
}

// Expire implements Expirer.
func (a *Again) Expire(*Timer) { a.timer = nil }

func (a *Again) String() string { return fmt.Sprintf("restart/%d", a.Command) }

// RunsAgain reports whether there are commands to be run again, now or later.
func (n *Node) RunsAgain() bool { return len(n.again) > 0 }

// HasDueAgain reports whether there are some to be run again now.
func (n *Node) HasDueAgain() bool { return slices.ContainsFunc(n.again, (*Again).due) }

// due reports whether the time has come.
func (a *Again) due() bool { return a.timer == nil }

// DueAgain takes the first command off that is to be run again now, of which there are some.
func (n *Node) DueAgain() (command int) {
	i := slices.IndexFunc(n.again, (*Again).due)
	command = n.again[i].Command
	n.again = slices.Delete(n.again, i, i+1)
	return command
}

// ForgetAgain forgets them.
func (n *Node) ForgetAgain() {
	for _, a := range n.again {
		if a.timer != nil {
			n.StopTimer(a.timer)
		}
	}
	n.again = nil
}
