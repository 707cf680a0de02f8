package strategy

import "cmp"

// Tally is what a member of a portfolio has brought to the search.
type Tally struct {
	Name        string `json:"name"`
	Executions  int    `json:"executions"`
	Violations  int    `json:"violations"`  // executions that ended in one
	Transitions int    `json:"transitions"` // that nobody had made before
	// transitions with something that nobody had shown before (sights)
	Sights int `json:"sights"`
}

// Plus is the sum of two tallies of a name, or of one and the zero value.
func (t Tally) Plus(o Tally) Tally {
	return Tally{cmp.Or(t.Name, o.Name), t.Executions + o.Executions, t.Violations + o.Violations,
		t.Transitions + o.Transitions, t.Sights + o.Sights}
}

// Minus is what a tally has more than another one had.
func (t Tally) Minus(o Tally) Tally {
	return Tally{t.Name, t.Executions - o.Executions, t.Violations - o.Violations, t.Transitions - o.Transitions,
		t.Sights - o.Sights}
}

// shared is an explorer that others share.
type shared interface{ tally() *Tally }

// TallyOf is that of who makes an explorer's path, or nil: it is not shared, or has not begun.
func TallyOf(e Explorer) *Tally {
	if d, ok := e.(shared); ok {
		return d.tally()
	}
	return nil
}

func (f *Portfolio) tally() *Tally {
	if f.now == nil || f.now.Tally.Name == "" {
		return nil
	}
	return &f.now.Tally
}

func (s *Series) tally() *Tally { return TallyOf(s.Parts[0].Explorer) }
