//go:build linux

package node

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/devices/console"
	"github.com/ariadne-mc/ariadne/internal/machine/node/config"
	"github.com/ariadne-mc/ariadne/internal/machine/node/watchdog"

	"golang.org/x/sys/unix"
)

// A helper is a command that asks a node's programs what they are, as redis-cli does. It runs in a
// copy of the node, which is thrown away: so to look disturbs nothing. What it has written is the
// node's, like the content of a file.

// helperTime is how long a helper may take by the copy's clock. In between its timers fire, and no
// message comes or leaves.
const helperTime = ariadne.Time(10e9)

// helped is what a helper has come to.
type helped struct {
	text  string // what it has written to its standard output
	ended bool   // with status 0
}

// askHelpers runs the helpers of the node, which is at the end of a step, in order; the results are
// by their places in Spec.Looks.
func (n *Node) askHelpers() map[int]helped {
	if n.isChecking() || n.alive() == 0 {
		return nil
	}
	var helpers []int
	for i := range n.cfg.Looks {
		if l := &n.cfg.Looks[i]; l.Command != nil && !l.Ignored {
			helpers = append(helpers, i)
		}
	}
	if helpers == nil {
		return nil
	}
	n.looksAll() // what they look at is not noted
	// What the step has come to so far is no part of the copy.
	k := n.k
	messages, told, exits, refusals := k.Out, k.Told, k.Exits, k.Refusals
	k.Out, k.Told, k.Exits, k.Refusals = nil, kernel.Told{}, nil, nil
	found, more, err := n.askCopies(helpers)
	n.showFiles()
	n.home.clearArea()
	k.Out, k.Told, k.Exits, k.Refusals = messages, told, exits, append(refusals, more...)
	if errors.Is(err, ariadne.ErrNotFreezable) {
		k.Refusals = append(k.Refusals,
			ariadne.Refusal{Name: "expose: a copy of the node to run commands in", Detail: err.Error(),
				Program: n.cfg.Name, Count: 1})
		return nil
	}
	must(err)
	return found
}

func (n *Node) askCopies(helpers []int) (found map[int]helped, refusals []ariadne.Refusal, err error) {
	from, err := n.Freeze()
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, from.Drop()) }()
	found = map[int]helped{}
	for _, i := range helpers {
		c, err := from.Thaw()
		if err != nil {
			return nil, nil, err
		}
		found[i], err = c.help(len(n.cfg.Programs())+i, n.cfg.Looks[i].Command)
		n.step.learns(&c.step.learnt)
		n.step.unreplayable = n.step.unreplayable || c.step.unreplayable
		refusals = append(refusals, c.k.Refusals...)
		if err = errors.Join(err, c.Close()); err != nil {
			return nil, nil, err
		}
	}
	return found, refusals, nil
}

// help runs a helper in the node, which is of no use after that.
func (n *Node) help(i int, c *config.Command) (h helped, err error) {
	defer recoverTool(n, &err)
	n.RecordCalls(false)
	n.step = step{course: ariadne.NewCourse(&ariadne.Input{})}
	n.step.disturb()
	n.showFiles()
	n.watch = watchdog.Start(n.cfg.Limits.Divergence, n.k.MemTotal(), n.interrupted)
	n.watch.Begin()
	defer n.watch.End()
	n.home.clearArea()
	n.k.ForgetLate()
	began := n.k.Now
	if err := n.launch(i, *c); err != nil {
		return h, &ariadne.SetupError{Err: fmt.Errorf("expose: %w", err)}
	}
	out, wrong := console.NewCapture(1, mostContent), console.NewCapture(2, mostContent)
	for _, p := range n.k.Procs {
		if p.Command == i && !p.Dead {
			p.FDs.Set(1, &kernel.OpenFile{File: out, Flags: unix.O_WRONLY}, false)
			p.FDs.Set(2, &kernel.OpenFile{File: wrong, Flags: unix.O_WRONLY}, false)
		}
	}
	for {
		n.run()
		n.settle()
		if at := slices.IndexFunc(n.k.Exits, func(e ariadne.Exit) bool { return e.Command == i }); at >= 0 {
			return helped{text: out.Captured(), ended: n.k.Exits[at].Status == 0}, nil
		}
		t := n.k.NextTimer(true)
		if n.step.over() || n.step.polls() || t == nil || t.When > began+helperTime {
			break
		}
		n.k.Now = max(n.k.Now, t.When)
		n.k.FireTimer(t)
	}
	why := fmt.Sprintf("it waits and has not ended after %v", n.k.Now-began)
	switch {
	case n.step.diverged != "":
		why = n.step.diverged
	case n.step.cut != "":
		why = n.step.cut
	case n.step.polls():
		why = "it asks again and again whether something has come"
	}
	if said := strings.TrimSpace(wrong.Captured()); said != "" {
		why += ": " + said
	}
	n.k.Refusals = append(n.k.Refusals,
		ariadne.Refusal{Name: "expose: more time in a copy of the node", Detail: why,
			Program: strings.Join(c.Args, " "), Count: 1})
	return h, nil
}
