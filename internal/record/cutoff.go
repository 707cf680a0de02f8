package record

import (
	"fmt"
	"slices"

	"github.com/ariadne-mc/ariadne"
)

// CutOffPlace is where steps of a node were cut off because they computed for too long. An
// execution ends with each of them. Steps tells them apart (work.CutOff).
type CutOffPlace struct {
	Node string `json:"node"`
	ariadne.CodePoint
	Steps []string `json:"steps"`
}

// samePlace is how many bytes of code a loop is taken to have: instructions of one function that
// are as near are one place.
const samePlace = 256

// sameCutOffs say at which places more than one step was cut off. Each may be a loop. One alone is
// as likely to be long work.
func (r *Report) sameCutOffs() (suspicions []string) {
	all := r.CutOffs
	for len(all) > 0 {
		first, n := &all[0], 1
		steps := map[string]bool{}
		for ; n < len(all) && first.near(&all[n]); n++ {
		}
		for i := range all[:n] { // a step may have been cut off at several instructions
			for _, step := range all[i].Steps {
				steps[step] = true
			}
		}
		if count := len(steps); count > 1 {
			suspicions = append(suspicions, fmt.Sprintf("node %s: %d steps were cut off at the same place, which may be a loop: %s; to find out whether it ends, raise limits.divergence in the spec", first.Node, count, where(all[:n])))
		}
		all = all[n:]
	}
	return suspicions
}

// near reports whether o, which comes later in the order of places, is of the same place.
func (c *CutOffPlace) near(o *CutOffPlace) bool {
	return c.Node == o.Node && c.Program == o.Program && c.Function == o.Function && o.Offset-c.Offset <= samePlace
}

// where names a place: its function and lines, or its instructions where there are no symbols.
func where(all []CutOffPlace) string {
	first, last := &all[0], &all[len(all)-1]
	if first.Function == "" {
		return fmt.Sprintf("%s, at %#x to %#x in the file", first.Program, first.Offset, last.Offset)
	}
	s := fmt.Sprintf("%s, in %s", first.Program, first.Function)
	lines := []int{}
	for i := range all {
		if c := &all[i]; c.Line > 0 && c.File == first.File {
			lines = append(lines, c.Line)
		}
	}
	if len(lines) == 0 {
		return s
	}
	if from, to := slices.Min(lines), slices.Max(lines); from < to {
		return fmt.Sprintf("%s (%s:%d to %d)", s, first.File, from, to)
	}
	return fmt.Sprintf("%s (%s:%d)", s, first.File, lines[0])
}
