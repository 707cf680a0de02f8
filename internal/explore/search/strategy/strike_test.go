package strategy

import (
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// TestStrikesBehindEnds: a fault in a step, which lasts for a while, is followed by a crash right
// behind its end on more paths than where faults do not come together. Where it never ends, there
// are crashes all the same. Each path has 400 steps.
func TestStrikesBehindEnds(t *testing.T) {
	const hit, end, soon = 20, 220, 16
	f := lossFrame(t)
	strikes := func(w Without, ends func(m *moments)) (behind, all int) {
		for index := range 2000 {
			var m moments
			m.begin(&Features{without: w}, true, 0)
			var s strike
			if s.begin(1, index, &unweighted, w); !s.some {
				continue
			}
			for m.steps = 1; m.steps <= 400; m.steps++ {
				if m.now = (moment{node: 2}); m.steps == hit {
					s.hits(1)
					if !w.Together {
						s.follow(&m, true, 400)
					}
				}
				if m.steps == end {
					ends(&m)
				}
				if _, ok := s.next(f, &m, 400); !ok {
					continue
				}
				if m.steps > hit {
					all++
				}
				if m.steps >= end && m.steps < end+soon {
					behind++
				}
				break
			}
		}
		return behind, all
	}
	node := func(id ariadne.NodeID) func(*moments) {
		return func(m *moments) { m.now.ended, m.now.node = true, id }
	}
	heals := func(m *moments) { m.now.healed = true }
	rest, _ := strikes(Without{Together: true}, node(1))
	for name, ends := range map[string]func(*moments){"the node's": node(1), "the network's": heals} {
		if behind, _ := strikes(Without{}, ends); behind < 2*rest || rest == 0 {
			t.Errorf("%s fault: %d crashes right behind its end, and %d without faults together", name, behind, rest)
		}
	}
	behind, all := strikes(Without{}, node(3))
	if ended, _ := strikes(Without{}, node(1)); behind > ended/2 {
		t.Errorf("%d crashes behind the end of another node's fault, %d behind that of its own", behind, ended)
	}
	if _, most := strikes(Without{}, node(1)); all < most*3/4 || all == 0 {
		t.Errorf("%d crashes where a fault does not end, %d where it does", all, most)
	}
}

// TestNextFollows: where a node has been hit, a fault of one kind follows closely on one path in
// three, and waits for the end on half of these, where there will be one. But not a fault that is
// aimed at a site, nor where faults do not come together. The others come when they would have.
func TestNextFollows(t *testing.T) {
	const late = 1 << 20
	type counts struct{ soon, ends, alone, strikes, strikesEnds, others int }
	follows := func(w Without, spares ariadne.ActionKind, lasts bool) (n counts) {
		s := &space.State{}
		s.Nodes = make([]world.NodeState, 6)
		for i := range s.Nodes {
			s.Nodes[i].Start = ariadne.Never
		}
		if lasts {
			s.Nodes[5].Down, s.Nodes[5].Start = ariadne.Crashed, 1
		}
		for index := range 1000 {
			var c chance
			c.begin([]ariadne.ActionKind{world.Fail},
				origin{seed: 3, index: index, length: 300, weights: &unweighted, features: &Features{without: w}})
			fails := world.Countdown{Kind: world.Fail, After: []int{late}}
			c.kinds = []likely{{Countdown: fails, draw: newDraw(3, index)}}
			c.strike.some, c.strike.left, c.strike.wait = true, late, wait{}
			if c.strike.spares = world.Fail; index%2 == 0 {
				c.strike.spares = 0
			}
			if c.hits(5, world.Fail); c.strike.spares != 0 {
				t.Fatal("a fault that has come is still to come")
			}
			c.strike.spares = spares
			c.follow(s)
			if c.kinds[0].After[0] < late && c.strike.left < late {
				t.Fatal("two faults follow closely")
			}
			if l := &c.kinds[0]; l.After[0] <= 1<<closeOrders {
				n.soon++
				n.ends += bit(l.wait.ends)
				n.alone += bit(l.wait.alone && l.wait.node == 5)
			}
			switch x := &c.strike; {
			case x.left <= 1<<closeOrders:
				n.strikes++
				n.strikesEnds += bit(x.wait.ends)
			case x.left != late:
				n.others++
			}
			before := c
			if c.follow(s); c.strike.left != before.strike.left || c.kinds[0].wait != before.kinds[0].wait {
				t.Fatal("one fault is followed twice")
			}
		}
		return n
	}
	sixth := func(n int) bool { return n > 120 && n < 215 }
	n := follows(Without{}, 0, true)
	if !sixth(n.soon) || n.ends < n.soon/3 || n.alone < n.soon/3 || !sixth(n.strikes) || n.strikesEnds < n.strikes/3 ||
		n.others != 0 {
		t.Errorf("of 1000 paths %+v", n)
	}
	if n := follows(Without{}, 0, false); !sixth(n.soon) || !sixth(n.strikes) || n.ends+n.strikesEnds != 0 {
		t.Errorf("where no fault lasts, of 1000 paths %+v", n)
	}
	if n := follows(Without{Together: true}, 0, true); n != (counts{}) {
		t.Errorf("without faults together, of 1000 paths %+v", n)
	}
	if n := follows(Without{}, world.Fail, true); n.soon != 0 || !sixth(n.strikes) {
		t.Errorf("with a fault that is aimed elsewhere, of 1000 paths %+v", n)
	}
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}
