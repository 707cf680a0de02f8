// Package timers lists the times at which the nodes of a system decide otherwise because they read
// the clock: leases that are over, entries that expire. No call announces such a timer.
//
// It executes the natural schedule and some random ones. Where a message can arrive, it is tried at
// later times (internal/explore/space). It is no check: faults are left out, and what is found is
// no part of any execution.
//
// Read next: timers.go; internal/use/session/boundary.go.
package timers

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/ariadne-mc/ariadne"
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
	// Window is how much later a message is tried at most.
	Window time.Duration
}

// List is what was found.
type List struct {
	Event      string             `json:"event"` // "timers"
	Name       string             `json:"name"`  // of the system
	Boundaries []session.Boundary `json:"boundaries"`
	Schedules  int                `json:"schedules"` // that came to their ends
	Steps      int                `json:"steps"`
	// Probing counts what was tried at other times.
	Probing space.Probing `json:"clocks_probed"`
	// ReadClock are nodes that read the clock in steps of which no other time was tried: when they
	// are started, or when one of their timers fires.
	ReadClock []string      `json:"read_clock,omitempty"`
	Stopped   string        `json:"stopped,omitempty"` // "time", "interrupted", or ""
	Took      time.Duration `json:"took_ns"`           // real time
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
	l = &List{Event: "timers", Name: s.Name, Boundaries: []session.Boundary{}}
	f := finder{list: l, session: e, window: o.Window, known: map[string]int{}, unprobed: map[ariadne.NodeID]bool{},
		over: func() bool { return time.Since(began) >= o.Time || ctx.Err() != nil }}
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
	for i := range s.Nodes {
		if f.unprobed[ariadne.NodeID(i)] {
			l.ReadClock = append(l.ReadClock, s.Nodes[i].Name)
		}
	}
	l.Took = time.Since(began)
	return l, nil
}

type finder struct {
	list     *List
	session  *session.Session
	window   time.Duration
	known    map[string]int // by kind of boundary
	unprobed map[ariadne.NodeID]bool
	over     func() bool // the time is up
}

// schedule executes one from the start.
func (f *finder) schedule(r *rand.Rand, natural bool) error {
	if err := f.session.Go(0); err != nil {
		return err
	}
	for !f.over() {
		found, tried, err := f.session.Boundaries(f.window, f.known)
		f.list.Boundaries = append(f.list.Boundaries, found...)
		f.list.Probing.Add(tried)
		if err != nil {
			return err
		}
		choices := f.session.Enabled()
		if len(choices) == 0 {
			return nil
		}
		i := 0
		if !natural && r.IntN(2) == 0 {
			i = r.IntN(len(choices))
		}
		step, err := f.session.Step(choices[i].Name)
		if err != nil {
			return err
		}
		f.list.Steps++
		if step.Output.ReadClock && step.Action.Kind != ariadne.ActDeliver {
			f.unprobed[step.Action.Node] = true
		}
	}
	return nil
}
