package record

import (
	"reflect"
	"slices"
	"strconv"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/work"
)

// TestSameCutOffs: steps that were cut off at one place are suspected, in whichever order they are
// counted. Others are not.
func TestSameCutOffs(t *testing.T) {
	step := 0
	at := func(node ariadne.NodeID, function string, offset uint64, line int) work.CutOff {
		step++
		c := work.CutOff{Node: node, Steps: []string{strconv.Itoa(step)}}
		c.At.CodeLine, c.At.Offset = ariadne.CodeLine{Program: "p", Function: function, File: "p.c", Line: line}, offset
		if line == 0 {
			c.At.File = ""
		}
		return c
	}
	for _, c := range []struct {
		what string
		cuts []work.CutOff
		want []string // the places
	}{
		{"one", []work.CutOff{at(0, "f", 10, 1)}, nil},
		{"the same", []work.CutOff{at(0, "f", 10, 1), at(0, "f", 10, 1)}, []string{"2: p, in f (p.c:1)"}},
		{"the same step", slices.Repeat([]work.CutOff{at(0, "f", 10, 1)}, 2), nil},
		{"the same step elsewhere", func() []work.CutOff {
			a, b := at(0, "f", 10, 1), at(0, "f", 12, 1)
			b.Steps = a.Steps
			return []work.CutOff{a, b}
		}(), nil},
		{"near", []work.CutOff{at(0, "f", 30, 3), at(0, "f", 10, 1), at(0, "f", 20, 2)},
			[]string{"3: p, in f (p.c:1 to 3)"}},
		{"far", []work.CutOff{at(0, "f", 10, 1), at(0, "f", 1000, 9)}, nil},
		{"two functions", []work.CutOff{at(0, "f", 10, 1), at(0, "g", 20, 2)}, nil},
		{"two nodes", []work.CutOff{at(0, "f", 10, 1), at(1, "f", 10, 1)}, nil},
		{"two places", []work.CutOff{at(1, "", 10, 0), at(0, "f", 10, 0), at(1, "", 16, 0), at(0, "f", 10, 0)},
			[]string{"2: p, in f", "2: p, at 0xa to 0x10 in the file"}},
	} {
		r := &Report{Nodes: []NodeReport{{Name: "a"}, {Name: "b"}}}
		for i := range c.cuts {
			sum := r.Sum() // as a check that is resumed after each
			sum.Add(&work.Result{CutOffs: c.cuts[i : i+1]})
			r.Fill(sum)
		}
		r.Doubt("a step was cut off")
		r.Judge()
		var want []string
		for i, place := range c.want {
			want = append(want, "node "+r.Nodes[i].Name+": "+place[:1]+" steps were cut off at the same place, which may be a loop"+place[1:]+"; to find out whether it ends, raise limits.divergence in the spec")
		}
		if !reflect.DeepEqual(r.Suspicions, want) {
			t.Errorf("%s: %q", c.what, r.Suspicions)
		}
		if outcome := map[bool]Outcome{false: Inconclusive, true: Suspected}[len(want) > 0]; r.Outcome != outcome {
			t.Errorf("%s: %v", c.what, r.Outcome)
		}
	}
}
