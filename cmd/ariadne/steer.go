package main

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/steer"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/use/check"

	"github.com/spf13/pflag"
)

// steering is what flags say of a search that needs the spec to be understood.
type steering struct {
	strategy  string
	equality  string
	symmetric groups
	script    string
}

func (g *steering) add(f *pflag.FlagSet) {
	f.StringVar(&g.strategy, "strategy", "", "the `strategy` of the search, one of the above (default: the spec's, or default)")
	f.StringVar(&g.equality, "equality", "", "states are equal by this `name`: history, when nodes received the same inputs; exposed, when --state shows the same of them; exposed-times, when also the times between are the same (default: the spec's, or history; see docs/guides/explore.md)")
	f.Var(&g.symmetric, "symmetric", "these `nodes` are interchangeable, as in n1,n2,n3; may be repeated for other groups; none: no nodes are")
	f.StringVar(&g.script, "script", "", "search by the functions in this `file` of Starlark; none: without the spec's script (see docs/guides/scripts.md)")
}

// apply completes the options of a check by these flags, and by what its spec says
// where no flag does.
func (g *steering) apply(s *spec.Spec, o *check.Options) error {
	e := &s.Explore
	o.Steer(e)
	if o.Search.From == nil && !o.Search.FromLive && !o.Search.FromStart && e.Bounds.From != "" {
		if err := (&from{&o.Search}).Set(e.Bounds.From); err != nil {
			return err // the spec has looked at it
		}
	}
	if g.symmetric != nil {
		var err error
		if o.Search.Symmetric, err = s.Interchangeable(g.symmetric); err != nil {
			return err
		}
	}
	if g.strategy == "" && e.Strategy != "" {
		if err := chooseStrategy(e.Strategy, o); err != nil {
			return spec.Errors{{Path: s.Path, Line: e.StrategyLine, Text: err.Error()}}
		}
	}
	if lives(o) && o.Search.Audit > 0 {
		return usageError{fmt.Errorf("--audit has no effect with --strategy %s, which remembers nothing: choose another strategy", o.Search.Strategy)}
	}
	if err := g.load(e, o); err != nil {
		return err
	}
	for _, rule := range o.Search.States {
		if err := s.Tells(rule); err != nil {
			return usageError{fmt.Errorf("--state %w", err)}
		}
	}
	return g.match(o)
}

// match chooses the equality of states.
func (g *steering) match(o *check.Options) error {
	if g.equality != "" {
		if _, ok := space.EqualityNamed(g.equality); !ok {
			return usageError{fmt.Errorf("unknown equality %q: %s", g.equality, strings.Join(space.Equalities(), ", "))}
		}
		o.Search.Equality = g.equality
	}
	if e, _ := space.EqualityNamed(o.Search.Equality); e == (space.Equality{}) {
		return nil
	}
	switch row, _ := strategy.Named(o.Search.Strategy); {
	case !row.Matches && g.equality != "":
		return usageError{fmt.Errorf("--equality %s has no effect with --strategy %s, which does not try all states: choose another strategy", g.equality, row.Name)}
	case !row.Matches: // the spec says it for those that do
		o.Search.Equality = ""
	case len(o.Search.States) == 0:
		return usageError{fmt.Errorf("equality %s needs --state, or explore.states in the spec", o.Search.Equality)}
	}
	return nil
}

// load reads the script, whose rules matter only where something is remembered: without a
// strategy it chooses one.
func (g *steering) load(e *spec.Explore, o *check.Options) error {
	path := g.script
	if path == "" {
		path = e.Script
	}
	if path == "" || path == none {
		return nil
	}
	rules, err := steer.Load(path)
	if err != nil {
		return err
	}
	o.Search.Script = rules
	switch {
	case g.strategy == "" && (e.Strategy == "" || g.script != "") && rules.HasExplore():
		o.Search.Strategy = "script"
	case lives(o) && g.script != "":
		return usageError{fmt.Errorf("--script has no effect with --strategy %s, which remembers nothing: choose another strategy", o.Search.Strategy)}
	}
	return nil
}

// chooseStrategy turns the name of a strategy into options.
func chooseStrategy(name string, o *check.Options) error {
	row, ok := strategy.Named(name)
	if !ok {
		return usageError{strategy.Unknown(name)}
	}
	o.Search.Strategy = name
	if row.Once {
		o.First, o.Executions = 0, 1
	}
	return nil
}

// lives reports whether the strategy remembers nothing.
func lives(o *check.Options) bool {
	row, _ := strategy.Named(o.Search.Strategy)
	return row.Lives
}

// groups is a flag with a group of nodes that may be repeated, or none.
type groups [][]string

func (g *groups) String() string { return "" }

func (g *groups) Set(s string) error {
	if s == none {
		*g = groups{}
		return nil
	}
	names := strings.Split(s, ",")
	if len(names) < 2 {
		return errors.New("neither none nor two nodes or more, as in n1,n2,n3")
	}
	*g = append(*g, names)
	return nil
}

func (*groups) Type() string { return "nodes" }

// weights is a flag with a weight for each kind of action.
type weights strategy.Weights

func (w *weights) String() string {
	var all []string
	for k, n := range w {
		if n > 0 {
			all = append(all, fmt.Sprintf("%s=%d", world.KindOf(ariadne.ActionKind(k)).Name, n))
		}
	}
	return strings.Join(all, ",")
}

func (w *weights) Set(s string) error {
	for one := range strings.SplitSeq(s, ",") {
		name, value, _ := strings.Cut(one, "=")
		k, ok := world.KindNamed(name)
		if !ok || world.FreeKind(name) { // which is drawn evenly
			return fmt.Errorf("%q is not KIND=N, of %s", one, world.KindNames())
		}
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || n > spec.MaxWeight {
			return fmt.Errorf("bad weight %q: a whole number from 1 to %d is needed", value, spec.MaxWeight)
		}
		w[k] = n
	}
	return nil
}

func (*weights) Type() string { return "kind=n" }

// from is a flag with a step of the natural schedule: its number, or a pattern that
// a log line written in it matches.
type from struct{ search *check.Search }

func (*from) String() string { return "" }

func (f *from) Set(s string) error {
	f.search.From, f.search.FromLive, f.search.FromStart = nil, s == "live", s == "none"
	if f.search.FromLive || f.search.FromStart {
		return nil
	}
	if n := len(s); n > 2 && s[0] == '/' && s[n-1] == '/' {
		r, err := regexp.Compile(s[1 : n-1])
		f.search.From = func(s ariadne.Step) bool {
			for l := range s.Output.Lines() {
				if r.MatchString(l.Text) {
					return true
				}
			}
			return false
		}
		return err
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return errors.New("neither the number of a step, /regexp/, live nor none")
	}
	f.search.From = func(s ariadne.Step) bool { return s.Index >= n }
	return nil
}

func (*from) Type() string { return "step" }
