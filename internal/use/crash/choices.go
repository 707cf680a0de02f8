//go:build linux

package crash

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/use/run"
)

// Chosen is an execution of a program that asks Ariadne to choose, and does not get the first
// answer each time.
type Chosen struct {
	Answers string // all of them, in order, with their questions
	Log     []*disk.Op
	// Failed says how the program has failed, or is "". Then, and where there are Doubts, its log
	// says little.
	Failed string
	Doubts []string
}

// EachChosen executes the one node of a spec once for each sequence of answers other than the first
// ones, with which it took steps. Executions with few such answers come first, and there are up to
// most of them. more: there are others. It ends with the first error of do.
func EachChosen(ctx context.Context, s *spec.Spec, o system.Options, steps []ariadne.Step, most int,
	do func(*Chosen) error) (more bool, err error) {
	queue := further(nil, steps)
	if len(queue) == 0 {
		return false, nil
	}
	var log *disk.Log
	o.Nodes = system.Processes{Files: func(_ ariadne.NodeID, l *disk.Log) { log = l }}
	err = run.Vary(ctx, s, o, taken(&queue, most), func(c run.Case, v *run.Varied) error {
		queue = append(queue, further(c, v.Steps)...)
		e := &Chosen{Answers: answers(v.Steps), Log: log.Ops(), Doubts: v.Doubts}
		if v.Violation != nil {
			e.Failed = v.Violation.Message
		}
		return do(e)
	})
	return len(queue) > 0, err
}

// taken takes up to so many cases from a queue.
func taken(queue *[]run.Case, most int) iter.Seq[run.Case] {
	return func(yield func(run.Case) bool) {
		for n := 0; n < most && len(*queue) > 0; n++ {
			c := (*queue)[0]
			*queue = (*queue)[1:]
			if !yield(c) {
				return
			}
		}
	}
}

// further are the cases that differ from one, by which steps were taken, in one more answer behind
// all that it has changed. So each sequence of answers belongs to one case, and follows from one.
func further(c run.Case, steps []ariadne.Step) (all []run.Case) {
	last := 0
	if len(c) > 0 {
		last = c[len(c)-1].Step
	}
	for i := range steps {
		at := steps[i].Index
		if at < last {
			continue
		}
		for _, answer := range steps[i].Output.More() {
			if answer.Kind() != world.KindOf(world.Choose).Name {
				continue
			}
			next := slices.Clone(c)
			if at > last {
				next = append(next, run.Change{Step: at})
			}
			d := &next[len(next)-1]
			d.Vary = d.Vary.And(answer)
			all = append(all, next)
		}
	}
	return all
}

// answers are those that a program got in some steps, for people: "rename (of sync|rename|plain)".
func answers(steps []ariadne.Step) string {
	var all []string
	for i := range steps {
		for _, p := range steps[i].Output.Places {
			if p.Kind() != world.KindOf(world.Choose).Name {
				continue
			}
			_, question := calledOn(p.Name)
			answer, words, _ := strings.Cut(question, "|")
			if words == "" {
				answer = "0" // of a number
			}
			if p.Taken != "" {
				_, answer, _ = strings.Cut(p.Taken, ":")
			}
			all = append(all, fmt.Sprintf("%s (of %s)", answer, question))
		}
	}
	return strings.Join(all, ", ")
}
