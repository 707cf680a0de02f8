package strategy

import "ariadne/internal/space"

// Portfolio gives several explorers their shares of the work, a turn at a time: there is
// no telling which of them finds more in a system that nobody has seen. A bug that one of
// them finds at once is found after as many times the work as there are shares.
//
// What is shared is the cost, not the number of paths: a transition that a living node has
// to make takes a thousand times as long as one that is remembered, and some explorers
// come by many more of these than others.
type Portfolio struct {
	Members []*Member
	// New, when not nil, reports whether the last step of a path led to a local state that
	// the search had not come to before. nil: what steps cost is not known, and so all
	// cost the same.
	New func() bool

	now    *Member
	pushed bool // a step was chosen that is not paid for
}

// Member is an explorer of a portfolio.
type Member struct {
	Explorer Explorer
	Share    float64 // of the cost, in proportion to the others; 0: 1

	spent float64 // by its share
}

// What the steps of a path cost.
const (
	rememberedCost = 1
	newCost        = 500
)

// turns are explorers whose turn is more than one path: each path but the first of a turn
// goes on from the one before.
type turns interface {
	Explorer
	// goOn goes on with the turn, whose last path p is. Not ok: it is over.
	goOn(p *space.Path) (keep int, ok bool)
}

// Begin implements Explorer.
func (f *Portfolio) Begin(p *space.Path) (keep int, ok bool) {
	if f.now != nil {
		if t, several := f.now.Explorer.(turns); several {
			if keep, ok = t.goOn(p); ok {
				return keep, true
			}
		}
	}
	before := f.now
	f.now = f.next()
	keep, ok = f.now.Explorer.Begin(p)
	if before != f.now {
		keep = 0 // that was not a path of its own, whatever is alike
	}
	// So that explorers without a choice, whose paths cost nothing, come to an end too.
	f.now.pay(rememberedCost)
	return keep, ok
}

// next is the member that has spent the least of its share.
func (f *Portfolio) next() *Member {
	least := f.Members[0]
	for _, m := range f.Members[1:] {
		if m.spent < least.spent {
			least = m
		}
	}
	return least
}

func (m *Member) pay(cost float64) {
	if m.Share > 0 {
		cost /= m.Share
	}
	m.spent += cost
}

// Next implements Explorer.
func (f *Portfolio) Next(p *space.Path) (event int, ok bool) {
	f.charge()
	event, ok = f.now.Explorer.Next(p)
	f.pushed = ok
	return event, ok
}

// charge has the member pay for the last step.
func (f *Portfolio) charge() {
	if !f.pushed {
		return
	}
	f.pushed = false
	if f.New != nil && f.New() {
		f.now.pay(newCost)
		return
	}
	f.now.pay(rememberedCost)
}

// End implements Explorer.
func (f *Portfolio) End(p *space.Path, e End) error {
	f.charge()
	return f.now.Explorer.End(p, e)
}

// Leave implements Leaver.
func (f *Portfolio) Leave() {
	for _, m := range f.Members {
		Leave(m.Explorer)
	}
}

// Thorough is a portfolio of which the first member is exhaustive. That one relies on
// having been in each known state, and must not take for known what the others came by:
// their paths are made Aside. When it has come to its end, so has the portfolio.
type Thorough struct{ Portfolio }

// Aside implements Sider.
func (t *Thorough) Aside() bool { return t.now != t.Members[0] || Aside(t.now.Explorer) }

// Missed implements Exhaustive.
func (t *Thorough) Missed() string { return t.Members[0].Explorer.(Exhaustive).Missed() }
