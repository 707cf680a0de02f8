package strategy

import (
	"fmt"
	"sync/atomic"

	"github.com/ariadne-mc/ariadne/internal/explore/space"
)

func init() {
	register(Row{Name: "script", Doc: "the actions that explore() of the --script returns, by its priorities", States: true, Matches: true, Again: true, Asks: true,
		Make: func(b *Builder) []Explorer {
			all := (&Scripted{Bytes: b.Bytes}).Divide(b.Workers)
			for i, e := range all {
				all[i] = &Series{Full: b.Full, Parts: []Part{{Explorer: e}}}
			}
			return all
		}})
}

// Scripted lets somebody else choose: it asks at every new state what to try next,
// and tries first what has the least priority anywhere, and of equals what was named
// first. It does not go on from a state in which it was before.
//
// Several of them have one queue, and each tries what is then first in it.
type Scripted struct {
	// Ask names events of the last state of a path, none of them twice. Events that it does not
	// name are left out.
	Ask func(p *space.Path) []Choice
	// Bytes is about how much memory the paths to be tried may take; 0: no bound. Paths that find
	// no room are left out.
	Bytes int64

	frontal
	left *atomic.Int64 // events left out by who was asked, of all workers
}

// Choice is an event that is to be tried.
type Choice struct {
	Event    int // index in Enabled
	Priority float64
}

// Divide implements Divisible. All of them ask the same, unless they are given an Ask
// of their own.
func (s *Scripted) Divide(n int) []Explorer {
	left := &atomic.Int64{}
	return divided(n, newFrontier(n, &priorityQueue{}, s.Bytes), func(f frontal) Explorer {
		return &Scripted{Ask: s.Ask, frontal: f, left: left}
	})
}

// Begin implements Explorer.
func (s *Scripted) Begin(p *space.Path) (keep int, ok bool) {
	if s.frontier == nil {
		s.frontal, s.left = alone(newFrontier(1, &priorityQueue{}, s.Bytes)), &atomic.Int64{}
	}
	return s.begin(p)
}

// Next implements Explorer.
func (s *Scripted) Next(p *space.Path) (event int, ok bool) {
	if event, ok = s.next(p); ok {
		return event, true
	}
	s.branch(p, s.asBefore)
	if p.Last().Seen && p.Len() > 0 {
		return 0, false
	}
	asked := s.Ask(p)
	s.left.Add(int64(len(p.Last().Enabled) - len(asked)))
	place, event, priority, ok := s.frontier.choose(s.now, asked)
	if ok { // what comes first goes on from here
		s.now, s.priority = place, priority
		s.prefix = append(s.prefix, int32(event))
	}
	return event, ok
}

// End implements Explorer.
func (s *Scripted) End(p *space.Path, _ End) error {
	s.branch(p, s.asBefore)
	return nil
}

// asBefore: what a step can be varied to by choices comes where the step came.
func (s *Scripted) asBefore(int, int) float64 { return s.priority }

// TriesFaultsAtRest implements FaultTrier.
func (*Scripted) TriesFaultsAtRest() bool { return true }

// Missed implements Exhaustive.
func (s *Scripted) Missed() string {
	why := s.frontal.Missed()
	if left := s.left.Load(); left > 0 {
		said := fmt.Sprintf("explore() left out %d action%s", left, plural(left))
		if why != "" {
			said += "; " + why
		}
		return said
	}
	return why
}

func plural(n int64) string {
	if n == 1 {
		return ""
	}
	return "s"
}
