package search

import (
	"ariadne/internal/space"
	"ariadne/internal/world"
)

// Verdict is what is known of an execution that is stuck.
type Verdict uint8

const (
	// Undecided: the states of the walk lead to live ones all the same, as other walks show; or it was stopped.
	Undecided Verdict = iota
	// DeadFrom: from a step on no state leads to a live one, as far as is known (MaceMC's condition 1).
	DeadFrom
	// NeverLive: no walk from the first state is live either.
	NeverLive
)

// Crisis is where an execution went wrong.
type Crisis struct {
	Verdict Verdict
	Step    int  // with DeadFrom: the critical transition, from 1
	Exact   bool // all states were looked at that can follow it
	Tried   int  // walks that were taken
	Steps   int  // steps that they took
	// FromStart are these with the steps before each walk: what it would take without frozen states.
	FromStart int
	// Near, when not nil, is a live execution that begins with the same Along steps; it is good until the next call.
	Near  *space.Path
	Along int
}

// Critical looks for the critical transition of an execution that is stuck: behind it no state leads to a live one. It goes from
// the last live state on by twice as many steps each time, and then halves what is left (MaceMC's algorithm 3).
func (l *Liveness) Critical(s *Stuck) (c Crisis, err error) {
	l.along, l.tally, l.gone = -1, tally{}, false
	c.Verdict, c.Step, c.Exact, err = l.critical(s)
	c.Tried, c.Steps = l.walks, l.steps
	c.FromStart = c.Steps + l.before
	if l.along >= 0 {
		c.Near, c.Along = l.near, common(l.near, s.Path)
	}
	return c, err
}

func (l *Liveness) critical(s *Stuck) (v Verdict, step int, exact bool, err error) {
	end := s.Path.Steps()
	most := end
	if s.End == WalkBound { // behind the middle a walk of this one's length has seen too little
		most = (s.Start + end) / 2
	}
	low := max(l.trail(s.Path, s.Goal).last-1, 0)
	if low > most {
		low = 0
	}
	high := -1
	ask := func(i, walks int) (bool, error) {
		live, sure, err := l.recovers(s.Path, i, s.Goal, walks)
		if err == nil && !live {
			high, exact = i, sure
		}
		return live, err
	}
	live, err := ask(low, l.Sure())
	if err == nil && !live && low > 0 {
		low = 0
		live, err = ask(0, l.Sure())
	}
	if err != nil || l.stopped() {
		return Undecided, 0, false, err
	}
	if !live {
		return NeverLive, 0, exact, nil
	}
	// A few walks say where to look, and all of them whether it is there.
	for few := max(l.Sure()/guess, 1); ; {
		for far := 1; high < 0; far *= 2 {
			if low == most {
				return Undecided, 0, false, nil
			}
			at := min(low+far, most)
			if live, err = ask(at, few); err != nil || l.stopped() {
				return Undecided, 0, false, err
			}
			if live {
				low = at
			}
		}
		for low+1 < high {
			middle := (low + high) / 2
			if live, err = ask(middle, few); err != nil || l.stopped() {
				return Undecided, 0, false, err
			}
			if live {
				low = middle
			}
		}
		at := high
		if exact {
			return DeadFrom, at, true, nil
		}
		if live, err = ask(at, l.Sure()); err != nil || l.stopped() {
			return Undecided, 0, false, err
		}
		if !live {
			return DeadFrom, at, exact, nil
		}
		low, high = at, -1
	}
}

func (l *Liveness) stopped() bool { return l.gone || l.X.Stopped != nil && l.X.Stopped() }

// recovers reports whether any of so many walks from the state after i steps is live. sure: all that can follow was looked at.
func (l *Liveness) recovers(p *space.Path, i, goal, walks int) (live, sure bool, err error) {
	if err := l.fork(l.try, p, i); err != nil {
		return false, false, err
	}
	if g := &l.goals[goal]; g.Within == 0 && g.StableFor == 0 {
		live, sure, err = l.exhaust(l.try, goal)
		if live {
			l.keep(i)
		}
		if live || sure || err != nil {
			return live, sure, err
		}
	}
	t := l.tries(p, walks, func(by *Liveness, j int) (walk, error) {
		return by.walk(by.try, 1<<goal, mostlyNatural+j, l.Bound)
	})
	t.from = func(int) int { return i }
	if err := t.take(); err != nil || l.stopped() {
		return false, false, err
	}
	for j, o := range t.outcomes[:min(t.live+1, walks)] {
		l.walks++
		l.steps += o.steps
		l.before += i
		if o.end != WalkLive && o.steps == 0 { // nothing happens here
			return false, true, nil
		} else if j == t.live {
			t.path.Fork(l.try, t.path.Steps())
			l.keep(i)
		}
	}
	return t.live < walks, false, nil
}

// Dead reports whether a goal is live in no walk from the state after the first n steps of a path: in none of a few, and then in none of all
// that it takes.
func (l *Liveness) Dead(p *space.Path, n, goal int) (bool, error) {
	l.along, l.gone = -1, false
	live, sure, err := l.recovers(p, n, goal, max(l.Sure()/guess, 1))
	if err == nil && !live && !sure && !l.stopped() {
		live, _, err = l.recovers(p, n, goal, l.Sure())
	}
	return err == nil && !live && !l.stopped(), err
}

// keep keeps a live execution, whose first i steps are those of one that is stuck, if none went further with that.
func (l *Liveness) keep(i int) {
	if i > l.along {
		l.along = i
		l.try.Fork(l.near, l.try.Steps())
	}
}

// small is how many states exhaust looks at, at most.
const small = 300

// exhaust looks at all states that can follow the end of a path, unless they are too many. live: in one a goal waits
// for nothing, and the path leads there. sure: it is in none.
func (l *Liveness) exhaust(p *space.Path, goal int) (live, sure bool, err error) {
	seen, whole := map[world.Hash]bool{}, true
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
			p.Keep(n)
		}
		return false, nil
	}
	live, err = visit()
	return live, whole && !live && err == nil, err
}

// common is how many steps two executions begin with that are the same.
func common(a, b *space.Path) (n int) {
	for n < min(a.Steps(), b.Steps()) && a.Taken(n+1).SameAction(b.Taken(n+1)) {
		n++
	}
	return n
}
