package spec

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A node that waits for others does so as its user would write it: its commands begin with a loop
// that connects. So what comes of an order in which machines become ready is messages and timers
// like all others, also behind faults.

// awaited is a port that a node waits for.
type awaited struct {
	node, other string
	line        int
}

// awaits runs its arguments behind -- when all those before take connections.
const awaits = `while [ "$1" != -- ]; do until (: <"/dev/tcp/$1") 2>/dev/null; do sleep 0.1; done; shift; done; shift; exec "$@"`

const bash = "/bin/bash"

// await has commands wait for what ts say.
func (r *reader) await(ts []text, commands []Command) []Command {
	if len(ts) == 0 || len(commands) == 0 {
		return commands
	}
	var ports []string
	for _, t := range ts {
		other, port, ok := strings.Cut(t.string, ":")
		if n, err := strconv.Atoi(port); !ok || err != nil || n < 1 || n > 65535 {
			r.fail(t.line, "after %q: a node and its port are needed, as in srv:5432", t.string)
			return commands
		}
		r.awaited = append(r.awaited, awaited{r.node, other, t.line})
		ports = append(ports, other+"/"+port)
	}
	if err := runnable(bash); err != nil {
		r.fail(ts[0].line, "after: it needs %s, which this machine has not: %s", bash, err)
	}
	commands = slices.Clone(commands)
	for i := range commands {
		c := &commands[i]
		if len(c.Args) == 0 {
			continue // there is an error of it already
		}
		if c.Name == "" {
			c.Name = strings.Join(append([]string{filepath.Base(c.Args[0])}, c.Args[1:]...), " ")
		}
		c.Args = slices.Concat([]string{bash, "-c", awaits, "after"}, ports, []string{"--"}, c.Args)
	}
	return commands
}

// checkAwaited sees that nodes wait for others, and for none that waits for them.
func (r *reader) checkAwaited(nodes []Node) {
	waits := map[string][]string{}
	for _, a := range r.awaited {
		r.node = a.node
		switch {
		case a.other == a.node:
			r.fail(a.line, "after: the node waits for itself")
		case !slices.ContainsFunc(nodes, func(n Node) bool { return n.Name == a.other }):
			r.fail(a.line, "after: there is no node %q", a.other)
		}
		waits[a.node] = append(waits[a.node], a.other)
	}
	for _, a := range r.awaited {
		if a.other != a.node && reaches(waits, a.other, a.node, map[string]bool{}) {
			r.node = a.node
			r.fail(a.line, "after: the node waits for %s, which waits for it", a.other)
		}
	}
	r.node = ""
}

// reaches reports whether a node waits for another one, or for one that does.
func reaches(waits map[string][]string, from, to string, seen map[string]bool) bool {
	if from == to {
		return true
	}
	if seen[from] {
		return false
	}
	seen[from] = true
	return slices.ContainsFunc(waits[from], func(next string) bool { return reaches(waits, next, to, seen) })
}
