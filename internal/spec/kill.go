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
	budgetText
	programs []text
}

var killFields = []field[killText]{
	timesField[killText](),
	faultyField[killText](),
	textsField("programs", "Patterns of the programs' names, without directories, as in postgres, or with a number, as in redis-server#2: the second that runs it, by process id. Default all.", func(k *killText) *[]text { return &k.programs }),
	betweenField[killText]("before the process sends something or changes a file"),
	afterField[killText](),
}

// setKill reads a number, or which processes are killed.
func setKill(r *reader, s *specText, v *yaml.Node) {
	var w killText
	readBudget(r, s, world.Kill, killFields, &w, v)
	s.Kill = Kill{Programs: stringsOf(w.programs), Between: w.between}
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
