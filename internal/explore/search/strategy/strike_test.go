package strategy

import (
	"testing"

	"github.com/ariadne-mc/ariadne"
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

// TestFaultsInStepsFollow: where a node has been hit, faults within steps follow closely on some
// paths, but not the one that is aimed at a site, nor where faults do not come together.
func TestFaultsInStepsFollow(t *testing.T) {
	follows := func(w Without, spares ariadne.ActionKind) (soon, ends, alone int) {
		for index := range 1000 {
			var c chance
			c.begin([]ariadne.ActionKind{world.Fail},
				origin{seed: 3, index: index, length: 300, weights: &unweighted, features: &Features{without: w}})
			late := world.Countdown{Kind: world.Fail, After: []int{1 << 20}}
			c.kinds = []likely{{Countdown: late, draw: newDraw(3, index)}}
			c.strike.spares = spares
			c.hits(5)
			l := &c.kinds[0]
			if l.After[0] > 1<<closeOrders {
				continue
			}
			if soon++; l.wait.ends {
				ends++
			}
			if l.wait.alone && l.wait.node == 5 {
				alone++
			}
		}
		return soon, ends, alone
	}
	if soon, ends, alone := follows(Without{}, 0); soon < 250 || soon > 420 || ends < soon/3 || alone < soon/3 {
		t.Errorf("of 1000 paths %d have a fault soon, %d behind the end, %d on the node", soon, ends, alone)
	}
	if soon, _, _ := follows(Without{Together: true}, 0); soon != 0 {
		t.Errorf("of 1000 paths %d have a fault soon without faults together", soon)
	}
	if soon, _, _ := follows(Without{}, world.Fail); soon != 0 {
		t.Errorf("of 1000 paths %d have a fault soon that is aimed elsewhere", soon)
	}
}

// TestHitsDrawAgain: a fault has the time of the next one drawn again, but not where faults do not
// come together.
func TestHitsDrawAgain(t *testing.T) {
	for _, together := range []bool{true, false} {
		s := strike{left: 300, without: Without{Together: !together}}
		if s.hits(3); (s.left == 0) != together || s.hit != 3 {
			t.Errorf("together %v: after a fault at node %d the next one strikes in %d steps", together, s.hit, s.left)
		}
	}
}
