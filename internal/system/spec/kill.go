package spec

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"

	"go.yaml.in/yaml/v3"
)

// Kill says which processes faults may kill alone, within the budget of such faults.
type Kill struct {
	Nodes    []ariadne.NodeID // nil: all but clients
	Programs []string         // patterns of their names, with the number or without; nil: all
	Between  bool             // only between two steps of the node, not within one
	Restart  time.Duration    // after which a command that was killed is run again; 0: never
}

// Kills reports whether faults may kill processes of a node alone.
func (s *Spec) Kills(id ariadne.NodeID) bool {
	return s.Faults[world.Kill] > 0 && slices.Contains(s.Servers(s.Kill.Nodes), id)
}

// unpaired is a node whose processes may be killed and whose restart has not a command for each of
// its commands, or "".
func (s *Spec) unpaired() string {
	for _, id := range s.Servers(s.Kill.Nodes) {
		if n := &s.Nodes[id]; n.Restart != nil && len(n.Restart) != len(n.Commands) {
			return n.Name
		}
	}
	return ""
}

func init() {
	faultRow(world.Kill, fault{
		fields:  func() schema { return object(killFields) },
		set:     setKill,
		nodes:   func(s *Spec) *[]ariadne.NodeID { return &s.Kill.Nodes },
		victims: func(s *Spec) []ariadne.NodeID { return s.Servers(s.Kill.Nodes) },
		impossible: func(s *Spec) string {
			if node := s.unpaired(); node != "" && s.Kill.Restart > 0 {
				return "faults: kill: restart: node " + node + " must have as many commands in restart as in command, so that each has one that runs again"
			}
			return ""
		},
	})
}

// killText is a Kill as written.
type killText struct {
	budgetText
	programs []text
	restart  time.Duration
}

var killFields = []field[killText]{
	timesField[killText](),
	faultyField[killText](),
	textsField("programs", "Patterns of the programs' names, without directories, as in postgres, or with a number, as in redis-server#2: the second process that runs it, by process id. Default all.", func(k *killText) *[]text { return &k.programs }),
	betweenField[killText]("before the process sends something or changes a file"),
	durationField("restart", "The time after which a killed command of the node runs again, as by systemd or a container's runtime. If the node has a restart, the command in the same place of it runs. Default never.", 1, func(k *killText) *time.Duration { return &k.restart }),
	afterField[killText](),
}

// setKill reads a number, or which processes are killed.
func setKill(r *reader, s *specText, v *yaml.Node) {
	var w killText
	readBudget(r, s, world.Kill, killFields, &w, v)
	s.Kill = Kill{Programs: stringsOf(w.programs), Between: w.between, Restart: w.restart}
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
