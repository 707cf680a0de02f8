package search_test

import (
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
)

// renewer says the same whenever it is asked. It notes when that was, and counts how often it was
// not asked for some time.
type renewer struct {
	lasts ariadne.Time // 0: for ever
	last  ariadne.Time
	over  uint64
	quiet bool // its memory cannot be read
}

func (*renewer) Start(*worldtest.Ctx) {}
func (*renewer) Fire(*worldtest.Ctx)  {}

func (r *renewer) Receive(c *worldtest.Ctx, m ariadne.Message) {
	c.Output().ReadClock = true
	if r.lasts > 0 && c.Now()-r.last > r.lasts {
		r.over++
	}
	r.last = c.Now()
	c.Send(m.From, "noted")
}

// Memory has the time in nanoseconds and in seconds, and the count.
func (r *renewer) Memory() (b []byte, ok bool) {
	for _, word := range []uint64{uint64(r.last), uint64(r.last / 1e9), uint64(7e9 - r.last), r.over} {
		b = binary.LittleEndian.AppendUint64(b, word)
	}
	return b, !r.quiet
}

// TestSilentTurns: where a node does the same at all times, and its memory becomes another one at
// one of them, the message may arrive just before that time or just after it. Times in its memory
// do not count.
func TestSilentTurns(t *testing.T) {
	for _, c := range []struct {
		name  string
		node  renewer
		found []ariadne.Time
	}{
		{"count", renewer{lasts: 3e9}, []ariadne.Time{3e9, 3e9 + 1}},
		{"times alone", renewer{}, nil},
		{"not readable", renewer{lasts: 3e9, quiet: true}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			rules := world.Rules{Latency: time.Millisecond, Delays: 1, MaxDelay: 7 * time.Second}
			s := small{rules: rules, window: rules.MaxDelay, instant: true, programs: func() []worldtest.Program {
				n := c.node
				return []worldtest.Program{&n, &worldtest.Addend{Numbers: []int{1}}}
			}}
			x := s.exploration(t, &strategy.Natural{})
			var late []ariadne.Time
			x.Ended = func(p *space.Path, _ string, _ *ariadne.Violation) bool {
				for i := range p.Steps() {
					for _, e := range p.Frame(i).Enabled {
						if e.Kind == world.Late {
							late = append(late, e.At)
						}
					}
				}
				return true
			}
			if _, err := x.Run(); err != nil {
				t.Fatal(err)
			}
			slices.Sort(late)
			near := func(a, b ariadne.Time) bool { return b-1e6 <= a && a <= b+1e6 }
			if !slices.EqualFunc(late, c.found, near) {
				t.Errorf("the message may be late at %v, not near %v", late, c.found)
			}
		})
	}
}
