package spec

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"ariadne"
	"ariadne/internal/world"

	"go.yaml.in/yaml/v3"
)

// Kill says which processes faults may kill alone, within the budget of such faults.
type Kill struct {
	Nodes    []ariadne.NodeID // nil: all but clients
	Programs []string         // patterns of their names, with the number or without; nil: all
	Between  bool             // only between two steps of the node, not within one
}

// Kills reports whether faults may kill processes of a node alone.
func (s *Spec) Kills(id ariadne.NodeID) bool {
	return s.Faults[world.Kill] > 0 && slices.Contains(s.servers(s.Kill.Nodes), id)
}

// Of reports whether a process may be killed, by its name, as in server#2.
func (k *Kill) Of(name string) bool {
	program := name[:strings.LastIndexByte(name, '#')]
	return k.Programs == nil || slices.ContainsFunc(k.Programs, func(pattern string) bool {
		with, _ := path.Match(pattern, name)
		without, _ := path.Match(pattern, program)
		return with || without
	})
}

// killText is a Kill as written.
type killText struct {
	count           int
	nodes, programs []text
	between         bool
	after           *regexp.Regexp
}

var killFields = []field[killText]{
	countField("count", "How many in one execution; default 1.", 0, world.MaxFaults, func(k *killText) *int { return &k.count }),
	{"nodes", "Names of the nodes to which it happens; default all but clients.", textsSchema,
		func(r *reader, k *killText, v *yaml.Node) { k.nodes = r.texts(v) }},
	{"programs", "Patterns of the programs' names, without directories, as in postgres, or with a number, as in redis-server#2: the second that runs it, by process id. Default all.", textsSchema,
		func(r *reader, k *killText, v *yaml.Node) { k.programs = r.texts(v) }},
	{"between", "Only between two steps of the node; default also within one, before the process sends something or changes a file.", schema{"type": "boolean"},
		func(r *reader, k *killText, v *yaml.Node) { k.between = r.flag(v) }},
	afterField(func(x *killText) **regexp.Regexp { return &x.after }),
}

// setKill reads a number, or which processes are killed.
func setKill(r *reader, s *specText, v *yaml.Node) {
	w := killText{count: 1}
	if v.Kind == yaml.MappingNode {
		readFields(r, killFields, &w, v)
	} else {
		w.count = r.count(v, 0, world.MaxFaults)
	}
	s.Faults[world.Kill], s.After[world.Kill] = uint8(w.count), w.after
	s.Kill, s.killNodes = Kill{Programs: stringsOf(w.programs), Between: w.between}, w.nodes
	for _, t := range w.programs {
		r.pattern("faults: kill: programs", t)
		if at := strings.LastIndexByte(t.string, '#'); at >= 0 && !numberOfProcess.MatchString(t.string[at+1:]) {
			r.fail(t.line, "faults: kill: programs: %q: a number from 1 is needed after #", t.string)
		}
	}
}

// numberOfProcess matches what may stand after the name of a program, a pattern too.
var numberOfProcess = regexp.MustCompile(`^[1-9][0-9]*$|[*?\[\\]`)

// pattern checks a pattern of names, of which some name may be one.
func (r *reader) pattern(where string, t text) {
	if t.string == "" {
		r.fail(t.line, "%s: an empty pattern matches nothing", where)
	} else if _, err := path.Match(t.string, ""); err != nil {
		r.fail(t.line, "%s: %q: %s", where, t.string, err)
	}
}
