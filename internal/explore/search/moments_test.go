package search_test

import (
	"cmp"
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

// A crash of the node that has just written a line is no rare thing, however many steps there are.
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
