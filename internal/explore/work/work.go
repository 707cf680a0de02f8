package work

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
)

// Work is a part of a search, as a value: whoever has the same spec, programs and machine can do
// it, and comes to the same.
type Work struct {
	Unit int `json:"unit"` // its number among those of the search, from 1
	// Spec, Properties and Faults are what the spec must have in common with that of who gives the
	// work.
	Spec       ariadne.Digest `json:"spec"`
	Properties ariadne.Digest `json:"properties"`
	Faults     string         `json:"faults"`
	Strategy   string         `json:"strategy"`
	Seed       uint64         `json:"seed"`
	// Executions are those of a strategy whose executions have an index. Begins are the names of
	// the actions with which every path of another one begins (space.Bounds), and Most is how many
	// executions may be made of them; 0: any number.
	Executions Span     `json:"executions"`
	Begins     []string `json:"begins,omitempty"`
	Most       int      `json:"most,omitempty"`
	Bounds     Bounds   `json:"bounds"`
}

// Bounds are those of paths. 0 is none.
type Bounds struct {
	Depth      int         `json:"depth,omitempty"`
	Deviations space.Bound `json:"deviations,omitempty"`
	Timers     space.Bound `json:"timers,omitempty"`
	Deliveries space.Bound `json:"deliveries,omitempty"`
	Delays     space.Bound `json:"delays,omitempty"`
	Backtracks space.Bound `json:"backtracks,omitempty"`
	Branch     space.Bound `json:"branch,omitempty"`
}

// Then are the parts of the work in which paths go on with actions of these names. Parts have much
// in common, so each may have more executions than the whole: else most of what is done would be to
// divide.
func (w *Work) Then(names []string) (parts []Work) {
	for _, name := range names {
		part := *w
		part.Begins, part.Most = append(slices.Clone(w.Begins), name), partGrowth*w.Most
		parts = append(parts, part)
	}
	return parts
}

// partGrowth is by how much.
const partGrowth = 4

// Without is the work without executions that have ended, in as many parts as it takes.
func (w *Work) Without(ended []Span) (parts []Work) {
	from := w.Executions.From
	for _, s := range append(slices.Clone(ended), Span{w.Executions.To, w.Executions.To}) {
		if to := min(s.From, w.Executions.To); from < to {
			part := *w
			part.Executions = Span{from, to}
			parts = append(parts, part)
		}
		from = max(from, s.To)
	}
	return parts
}

func (w *Work) compare(o *Work) int {
	return cmp.Or(cmp.Compare(w.Unit, o.Unit), cmp.Compare(w.Executions.From, o.Executions.From),
		cmp.Compare(w.Executions.To, o.Executions.To), slices.Compare(w.Begins, o.Begins))
}

// Encode is the encoding of a Work.
func (w *Work) Encode() ([]byte, error) {
	data, err := json.Marshal(w)
	if err != nil {
		return nil, err
	}
	valid := &Work{} // of texts that are UTF-8
	if err := json.Unmarshal(data, valid); err != nil {
		return nil, err
	}
	data, err = json.Marshal(valid)
	return withHead(workHead, data), err
}

// Decode is the Work of an encoding. The error says in one line what is wrong with that.
func Decode(data []byte) (*Work, error) {
	w := &Work{}
	if err := decode(workHead, data, w); err != nil {
		return nil, err
	}
	if s := w.Executions; w.Unit < 1 || s.From < 0 || s.To < s.From || s.To > maxIndex || w.Most < 0 {
		return nil, errors.New("work that cannot be done")
	}
	if again, err := w.Encode(); err != nil || !bytes.Equal(data, again) {
		return nil, errors.New("work that nobody has encoded so")
	}
	return w, nil
}

// Allows says what is wrong with a Result of the work, or nil.
func (w *Work) Allows(r *Result) error {
	single := 0
	for _, s := range r.Ended {
		if s.From < w.Executions.From || s.To > w.Executions.To {
			return fmt.Errorf("a result with executions %d to %d of work that has %d to %d", s.From, s.To-1, w.Executions.From, w.Executions.To-1)
		}
		single += s.To - s.From
	}
	if r.Source.Unit != w.Unit || single > r.Executions {
		return fmt.Errorf("a result of unit %d, with %d executions, of unit %d", r.Source.Unit, r.Executions, w.Unit)
	}
	return nil
}
