package property

import (
	"fmt"
	"strconv"

	"github.com/ariadne-mc/ariadne"
)

// Number says that what a predicate's expression gives is a number, or None where there is none,
// and between what bounds it must stay.
type Number struct {
	Most  *float64 `json:"at_most,omitempty"`  // nil: no bound
	Least *float64 `json:"at_least,omitempty"` // likewise
}

// String is as in "at most 5".
func (n *Number) String() string {
	text := "number"
	if n.Least != nil {
		text += " at least " + NumberText(*n.Least)
	}
	if n.Most != nil {
		text += " at most " + NumberText(*n.Most)
	}
	return text
}

// Bounded reports whether anything must hold of the number: else it is only recorded.
func (n *Number) Bounded() bool { return n.Most != nil || n.Least != nil }

// Beyond says which bound a value is beyond, as in "more than 5"; "": none.
func (n *Number) Beyond(v float64) string {
	switch {
	case n.Most != nil && v > *n.Most:
		return "more than " + NumberText(*n.Most)
	case n.Least != nil && v < *n.Least:
		return "less than " + NumberText(*n.Least)
	}
	return ""
}

// NumberText is a number as people write it.
func NumberText(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// Series is how a number went in one execution.
type Series struct {
	Name string `json:"name"`
	Number
	Min float64 `json:"min"` // of all values; 0 when there is none
	Max float64 `json:"max"`
	// Beyond is the first value beyond the bounds, or nil.
	Beyond *Point `json:"beyond,omitempty"`
	// Points are where it became another: each value lasts until the next.
	Points []Point `json:"points"`
	// Left is how many more there are, which are in Min, Max and Beyond only.
	Left int `json:"left_out,omitempty"`
	// End is the time of the last step.
	End ariadne.Time `json:"end_ns"`
}

// Point is a value of a number, behind a step.
type Point struct {
	Step  int          `json:"step"` // 0: before the first
	At    ariadne.Time `json:"at_ns"`
	Value *float64     `json:"value"` // nil: there is none
}

// maxPoints bounds the points of a series.
const maxPoints = 1 << 16

// Add enters what the number is behind a step; nil: none. It may have the same value as before.
func (s *Series) Add(step int, at ariadne.Time, value *float64) {
	n := len(s.Points)
	if n > 0 && same(s.Points[n-1].Value, value) && s.Left == 0 {
		return
	}
	p := Point{step, at, value}
	if value != nil {
		if v := *value; s.empty() {
			s.Min, s.Max = v, v
		} else {
			s.Min, s.Max = min(s.Min, v), max(s.Max, v)
		}
		if s.Beyond == nil && s.Number.Beyond(*value) != "" {
			s.Beyond = &p
		}
	}
	if n == maxPoints {
		s.Left++
		return
	}
	s.Points = append(s.Points, p)
}

func (s *Series) empty() bool {
	for _, p := range s.Points {
		if p.Value != nil {
			return false
		}
	}
	return true
}

func same(a, b *float64) bool { return a == b || a != nil && b != nil && *a == *b }

// Summary says it in one line, but for its name.
func (s *Series) Summary() string {
	if s.empty() {
		return "no value"
	}
	text := NumberText(s.Min) + " to " + NumberText(s.Max)
	if s.Min == s.Max {
		text = NumberText(s.Min) + " always"
	}
	switch p := s.Beyond; {
	case p != nil:
		text += fmt.Sprintf("; %s, %s, at %v (step %d)", NumberText(*p.Value), s.Number.Beyond(*p.Value), p.At, p.Step)
	case s.Most != nil && s.Least != nil:
		text += fmt.Sprintf(", between %s and %s", NumberText(*s.Least), NumberText(*s.Most))
	case s.Most != nil:
		text += ", never more than " + NumberText(*s.Most)
	case s.Least != nil:
		text += ", never less than " + NumberText(*s.Least)
	}
	if s.Left > 0 {
		text += fmt.Sprintf("; %d more changes are not shown", s.Left)
	}
	return text
}
