// Package steer runs the user's own rules of a search: functions of a file in Starlark that say
// what to try next (explore), which steps of a node may change places (independent), and which
// states are alike (same). docs/guides/scripts.md describes these functions and their arguments.
//
// A Script is for any number of goroutines at the same time, because nothing of it can
// change, and a Rules, which has a thread of Starlark, for one. The first error of a
// rule stays, and the search is to end by it.
//
// Read next: values.go, which has what the functions see; internal/judge/script, which calls them.
package steer

import (
	"encoding/binary"
	"fmt"
	"math"
	"path/filepath"

	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/script"
	"github.com/ariadne-mc/ariadne/internal/judge/stage"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
	"github.com/ariadne-mc/ariadne/internal/leaf/readfile"

	"go.starlark.net/starlark"
)

// Script is a file that was read.
type Script struct {
	Name string // of the file, without its directory
	// Print, when not nil, is told the lines that the script prints. Calls may overlap.
	Print func(line string)
	// Printed are the lines that it has printed as it was read.
	Printed []string

	explore, independent, same *starlark.Function
}

// Load reads the script in the file at path and looks at what it has. Its error is
// an *script.Error.
func Load(path string) (*Script, error) {
	src, err := readfile.AtMost(path, readfile.Spec)
	if err != nil {
		return nil, script.Located(path, err)
	}
	return load(path, src)
}

// load takes the text from src.
func load(path string, src any) (*Script, error) {
	s := &Script{Name: filepath.Base(path)}
	thread := script.NewThread(s.Name, func(line string) { s.Printed = append(s.Printed, line) })
	globals, err := script.Exec(thread, path, src, script.Predeclared)
	if err != nil {
		return nil, script.Located(path, err)
	}
	globals.Freeze()
	found := false
	for _, f := range []struct {
		at         **starlark.Function
		name, form string
		params     int
	}{
		{&s.explore, "explore", "explore(path, state, enabled)", 3},
		{&s.independent, "independent", "independent(a, b)", 2},
		{&s.same, "same", "same(state)", 1},
	} {
		v, ok := globals[f.name]
		if !ok {
			continue
		}
		fn, ok := v.(*starlark.Function)
		switch {
		case !ok:
			return nil,
				&script.Error{Pos: path,
					Text: fmt.Sprintf("%s is not a function: it must have the form %s", f.name, f.form)}
		case fn.NumParams() != f.params || fn.HasVarargs() || fn.HasKwargs() || fn.NumKwonlyParams() > 0:
			return nil,
				&script.Error{Pos: fn.Position().String(),
					Text: fmt.Sprintf("%s must have the form %s", f.name, f.form)}
		}
		*f.at, found = fn, true
	}
	if !found {
		return nil, &script.Error{Pos: path, Text: "the script has none of explore(path, state, enabled), independent(a, b) and same(state)"}
	}
	return s, nil
}

// print tells whoever wants to know what the script prints.
func (s *Script) print(line string) {
	if s.Print != nil {
		s.Print(line)
	}
}

// HasExplore reports whether the script has explore.
func (s *Script) HasExplore() bool { return s.explore != nil }

// HasIndependent reports whether it has independent.
func (s *Script) HasIndependent() bool { return s.independent != nil }

// HasSame reports whether it has same.
func (s *Script) HasSame() bool { return s.same != nil }

// Rules are the script's functions as one worker of a search calls them.
type Rules struct {
	script *Script
	names  world.Names
	thread *starlark.Thread
	known  map[[2]hash.Hash]bool // answers of independent
	err    error

	// Audited counts the answers that were looked at.
	Audited int
	source  space.Source
	share   float64

	// Sources are the rules by which nodes expose what the functions may read (space.Space.Tells).
	Sources expose.Sources
	// Stages make tuples of these, or nil.
	Stages *stage.Runner
	offers *offers
}

// Rules returns the rules for each of the workers of a search of a system.
func (s *Script) Rules(y *world.System, workers int) []*Rules {
	o := &offers{known: map[hash.Hash]hash.Hash{}}
	var all []*Rules
	for range workers {
		all = append(all,
			&Rules{script: s, names: y.Names(), thread: script.NewThread(s.Name, s.print),
				known: map[[2]hash.Hash]bool{}, offers: o})
	}
	return all
}

// Err is the first error of a rule, or nil; an *script.Error when it is the user's. After one the
// rules answer what does no harm: nothing is tried, independent, or alike.
func (r *Rules) Err() error { return r.err }

// callFunction calls a function; not ok after an error.
func (r *Rules) callFunction(f *starlark.Function, args ...starlark.Value) (v starlark.Value, ok bool) {
	if r.err != nil {
		return nil, false
	}
	if v, r.err = script.Call(r.thread, f, args); r.err != nil {
		return nil, false
	}
	return v, true
}

// fail is an error in what a function has returned.
func (r *Rules) fail(f *starlark.Function, format string, args ...any) {
	if r.err == nil {
		r.err = &script.Error{Pos: f.Position().String(), Text: f.Name() + "() " + fmt.Sprintf(format, args...)}
	}
}

// Explore asks what to try next at the end of a path.
func (r *Rules) Explore(p *space.Path) []strategy.Choice {
	f := r.script.explore
	enabled := p.Last().Enabled
	v, ok := r.callFunction(f, r.path(p), &state{r, p}, r.enabled(p))
	if !ok {
		return nil
	}
	list, ok := v.(starlark.Iterable)
	if !ok {
		r.fail(f, "returned %s: a list of actions is needed, or of (action, priority)", v.Type())
		return nil
	}
	var choices []strategy.Choice
	taken := make([]bool, len(enabled))
	it := list.Iterate()
	defer it.Done()
	for item := starlark.Value(nil); it.Next(&item); {
		c, err := choice(item, len(enabled))
		switch {
		case err != nil:
			r.fail(f, "%v", err)
			return nil
		case taken[c.Event]:
			r.fail(f, "returned action %d twice", c.Event)
			return nil
		}
		taken[c.Event] = true
		choices = append(choices, c)
	}
	return choices
}

// choice reads an action or its index, with a priority or without, of n actions.
func choice(v starlark.Value, n int) (c strategy.Choice, err error) {
	if pair, ok := v.(starlark.Tuple); ok {
		if len(pair) != 2 {
			return c, fmt.Errorf("returned a tuple of %d: (action, priority) is needed", len(pair))
		}
		number, ok := starlark.AsFloat(pair[1])
		if !ok || math.IsNaN(number) {
			return c, fmt.Errorf("returned the priority %s: a number is needed", pair[1])
		}
		c.Priority, v = number, pair[0]
	}
	switch v := v.(type) {
	case *action:
		if c.Event = v.index; v.by != nil {
			return c, fmt.Errorf("returned an action of the path: an action of enabled is needed")
		}
	case starlark.Int:
		i, ok := v.Int64()
		if !ok || i < 0 || i >= int64(n) {
			return c, fmt.Errorf("returned action %s: an index from 0 to %d is needed", v, n-1)
		}
		c.Event = int(i)
	default:
		return c, fmt.Errorf("returned %s in its list: an action or its index is needed", v.Type())
	}
	return c, nil
}

// knownMax bounds the answers that are remembered.
const knownMax = 1 << 20

// Independent asks whether two steps of one node may change places.
func (r *Rules) Independent(a, b *memo.Transition) bool {
	key := [2]hash.Hash{transitionHash(a), transitionHash(b)}
	if key[1].Less(key[0]) {
		key[0], key[1], a, b = key[1], key[0], b, a
	}
	if answer, ok := r.known[key]; ok {
		return answer
	}
	answer := r.independent(a, b) && r.independent(b, a)
	if len(r.known) >= knownMax {
		clear(r.known)
	}
	r.known[key] = answer
	if answer && r.audits(key[0].Plus(key[1])) {
		r.auditIndependent(a, b)
	}
	return answer && r.err == nil
}

func (r *Rules) independent(a, b *memo.Transition) bool {
	f := r.script.independent
	v, ok := r.callFunction(f, r.given(a), r.given(b))
	if !ok {
		return false
	}
	answer, ok := v.(starlark.Bool)
	if !ok {
		r.fail(f, "returned %s: True or False is needed", v.Type())
	}
	return bool(answer)
}

func transitionHash(t *memo.Transition) hash.Hash {
	k := t.Input.Key()
	return hash.Of(binary.LittleEndian.Uint64(t.From.Name[:]), k.Hi, k.Lo)
}

// Class stands for the states that are like that at the end of a path.
func (r *Rules) Class(p *space.Path) hash.Hash {
	h, ok := r.Same(p)
	if !ok {
		return p.Hash(p.Last()).Plus(hash.Of(0, 0, 7)) // itself alone
	}
	return p.HashAbstract(h)
}

// Same asks what the state at the end of a path is taken for; not ok when it is like
// no other.
func (r *Rules) Same(p *space.Path) (h hash.Hash, ok bool) {
	f := r.script.same
	v, ok := r.callFunction(f, &state{r, p})
	if !ok || v == starlark.None {
		return h, false
	}
	if err := script.Prints(v); err != nil {
		r.fail(f, "returned a value that is too large")
		return h, false
	}
	if _, err := v.Hash(); err != nil {
		r.fail(f, "returned a value that cannot be compared: %v", err)
		return h, false
	}
	h = hash.OfText(v.Type() + " " + v.String())
	if r.audits(h) {
		r.auditSame(p, h)
	}
	return h, true
}
