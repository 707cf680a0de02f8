//go:build linux

package node

// commands is which of its commands a node runs.
type commands struct {
	started  bool // it has been switched on
	again    bool // it had been before
	running  int  // commands that it was started with; -1: none of them yet
	checking int  // which of the commands of AfterCrash runs, from 1, or 0
}

// SwitchedOn reports whether the node has been switched on before.
func (n *Node) SwitchedOn() bool { return n.started }

// boot starts the node's commands, or those for another start: the first builds the sandbox, the
// others join it.
func (n *Node) boot() error {
	n.commands, n.exposing = commands{started: true, again: n.started}, exposing{}
	return n.startNextCommand()
}

// startNextCommand starts the next of the commands that look at what a fault has left, or the
// node's commands when these have ended.
func (n *Node) startNextCommand() error {
	n.k.CommandsEnded = 0
	if after := n.cfg.AfterCrash; n.again && n.checking < len(after) {
		n.checking++
		n.running = -1 // there are more to come
		return n.launch(len(n.cfg.Commands)+len(n.cfg.Restart)+n.checking-1, after[n.checking-1])
	}
	n.checking = 0
	first, commands := 0, n.cfg.Commands
	if n.again && n.cfg.Restart != nil {
		first, commands = len(commands), n.cfg.Restart
	}
	n.running = len(commands)
	for i, c := range commands {
		if err := n.launch(first+i, c); err != nil {
			return err
		}
	}
	return nil
}

// isChecking reports whether a command runs that looks at what a fault has left.
func (n *Node) isChecking() bool { return n.checking > 0 }

// checkHasEnded reports whether the command that looks at what a fault has left has ended.
func (n *Node) checkHasEnded() bool { return n.checking > 0 && n.k.CommandsEnded > 0 }

// done reports whether the node has been switched on and no process of it lives, or will; ended,
// whether all of its commands have ended.
func (n *Node) done() (done, ended bool) {
	return n.started && n.alive() == 0 && !n.k.RunsAgain(), n.started && n.k.CommandsEnded == n.running
}
