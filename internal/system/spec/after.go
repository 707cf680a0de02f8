package spec

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// A node waits for another one in one of two ways. It is switched on when the other is ready, which
// is a rule of the world: no program has to know of it. Or it does so as its user would write it:
// its commands begin with a loop that connects. So what comes of an order in which machines become
// ready is messages and timers like all others, also behind faults.

// awaited is a node that another waits for.
type awaited struct {
	node, other string
	starts      bool // it is switched on when the other is ready
	line        int
}

var readinessFields = []field[Ready]{
	{"port", "A program of the node takes TCP connections, or datagrams, at this port, and others can reach it there.", schema{"type": "integer", "minimum": 1, "maximum": 65535},
		func(r *reader, x *Ready, v *yaml.Node) { x.Port = uint16(r.count(v, 1, 65535)) }},
	{"line", "A regular expression. The node has written a line that it matches.", schema{"type": "string"}, func(r *reader, x *Ready, v *yaml.Node) {
		t := r.text(v)
		line, err := regexp.Compile(t.string)
		if err != nil {
			r.fail(t.line, "ready: line: %s", err)
		} else if t.string == "" {
			r.fail(t.line, "ready: line: an empty expression matches every line")
		}
		x.Line = line
	}},
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
		if !ok {
			continue // startsAfter has it
		}
		if n, err := strconv.Atoi(port); err != nil || n < 1 || n > 65535 {
			r.fail(t.line, "after %q: a node, or a node and its port are needed, as in srv or srv:5432", t.string)
			return commands
		}
		r.awaited = append(r.awaited, awaited{r.node, other, false, t.line})
		ports = append(ports, other+"/"+port)
	}
	if ports == nil {
		return commands
	}
	if err := runnable(bash); err != nil {
		r.fail(ts[0].line, "after: waiting for a port needs %s, which this machine does not have: %s", bash, err)
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

// startsAfter enters which nodes must be ready before this one is switched on.
func (r *reader) startsAfter(ts []text) {
	for _, t := range ts {
		if !strings.Contains(t.string, ":") {
			r.awaited = append(r.awaited, awaited{r.node, t.string, true, t.line})
		}
	}
}

// checkAwaited sees that nodes wait for others, and for none that waits for them, and enters which
// must be ready.
func (r *reader) checkAwaited(nodes []Node) {
	waits := map[string][]string{}
	for _, a := range r.awaited {
		r.node = a.node
		switch {
		case a.other == a.node:
			r.fail(a.line, "after: the node waits for itself")
		case !slices.ContainsFunc(nodes, named(a.other)):
			r.fail(a.line, "after: there is no node %q", a.other)
		case a.starts:
			n, other := &nodes[slices.IndexFunc(nodes, named(a.node))], &nodes[slices.IndexFunc(nodes, named(a.other))]
			if !other.Ready.Said() {
				r.fail(a.line, "after %s: its spec does not say when it is ready: write ready: {port: 5432} or ready: {line: REGEXP} at node %s, or wait for its port, as in %s:5432", a.other, a.other, a.other)
			} else if !slices.Contains(n.After, other.ID) {
				n.After = append(n.After, other.ID)
				slices.Sort(n.After)
			}
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

func named(name string) func(Node) bool { return func(n Node) bool { return n.Name == name } }

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
