//go:build linux

package crash

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/use/run"
)

// asked are the steps of a program by a case: questions gives how many answers the next question
// has after some answers, or 0 at the end. A step has two questions.
func asked(c run.Case, questions func(answers string) int) (steps []ariadne.Step, answers string) {
	for n := 0; ; n++ {
		k := questions(answers)
		if k == 0 {
			return steps, answers
		}
		if n%2 == 0 {
			steps = append(steps, ariadne.Step{Index: len(steps) + 1})
		}
		step := &steps[len(steps)-1]
		p := ariadne.Place{Name: fmt.Sprintf("1/choose:%d#%d", k, n)}
		for i := 1; i < k; i++ {
			p.Alternatives = append(p.Alternatives, fmt.Sprintf("choose:%d", i))
		}
		answer := "0"
		for _, d := range c {
			for _, a := range d.Vary.Choices() {
				if d.Step == step.Index && a.Place == p.Name {
					p.Taken, answer = a.Alternative, strings.TrimPrefix(a.Alternative, "choose:")
				}
			}
		}
		step.Output.Places = append(step.Output.Places, p)
		if n == 0 { // a call that may fail is no question
			step.Output.Places = append(step.Output.Places,
				ariadne.Place{Name: "1/write#1", Alternatives: []string{"fail:EIO"}})
		}
		answers += answer
	}
}

// TestFurther: each sequence of answers belongs to one case, those with few answers that are not
// the first come first, and no more than so many are taken.
func TestFurther(t *testing.T) {
	questions := func(answers string) int { // the second answer says how many there are besides
		switch {
		case len(answers) < 2:
			return 3
		case len(answers) < 2+int(answers[1]-'0')*2:
			return 2
		}
		return 0
	}
	var all func(answers string) []string
	all = func(answers string) (list []string) {
		for i := range questions(answers) {
			list = append(list, all(answers+fmt.Sprint(i))...)
		}
		if questions(answers) == 0 {
			list = append(list, answers)
		}
		return list
	}
	want := all("")
	for _, most := range []int{len(want) - 1, len(want), 7} {
		steps, first := asked(nil, questions)
		got, others := []string{first}, 0
		queue := further(nil, steps)
		for c := range taken(&queue, most) {
			steps, answers := asked(c, questions)
			queue = append(queue, further(c, steps)...)
			n := len(answers) - strings.Count(answers, "0")
			if n < others {
				t.Errorf("%s comes after one with %d other answers", answers, others)
			}
			got, others = append(got, answers), n
		}
		slices.Sort(got)
		if most >= len(want)-1 && (!slices.Equal(got, want) || len(queue) > 0) {
			t.Errorf("most %d: %d sequences, want %d: %v", most, len(got), len(want), got)
		}
		if most == 7 && (len(got) != 8 || len(slices.Compact(got)) != 8 || len(queue) == 0) {
			t.Errorf("most 7: %d sequences: %v", len(got), got)
		}
	}
}
