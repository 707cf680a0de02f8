//go:build linux

package disk

import (
	"fmt"
	"slices"

	"github.com/ariadne-mc/ariadne/internal/system/stack"
)

// ways are how a thread of a layer may run with a mutation. The first alternative is that it does
// not, so every execution in which it runs follows the same execution without it.
var ways = []string{"", "after", "beside"}

// waysOf is how many ways there are to run the threads of a stack with one mutation.
func waysOf(layers []stack.Component) int {
	n := 1
	for i := range layers {
		for range layers[i].Threads {
			n *= len(ways)
		}
	}
	return n
}

// addThreads chooses for each thread of the stack how it runs with a mutation, whose number is n,
// and adds it to the steps.
func (p *plan) addThreads(s *Spec, n int, steps []stack.Step) []stack.Step {
	steps = slices.Clone(steps)
	after := 1 // where the next thread goes that runs after the mutation
	for i := range s.Components {
		c := &s.Components[i]
		for at := range c.Threads {
			way := ways[p.choose(len(ways), true)]
			thread := []stack.Thread{{Component: c.Name, At: at}}
			switch way {
			case "":
				continue
			case "beside":
				steps[0].Beside = append(steps[0].Beside, thread...)
			case "after":
				steps = slices.Insert(steps, after, stack.Step{Kind: stack.Pass, Beside: thread})
				after++
			}
			p.ran = append(p.ran, c.Name)
			p.name += fmt.Sprintf("; thread %d of %s %s it", at+1, c.Name, way)
			if s.Checker.Mutations > 1 {
				p.name += fmt.Sprintf(" (mutation %d)", n)
			}
		}
	}
	return steps
}

// noteThreads takes in an execution with an image of the group: which layers' threads have not run.
func (g *Group) noteThreads(s *Spec, p *plan) {
	g.Threads = nil
	for i := range s.Components {
		name := s.Components[i].Name
		g.idle[name] = g.idle[name] || !slices.Contains(p.ran, name)
		if !g.idle[name] {
			g.Threads = append(g.Threads, name)
		}
	}
}
