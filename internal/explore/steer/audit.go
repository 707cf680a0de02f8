package steer

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// Audit makes the rules look at a share, from 0 to 1, of what they are told: steps
// that may change places are executed in both orders, and states that are alike must
// offer the same. Nodes' insides cannot be compared, because a local state is named
// after all that led to it; what is compared is what a node shows.
func (r *Rules) Audit(s space.Source, share float64) { r.source, r.share = s, share }

// audits decides by a hash whether to look.
func (r *Rules) audits(h hash.Hash) bool { return float64(h.Hi>>11)/(1<<53) < r.share }

// auditIndependent executes two steps that may change places in both orders, when one
// has followed the other or both were possible in one local state.
func (r *Rules) auditIndependent(a, b *memo.Transition) {
	switch {
	case b.From.Name == a.To.Name, b.From.Name == a.From.Name:
	case a.From.Name == b.To.Name:
		a, b = b, a
	default:
		return
	}
	var shown [2][]string
	for i, order := range [2][2]world.Input{{a.Input, b.Input}, {b.Input, a.Input}} {
		var err error
		if shown[i], err = r.both(a.From, order); err != nil {
			r.err = fmt.Errorf("comparing the two orders of independent steps: %w", err)
		}
		if shown[i] == nil || err != nil {
			return
		}
	}
	r.Audited++
	if !slices.Equal(shown[0], shown[1]) {
		r.fail(r.script.independent, "says that these steps are independent, but in the other order node %s does something else:\n  %s\n  %s\nin this order: %s\nin the other one: %s",
			r.names.Node(a.From.Node), r.given(a).name(), r.given(b).name(), besides(shown[0], shown[1]),
			besides(shown[1], shown[0]))
	}
}

// both executes two inputs and returns what the node shows in them, together and
// sorted; nil when the first is not possible.
func (r *Rules) both(l *memo.Local, order [2]world.Input) ([]string, error) {
	deadline := ariadne.Never
	if l.Parent != nil {
		t, err := r.source.Transition(l.Parent, l.Input)
		if err != nil {
			return nil, err
		}
		deadline = t.Effect.Deadline
	}
	lines := []string{}
	for i, in := range order {
		if in.Kind == ariadne.Fire {
			switch {
			case deadline != ariadne.Never:
				in.At = deadline
			case i == 0:
				return nil, nil
			default:
				return []string{"its timer is stopped"}, nil
			}
		}
		t, err := r.source.Transition(l, in)
		if err != nil {
			return nil, err
		}
		for _, m := range t.Effect.Packets {
			lines = append(lines,
				fmt.Sprintf("sends to %s %s #%d %s %q", r.names.Node(m.To), m.Flow.Proto, m.Seq, m.Flags, m.Data))
		}
		for g := range t.Output.Lines() {
			lines = append(lines, fmt.Sprintf("writes %q", g.Text))
		}
		for _, e := range t.Output.Exits {
			lines = append(lines, fmt.Sprintf("ends with status %d, signal %d", e.Status, e.Signal))
		}
		l, deadline = t.To, t.Effect.Deadline
	}
	if deadline == ariadne.Never {
		lines = append(lines, "has no timer")
	}
	slices.Sort(lines)
	return lines, nil
}

// besides are the lines of a that are not in b; a few of them.
func besides(a, b []string) string {
	var only []string
	for _, l := range a {
		if i := slices.Index(b, l); i >= 0 {
			b = slices.Delete(slices.Clone(b), i, i+1)
			continue
		}
		only = append(only, l)
	}
	const most = 3
	switch {
	case len(only) == 0:
		return "no more"
	case len(only) > most:
		only = append(only[:most], fmt.Sprintf("and %d more", len(only)-most))
	}
	return "it " + strings.Join(only, "; ")
}

// offers are what states offer, by what same said of them, for all workers of a search.
type offers struct {
	mu    sync.Mutex
	known map[hash.Hash]hash.Hash
}

// of returns what the first state of a class offered; not known: this is the first.
func (o *offers) of(class, offer hash.Hash) (before hash.Hash, known bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if before, known = o.known[class]; !known && len(o.known) < knownMax {
		o.known[class] = offer
	}
	return before, known
}

// auditSame compares what a state offers with what those like it did.
func (r *Rules) auditSame(p *space.Path, class hash.Hash) {
	var offer hash.Hash
	for i := range p.Last().Enabled {
		e := &p.Last().Enabled[i]
		h := fnv.New64a()
		if e.Packet != nil {
			fmt.Fprintf(h, "%d %d ", e.Packet.From, e.Packet.Flags)
			h.Write(e.Packet.Data)
		}
		g := hash.Of(uint64(e.Kind), uint64(e.Node), h.Sum64())
		offer.Add(g)
	}
	before, known := r.offers.of(class, offer)
	if !known {
		return
	}
	r.Audited++
	if before != offer {
		r.fail(r.script.same, "says that two states are equal, but they allow different actions; one of them, after %d steps, allows %s",
			p.Steps(), r.enabled(p))
	}
}
