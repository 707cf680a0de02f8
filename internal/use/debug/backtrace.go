package debug

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/leaf/inspect"
	"github.com/ariadne-mc/ariadne/internal/use/session"
)

// inFunction says in a few words in which function of the program a thread is, or "".
func (d *Debugger) inFunction(m inspect.Machine, p *inspect.Process, tid int) string {
	frames, err := d.session.Stack(m, p.PID, tid)
	if err != nil {
		return ""
	}
	if f := session.Nearest(frames, p.Exe); f != nil {
		return ", in " + f.String()
	}
	return ""
}

// showBacktrace shows the stacks of a node's threads.
func (d *Debugger) showBacktrace(args string) (string, error) {
	words := strings.Fields(args)
	if len(words) == 0 || len(words) > 2 {
		return "", fmt.Errorf("backtrace wants a node, and perhaps a thread's number, not %q", args)
	}
	id, err := d.node(words[0])
	if err != nil {
		return "", err
	}
	only := 0
	if len(words) == 2 {
		if only, err = strconv.Atoi(words[1]); err != nil || only <= 0 {
			return "", fmt.Errorf("%q is not the number of a thread", words[1])
		}
	}
	var b strings.Builder
	err = d.session.Visit(id, func(m inspect.Machine) error {
		v, err := m.Look()
		if err != nil {
			return err
		}
		for i := range v.Processes {
			p := &v.Processes[i]
			for _, t := range p.Threads {
				if only != 0 && t.TID != only {
					continue
				}
				frames, err := d.session.Stack(m, p.PID, t.TID)
				if err != nil {
					return err
				}
				fmt.Fprintf(&b, "thread %v\n", t)
				for i := range frames {
					fmt.Fprintf(&b, "  %2d  %s\n", i, &frames[i])
				}
			}
		}
		return nil
	})
	if err != nil || b.Len() > 0 {
		return b.String(), err
	}
	n := d.session.Now().Node(id)
	if only != 0 {
		return "", fmt.Errorf("%s has no thread %d here", words[0], only)
	}
	return fmt.Sprintf("%s: there is no thread (%s)\n", words[0], inWords(&n)), nil
}
