package check

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// Seek is a violation that was seen elsewhere, with the changes that led to it.
type Seek struct {
	Property string
	Changes  []strategy.SoughtChange
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
		if !c.Up && !c.Down && !slices.ContainsFunc(p.Sources, func(e expose.Source) bool { return e.Name == c.Name }) {
			return fmt.Errorf("the spec exposes nothing as %s", c.Name)
		}
	}
	return nil
}

// seek makes what is sought known to the strategy, which can seek.
func (x *explorer) seek() {
	if s := x.check.opts.Search.Seek; s != nil {
		x.sought = strategy.NewSought(s.Changes)
	}
}
