package search

import (
	"math"
	"math/bits"
	"time"

	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// Verdict is what is known of an execution that is stuck.
type Verdict uint8

const (
	// Undecided: the states of the walk lead to live ones all the same, as other walks show; or it
	// was stopped before anything was known.
	Undecided Verdict = iota
	// DeadFrom: from a step on no state leads to a live one, as far as is known (MaceMC's
	// condition 1).
	DeadFrom
	// NeverLive: no walk from the first state is live either.
	NeverLive
	// Between: it was stopped, and the critical transition lies between two steps.
	Between
)

// Crisis is where an execution went wrong.
type Crisis struct {
	Verdict Verdict
	// with DeadFrom: the critical transition, from 1; with Between: the first step behind which it
	// is known to be dead
	Step  int
	After int // with Between: the last step behind which a state is known to be live; 0: none is
	// Before are walks from the state before the critical transition, with DeadFrom, and Live how
	// many of them were live; of those from the state behind it, Behind, none was. 0: they were not
	// counted.
	Before, Live, Behind int
	Exact                bool // all states were looked at that can follow it
	Tried                int  // walks that were taken
	Steps                int  // steps that they took
	// FromStart are these with the steps before each walk: what it would take without frozen
	// states.
	FromStart int
	// Near, when not nil, is a live execution that begins with the same Along steps; it is good
	// until the next call.
	Near  *space.Path
	Along int
}

// FindCritical looks for the critical transition of an execution that is stuck: behind it no state
// leads to a live one. It goes from the last live state on by twice as many steps each time, and
// then halves what is left (MaceMC's algorithm 3). known, when not nil, is what it came to before,
// with Between: it goes on from there.
func (l *Liveness) FindCritical(s *Stuck, known *Crisis) (c Crisis, err error) {
	l.along, l.tally, l.gone = -1, tally{}, false
	h := l.newHunt(s.Path, s.Goal)
	h.cost = s.Took
	c, err = h.findCritical(s, known)
	c.Tried, c.Steps = l.walks, l.steps
	c.FromStart = c.Steps + l.before
	if l.along >= 0 {
		c.Near, c.Along = l.near, commonSteps(l.near, s.Path)
	}
	return c, err
}

// hunt asks of states of one execution whether a goal can still be live.
type hunt struct {
	*Liveness
	path   *space.Path
	goal   int
	probes map[int]*probe
	// more states than small follow the one after so many steps; -1: it is not known of any
	large int
	cost  time.Duration // of a walk that is not live, by the clock
}

// probe is what walks from a state have come to.
type probe struct {
	walks, live int
	sure        bool // all states were looked at that follow it, and none is live
}

func (l *Liveness) newHunt(p *space.Path, goal int) *hunt {
	return &hunt{Liveness: l, path: p, goal: goal, probes: map[int]*probe{}, large: -1}
}

func (h *hunt) findCritical(s *Stuck, known *Crisis) (c Crisis, err error) {
	end := s.Path.Steps()
	most := end
	if s.End == WalkBound { // behind the middle a walk of this one's length has seen too little
		most = (s.Start + end) / 2
	}
	low, high := max(h.trailOf(s.Path, s.Goal).last-1, 0), -1
	if low > most {
		low = 0
	}
	after := 0
	if f := s.Path.FrameAt(low); f.Waits&(1<<s.Goal) == 0 &&
		(f.Plain == 0 || h.space.System.Recovered(&f.State.State)) {
		after = low
	}
	if known != nil {
		low, high = known.After, known.Step
		after = low
	}
	var live bool
	ask := func(i, walks int) error {
		var err error
		if live, err = h.isAnyLive(i, walks); err == nil && !h.stopped() && !live {
			high = i
		} else if live {
			low, after = i, max(after, i)
		}
		return err
	}
	// given is what is known when it is stopped: enough walks from some state, or the execution
	// itself.
	given := func() (Crisis, error) {
		c := Crisis{Verdict: Between, After: after, Step: -1}
		for i, p := range h.probes {
			if p.live == 0 && (p.sure || p.walks >= h.fewestWalks()) && (c.Step < 0 || i < c.Step) {
				c.Step, c.Behind = i, p.walks
			}
		}
		switch {
		case c.Step >= 0:
		case known != nil:
			c.Step, c.Behind = known.Step, known.Behind
		case s.End != WalkBound:
			c.Step = end
		default:
			return Crisis{}, err
		}
		switch {
		case c.Step == 0:
			c.Verdict, c.Exact = NeverLive, h.probes[0].sure
		case c.Step == after+1 && h.probes[c.Step] != nil && h.probes[after] != nil && h.probes[after].live > 0:
			c.Verdict, c.After, c.Exact = DeadFrom, 0, h.probes[c.Step].sure
		}
		return c, err
	}
	if known == nil {
		at := low
		if err = ask(at, h.walksNeeded(low, most)); err == nil && !h.stopped() && !live && at > 0 {
			low = 0
			err = ask(0, h.walksNeeded(low, most))
		}
		if err != nil || h.stopped() {
			return given()
		}
		if !live {
			return Crisis{Verdict: NeverLive, Exact: h.probes[0].sure, Behind: h.probes[0].walks}, nil
		}
		high = -1
	}
	// A few walks say where to look, and all of them whether it is there.
	for {
		for far := 1; high < 0; far *= 2 {
			if low == most {
				return Crisis{}, nil
			}
			at := min(low+far, most)
			if err = ask(at, max(h.walksNeeded(low, most)/guess, 1)); err != nil || h.stopped() {
				return given()
			}
		}
		for low+1 < high {
			if err = ask((low+high)/2, max(h.walksNeeded(low, high)/guess, 1)); err != nil || h.stopped() {
				return given()
			}
		}
		at := high
		if err = ask(at, h.walksNeeded(low, high)); err != nil || h.stopped() {
			return given()
		}
		if !live && !h.probes[at].sure { // if few are live before it, few may be behind it
			var p probe
			if p, err = h.takeWalks(at-1, h.probes[at].walks); err == nil && !h.stopped() {
				err = ask(at, p.walksNeeded())
			}
			if err != nil || h.stopped() {
				return given()
			}
			c.Before, c.Live = p.walks, p.live
		}
		if !live {
			c.Verdict, c.Step, c.Exact, c.Behind = DeadFrom, at, h.probes[at].sure, h.probes[at].walks
			return c, nil
		}
		high = -1
	}
}

func (l *Liveness) stopped() bool { return l.gone || l.IsLate() || l.X.Stopped != nil && l.X.Stopped() }

// walksNeeded is how many walks it takes for a state to count as dead, while the critical
// transition lies between two others: no more than there is time for.
func (h *hunt) walksNeeded(low, high int) int {
	walks := h.SureWalks()
	if h.Clock == nil || h.Until == 0 || h.cost <= 0 {
		return walks
	}
	// About half of the states that are asked are dead, and to most of them go only a few walks.
	asks := 1 + float64(bits.Len(uint(high-low)))/(2*guess)
	return max(min(walks, int(float64(h.Until-h.Clock())/(float64(h.cost)*asks))), h.fewestWalks())
}

// walksNeeded is how many walks from the next state must not be live, after some of these were: so
// many that less than one of a hundred states of which as many walks are live would be taken for
// dead.
func (p probe) walksNeeded() int {
	if p.live == 0 || p.live == p.walks {
		return 0
	}
	return min(int(math.Ceil(math.Log(0.01)/math.Log(1-float64(p.live)/float64(p.walks)))), mostWalks*p.walks)
}

// mostWalks times as many are taken from a state behind one from which few are live, at most.
const mostWalks = 8

// takeWalks takes up to so many walks from the state after i steps, and fewer if many of the first
// are live.
func (h *hunt) takeWalks(i, walks int) (p probe, err error) {
	for p.walks < walks && 2*p.live < leastWalks {
		began := p.walks
		t := h.newTries(h.path, min(leastWalks, walks-began), func(by *Liveness, j int) (walk, error) {
			return by.takeWalkFrom(by.try, 1<<h.goal, mostlyNatural+began+j, h.Bound)
		})
		t.from, t.all = func(int) int { return i }, true
		if err := t.takeAll(); err != nil || h.stopped() {
			return p, err
		}
		for _, o := range t.outcomes {
			h.countWalk(i, &p, o)
		}
	}
	return p, nil
}

// countWalk counts a walk from the state after i steps.
func (h *hunt) countWalk(i int, p *probe, o outcome) {
	h.walks++
	h.steps += o.steps
	h.before += i
	if p.walks++; o.end == WalkLive {
		p.live++
	}
}

// isAnyLive reports whether any of so many walks from the state after i steps is live. Those that
// were taken from it before count.
func (h *hunt) isAnyLive(i, walks int) (live bool, err error) {
	p := h.probes[i]
	if p == nil {
		p = &probe{}
		if err := h.forkWithoutBudgets(h.try, h.path, i); err != nil {
			return false, err
		}
		if g := &h.goals[h.goal]; g.Within == 0 && g.StableFor == 0 && i >= h.large {
			live, sure, whole, err := h.exhaustStates(h.try, h.goal)
			if err != nil || !live && h.stopped() {
				return false, err
			}
			if !whole {
				h.large = i
			}
			if live {
				h.keepLive(i)
				p.live++
			}
			p.sure = sure
		}
		h.probes[i] = p
	}
	if p.live > 0 || p.sure || p.walks >= walks {
		return p.live > 0, nil
	}
	began := p.walks
	t := h.newTries(h.path, walks-began, func(by *Liveness, j int) (walk, error) {
		return by.takeWalkFrom(by.try, 1<<h.goal, mostlyNatural+began+j, h.Bound)
	})
	t.from = func(int) int { return i }
	clock := time.Duration(0)
	if h.Clock != nil {
		clock = h.Clock()
	}
	if err := t.takeAll(); err != nil {
		return false, err
	}
	for j, o := range t.outcomes[:min(t.live+1, walks-began)] {
		if !o.ended {
			break // it was stopped
		}
		h.countWalk(i, p, o)
		if o.end != WalkLive && o.steps == 0 { // nothing happens here
			p.sure = true
			return false, nil
		} else if j == t.live {
			t.path.ForkInto(h.try, t.path.Steps())
			h.keepLive(i)
		}
	}
	if h.Clock != nil && p.live == 0 && p.walks > began {
		h.cost = (h.Clock() - clock) / time.Duration(p.walks-began)
	}
	return p.live > 0, nil
}

// IsDead reports whether a goal is live in no walk from the state after the first n steps of a
// path: in none of a few, then in none of all that it takes, and in no long one.
func (l *Liveness) IsDead(p *space.Path, n, goal int) (bool, error) {
	l.along, l.gone = -1, false
	h := l.newHunt(p, goal)
	live, err := h.isAnyLive(n, max(l.SureWalks()/guess, 1))
	if err == nil && !live && !l.stopped() {
		live, err = h.isAnyLive(n, l.SureWalks())
	}
	if err == nil && !live && !l.stopped() && !h.probes[n].sure {
		live, _, err = l.TakeLongWalks(p, n, goal)
	}
	return err == nil && !live && !l.stopped(), err
}

// keepLive keeps a live execution, whose first i steps are those of one that is stuck, if none went
// further with that.
func (l *Liveness) keepLive(i int) {
	if i > l.along {
		l.along = i
		l.try.ForkInto(l.near, l.try.Steps())
	}
}

// small is how many states exhaust looks at, at most.
const small = 300

// exhaustStates looks at all states that can follow the end of a path, unless they are too many.
// live: in one a goal waits for nothing, and the path leads there. sure: it is in none. whole: they
// are not too many.
func (l *Liveness) exhaustStates(p *space.Path, goal int) (live, sure, whole bool, err error) {
	seen := map[hash.Hash]bool{}
	whole = true
	var visit func() (bool, error)
	visit = func() (bool, error) {
		f, n := p.Last(), p.Steps()
		if h := p.Hash(f); seen[h] {
			return false, nil
		} else if len(seen) == small || l.stopped() {
			whole = false
			return false, nil
		} else {
			seen[h] = true
		}
		if f.Waits&(1<<goal) == 0 && (f.Plain == 0 || l.space.System.Recovered(&f.State.State)) {
			return true, nil
		}
		for i := 0; whole && i < len(p.Last().Enabled); i++ {
			if err := p.Push(i); err != nil {
				return false, err
			}
			l.work++
			l.steps++
			if l.Watch != nil {
				l.Watch(p.Last().By)
			}
			if out := &p.Last().By.Output; out.Cut != "" || out.Fatal != "" {
				whole = false
			} else if live, err := visit(); live || err != nil {
				return live, err
			}
			p.ExecutionStepVariations(n)
			p.CutExecution(n)
		}
		return false, p.Err()
	}
	live, err = visit()
	return live, whole && !live && err == nil, whole || live, err
}

// commonSteps is how many steps two executions begin with that are the same.
func commonSteps(a, b *space.Path) (n int) {
	for n < min(a.Steps(), b.Steps()) && a.Taken(n+1).SameAction(b.Taken(n+1)) {
		n++
	}
	return n
}
