package search_test

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
)

// elected are two nodes that send each other a message often; one of them leads from some time on.
func elected() []worldtest.Program {
	return []worldtest.Program{&counting{peer: 1, leads: 150}, &counting{peer: 0}}
}

type counting struct {
	worldtest.Idle
	peer        ariadne.NodeID
	seen, leads int
	until       int // 0: 200
}

func (k *counting) Start(c *worldtest.Ctx) {
	if k.leads > 0 {
		c.Send(k.peer, "go on")
	}
}

func (k *counting) Receive(c *worldtest.Ctx, m ariadne.Message) {
	if k.seen++; k.seen >= cmp.Or(k.until, 200) {
		return
	}
	c.Log("%d are seen", k.seen)
	if k.seen == k.leads {
		c.Log("leads in term %d", k.seen)
	}
	c.Send(k.peer, "go on")
	if k.until > 0 {
		c.Log("sent")
	}
}

// TestFaultsComeAtMoments: a crash of the node that has just written a line is no rare thing,
// however many steps there are.
func TestFaultsComeAtMoments(t *testing.T) {
	const paths = 600
	for name, e := range map[string]strategy.Explorer{
		"slow":       &strategy.Slow{Seed: 1, Features: &strategy.Features{}},
		"priorities": &strategy.Priorities{Seed: 1},
		"pos":        &strategy.Sampling{Seed: 1},
	} {
		rules := world.Rules{Latency: time.Millisecond, Faults: worldtest.Faults("crash", 1),
			NodeFaults: []world.NodeFaults{world.Outages(ariadne.Crashed, []ariadne.NodeID{0, 1}, ariadne.Ever)}}
		x := small{rules: rules, programs: elected}.exploration(t, e)
		n, crashes, close := 0, 0, 0
		x.Ended = func(p *space.Path, _ string, _ *ariadne.Violation) bool {
			led := 0
			for i := 1; i <= p.Len(); i++ {
				for _, l := range p.Step(i).Output.Logs {
					if strings.HasPrefix(l.Text, "leads") {
						led = i
					}
				}
				if p.Event(i).Kind == world.Crash {
					if crashes++; led > 0 && i-led <= 3 && p.Event(i).Node == 0 {
						close++
					}
				}
			}
			n++
			return n < paths
		}
		if _, err := x.Run(); err != nil {
			t.Fatal(err)
		}
		if crashes < paths/2 || close < paths/100 {
			t.Errorf("%s: %d crashes in %d paths, %d of the node that leads in the 3 steps after", name, crashes, paths, close)
		}
	}
}

// tries makes many calls that may fail, in one step.
type tries struct{ worldtest.Idle }

const manyTries = 400

func (tries) Start(c *worldtest.Ctx) {
	for i := range manyTries {
		if c.Try(fmt.Sprint("file", i), "EIO") != "" {
			c.Log("%d has failed", i)
		}
	}
}

// TestPlacesAreSpread: a short execution with many places is not failed at its first places again
// and again. Each part of it is reached, and few paths make the same choice as one before.
func TestPlacesAreSpread(t *testing.T) {
	const paths = 500
	drawn := func(e strategy.Explorer) (different, late int) {
		s := small{rules: world.Rules{Faults: worldtest.Faults("fail", 1)}, programs: func() []worldtest.Program {
			return []worldtest.Program{tries{}}
		}}
		x := s.exploration(t, e)
		at := map[string]bool{}
		n := 0
		x.Ended = func(p *space.Path, _ string, _ *ariadne.Violation) bool {
			for i := 1; i <= p.Len(); i++ {
				step := p.Step(i)
				for _, c := range step.Output.Variation().Choices() {
					at[c.Place] = true
				}
			}
			n++
			return n < paths
		}
		if _, err := x.Run(); err != nil {
			t.Fatal(err)
		}
		for i := 3 * manyTries / 4; i < manyTries; i++ {
			if at[fmt.Sprintf("1/try:file%d#1", i)] {
				late++
			}
		}
		return len(at), late
	}
	for name, of := range map[string]func(*strategy.Features) strategy.Explorer{
		"slow": func(f *strategy.Features) strategy.Explorer { return &strategy.Slow{Seed: 1, Features: f} },
		"priorities": func(f *strategy.Features) strategy.Explorer {
			return &strategy.Priorities{Seed: 1, Features: f}
		},
	} {
		different, late := drawn(of(&strategy.Features{}))
		alone, _ := drawn(of(nil))
		if late < 20 || different < 150 || different <= alone {
			t.Errorf("%s: %d places, %d in the last quarter; %d by paths that do not know of each other", name, different, late, alone)
		}
	}
}

// beats sends something each time its timer expires, and a client asks it at once.
type beats struct {
	worldtest.Idle
	n int
}

func (b *beats) Start(c *worldtest.Ctx) {
	c.Send(1, "hello")
	c.SetTimer(time.Second)
}

func (b *beats) Fire(c *worldtest.Ctx) {
	if b.n++; b.n < 20 {
		c.Send(1, "beat")
		c.SetTimer(time.Second)
	}
}

type hears struct{ worldtest.Idle }

func (hears) Start(c *worldtest.Ctx) { c.Send(0, "question") }

// TestSlowEndsWhenANodeWakes: on some paths of slow, what one node sends from its first message on
// is late up to right behind a step in which the other has sent something of its own accord,
// whichever of them that is.
func TestSlowEndsWhenANodeWakes(t *testing.T) {
	const paths = 2000
	s := small{rules: world.Rules{Latency: time.Millisecond, Delays: 3}, programs: func() []worldtest.Program {
		return []worldtest.Program{&beats{}, &hears{}}
	}}
	x := s.exploration(t, &strategy.Slow{Seed: 1, Features: &strategy.Features{}})
	ends := map[int]int{} // by how many timers have expired
	n := 0
	x.Ended = func(p *space.Path, _ string, _ *ariadne.Violation) bool {
		fired := 0
		for i := 1; i <= p.Len(); i++ {
			switch e := p.Event(i); {
			case e.Kind == ariadne.ActFire:
				fired++
			case e.Packet != nil && e.Packet.From == 1 && fired > 0 && p.Event(i-1).Kind == ariadne.ActFire:
				ends[fired]++
			}
		}
		n++
		return n < paths
	}
	if _, err := x.Run(); err != nil {
		t.Fatal(err)
	}
	for fired := 1; fired < 20; fired++ {
		if ends[fired] < 5 {
			t.Errorf("on %d of %d paths it ends right behind timer %d", ends[fired], paths, fired)
		}
	}
}
