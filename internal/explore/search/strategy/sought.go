package strategy

import (
	"slices"
	"sync"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
)

// Sought is what nodes have shown elsewhere, in the order in which they did. A path shows as much
// of it as is a subsequence of what its own nodes show: the live system may have done more than the
// spec's nodes do, and in another order where nothing depends on it. Numbers may be others, as
// terms and ids are. Where they are the same, the path is nearer.
type Sought struct {
	masked, exact []uint64 // the changes without and with their numbers
	mu            sync.Mutex
	most          int   // of the changes that a path has shown
	score         int   // the best one
	paths         []int // by score, those that came to it first
}

// NewSought returns what is sought: at least one change.
func NewSought(changes []SoughtChange) *Sought {
	s := &Sought{paths: make([]int, 2*len(changes)+1)}
	for i := range changes {
		s.masked = append(s.masked, changes[i].hash(masked))
		s.exact = append(s.exact, changes[i].hash(exact))
	}
	return s
}

// SoughtChange is a change of what a node exposes, or that it went up or down.
type SoughtChange struct {
	Node     ariadne.NodeID
	Up, Down bool
	expose.Change
}

// hash stands for a change, of whose texts it takes what a function makes of them.
func (c *SoughtChange) hash(text func(uint64, string) uint64) uint64 {
	switch {
	case c.Up:
		return feature(c.Node, 'u')
	case c.Down:
		return feature(c.Node, 'd')
	}
	h := text(mixed(exact(feature(c.Node, 'x'), c.Name), 0), c.Key)
	switch {
	case c.All:
		return mixed(h, 2)
	case c.Ends:
		return mixed(h, 1)
	}
	for _, v := range c.Values {
		h = text(mixed(h, 0), v)
	}
	return h
}

// Shown is how many of the changes the best path so far has shown, and how many there are.
func (s *Sought) Shown() (most, of int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.most, len(s.masked)
}

// Look looks at all that a path shows.
func (s *Sought) Look(p *space.Path) {
	var r progress
	r.read(p, s)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.most = max(s.most, r.shown())
}

// best is the best score of a path.
func (s *Sought) best() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.score
}

// perScore is how many paths of one score are kept.
const perScore = 16

// keep enters the score of a path, which is more than before its last step. It reports whether a
// search is to go on from it.
func (s *Sought) keep(r *progress, score int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.most, s.score = max(s.most, r.shown()), max(s.score, score)
	if s.paths[score] == perScore {
		return false
	}
	s.paths[score]++
	return true
}

// progress is how much of what is sought a path shows.
type progress struct {
	// by step of the path, from 0; a step that shows nothing has those of the one before
	rows []overlap
}

// overlap says of the first j changes that are sought how many a path shows, without regard to
// numbers and with it.
type overlap struct{ masked, exact []uint32 }

// score is how near a path is to what is sought.
func (r overlap) score() int { return int(r.masked[len(r.masked)-1]) + int(r.exact[len(r.exact)-1]) }

// shown is how many changes the path shows.
func (r *progress) shown() int {
	last := r.rows[len(r.rows)-1].masked
	return int(last[len(last)-1])
}

// cut forgets what was read behind the first n steps of the path.
func (r *progress) cut(n int) {
	if len(r.rows) > n+1 {
		clear(r.rows[n+1:])
		r.rows = r.rows[:n+1]
	}
}

// read reads the steps of a path that are new to it, and returns the scores of the path with its
// last step and without.
func (r *progress) read(p *space.Path, s *Sought) (now, before int) {
	if len(r.rows) == 0 {
		n := len(s.masked) + 1
		r.rows = append(r.rows, overlap{make([]uint32, n), make([]uint32, n)})
	}
	for i := len(r.rows); i <= p.Len(); i++ {
		next := r.rows[i-1]
		for _, c := range shownBy(p.Event(i).Node, p.Frame(i).By) {
			next.masked = lengthen(next.masked, s.masked, c.hash(masked))
			next.exact = lengthen(next.exact, s.exact, c.hash(exact))
		}
		r.rows = append(r.rows, next)
	}
	last := len(r.rows) - 1
	return r.rows[last].score(), r.rows[max(last-1, 0)].score()
}

// lengthen is the row of a longest common subsequence with what is sought, after one more change.
func lengthen(row []uint32, sought []uint64, change uint64) []uint32 {
	if !slices.Contains(sought, change) {
		return row
	}
	row = slices.Clone(row)
	diagonal := row[0]
	for j, want := range sought {
		was := row[j+1]
		if row[j+1] = max(was, row[j]); want == change {
			row[j+1] = max(row[j+1], diagonal+1)
		}
		diagonal = was
	}
	return row
}

// shownBy are the changes of a step of a node.
func shownBy(node ariadne.NodeID, by *memo.Transition) (all []SoughtChange) {
	if by == nil {
		return nil
	}
	if by.Input.Kind == ariadne.Start {
		all = append(all, SoughtChange{Node: node, Up: true})
	}
	if found := by.Found.Load(); found != nil {
		for i := range found.Changes {
			all = append(all, SoughtChange{Node: node, Change: found.Changes[i]})
		}
	}
	if by.Output.Down != ariadne.Up && by.Output.Down != ariadne.Paused || by.Output.Ended {
		all = append(all, SoughtChange{Node: node, Down: true})
	}
	return all
}
