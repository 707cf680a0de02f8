package causal_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/record/causal"
	_ "github.com/ariadne-mc/ariadne/internal/testing/draws"

	"pgregory.net/rapid"
)

// programs are three nodes that send, wait and exit as a seed says.
func programs(seed uint64) (all []worldtest.Program) {
	for range 3 {
		all = append(all, &worldtest.Chaos{Nodes: 3, Seed: seed, Readies: true, Opens: seed%2 == 0})
	}
	return all
}

// drawn is an execution in which the network is parted, loses messages and delivers some twice.
func drawn(t *rapid.T) (w *worldtest.World, seed uint64, steps []ariadne.Step) {
	seed = rapid.Uint64().Draw(t, "seed")
	r := world.Rules{Latency: time.Millisecond, ClockError: time.Millisecond, Delays: 3}
	for _, kind := range []string{"cut", "lose", "duplicate"} {
		k, _ := world.KindNamed(kind)
		r.Faults[k] = 2
	}
	r.Partitions = []*world.Partition{
		world.NewPartition("n1|n2+n3", []ariadne.NodeID{0}, []ariadne.NodeID{1, 2}, false, 2*time.Second),
		world.NewPartition("n3>n2", []ariadne.NodeID{2}, []ariadne.NodeID{1}, true, time.Second),
	}
	nodes := worldtest.Nodes(programs(seed)...)
	nodes[2].After = []ariadne.NodeID{0}
	w = worldtest.New(r, nodes, worldtest.Automata(programs(seed)...))
	for range rapid.IntRange(5, 60).Draw(t, "steps") {
		enabled := w.Enabled()
		if len(enabled) == 0 {
			break
		}
		s, err := w.Apply(enabled[rapid.IntRange(0, len(enabled)-1).Draw(t, "choice")])
		if err != nil {
			t.Fatal(err)
		}
		if world.KindOf(s.Action.Kind).World {
			s.Action.Node = ariadne.NoNode
		}
		steps = append(steps, s)
	}
	return w, seed, steps
}

var waits = [][]ariadne.NodeID{nil, nil, {0}}

// TestPastAgreesWithBruteForce compares with the closure of a matrix, made by the definition of
// each pair.
func TestPastAgreesWithBruteForce(t *testing.T) {
	faults, messages := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		w, _, steps := drawn(t)
		g := causal.New(steps, w.Names(), waits)
		n := len(steps)
		before := make([][]bool, n)
		for i := range before {
			before[i] = make([]bool, n)
			for j := i + 1; j < n; j++ {
				before[i][j] = pair(steps, i, j, w.Names())
			}
		}
		for k := range n {
			for i := range n {
				for j := range n {
					before[i][j] = before[i][j] || before[i][k] && before[k][j]
				}
			}
		}
		for j := range n {
			past := g.Past(j + 1)
			for i := range n {
				if past[i+1] != (before[i][j] || i == j) {
					t.Fatalf("step %d (%s) is in the past of step %d (%s): %v", i+1, steps[i].Name, j+1, steps[j].Name,
						past[i+1])
				}
			}
			for _, c := range g.Causes(j + 1) {
				switch c.Kind {
				case causal.Fault:
					faults++
				case causal.Message:
					messages++
				}
			}
		}
	})
	if faults == 0 || messages == 0 {
		t.Errorf("%d faults and %d messages were causes", faults, messages)
	}
}

// pair reports whether step i comes before step j by what these two say.
func pair(steps []ariadne.Step, i, j int, names world.Names) bool {
	a, b := &steps[i], &steps[j]
	switch {
	case a.Action.Node == b.Action.Node && a.Action.Node != ariadne.NoNode:
		return true
	case sends(a, b) && !slices.ContainsFunc(steps[i+1:j], func(s ariadne.Step) bool { return sends(&s, b) }):
		return true
	// the end of a partition
	case a.Action.Node == ariadne.NoNode && b.Action.Node == ariadne.NoNode:
		return a.Action.Kind == world.Cut && b.Action.Kind == world.Heal && a.Action.What == b.Action.What ||
			a.Action.What != "" && a.Action.What == b.Action.What
	case a.Action.Node == ariadne.NoNode && a.Action.Kind == world.Lose:
		// It is lost for its receiver, whose address is in the name.
		return names.Owner(a.Action.Flow.Dst.Addr()) == b.Action.Node
	case a.Action.Node == ariadne.NoNode:
		return strings.Contains(a.Action.What, names.Node(b.Action.Node))
	case b.Action.Kind == ariadne.ActStart && b.Action.Node == 2:
		return a.Action.Node == 0 && a.Output.Ready &&
			!slices.ContainsFunc(steps[:i], func(s ariadne.Step) bool { return s.Action.Node == 0 && s.Output.Ready })
	}
	return false
}

// sends reports whether a step sends the message of another one.
func sends(a, b *ariadne.Step) bool {
	to := b.Action.Node
	return b.Action.Flow.Proto != 0 && slices.ContainsFunc(a.Output.Messages, func(m ariadne.Message) bool {
		return m.Flow == b.Action.Flow && m.Seq == b.Action.Seq && (m.To == to || to == ariadne.NoNode)
	})
}

// TestPastIsEnough gives the inputs of a step's past to fresh nodes, and nothing else: they do the
// same, up to the step itself.
func TestPastIsEnough(t *testing.T) {
	left := 0
	rapid.Check(t, func(t *rapid.T) {
		w, seed, steps := drawn(t)
		if len(steps) == 0 {
			return
		}
		g := causal.New(steps, w.Names(), waits)
		target := rapid.IntRange(1, len(steps)).Draw(t, "target")
		past := g.Past(target)
		nodes := worldtest.Automata(programs(seed)...)
		sent := map[string]ariadne.Message{}
		key := func(f ariadne.Flow, seq int) string {
			return (&ariadne.Message{Flow: f,
				Seq: seq}).Flow.Src.String() + f.Dst.String() + f.Proto.String() + string(rune(seq))
		}
		for i, s := range steps {
			if !past[i+1] {
				left++
				continue
			}
			if s.Action.Node == ariadne.NoNode {
				continue
			}
			in := ariadne.Input{Kind: ariadne.Fire, At: s.At}
			switch {
			case s.Action.Kind == ariadne.ActStart:
				in.Kind = ariadne.Start
			case s.Action.Flow.Proto != 0:
				m, ok := sent[key(s.Action.Flow, s.Action.Seq)]
				if !ok {
					t.Fatalf("step %d (%s): its past has not sent it", i+1, s.Name)
				}
				in.Kind, in.Message = ariadne.Deliver, &m
			}
			out, err := nodes[s.Action.Node].Apply(in)
			if err != nil {
				t.Fatal(err)
			}
			if out.Digest != s.Output.Digest {
				t.Fatalf("step %d (%s) goes otherwise with nothing but the past of step %d", i+1, s.Name, target)
			}
			for _, m := range out.Messages {
				sent[key(m.Flow, m.Seq)] = m
			}
		}
	})
	if left == 0 {
		t.Error("every step was in the past of every other")
	}
}
