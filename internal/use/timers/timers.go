// Package timers lists the places in programs that read the clock and decide by it: leases that are
// over, entries that expire. No call announces such a timer.
//
// It executes the natural schedule and some random ones. Where a message can arrive, a timer can
// fire or a node can start, that is tried at later times (internal/explore/space). It is no check:
// faults are left out, and what is found is no part of any execution.
//
// Read next: timers.go; internal/use/session/boundary.go and branch.go.
package timers

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/use/session"
)

// Options are what a user may ask of a list.
type Options struct {
	System system.Options
	// Time is for how long schedules are executed, in real time.
	Time time.Duration
	// Schedules is how many are executed: the natural one, and random ones.
	Schedules int
	// Window is how much later a step is tried at most.
	Window time.Duration
	// NoStarts: the starts of nodes are not tried at other times. They are the longest steps.
	NoStarts bool
	// Progress is told how far the list is, Pause apart at least. It may be nil.
	Progress func(*List)
	Pause    time.Duration
}

// List is what was found.
type List struct {
	Event     string  `json:"event"` // "timers"
	Name      string  `json:"name"`  // of the system
	Timers    []Timer `json:"timers"`
	Schedules int     `json:"schedules"` // that came to their ends
	Steps     int     `json:"steps"`
	// Probing counts what was tried at other times.
	Probing space.Probing `json:"clocks_probed"`
	// Unexplained are differences for which no read of the clock was found by which the node
	// decides. Orders of what becomes due at once are among them, and times that are written down.
	Unexplained []session.Boundary `json:"unexplained,omitempty"`
	Stopped     string             `json:"stopped,omitempty"` // "time", "interrupted", or ""
	Took        time.Duration      `json:"took_ns"`           // real time
}

// Timer is a place in a program that decides by the time, with the first boundary that was found
// there. Without a branch, that is what the node does differently.
type Timer struct {
	session.Boundary
	// Seen is in how many different steps the place was found to decide, at all nodes.
	Seen int `json:"seen"`
	// Nodes are those at which it does, and Events are the kinds of steps in which it does.
	Nodes  []string `json:"nodes"`
	Events []string `json:"events"`
}

// Find finds the times at which nodes of a system decide otherwise.
func Find(ctx context.Context, s *spec.Spec, o Options) (l *List, err error) {
	began := time.Now()
	calm := *s
	calm.Faults = world.Faults{}
	e, err := session.Open(ctx, &calm, session.Options{System: o.System})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	limit := time.AfterFunc(o.Time, e.Cancel)
	defer limit.Stop()
	l = &List{Event: "timers", Name: s.Name, Timers: []Timer{}}
	f := finder{list: l, session: e, window: o.Window, starts: !o.NoStarts,
		known: map[string]int{}, places: map[string]int{}, counted: map[string]bool{},
		over: func() bool { return time.Since(began) >= o.Time || ctx.Err() != nil }}
	if o.Progress != nil {
		told := began
		f.progress = func() {
			if time.Since(told) >= max(o.Pause, time.Second/10) {
				told, l.Took = time.Now(), time.Since(began)
				o.Progress(l)
			}
		}
	}
	for i := 0; i < o.Schedules && l.Stopped == ""; i++ {
		err = f.schedule(rand.New(rand.NewPCG(s.Seed, uint64(i))), i == 0)
		switch {
		case ctx.Err() != nil:
			l.Stopped, err = "interrupted", nil
		case errors.Is(err, session.ErrCancelled) || err == nil && f.over():
			l.Stopped, err = "time", nil
		case err != nil:
			return nil, err
		default:
			l.Schedules++
		}
	}
	l.Took = time.Since(began)
	return l, nil
}

type finder struct {
	list     *List
	session  *session.Session
	window   time.Duration
	starts   bool
	known    map[string]int // timers by the differences at their boundaries; -1: unexplained
	places   map[string]int // and by where their branches are
	counted  map[string]bool
	over     func() bool // the time is up
	progress func()      // or nil
}

// schedule executes one from the start.
func (f *finder) schedule(r *rand.Rand, natural bool) error {
	if err := f.session.Go(0); err != nil {
		return err
	}
	for !f.over() {
		found, tried, err := f.session.Boundaries(f.window, f.starts, f.isNew)
		for i := range found {
			f.enter(&found[i])
		}
		f.list.Probing.Add(tried)
		if err != nil {
			return err
		}
		if f.progress != nil {
			f.progress()
		}
		choices := f.session.Enabled()
		if len(choices) == 0 {
			return nil
		}
		i := 0
		if !natural && r.IntN(2) == 0 {
			i = r.IntN(len(choices))
		}
		if _, err := f.session.Step(choices[i].Name); err != nil {
			return err
		}
		f.list.Steps++
	}
	return nil
}

// isNew reports whether nothing like a boundary was found before.
func (f *finder) isNew(b *session.Boundary) bool {
	_, known := f.known[b.Difference()]
	return !known
}

// enter enters a boundary: a timer, or one more step in which a known one decides.
func (f *finder) enter(b *session.Boundary) {
	i, known := f.known[b.Difference()]
	if known && i < 0 {
		return
	}
	if !known && len(b.Read) == 0 && b.Branch == nil && !b.Silent {
		f.known[b.Difference()] = -1
		f.list.Unexplained = append(f.list.Unexplained, *b)
		return
	}
	if !known {
		place := b.Branch.Place()
		if i, known = f.places[place]; !known || place == "" {
			i = len(f.list.Timers)
			f.list.Timers = append(f.list.Timers, Timer{Boundary: *b})
		}
		f.known[b.Difference()], f.places[place] = i, i
	}
	t := &f.list.Timers[i]
	if step := fmt.Sprint(b.Name, b.Before); !f.counted[step] {
		f.counted[step] = true
		t.Seen++
	}
	t.Nodes, t.Events = with(t.Nodes, b.Node), with(t.Events, b.Event)
}

// with is a list with a word that it may have already.
func with(all []string, word string) []string {
	if slices.Contains(all, word) {
		return all
	}
	return append(all, word)
}
