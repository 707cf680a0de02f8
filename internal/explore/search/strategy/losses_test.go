package strategy

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
)

// trio is a system of three servers and a client.
func trio() *world.System {
	return world.NewSystem(world.Rules{},
		[]world.Node{{Name: "n1"}, {Name: "n2"}, {Name: "n3"}, {Name: "client", Client: true}})
}

// unsyncedStep is a step of which something is not synced.
func unsyncedStep(t *memo.Transition) *memo.Transition {
	t.Output.Unsynced = true
	return t
}

// TestReliedOn: somebody relies on what a node has not synced when the node has sent something
// since, and a client has been told something after that. When it has synced, nobody does.
func TestReliedOn(t *testing.T) {
	y := trio()
	var m moments
	m.begin(&Features{}, true, 0)
	relies := func(id ariadne.NodeID, by *memo.Transition) string {
		if now := m.of(y, id, by); now.relied {
			return fmt.Sprint(now.relies)
		}
		return "none"
	}
	for i, c := range []struct {
		node ariadne.NodeID
		by   *memo.Transition
		want string
	}{
		{0, sent(3, []string{"ok 0"}), "none"},                // all is durable
		{1, unsyncedStep(sent(0, nil)), "none"},               // nothing is sent
		{0, sent(3, []string{"ok 1"}), "none"},                // not because of what n2 has
		{1, unsyncedStep(sent(0, []string{"ack"})), "none"},   // nobody is told
		{0, sent(3, []string{"ok 2"}), "1"},                   // n1 relies on n2
		{0, sent(3, []string{"ok 3"}), "none"},                // as before
		{1, sent(0, []string{"ack"}), "none"},                 // n2 has synced
		{0, sent(3, []string{"ok 4"}), "none"},                //
		{0, unsyncedStep(sent(3, []string{"ok 5"})), "0"},     // n1 tells it by itself
		{2, unsyncedStep(sent(0, []string{"ack 2"})), "none"}, //
		{0, sent(3, []string{"ok 6"}), "2"},                   //
	} {
		if got := relies(c.node, c.by); got != c.want {
			t.Errorf("step %d: somebody relies on %s, not %s", i+1, got, c.want)
		}
	}
	if m.reliesOn(0) || m.reliesOn(1) || !m.reliesOn(2) {
		t.Errorf("%+v", m.disks)
	}
}

// lossPath is a path to a state in which each of three nodes may lose its power or crash.
func lossPath(t *testing.T) *space.Path {
	nodes := []ariadne.NodeID{0, 1, 2}
	rules := world.Rules{Faults: worldtest.Faults("power", 1),
		NodeFaults: []world.NodeFaults{world.Outages(ariadne.PowerLost, nodes, 1e9),
			world.Outages(ariadne.Crashed, nodes, 1e9)}}
	rules.Faults[world.Crash] = 1
	p, err := space.NewPath(lostUpdates(t, rules), space.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	for range nodes {
		if err := p.Push(0); err != nil { // they start
			t.Fatal(err)
		}
	}
	return p
}

// lossFrame is that state.
func lossFrame(t *testing.T) *space.Frame {
	f := lossPath(t).Last()
	if from, to := f.UntimedFaults(); to-from != 6 || f.Enabled[from].Node != 0 || f.Enabled[from+1].Node != 1 {
		t.Fatalf("%d faults", to-from)
	}
	return f
}

// TestLossesHitWhatIsReliedOn: most losses of power hit the node on which somebody relies, and all
// others are hit, too.
func TestLossesHitWhatIsReliedOn(t *testing.T) {
	f := lossFrame(t)
	hits := func(w Without) (power [3]int) {
		for index := range 2000 {
			var m moments
			m.begin(&Features{without: w}, true, 0)
			m.disks = []unsynced{{}, {some: true, sent: true, relied: true}, {some: true}, {}}
			var s strike
			s.begin(1, index, &unweighted, w)
			s.some = true
			m.now.relied, m.now.relies, m.now.fresh, m.now.node = true, 1, true, 1
			for range 4000 {
				m.steps++
				if i, ok := s.next(f, &m, 0); ok {
					if e := &f.Enabled[i]; e.Kind == world.Power {
						power[e.Node]++
					}
					break
				}
			}
		}
		return power
	}
	if p := hits(Without{}); p[1] < 3*(p[0]+p[2]) || p[0] == 0 || p[2] == 0 {
		t.Errorf("losses of power by node: %d, and somebody relies on the second one", p)
	}
	if p := hits(Without{Moments: true}); p[1] > p[0]+p[2] {
		t.Errorf("losses of power by node without moments: %d", p)
	}
}

// TestLossesWait: where there may be a loss of power, a part of the paths waits until somebody
// relies on what is not synced, and when that never comes, faults come all the same.
func TestLossesWait(t *testing.T) {
	f := lossFrame(t)
	waits, struck := 0, 0
	for index := range 1000 {
		var m moments
		m.begin(&Features{}, true, 0)
		var s strike
		s.begin(1, index, &unweighted, Without{})
		s.some = true
		for m.steps = range 1 << 14 {
			_, ok := s.next(f, &m, 0)
			if m.steps == 0 && s.wait.relied {
				waits++
			}
			if ok {
				struck++
				break
			}
		}
	}
	if waits < 250 || waits > 400 || struck < 990 {
		t.Errorf("of 1000 paths %d wait for what is not synced, %d have a fault", waits, struck)
	}
}

// TestFaultsFollow: on half of the paths all faults hit the node that the first one hit, also those
// within steps; on the others the second one hits any node.
func TestFaultsFollow(t *testing.T) {
	f := lossFrame(t)
	same, other, follow := 0, 0, 0
	for index := range 1000 {
		var c chance
		c.begin(nil, origin{seed: 9, index: index, weights: &unweighted})
		m, s := &c.moments, &c.strike
		s.some = true
		var hit []ariadne.NodeID
		for m.steps = range 1 << 14 {
			if i, ok := s.next(f, m, 0); ok {
				hit = append(hit, f.Enabled[i].Node)
			}
			if len(hit) == 2 {
				break
			}
		}
		switch {
		case len(hit) < 2:
		case hit[0] == hit[1]:
			same++
		default:
			other++
		}
		c.kinds = []likely{{Countdown: world.Countdown{Kind: world.Fail, After: []int{1}}}}
		away := (hit[0] + 1) % 3
		if s.hit == hit[0] && len(c.countdowns(away)) == 0 && len(c.countdowns(hit[0])) == 1 {
			follow++
		}
	}
	if total := same + other; total < 950 || same < total*6/10 || other < total/8 {
		t.Errorf("the second fault hits the same node on %d paths, another one on %d", same, other)
	}
	if follow < 350 || follow > 650 {
		t.Errorf("on %d paths of 1000 faults within steps hit the same node alone", follow)
	}
}

// set is what a node exposes.
func set(tuples ...expose.Tuple) *expose.Set {
	var changes []expose.Change
	for _, x := range tuples {
		changes = append(changes, expose.Change{Tuple: x})
	}
	return (*expose.Set)(nil).After(changes)
}

// TestLeading: a leader is the node that exposes what few others do. Where all expose the same, or
// each its own, nobody leads.
func TestLeading(t *testing.T) {
	role := func(role, term string) *expose.Set {
		return set(expose.Tuple{Name: "role", Values: []string{role}},
			expose.Tuple{Name: "term", Values: []string{term}})
	}
	f := lossFrame(t)
	from, _ := f.UntimedFaults()
	all := []int{from, from + 1, from + 2}
	for _, c := range []struct {
		name    string
		exposed []*expose.Set
		want    []int
	}{
		{"nothing is exposed", []*expose.Set{nil, nil, nil}, []int{0, 1, 2}},
		{"all are the same", []*expose.Set{role("follower", "1"), role("follower", "2"), role("follower", "2")},
			[]int{0, 1, 2}},
		{"one leads", []*expose.Set{role("follower", "1"), role("leader", "2"), role("follower", "2")}, []int{1}},
		{"one exposes something", []*expose.Set{nil, nil, set(expose.Tuple{Name: "leader", Values: []string{"7"}})},
			[]int{2}},
		{"each is its own", []*expose.Set{role("a", "1"), role("b", "2"), role("c", "2")}, []int{0, 1, 2}},
	} {
		f.Exposed = c.exposed
		var got []int
		for _, i := range leading(f, all) {
			got = append(got, int(f.Enabled[i].Node))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: nodes %d lead, not %d", c.name, got, c.want)
		}
	}
}

// TestExposedValues: that a node exposes another value is a feature of its own as long as there are
// few values.
func TestExposedValues(t *testing.T) {
	c := &Features{}
	of := func(value string, ends bool) uint64 {
		by := sent(0, nil)
		by.Found.Store(&expose.Found{Changes: []expose.Change{{Tuple: expose.Tuple{Name: "term",
			Values: []string{value}}, Ends: ends}}})
		all := c.ofStep(1, by)
		if len(all) != 1 {
			t.Fatalf("%d features of a value", len(all))
		}
		return all[0]
	}
	if one := of("1", false); one != of("1", false) || one == of("2", false) || one == of("1", true) {
		t.Error("values are not told apart")
	}
	many := map[uint64]bool{}
	for i := range 1000 {
		many[of(fmt.Sprint(i), false)] = true
	}
	if len(many) != maxValues+1 {
		t.Errorf("%d kinds of a value that counts, not %d", len(many), maxValues+1)
	}
}

// TestImagesAreDrawnWide: that all is lost, or nothing, is drawn soon, and all images of a loss
// that comes again and again are drawn before half of the draws are repeats. Without the memory of
// others each can be drawn, too.
func TestImagesAreDrawnWide(t *testing.T) {
	const images = 64
	lost := sent(0, nil)
	lost.From, lost.Output.Content, lost.Output.Lost = &memo.Local{}, ariadne.Digest{7}, []string{"a write"}
	draw := func(search *Features, losses int) (drawn map[int]int) {
		drawn = map[int]int{}
		for index := range losses {
			var c chance
			c.begin(nil, origin{seed: 5, index: index, weights: &unweighted, features: search})
			which := c.Image(lost, images)
			if which < 0 || which >= images {
				t.Fatalf("image %d of %d", which, images)
			}
			drawn[which]++
		}
		return drawn
	}
	if soon := draw(&Features{}, 20); soon[0] == 0 || soon[1] == 0 || len(soon) < 12 {
		t.Errorf("of 20 losses %d lose all and %d nothing, and %d images were drawn", soon[0], soon[1], len(soon))
	}
	if wide := draw(&Features{}, 2*images); len(wide) != images {
		t.Errorf("%d losses have had %d images", 2*images, len(wide))
	}
	if alone := draw(nil, 40*images); len(alone) != images {
		t.Errorf("losses that know nothing of each other have had %d images", len(alone))
	}
	for n := 1; n < 5; n++ {
		var c chance
		c.begin(nil, origin{seed: 5, weights: &unweighted})
		for range 50 {
			if which := c.Image(lost, n); which < 0 || which >= n {
				t.Fatalf("image %d of %d", which, n)
			}
		}
	}
}

// TestMarks: what a frame has learnt of its events later is found again, also an image of the disks
// that a loss of power leaves which is as long as no event of the frame.
func TestMarks(t *testing.T) {
	f := lossFrame(t)
	plain := f.Initial - 1
	for ariadne.OutageOf(f.Enabled[plain].Varied.Fault()).Down != ariadne.PowerLost {
		plain--
	}
	image := ariadne.Variation("").And(ariadne.Choice{Alternative: ariadne.DiskImage + ":3", Place: "0"})
	for _, e := range []world.Event{f.Enabled[plain], f.Enabled[plain].WithLength(0)} {
		for _, v := range []ariadne.Variation{"", image} {
			e, err := e.VariedAs(v)
			if err != nil {
				t.Fatal(err)
			}
			f.Enabled = append(f.Enabled, e)
			m := newMarks()
			n := m.of(f, len(f.Enabled)-1)
			if again, err := m.event(nil, f, n); err != nil || !again.SameAction(&e) {
				t.Errorf("%v became %v, %v", e.Action(), again.Action(), err)
			}
		}
	}
}
