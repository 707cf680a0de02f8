package space

import (
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// What a step can be varied to is known when it has been executed. Nobody looks for it beforehand:
// to execute each event of each state would cost more than the path itself, and most searches need
// few of the variations. A step tells of its own: each further choice at a place behind its last
// one makes a variation of its own, so every combination of choices comes from one other, and is
// told of once.

// drawChoices draws for the step to which event i of a frame has just led, at each place where a
// choice costs nothing, what happens. Then the event may be another one.
func (p *Path) drawChoices(from, to *Frame, i int, t *memo.Transition) (int, *memo.Transition, error) {
	e := from.Enabled[i]
	seed, drawn := uint64(0), false
	for at := t.Output.Settled(); at < len(t.Output.Places) && t.Output.Cut == ""; at++ {
		place := &t.Output.Places[at]
		if !world.FreeKind(place.Alternatives[0]) {
			continue
		}
		if !drawn { // one for the step: what comes of it does not depend on what is remembered
			seed, drawn = uint64(p.draw.Below(1<<62)), true
		}
		n := 0
		if d, ok := p.draw.(ImageDrawer); ok && place.Kind() == ariadne.DiskImage {
			n = d.Image(t, len(place.Alternatives)+1)
		} else {
			n = ariadne.Pick(seed, at, len(place.Alternatives)+1)
		}
		if n == 0 {
			continue
		}
		var err error
		if e, err = e.WithChoice(ariadne.Choice{Alternative: place.Alternatives[n-1], Place: place.Name}); err != nil {
			return i, t, err
		}
		// As long as it is remembered what comes of it, the next choice is drawn here; from there
		// on the node draws, or it would execute the step once for each of them.
		known, err := p.space.isRemembered(&from.State, &e)
		if err != nil {
			return i, t, err
		}
		if to.State.CopyFrom(&from.State); !known {
			e = e.DrawnOn(at+1, seed)
		}
		if t, err = p.space.Step(&to.State, &e); err != nil {
			return i, t, err
		}
		if !known {
			break
		}
	}
	if e.Varied != from.Enabled[i].Varied {
		if i = from.index(&e); i < 0 {
			i = len(from.Enabled)
			from.Enabled = append(from.Enabled, e)
		}
		from.Taken = i
	}
	return i, t, nil
}

// index is where in Enabled an event is, or -1.
func (f *Frame) index(e *world.Event) int {
	for i := range f.Enabled {
		if f.Enabled[i].SameAction(e) {
			return i
		}
	}
	return -1
}

// addVariationsOf appends to a frame's Enabled what its event i, of which t came, can be varied to
// by one more choice.
func (p *Path) addVariationsOf(f *Frame, i int, t *memo.Transition) error {
	if _, ok := f.variationsOf(i); ok || len(t.Output.Places) == 0 || t.Output.Cut != "" {
		return nil
	}
	e, n, rules := f.Enabled[i], len(f.Enabled), p.space.System.Rules()
	halts := e.Halts()
	for _, c := range t.Output.More() {
		free := world.FreeKind(c.Alternative)
		if !free && (halts || p.space.Unfold && !e.Chosen() && e.Choices() < rules.Together()) {
			continue // with Unfold the frame has had it from the beginning
		}
		v, err := e.WithChoice(c)
		if err != nil {
			return err
		}
		if !free && (!rules.Combines(&v) || !p.space.System.Allows(&f.State.State, &v)) {
			continue
		}
		if !free && (p.bounds.Deviations.Reached(f.Deviations) || !p.boundsAllowCosts(f, &v)) {
			f.Bounded = true
			continue
		}
		f.Enabled = append(f.Enabled, v)
	}
	f.grown = append(f.grown, growth{i, n, len(f.Enabled)})
	return nil
}

func (f *Frame) variationsOf(i int) (growth, bool) {
	for _, g := range f.grown {
		if g.i == i {
			return g, true
		}
	}
	return growth{}, false
}

// StepVariations makes known what the step that was taken from Frame(i) can be varied to by one
// more choice, and returns the places of these events in the frame's Enabled: from one on to before
// another. It must be asked before the path is cut there. See Err.
func (p *Path) StepVariations(i int) (from, to int) { return p.ExecutionStepVariations(p.root + i) }

// ExecutionStepVariations is StepVariations of the state after the first i steps of the execution.
func (p *Path) ExecutionStepVariations(i int) (from, to int) {
	f := p.FrameAt(i)
	if p.err == nil && p.space.Restart == nil {
		p.err = p.addVariationsOf(f, f.Taken, p.FrameAt(i+1).By)
	}
	g, _ := f.variationsOf(f.Taken)
	return g.from, g.to
}

// Err is why AddVariations or Find could not find out what there is. Then nobody knows how to go
// on.
func (p *Path) Err() error { return p.err }

// AddVariations appends to the Enabled of one of the path's frames what its event i can be varied
// to by one more choice. See Err.
func (p *Path) AddVariations(f *Frame, i int) {
	if _, ok := f.variationsOf(i); ok {
		return
	}
	if t := p.outcome(f, i); t != nil {
		p.err = p.addVariationsOf(f, i, t)
	}
}

// Outcome is what comes of event i of the last frame, or nil where nodes live or the event gives
// none an input. See Err.
func (p *Path) Outcome(i int) *memo.Transition { return p.outcome(p.Last(), i) }

func (p *Path) outcome(f *Frame, i int) *memo.Transition {
	if p.err != nil || p.space.Restart != nil || p.approaching || world.KindOf(f.Enabled[i].Kind).World {
		return nil
	}
	t, err := p.space.outcomeOf(&f.State, &f.Enabled[i])
	if p.err = err; err != nil {
		return nil
	}
	if p.space.Properties != nil || p.space.Tells != nil {
		p.space.exposedBy(t)
	}
	return t
}

// EventVariations makes known what event i of the last frame can be varied to by one more choice,
// and returns which events those are: from one on to before another. See Err.
func (p *Path) EventVariations(i int) (from, to int) {
	f := p.Last()
	p.AddVariations(f, i)
	g, _ := f.variationsOf(i)
	return g.from, g.to
}

// Find returns where in the last frame's Enabled an event is, which is made known if it is a
// variation that was not. Not ok: it is not among what is possible, or see Err.
func (p *Path) Find(e *world.Event) (i int, ok bool) {
	f := p.Last()
	if i = f.index(e); i >= 0 {
		return i, true
	}
	if e.Varied.Variation() == "" {
		return p.addAnother(e)
	}
	before, err := e.WithoutLastChoice()
	if err != nil {
		p.err = err
		return 0, false
	}
	if i, ok = p.Find(&before); !ok {
		return 0, false
	}
	p.AddVariations(f, i)
	if i = f.index(e); i >= 0 {
		return i, true
	}
	return p.addAnother(e)
}

// addAnother appends to the last frame's Enabled an event that is another one of it but for how
// long its fault lasts (world.Rules.Seldom), or for how late it is.
func (p *Path) addAnother(e *world.Event) (i int, ok bool) {
	f := p.Last()
	if e.Kind == world.Late {
		if i = f.OnTime(e); i >= 0 {
			return p.AppendLater(i, e.At)
		}
		return -1, false
	}
	if !p.space.System.Lasts(e) {
		return -1, false
	}
	of := e.IndexOfLength(f.Enabled)
	if of < 0 {
		return -1, false
	}
	f.Enabled = append(f.Enabled, f.Enabled[of].WithLength(e.OutageLength()))
	return len(f.Enabled) - 1, true
}

// OnTime is where a frame's Enabled has what a late event is when it is on time, or -1.
func (f *Frame) OnTime(late *world.Event) int {
	return slices.IndexFunc(f.Enabled, func(e world.Event) bool {
		return world.CanBeLate(e.Kind) && e.Node == late.Node && (e.Packet == nil) == (late.Packet == nil) &&
			(e.Packet == late.Packet || e.Packet.SameDelivery(late.Packet)) && e.Varied.Variation() == ""
	})
}

// FindAction is Find of an event that is not varied, by its action.
func (p *Path) FindAction(a ariadne.Action) (i int, ok bool) {
	f := p.Last()
	for i := range f.Enabled {
		if f.Enabled[i].Action() == a {
			return i, true
		}
	}
	for i := range f.Enabled {
		if e, ok := p.space.System.LaterAs(&f.State.State, &f.Enabled[i], a); ok {
			return p.FindAnyLength(&e), true
		}
	}
	if !p.space.System.LastsSeldom(a) {
		return -1, false
	}
	for i := range f.Enabled {
		if e := &f.Enabled[i]; e.Kind == a.Kind && e.Node == a.Node && e.Varied.Variation() == "" {
			if as := e.WithLengthOf(a); as.Action() == a {
				return p.FindAnyLength(&as), true
			}
		}
	}
	return -1, false
}

// FindAnyLength returns where in the last frame's Enabled is an event that is one of it but for how
// long its fault lasts.
func (p *Path) FindAnyLength(e *world.Event) (i int) {
	f := p.Last()
	if i = f.index(e); i < 0 {
		i = len(f.Enabled)
		f.Enabled = append(f.Enabled, *e)
	}
	return i
}

// DrawNext has the event that is pushed next varied, wherever it comes to a choice that costs
// nothing: draw says which of n things happens, of which 0 is what would else. Where nodes
// live see Draw.
func (p *Path) DrawNext(draw Drawer) { p.draw = draw }

// Drawer draws one of n things at random, from 0 on.
type Drawer interface{ Below(n int) int }

// ImageDrawer is a Drawer that draws, too, which of n images a loss of power leaves. It is given
// what comes of the first of them, in which all is lost that can be.
type ImageDrawer interface {
	Drawer
	Image(lost *memo.Transition, n int) int
}
