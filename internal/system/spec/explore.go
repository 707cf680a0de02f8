package spec

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/stage"

	"go.yaml.in/yaml/v3"
)

// Explore is how a check searches, unless the command line says otherwise. It
// changes nothing of what the system can do, so Spec.Digest does not cover it.
type Explore struct {
	Line         int    // of the section; 0: there is none
	Strategy     string // "": not said; package run knows the names
	StrategyLine int
	Equality     string // of states; "": not said
	Script       string // path of a file in Starlark, or ""
	ScriptLine   int
	// Symmetric are groups of interchangeable nodes. No node is in two of them.
	Symmetric [][]ariadne.NodeID
	// Weights say how likely random choices take an event, by ariadne.ActionKind;
	// 0: not said.
	Weights    [world.MaxKinds]int
	Bounds     Bounds
	Backtracks *int         // of a round of DPOR, or of all of it; nil: not said
	Branch     *int         // steps among which DPOR tries other orders; nil: not said
	States     expose.Rules // that tell a node's protocol state
}

// Bounds keep a search small. nil: not said.
type Bounds struct {
	// step up to which the natural schedule is followed: a number, /regexp/ on log lines, or live;
	// "": not said
	From       string
	Depth      *int // steps of a path
	Deviations *int // steps of a path that are not the natural ones
	Deliveries *int // messages that arrive on a path
	Timers     *int // that fire on a path although something else comes first in time
	Delays     *int // messages delayed on a path; more than Spec.Delays is no more
}

// exploreText is an Explore with what of it names nodes or what they expose as written.
type exploreText struct {
	*Explore
	symmetric [][]text
	states    []text
}

var exploreFields = []field[exploreText]{
	{"strategy", "The strategy of the search (ariadne check --help lists them).", schema{"type": "string"},
		func(r *reader, e *exploreText, v *yaml.Node) { e.Strategy, e.StrategyLine = r.text(v).string, v.Line }},
	{"equality", "When states count as equal. history (the default): their nodes have received the same inputs. exposed: states shows the same of their nodes, and the same messages are in flight. exposed-times: also, the times between are the same (docs/guides/explore.md).",
		schema{"enum": space.Equalities()}, setEquality},
	{"script", "A file in Starlark beside the spec, with functions that the search calls: explore, independent, same (docs/guides/scripts.md).", schema{"type": "string"}, setScript},
	{"symmetric", "Groups of interchangeable nodes, by name. States that differ only by an exchange of nodes of a group count as one.",
		schema{"type": "array", "minItems": 1,
			"items": schema{"type": "array", "minItems": 2, "items": schema{"type": "string"}}}, setSymmetric},
	{"weights", "How likely random choices take an event of each kind, in proportion; default 1 each.", schema{"$ref": "#/$defs/weights"},
		func(r *reader, e *exploreText, v *yaml.Node) { readFields(r, weightFields, &e.Weights, v) }},
	{"bounds", "Bounds that keep the search small; default: only the limits.", schema{"$ref": "#/$defs/bounds"},
		func(r *reader, e *exploreText, v *yaml.Node) { readFields(r, boundFields, &e.Bounds, v) }},
	boundField("backtracks", "Backtracks of a round of DPOR, or of DPOR in all, at most; default in rounds 1, rising to 100.", 0, func(e *exploreText) **int { return &e.Backtracks }),
	boundField("branch", "DPOR tries other orders of this many first steps of a path only; default all steps, in rounds 32 steps anywhere in it.", 0, func(e *exploreText) **int { return &e.Branch }),
	{"states", "A node's protocol state: regular expressions on log lines, or exposed:NAME or exposed:NAME.FIELD for a value that it exposes.", textsSchema, setStates},
}

// weightFields are those of all kinds of events, and of faults within steps.
var weightFields = func() (all []field[[world.MaxKinds]int]) {
	for _, k := range world.Kinds() {
		kind := world.KindOf(k)
		if world.FreeKind(kind.Name) { // which is drawn evenly
			continue
		}
		all = append(all,
			countField(kind.Name, "Of "+kind.Doc+".", 1, MaxWeight, func(w *[world.MaxKinds]int) *int { return &w[k] }))
	}
	return all
}()

// MaxWeight is the greatest weight.
const MaxWeight = 1000

var boundFields = []field[Bounds]{
	{"from", "Follow the natural schedule up to this step, and explore from there: its number, /regexp/ on the log lines, or live, the first step at which no goal (eventually, leads_to) is pending.",
		schema{"anyOf": []schema{{"type": "integer", "minimum": 1}, {"type": "string", "pattern": "^(/.+/|live)$"}}},
		setFrom},
	boundField("depth", "Steps of a path, at most.", 1, func(b *Bounds) **int { return &b.Depth }),
	boundField("deviations", "Steps of a path that are not the natural ones, at most.", 0, func(b *Bounds) **int {
		return &b.Deviations
	}),
	boundField("deliveries", "Messages that arrive on a path, at most.", 0, func(b *Bounds) **int {
		return &b.Deliveries
	}),
	boundField("timers", "Timers that fire on a path although something else comes first in time, at most.", 0, func(b *Bounds) **int { return &b.Timers }),
	boundField("delays", "Messages delayed past a timer on a path, at most; no more than the spec's delays.", 0, func(b *Bounds) **int { return &b.Delays }),
}

// boundField is a field with an upper bound, of which none is said without it.
func boundField[T any](name, doc string, low int, at func(*T) **int) field[T] {
	return field[T]{name, doc, schema{"type": "integer", "minimum": low, "maximum": MaxInt},
		func(r *reader, into *T, v *yaml.Node) {
			n := r.count(v, low, MaxInt)
			*at(into) = &n
		}}
}

func setFrom(r *reader, b *Bounds, v *yaml.Node) {
	t := r.text(v)
	if n := len(t.string); n > 2 && t.string[0] == '/' && t.string[n-1] == '/' {
		if _, err := regexp.Compile(t.string[1 : n-1]); err != nil {
			r.fail(t.line, "from: %s", err)
		}
	} else if n, err := strconv.Atoi(t.string); t.string != "live" && (err != nil || n < 1) {
		r.fail(t.line, "from: %q is neither the number of a step, /regexp/ nor live", t.string)
	}
	b.From = t.string
}

func setEquality(r *reader, e *exploreText, v *yaml.Node) {
	t := r.text(v)
	if _, ok := space.EqualityNamed(t.string); !ok {
		r.fail(t.line, "equality: %q is none of %s", t.string, strings.Join(space.Equalities(), ", "))
	}
	e.Equality = t.string
}

func setScript(r *reader, e *exploreText, v *yaml.Node) {
	t := r.text(v)
	if e.Script, e.ScriptLine = t.string, t.line; !filepath.IsAbs(t.string) {
		e.Script = filepath.Join(filepath.Dir(r.path), t.string)
	}
	switch info, err := os.Stat(e.Script); {
	case os.IsNotExist(err):
		r.fail(t.line, "no such script %q", t.string)
	case err != nil:
		r.fail(t.line, "script %q: %s", t.string, cause(err))
	case !info.Mode().IsRegular():
		r.fail(t.line, "script %q is not a regular file", t.string)
	}
}

func setStates(r *reader, e *exploreText, v *yaml.Node) {
	for _, t := range r.texts(v) {
		rule, err := expose.ParseRule(t.string)
		if err != nil {
			r.fail(t.line, "states: %s", err)
			continue
		}
		e.States, e.states = append(e.States, rule), append(e.states, t)
	}
}

// Tells returns nil if nodes can show what a rule is about, else what speaks against it.
func (s *Spec) Tells(rule expose.Rule) error {
	if rule.Line != nil {
		return nil
	}
	i := slices.IndexFunc(s.Properties.Sources, func(e expose.Source) bool { return e.Name == rule.Name })
	if i < 0 && slices.ContainsFunc(s.Properties.Stages, func(t stage.Stage) bool { return t.Name == rule.Name }) {
		if rule.Field != "" {
			return fmt.Errorf("%s: %s is a stage, whose fields are not known: name it without a field", rule, rule.Name)
		}
		return nil
	}
	if i < 0 {
		return fmt.Errorf("%s: expose has no %s", rule, rule.Name)
	}
	if rule.Field != "" && !slices.Contains(s.Properties.Sources[i].Names(), rule.Field) {
		return fmt.Errorf("%s: %s has no field %s", rule, rule.Name, rule.Field)
	}
	return nil
}

func setSymmetric(r *reader, e *exploreText, v *yaml.Node) {
	if v.Kind != yaml.SequenceNode || len(v.Content) == 0 {
		r.fail(v.Line, "symmetric: a list of groups is needed here, as in [[n1, n2, n3]]")
		return
	}
	for _, g := range v.Content {
		if g = dereference(g); g.Kind != yaml.SequenceNode || len(g.Content) < 2 {
			r.fail(g.Line, "symmetric: a group is a list of two nodes or more, as in [[n1, n2, n3]]")
			continue
		}
		e.symmetric = append(e.symmetric, r.texts(g))
	}
}

// MaxPermutations is the greatest number of ways to exchange nodes, that of five in
// one group: each costs time and memory at every step.
const MaxPermutations = 120

// symmetric resolves the groups of interchangeable nodes, and sees that they look it.
func (r *reader) symmetric(groups [][]text, nodes []Node) [][]ariadne.NodeID {
	var out [][]ariadne.NodeID
	in := map[ariadne.NodeID]bool{}
	ways := 1
	for _, g := range groups {
		var ids []ariadne.NodeID
		for i, t := range g {
			ways = min(ways*(i+1), MaxPermutations+1)
			id := slices.IndexFunc(nodes, func(n Node) bool { return n.Name == t.string })
			switch {
			case id < 0:
				r.fail(t.line, "symmetric: no node %q", t.string)
				continue
			case in[ariadne.NodeID(id)]:
				r.fail(t.line, "symmetric: node %s is named twice", t.string)
				continue
			}
			in[ariadne.NodeID(id)] = true
			ids = append(ids, ariadne.NodeID(id))
		}
		out = append(out, ids)
	}
	if ways > MaxPermutations {
		r.fail(groups[0][0].line, "symmetric: more than %d ways to exchange these nodes", MaxPermutations)
	}
	if len(r.errs) > 0 {
		return nil
	}
	for i, ids := range out {
		for _, id := range ids[1:] {
			if what := differ(nodes, ids, ids[0], id); what != "" {
				r.fail(groups[i][0].line, "symmetric: nodes %s and %s are not interchangeable: %s", nodes[ids[0]].Name,
					nodes[id].Name, what)
			}
		}
	}
	return out
}

// Interchangeable resolves groups of interchangeable nodes that the command line
// names. Its error is an Errors.
func (s *Spec) Interchangeable(groups [][]string) ([][]ariadne.NodeID, error) {
	r := &reader{path: s.Path, dir: s.Dir}
	var written [][]text
	for _, g := range groups {
		var ts []text
		for _, name := range g {
			ts = append(ts, text{string: name})
		}
		written = append(written, ts)
	}
	ids := r.symmetric(written, s.Nodes)
	if len(r.errs) > 0 {
		return nil, r.errs
	}
	return ids, nil
}

// differ says in what two nodes of a group differ besides their names, addresses
// and numbers, or "". Copies of one description do not.
func differ(nodes []Node, group []ariadne.NodeID, a, b ariadne.NodeID) string {
	m, n := &nodes[a], &nodes[b]
	alike := func(s, t string) bool { return s == t || general(nodes, group, a, s) == general(nodes, group, b, t) }
	switch {
	case m.Line == n.Line:
		return ""
	case len(m.Commands) != len(n.Commands) || len(m.Restart) != len(n.Restart):
		return "one has more commands"
	case !alike(m.Dir, n.Dir):
		return "dir"
	case !slices.Equal(m.Writable, n.Writable):
		return "writable"
	case !slices.Equal(m.Run, n.Run):
		return "run"
	case m.Stdin != n.Stdin || m.StdinOpen != n.StdinOpen:
		return "stdin"
	case m.User != n.User || m.Group != n.Group:
		return "user"
	case m.CPUs != n.CPUs:
		return "cpus"
	case m.MayFail != n.MayFail:
		return "may_fail"
	case m.Client != n.Client:
		return "client"
	case m.ClockOffset != n.ClockOffset:
		return "clock_offset"
	case m.ClockDrift != n.ClockDrift:
		return "clock_drift"
	case m.Start != n.Start:
		return "start"
	case len(m.Addrs) != len(n.Addrs):
		return "one has more addresses"
	case len(m.Env) != len(n.Env):
		return "env"
	}
	for k, v := range m.Env {
		if w, ok := n.Env[k]; !ok || !alike(v, w) {
			return "env"
		}
	}
	programs, others := m.Programs(), n.Programs()
	for i := range programs {
		x, y := programs[i].Args, others[i].Args
		if len(x) != len(y) {
			return "one has more arguments"
		}
		for j := range x {
			if !alike(x[j], y[j]) {
				return strconv.Quote(x[j]) + " and " + strconv.Quote(y[j]) + " in their commands"
			}
		}
	}
	return ""
}

// word is what may be a name, an IPv4 address or end in a number.
var word = regexp.MustCompile(`[A-Za-z0-9._-]*[A-Za-z0-9]`)

// general is a text of a node with names and addresses of its group, and its own
// number at the end of a word, replaced by what is the same for all of the group.
func general(nodes []Node, group []ariadne.NodeID, id ariadne.NodeID, s string) string {
	number := strings.TrimPrefix(nodes[id].Name, strings.TrimRight(nodes[id].Name, "0123456789"))
	if number == "" {
		number = strconv.Itoa(int(id) + 1)
	}
	return word.ReplaceAllStringFunc(s, func(w string) string {
		for _, g := range group {
			n := &nodes[g]
			if w == n.Name || slices.ContainsFunc(n.Addrs, func(a netip.Addr) bool { return w == a.String() }) {
				return "{node}"
			}
		}
		if rest, ok := strings.CutSuffix(w, number); ok {
			return rest + "{i}"
		}
		return w
	})
}
