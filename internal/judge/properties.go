package judge

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/history"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/judge/script"
	"github.com/ariadne-mc/ariadne/internal/judge/stage"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
	"github.com/ariadne-mc/ariadne/internal/leaf/readfile"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Properties are the predicates of a spec, compiled. They do not change. Names in an expression are
// those of what nodes expose: each is the list of the tuples of that name; or they are in own.
type Properties struct {
	Config
	list    []compiled
	goals   []goal
	past    []history.Property
	reads   map[string]bool // names of tuples
	sees    expose.Sights
	windows []expose.Window
	stages  *Stages
	*noted
}

// noted is what was noted while properties were judged.
type noted struct {
	wrong   atomic.Pointer[error] // with a model of clients' data
	unknown atomic.Int64          // histories of which nothing was known within the time
	puzzled atomic.Pointer[error] // what was not understood of clients' connections
	ended   atomic.Bool           // some execution was judged by what clients have seen
	met     atomic.Bool           // and there was some operation in one
	probed  sync.Map              // what was found of Probed in programs
	strays  sync.Map              // names that programs expose and Sources do not have
}

// Searched are the properties as searches need them, without numbers that have no bounds: two
// events are not dependent because of values that only these read. Notes go to both.
func (p *Properties) Searched() (*Properties, error) {
	c := p.Config
	c.Predicates = slices.DeleteFunc(slices.Clone(c.Predicates), func(q property.Predicate) bool {
		return q.Number != nil && !q.Number.Bounded()
	})
	if len(c.Predicates) == len(p.Config.Predicates) {
		return p, nil
	}
	s, err := NewProperties(c)
	if err == nil {
		s.noted = p.noted
	}
	return s, err
}

// Notes say what is to be known besides, one line each.
func (p *Properties) Notes() (all []string) {
	var names []string
	p.strays.Range(func(name, _ any) bool {
		names = append(names, name.(string))
		return true
	})
	slices.Sort(names)
	for _, name := range names {
		all = append(all, fmt.Sprintf("expose: programs expose %s, which the spec does not name: with expose: {%s: {}} properties can read it", name, name))
	}
	return all
}

// Doubts say what could not be judged, one line each.
func (p *Properties) Doubts() (all []string) {
	if n := p.unknown.Load(); n > 0 {
		all = append(all, fmt.Sprintf("%d histories of clients' operations were not judged: each took longer than %v", n, historyLimit))
	}
	if err := p.puzzled.Load(); err != nil {
		all = append(all, fmt.Sprintf("history: operations were not judged, because Ariadne did not understand a connection: %s", *err))
	}
	if p.ended.Load() && !p.met.Load() && p.History.Wire != "" && p.puzzled.Load() == nil {
		all = append(all, fmt.Sprintf("history: no client began an operation on a connection to port %d, so no operation was judged: check the port", p.History.Port))
	}
	for _, f := range p.Probed {
		if _, found := p.probed.Load(f); !found && len(p.list)+len(p.goals) > 0 {
			text := fmt.Sprintf("no program with debug information has a %s: check the name, and that the program is not stripped", f)
			if strings.HasPrefix(f, "command ") {
				text = f + " has never ended with status 0"
			}
			all = append(all, "expose: "+text)
		}
	}
	return all
}

type compiled struct {
	property.Predicate
	params   []string
	fn       *starlark.Function
	window   int       // its place among Properties.windows, with Predicate.Window
	division *Division // or nil
}

// goal is a property.Goal. Both read the same snapshot.
type goal struct {
	when, expr compiled // when has no fn: it is always so
}

// Config is what properties are made of.
type Config struct {
	Path        string // of the spec
	Definitions string // path of a file with functions that predicates call, or ""
	Sources     expose.Sources
	Stages      []stage.Stage
	// "function F", "variable V" and "command C" by which nodes expose something
	Probed     []string
	History    *expose.History // or nil
	Predicates []property.Predicate
	Histories  []history.Claim
	Goals      []property.Goal // at most property.MaxGoals
	Nodes      []string        // names
}

// builtins are what expressions and definitions can call besides script.Predeclared.
var builtins = starlark.StringDict{
	"agree": starlark.NewBuiltin("agree", agree), "one": starlark.NewBuiltin("one", one),
	"rising": starlark.NewBuiltin("rising", rising), "decided": starlark.NewBuiltin("decided", decided),
}

// NewProperties compiles properties. Errors are of type *script.Error.
func NewProperties(c Config) (*Properties, error) {
	p := &Properties{Config: c, reads: map[string]bool{}, noted: &noted{}}
	known := maps.Clone(script.Predeclared)
	maps.Copy(known, builtins)
	if c.Definitions != "" {
		src, err := readfile.AtMost(c.Definitions, readfile.Spec)
		if err != nil {
			return nil, script.Located(c.Definitions, err)
		}
		defined, err := script.Exec(script.NewThread(c.Definitions, nil), c.Definitions, src, known)
		if err != nil {
			return nil, script.Located(c.Definitions, err)
		}
		defined.Freeze()
		maps.Copy(known, defined)
	}
	var err error
	if p.stages, err = p.newStages(known); err != nil {
		return nil, err
	}
	for _, q := range c.Predicates {
		f, err := p.compile(q, known)
		if err != nil {
			return nil, err
		}
		p.list = append(p.list, f)
	}
	for _, q := range c.Goals {
		var g goal
		var err error
		if g.expr, err = p.compile(property.Predicate{Name: q.Name, Expr: q.Expr, Line: q.Line}, known); err == nil &&
			q.When != "" {
			g.when, err = p.compile(property.Predicate{Name: q.Name, Expr: q.When, Line: q.Line}, known)
		}
		if err != nil {
			return nil, err
		}
		p.goals = append(p.goals, g)
	}
	for _, c := range c.Histories {
		h, err := p.claim(c, known)
		if err != nil {
			return nil, err
		}
		p.past = append(p.past, h)
	}
	return p, nil
}

// compile makes a function of a property's expression: its parameters are what it reads.
func (p *Properties) compile(q property.Predicate, known starlark.StringDict) (c compiled, err error) {
	c.Predicate = q
	fail := func(text string) error {
		return &script.Error{Pos: fmt.Sprintf("%s:%d", p.Path, q.Line),
			Text: fmt.Sprintf("property %q: %s", q.Name, text)}
	}
	expr, err := script.ParseExpr(p.Path, q.Expr)
	if err != nil {
		var se syntax.Error
		if errors.As(err, &se) {
			return c, fail(se.Msg)
		}
		return c, fail(err.Error())
	}
	syntax.Walk(expr, func(n syntax.Node) bool {
		if id, ok := n.(*syntax.Ident); ok && !slices.Contains(c.params, id.Name) && p.hasName(id.Name) {
			c.params = append(c.params, id.Name)
		}
		return true
	})
	var sees expose.Sights
	var reads []string
	for _, name := range c.params {
		for _, of := range p.stages.Reads(name) {
			p.reads[of], reads = true, append(reads, of)
		}
		if o, ok := own[name]; ok {
			sees = sees.And(o.sees)
		}
	}
	p.sees = p.sees.And(sees)
	if sees.Past && p.History == nil {
		return c, fail("history is missing: pending is about its operations")
	}
	if looksBack := slices.Contains(c.params, earlier); looksBack != (q.Window > 0) {
		return c, fail("earlier needs window, and window needs earlier")
	} else if looksBack {
		if sees.World || sees.Past {
			return c, fail("a property with earlier cannot read messages, timers, clocks or pending")
		}
		c.window = len(p.windows)
		p.windows = append(p.windows, expose.Window{Names: reads, Up: sees.Up, Length: q.Window})
	}
	if wrong := p.textAsNumber(expr, q.Expr); wrong != "" {
		return c, fail(wrong)
	}
	c.division = p.divide(&q, expr, known)
	thread := script.NewThread(p.Path, nil)
	src := "def property(" + strings.Join(c.params, ", ") + "): return (" + q.Expr + "\n)"
	globals, err := script.Exec(thread, p.Path, src, known)
	if err != nil {
		text := script.Located(p.Path, err).Text
		if strings.HasPrefix(text, "undefined: ") {
			text += ": declare it under expose, as a stage, or as a function of definitions"
		}
		return c, fail(text)
	}
	if len(c.params) == 0 {
		return c, fail("it reads nothing that a node exposes, nor " + strings.Join(ownNames(), ", "))
	}
	globals.Freeze()
	c.fn = globals["property"].(*starlark.Function)
	return c, nil
}

// hasName reports whether a name is one of what properties get.
func (p *Properties) hasName(name string) bool {
	return slices.Contains(property.OwnNames, name) || p.Exposes(name) || p.stages.Has(name)
}

// Exposes reports whether a name is one of what nodes expose.
func (p *Properties) Exposes(name string) bool {
	return slices.ContainsFunc(p.Sources, func(s expose.Source) bool { return s.Name == name })
}

// ReadsName reports whether some property reads tuples of a name, also by stages.
func (p *Properties) ReadsName(name string) bool { return p.reads[name] }

// Stages are those of the spec.
func (p *Properties) Stages() *Stages { return p.stages }

// knownMax bounds the verdicts that are remembered.
const knownMax = 1 << 20

// Judge judges snapshots, for one goroutine.
type Judge struct {
	*Properties
	thread *starlark.Thread
	runner *stage.Runner           // of stages; nil: there are none
	known  [2]map[hash.Hash]string // verdicts, before ends and at them
	aims   map[hash.Hash]aims
	past   map[hash.Hash]string // likewise, of histories
	err    error
}

// NewJudge returns who judges by the properties, or nil when there are none. share is of what
// stages compute by what has changed, as in stage.Graph.NewRunner.
func (p *Properties) NewJudge(share float64) *Judge {
	if p == nil || len(p.list)+len(p.past)+len(p.goals) == 0 {
		return nil
	}
	return &Judge{Properties: p, thread: script.NewThread("properties", nil), runner: p.stages.NewRunner(share),
		known: [2]map[hash.Hash]string{{}, {}}, aims: map[hash.Hash]aims{}, past: map[hash.Hash]string{}}
}

// Find implements space.Properties.
func (p *Properties) Find(id ariadne.NodeID, in *ariadne.Message, out *ariadne.Output) expose.Found {
	if p.Probed != nil {
		for i := range out.Notices {
			p.probed.Store(out.Notices[i].Found, true)
		}
	}
	return expose.Found{
		Changes: slices.DeleteFunc(p.Sources.Changes(id, out), func(c expose.Change) bool {
			if !p.reads[c.Name] &&
				!slices.ContainsFunc(p.Sources, func(s expose.Source) bool { return s.Name == c.Name }) {
				p.strays.Store(c.Name, true)
			}
			return !p.reads[c.Name]
		}),
		Events: p.History.Events(id, in, out),
	}
}

// Sees implements space.Properties.
func (p *Properties) Sees() expose.Sights { return p.sees }

// Windows implements space.Properties.
func (p *Properties) Windows() []expose.Window { return p.windows }

// Err implements space.Properties.
func (j *Judge) Err() error { return j.err }

// Judge implements space.Properties.
func (j *Judge) Judge(s *expose.Snapshot, m expose.Moment) string {
	if m != expose.Between && j.err == nil {
		if broken := j.judgePast(s.Past); broken != "" || m == expose.CutOff {
			return broken
		}
	}
	known := j.known[m]
	h := j.named(s)
	verdict, ok := known[h]
	if !ok && j.err == nil {
		verdict = j.judge(s, m == expose.Ended)
		if len(known) >= knownMax {
			clear(known)
		}
		known[h] = verdict
	}
	return verdict
}

// named stands for all that predicates and goals read of a snapshot.
func (j *Judge) named(s *expose.Snapshot) hash.Hash {
	h := s.Hash()
	if j.sees.Past {
		h = h.Plus(s.Past.Hash())
	}
	return h
}

func (j *Judge) judge(s *expose.Snapshot, end bool) string {
	given := starlark.StringDict{}
	for i := range j.list {
		q := &j.list[i]
		if (q.Form == property.Finally) != end {
			continue
		}
		if q.Number != nil {
			v := j.number(q, s, given)
			if j.err != nil {
				return ""
			}
			if v == nil {
				continue
			}
			if beyond := q.Number.Beyond(*v); beyond != "" {
				return fmt.Sprintf("%s: %s, %s: %s", q.Name, property.NumberText(*v), beyond, j.describe(q, s))
			}
			continue
		}
		holds := j.holds(q, s, given)
		if j.err != nil {
			return ""
		}
		if holds == (q.Form == property.Never) {
			return q.Name + ": " + j.describe(q, s)
		}
	}
	return ""
}

// holds reports whether a predicate is true of a snapshot. It sets err.
func (j *Judge) holds(q *compiled, s *expose.Snapshot, given starlark.StringDict) (holds bool) {
	j.value(q, s, given, func(v starlark.Value) error {
		b, ok := v.(starlark.Bool)
		if holds = bool(b); !ok {
			return fmt.Errorf("its value is %s: True or False is needed", v.Type())
		}
		return nil
	})
	return holds
}

// number is that of a predicate in a snapshot; nil: none. It sets err.
func (j *Judge) number(q *compiled, s *expose.Snapshot, given starlark.StringDict) (number *float64) {
	j.value(q, s, given, func(v starlark.Value) error {
		if v == starlark.None {
			return nil
		}
		n, ok := starlark.AsFloat(v)
		if !ok || math.IsNaN(n) || math.IsInf(n, 0) {
			return fmt.Errorf("its value is %s: a number or None is needed", v)
		}
		number = &n
		return nil
	})
	return number
}

// Numbers implements space.Properties.
func (j *Judge) Numbers(s *expose.Snapshot) (all []*float64) {
	given := starlark.StringDict{}
	for i := range j.list {
		if q := &j.list[i]; q.Number != nil {
			var v *float64
			if j.err == nil {
				v = j.number(q, s, given)
			}
			all = append(all, v)
		}
	}
	return all
}

// value hands to f what a predicate's expression is of a snapshot; given is what predicates have
// been given of it. It sets err, also to what f says.
func (j *Judge) value(q *compiled, s *expose.Snapshot, given starlark.StringDict, f func(starlark.Value) error) {
	var args starlark.Tuple
	for _, name := range q.params {
		if name == earlier {
			args = append(args, j.earlier(q, s))
			continue
		}
		if given[name] == nil {
			v, err := j.valueOf(name, s)
			if err != nil {
				j.err = err
				return
			}
			given[name] = v
		}
		args = append(args, given[name])
	}
	j.thread.SetLocal(apartKey, nil)
	v, err := script.Call(j.thread, q.fn, args)
	if err == nil {
		err = f(v)
	}
	if err != nil {
		at := script.Located(q.fn.Position().Filename(), err)
		backtrace := at.Backtrace
		if j.Definitions == "" || !strings.Contains(backtrace, j.Definitions) {
			backtrace = "" // only the expression is in it, of which Line says more
		}
		j.err = &script.Error{Pos: fmt.Sprintf("%s:%d", q.fn.Position().Filename(), q.Line),
			Text: fmt.Sprintf("property %q: %s (of %s)", q.Name, at.Text, j.describe(q, s)), Backtrace: backtrace}
	}
}

// aims are what the goals say of a snapshot, a bit for each.
type aims struct{ when, holds uint64 }

// Goals implements space.Properties.
func (j *Judge) Goals() []property.Goal { return j.Config.Goals }

// Aims implements space.Properties.
func (j *Judge) Aims(s *expose.Snapshot) (when, holds uint64) {
	h := j.named(s)
	a, ok := j.aims[h]
	if ok || j.err != nil {
		return a.when, a.holds
	}
	given := starlark.StringDict{}
	for i := range j.goals {
		g := &j.goals[i]
		if g.when.fn == nil || j.holds(&g.when, s, given) {
			a.when |= 1 << i
		}
		if j.err == nil && j.holds(&g.expr, s, given) {
			a.holds |= 1 << i
		}
		if j.err != nil {
			return 0, 0
		}
	}
	if len(j.aims) >= knownMax {
		clear(j.aims)
	}
	j.aims[h] = a
	return a.when, a.holds
}

// Reads implements space.Properties.
func (j *Judge) Reads(goal int, s *expose.Snapshot) string {
	q := &j.goals[goal].expr
	j.holds(q, s, starlark.StringDict{}) // the last call may have been of another snapshot (few)
	return j.describe(q, s)
}

// historyLimit is how long anybody thinks about a history.
const historyLimit = 10 * time.Second

func (j *Judge) judgePast(past *expose.Past) string {
	if j.Properties.past == nil {
		return ""
	}
	if j.ended.Store(true); past == nil {
		return ""
	}
	h := past.Hash()
	verdict, ok := j.past[h]
	if ok {
		return verdict
	}
	events := j.operations(past)
	for _, l := range j.Properties.past {
		why, unknown, err := l.Broken(events, j.Nodes, historyLimit)
		switch {
		case j.wrong.Load() != nil:
			j.err = *j.wrong.Load()
			return ""
		case err != nil:
			j.err = &script.Error{Pos: fmt.Sprintf("%s:%d", j.Path, l.Line),
				Text: fmt.Sprintf("property %q: %s", l.Name, err)}
			return ""
		case why != "":
			verdict = l.Name + ": " + why
		case unknown:
			j.unknown.Add(1)
		}
		if verdict != "" {
			break
		}
	}
	if len(j.past) >= knownMax {
		clear(j.past)
	}
	j.past[h] = verdict
	return verdict
}

// Unordered are the operations of clients that no order explains, by the first property of
// histories that is broken; nil: there is none. given is what a step has begun with, or nil. Names
// are the nodes'.
func (p *Properties) Unordered(steps []ariadne.Step, given func(step int) *ariadne.Message,
	names []string) (property string, all []history.Operation, err error) {
	if p == nil {
		return "", nil, nil
	}
	var events []expose.Event
	for i := range steps {
		if s := &steps[i]; s.Action.Node != ariadne.NoNode {
			events = append(events, p.History.Events(s.Action.Node, given(s.Index), &s.Output)...)
		}
	}
	if events, err = history.Operations(p.History, events); err != nil {
		return "", nil, err
	}
	for _, l := range p.past {
		if all, err = l.Unordered(events, names, historyLimit); all != nil || err != nil {
			return l.Name, all, err
		}
	}
	return "", nil, nil
}

// operations are the beginnings and ends of clients' operations.
func (p *Properties) operations(past *expose.Past) []expose.Event {
	all, err := history.Operations(p.History, past.Events())
	if err != nil {
		p.puzzled.CompareAndSwap(nil, &err)
	}
	if len(all) > 0 {
		p.met.Store(true)
	}
	return all
}

// valueOf is what a property gets by a name.
func (j *Judge) valueOf(name string, s *expose.Snapshot) (starlark.Value, error) {
	if o, ok := own[name]; ok {
		return o.of(j.Properties, s), nil
	}
	if j.runner.Has(name) {
		made, err := j.runner.Tuples(name, s.Sets)
		return script.Tuples(made), err
	}
	var all []starlark.Value
	for i, set := range s.Sets {
		for _, t := range set.Named(name) {
			all = append(all, &script.Tuple{Node: j.Nodes[i], Tuple: t})
		}
	}
	return script.Frozen(all), nil
}

// mostTuples is how many of them a message has, and mostEarlier of how many earlier snapshots.
const mostTuples, mostEarlier = 8, 3

// describe says what a property has read.
func (j *Judge) describe(q *compiled, s *expose.Snapshot) string {
	text := j.texts(q, s)
	if q.Window > 0 {
		before := s.Earlier.In(q.window)
		for i := len(before) - 1; i >= max(0, len(before)-mostEarlier); i-- {
			text += "; before that " + j.texts(q, before[i])
		}
	}
	return text
}

// texts says what a property reads of one snapshot, and of stages what these read.
func (j *Judge) texts(q *compiled, s *expose.Snapshot) string {
	var texts, under []string
	exposed := func(texts []string, name string) []string {
		for i, set := range s.Sets {
			for _, t := range set.Named(name) {
				texts = append(texts, j.Nodes[i]+" "+t.String())
			}
		}
		return texts
	}
	for _, name := range q.params {
		if o, ok := own[name]; ok && o.say != nil {
			texts = append(texts, o.say(j.Properties, s)...)
		}
		if !j.runner.Has(name) {
			texts = exposed(texts, name)
			continue
		}
		made, _ := j.runner.Tuples(name, s.Sets) // else the property could not be judged
		for i := range made {
			texts = append(texts, made[i].String())
		}
		if len(made) == 0 {
			texts = append(texts, "no "+name)
		}
		for _, of := range j.stages.Reads(name) {
			if !slices.Contains(q.params, of) && !slices.Contains(under, of) {
				under = append(under, of)
			}
		}
	}
	var from []string
	for _, name := range under {
		from = exposed(from, name)
	}
	if texts == nil {
		return "nothing is exposed"
	}
	if from == nil {
		return j.few(texts)
	}
	return j.few(texts) + ", from " + j.few(from)
}

// few are the first texts of some, and how many more there are. Where there are more, those that do
// not go together come before the others.
func (j *Judge) few(texts []string) string {
	if n := len(texts); n > mostTuples {
		apart, _ := j.thread.Local(apartKey).([]string)
		others := slices.DeleteFunc(slices.Clone(texts), func(t string) bool { return slices.Contains(apart, t) })
		texts = append(slices.DeleteFunc(texts, func(t string) bool { return !slices.Contains(apart, t) }), others...)
		texts = append(texts[:mostTuples:mostTuples], fmt.Sprintf("and %d more", n-mostTuples))
	}
	return strings.Join(texts, ", ")
}

// agree(tuples): those with the same key have the same values.
func agree(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value,
	error) {
	var list *starlark.List
	if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 1, &list); err != nil {
		return nil, err
	}
	first := map[string]*script.Tuple{}
	err := tuples(b, list, func(x *script.Tuple) (bool, error) {
		o := first[x.Key]
		if o == nil {
			first[x.Key] = x
			return true, nil
		}
		return agrees(t, slices.Equal(o.Values, x.Values), o, x), nil
	})
	return holds(err)
}

// decided(tuples): those with the same values, but for the last, have the same last one.
func decided(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value,
	error) {
	var list *starlark.List
	if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 1, &list); err != nil {
		return nil, err
	}
	first := map[string]*script.Tuple{}
	return holds(tuples(b, list, func(x *script.Tuple) (bool, error) {
		if len(x.Values) == 0 {
			return false, fmt.Errorf("decided: %s has no value", x)
		}
		last := len(x.Values) - 1
		of := fmt.Sprintf("%q", x.Values[:last])
		o := first[of]
		first[of] = x
		return o == nil || agrees(t, o.Values[last] == x.Values[last], o, x), nil
	}))
}

// one(tuples, field): of those with the same field, or of all, all are of one node.
func one(t *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value,
	error) {
	var list *starlark.List
	if err := starlark.UnpackPositionalArgs(b.Name(), args[:min(len(args), 1)], kwargs, 1, &list); err != nil {
		return nil, err
	}
	var fields []string
	for _, a := range args[1:] {
		field, ok := starlark.AsString(a)
		if !ok {
			return nil, fmt.Errorf("one: names of fields are needed, not %s", a.Type())
		}
		fields = append(fields, field)
	}
	first := map[string]*script.Tuple{}
	err := tuples(b, list, func(x *script.Tuple) (bool, error) {
		of := ""
		for _, field := range fields {
			v, _ := x.Attr(field)
			if v == nil {
				return false, fmt.Errorf("one: %s has no field %s", x, field)
			}
			of += v.String() + ","
		}
		o := first[of]
		first[of] = x
		return o == nil || agrees(t, o.Node == x.Node, o, x), nil
	})
	return holds(err)
}

// apartKey has, of the last call of agree, decided or one that does not hold, the texts of the two
// tuples that do not go together.
const apartKey = "apart"

// agrees is ok. When it is not, a message names two tuples first (few).
func agrees(t *starlark.Thread, ok bool, a, b *script.Tuple) bool {
	if !ok {
		t.SetLocal(apartKey, []string{a.String(), b.String()})
	}
	return ok
}

// errBroken says that something does not hold.
var errBroken = errors.New("it does not hold")

func holds(err error) (starlark.Value, error) {
	if err == nil || err == errBroken {
		return starlark.Bool(err == nil), nil
	}
	return nil, err
}

// tuples calls f with those of a list until it returns false.
func tuples(b *starlark.Builtin, list *starlark.List, f func(*script.Tuple) (bool, error)) error {
	for i := range list.Len() {
		t, ok := list.Index(i).(*script.Tuple)
		if !ok {
			return fmt.Errorf("%s: a list of tuples is needed, not of %s", b.Name(), list.Index(i).Type())
		}
		if ok, err := f(t); err != nil {
			return err
		} else if !ok {
			return errBroken
		}
	}
	return nil
}
