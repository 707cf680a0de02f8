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
// spec's nodes do, and in another order where nothing depends on it. Numbers do not count: terms
// and ids are others.
type Sought struct {
	changes []uint64
	mu      sync.Mutex
	most    int   // of the changes that a path has shown
	paths   []int // that have come to each number of changes first, of those that were kept
}

// NewSought returns what is sought: at least one change.
func NewSought(changes []SoughtChange) *Sought {
	s := &Sought{paths: make([]int, len(changes)+1)}
	for i := range changes {
		s.changes = append(s.changes, changes[i].hash())
	}
	return s
}

// SoughtChange is a change of what a node exposes, or that it went up or down.
type SoughtChange struct {
	Node     ariadne.NodeID
	Up, Down bool
	expose.Change
}

func (c *SoughtChange) hash() uint64 {
	switch {
	case c.Up:
		return feature(c.Node, 'u')
	case c.Down:
		return feature(c.Node, 'd')
	}
	h := masked(mixed(masked(feature(c.Node, 'x'), c.Name), 0), c.Key)
	switch {
	case c.All:
		return mixed(h, 2)
	case c.Ends:
		return mixed(h, 1)
	}
	for _, v := range c.Values {
		h = masked(mixed(h, 0), v)
	}
	return h
}

// Shown is how many of the changes the best path so far has shown, and how many there are.
func (s *Sought) Shown() (most, of int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.most, len(s.changes)
}

// Look looks at all that a path shows.
func (s *Sought) Look(p *space.Path) {
	var r progress
	now, _ := r.read(p, s)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.most = max(s.most, now)
}

// perCount is how many paths are kept that show one number of changes.
const perCount = 16

// keep enters that a path shows so many changes, one more than before its last step. It reports
// whether a search is to go on from it.
func (s *Sought) keep(shown int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.most = max(s.most, shown)
	if s.paths[shown] == perCount {
		return false
	}
	s.paths[shown]++
	return true
}

// progress is how much of what is sought a path shows.
type progress struct {
	// By step of the path, from 0: of the first j changes that are sought, how many the path shows.
	// A step that shows nothing has the row of the one before.
	rows [][]uint8
}

// cut forgets what was read behind the first n steps of the path.
func (r *progress) cut(n int) {
	if len(r.rows) > n+1 {
		clear(r.rows[n+1:])
		r.rows = r.rows[:n+1]
	}
}

// read reads the steps of a path that are new to it, and returns how many changes the path shows
// with its last step and without.
func (r *progress) read(p *space.Path, s *Sought) (now, before int) {
	if len(r.rows) == 0 {
		r.rows = append(r.rows, make([]uint8, len(s.changes)+1))
	}
	for i := len(r.rows); i <= p.Len(); i++ {
		r.rows = append(r.rows, s.after(r.rows[i-1], shownBy(p.Event(i).Node, p.Frame(i).By)))
	}
	last := len(r.rows) - 1
	return int(r.rows[last][len(s.changes)]), int(r.rows[max(last-1, 0)][len(s.changes)])
}

// after is the row after a step that shows something.
func (s *Sought) after(row []uint8, shows []uint64) []uint8 {
	own := false
	for _, h := range shows {
		if !slices.Contains(s.changes, h) {
			continue
		}
		if !own {
			row, own = slices.Clone(row), true
		}
		diagonal := row[0]
		for j, want := range s.changes { // longest common subsequence
			was := row[j+1]
			if row[j+1] = max(was, row[j]); want == h {
				row[j+1] = max(row[j+1], diagonal+1)
			}
			diagonal = was
		}
	}
	return row
}

// shownBy are the hashes of what a step of a node shows.
func shownBy(node ariadne.NodeID, by *memo.Transition) (all []uint64) {
	if by == nil {
		return nil
	}
	if by.Input.Kind == ariadne.Start {
		all = append(all, (&SoughtChange{Node: node, Up: true}).hash())
	}
	if found := by.Found.Load(); found != nil {
		for i := range found.Changes {
			all = append(all, (&SoughtChange{Node: node, Change: found.Changes[i]}).hash())
		}
	}
	if by.Output.Down != ariadne.Up && by.Output.Down != ariadne.Paused || by.Output.Ended {
		all = append(all, (&SoughtChange{Node: node, Down: true}).hash())
	}
	return all
}
