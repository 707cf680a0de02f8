package strategy

import "github.com/ariadne-mc/ariadne/internal/explore/space"

// Portfolio gives several explorers their shares of the work, a turn at a time: there is
// no telling which of them finds more in a system that nobody has seen. A bug that one of
// them finds at once is found after as many times the work as there are shares.
//
// The explorers share the cost, and not the number of paths: a transition that a living node has to
// make takes hundreds of times as long as one that is remembered, and some explorers come by many
// more of these than others. An explorer that shows nothing new pays more for each turn, up to ten
// times as much: it may have seen everything that it can.
type Portfolio struct {
	Members []*Member
	// News, when not nil, says what was new about the last step of the path. nil: that is
	// not known, and all steps cost the same.
	News func() News
	// Recall, when not nil, has paths that come first, and then have a share as a member has.
	Recall *Recall

	recall Member // with Recall
	now    *Member
	learns learner // of its members, or nil
	turns  int
	pushed bool // a step was chosen that is not paid for
	news   bool // the path has shown something new
}

// News is what a search had not come to before, in a step.
type News uint8

// Each includes those before it.
const (
	NothingNew News = iota
	NewState        // a global one
	NewLocal        // a local one: a living node had to make the transition
)

// Member is an explorer of a portfolio.
type Member struct {
	Explorer Explorer
	Share    float64 // of the cost, in proportion to the others; 0: 1
	Tally    Tally   // with its name; without one nothing is told of it

	spent float64 // by its share
	dull  int     // turns since one that showed anything new, up to mostDull
	news  bool    // this turn did
}

// learner is an explorer that learns from the paths of others, too.
type learner interface {
	Explorer
	// begins tells that a path has begun, its own or another's, with so many steps of the one
	// before.
	begins(own bool, keep int)
	// learn is told of a path whose last step a living node had to make.
	// It reports whether it has learned something.
	learn(p *space.Path) bool
}

// The costs of steps, and how many dull turns raise them.
const (
	rememberedCost = 1
	newCost        = 500
	mostDull       = 9
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
	f.news = false
	before := f.now
	if before != nil {
		if t, several := before.Explorer.(turns); several {
			if keep, ok = t.goOn(p); ok {
				f.begins(keep)
				return keep, true
			}
		}
		before.end(f.News != nil)
	}
	f.now = f.next()
	f.turns++
	keep, ok = f.now.Explorer.Begin(p)
	if before != f.now {
		keep = 0 // that was not a path of its own, whatever is alike
	}
	f.pay(rememberedCost) // paths without steps cost something too
	f.begins(keep)
	return keep, ok
}

// begins tells the member that learns of a path.
func (f *Portfolio) begins(keep int) {
	if f.learns == nil {
		for _, m := range f.Members {
			if l, ok := m.Explorer.(learner); ok && f.News != nil {
				f.learns = l
			}
		}
	}
	if f.learns != nil {
		f.learns.begins(f.learns == f.now.Explorer, keep)
	}
}

// Idler is an explorer that may have nothing to do in a system.
type Idler interface {
	Explorer
	// Idle reports whether its next path would be none of its own.
	Idle() bool
}

// Sharer is an explorer whose share depends on what it knows of the system.
type Sharer interface {
	Explorer
	// Share is its share of the cost, in proportion to others.
	Share() float64
}

// next is the member that has spent the least of its share, and is not idle. The first never is.
func (f *Portfolio) next() *Member {
	least := f.Members[0]
	for _, m := range f.Members[1:] {
		if i, ok := m.Explorer.(Idler); ok && i.Idle() {
			continue
		}
		if m.spent < least.spent {
			least = m
		}
	}
	if f.turns > 0 && f.Recall.left() && (f.Recall.Taken() < recallFirst || f.recall.spent < least.spent) {
		f.recall.Explorer, f.recall.Tally.Name = f.Recall, "earlier checks"
		return &f.recall
	}
	return least
}

// recallFirst is how many paths of Recall come right after the natural one.
const recallFirst = 3

// end ends a turn. An exhaustive explorer is never dull: it shows what is left, however little.
func (m *Member) end(known bool) {
	m.dull = min(m.dull+1, mostDull)
	if _, whole := m.Explorer.(Exhaustive); whole || m.news || !known {
		m.dull = 0
	}
	m.news = false
}

// pay has the member whose turn it is pay. The first turn is for all: it is the natural path,
// on which the others go too.
func (f *Portfolio) pay(cost float64) {
	m := f.now
	if f.turns == 1 {
		return
	}
	if s, ok := m.Explorer.(Sharer); ok {
		cost /= s.Share()
	} else if m.Share > 0 {
		cost /= m.Share
	}
	m.spent += cost * float64(1+m.dull)
}

// Next implements Explorer.
func (f *Portfolio) Next(p *space.Path) (event int, ok bool) {
	f.charge(p)
	event, ok = f.now.Explorer.Next(p)
	f.pushed = ok
	return event, ok
}

// showedNews reports whether the last path of an explorer has shown anything new. Not known: it
// has.
func showedNews(e Explorer) bool {
	switch f := e.(type) {
	case *Portfolio:
		return f.News == nil || f.news
	case *Thorough:
		return f.News == nil || f.news
	}
	return true
}

// charge has the member pay for the last step.
func (f *Portfolio) charge(p *space.Path) {
	if !f.pushed {
		return
	}
	f.pushed = false
	news := NothingNew
	if f.News != nil {
		news = f.News()
	}
	if news > NothingNew {
		f.now.news, f.news, f.now.dull = true, true, 0
	}
	if news == NewLocal {
		f.pay(newCost)
		f.now.Tally.Transitions++
		if f.learns != nil && f.learns.learn(p) {
			f.now.Tally.Sights++
		}
	} else {
		f.pay(rememberedCost)
	}
}

// End implements Explorer.
func (f *Portfolio) End(p *space.Path, e End) error {
	f.charge(p)
	return f.now.Explorer.End(p, e)
}

// TriesFaultsAtRest implements FaultTrier.
func (f *Portfolio) TriesFaultsAtRest() bool {
	if f.now == nil { // it begins with the first
		return TriesFaultsAtRest(f.Members[0].Explorer)
	}
	return TriesFaultsAtRest(f.now.Explorer)
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
