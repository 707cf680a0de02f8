package check

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// Seek is a violation that was seen elsewhere, with the changes that led to it.
type Seek struct {
	Property string
	Changes  []SeekChange
}

// SeekChange is a change of what a node exposes, or that it went up or down.
type SeekChange struct {
	Node     string
	Up, Down bool
	expose.Change
}

// Until matches the messages of violations of the property.
func (s *Seek) Until() *regexp.Regexp {
	return regexp.MustCompile("^" + regexp.QuoteMeta(s.Property) + "(: |$)")
}

// Check says what of a spec does not go with it.
func (s *Seek) Check(of *spec.Spec) error {
	if len(s.Changes) == 0 {
		return errors.New("the violation has no changes that led to it")
	}
	p := &of.Properties
	if !slices.ContainsFunc(p.Predicates, func(q property.Predicate) bool { return q.Name == s.Property }) &&
		!slices.ContainsFunc(p.Goals, func(g property.Goal) bool { return g.Name == s.Property }) {
		return fmt.Errorf("the spec has no property %q", s.Property)
	}
	for i := range s.Changes {
		c := &s.Changes[i]
		if nodeNamed(of, c.Node) < 0 {
			return fmt.Errorf("the spec has no node %s", c.Node)
		}
		if !c.Up && !c.Down && !slices.ContainsFunc(p.Sources, func(e expose.Source) bool { return e.Name == c.Name }) {
			return fmt.Errorf("the spec exposes nothing as %s", c.Name)
		}
	}
	return nil
}

func nodeNamed(s *spec.Spec, name string) int {
	return slices.IndexFunc(s.Nodes, func(n spec.Node) bool { return n.Name == name })
}

// seek makes what is sought known to the strategy, which can seek.
func (x *explorer) seek() {
	s := x.check.opts.Search.Seek
	if s == nil {
		return
	}
	var all []strategy.SoughtChange
	for i := range s.Changes {
		c := &s.Changes[i]
		all = append(all, strategy.SoughtChange{Node: ariadne.NodeID(nodeNamed(x.check.system.Spec, c.Node)), Up: c.Up,
			Down: c.Down, Change: c.Change})
	}
	x.sought = strategy.NewSought(all)
}
