//go:build linux

package disk

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/system/stack"
)

// defaultFailures is how many faults of a kind there are, of each workload, where a spec does not
// say.
const defaultFailures = 16

func (s *Spec) setFaults(t *text) (err error) {
	for _, name := range slices.Sorted(maps.Keys(t.Faults)) {
		switch n := t.Faults[name]; {
		case !slices.Contains(stack.Faults, stack.Fault(name)):
			return fmt.Errorf("faults: %q is none of %s", name, listed(stack.Faults))
		case n < 0 || n > 1:
			return fmt.Errorf("faults: %s: %d is neither 0 nor 1: one request fails in an execution, at most", name, n)
		}
	}
	for _, f := range stack.Faults {
		if t.Faults[string(f)] > 0 {
			s.Faults = append(s.Faults, f)
		}
	}
	for _, name := range t.Repairs {
		f := stack.Fault(name)
		if !slices.Contains(s.Faults, f) || slices.Contains(s.Repairs, f) {
			return fmt.Errorf("repairs: %q is none of faults, or is there twice", name)
		}
		s.Repairs = append(s.Repairs, f)
	}
	switch {
	case len(s.Faults) > 0 && s.Files != nil && waysOf(s.Components) > 1:
		return errors.New("faults: the ready-made checker (files) has no faults beside threads of a layer: leave out one of them")
	case t.Failures != nil && len(s.Faults) == 0:
		return errors.New("failures bounds the requests that fail: add faults")
	}
	if err := s.checkSilent(); err != nil {
		return err
	}
	s.Failures, err = number("failures", t.Failures, math.MaxInt, defaultFailures)
	return err
}

// checkSilent sees to it that somebody says what must hold after each fault of which the device
// says nothing.
func (s *Spec) checkSilent() error {
	at := slices.IndexFunc(s.Faults, func(f stack.Fault) bool {
		return f.Silent() && !slices.Contains(s.Repairs, f)
	})
	silent := at >= 0
	switch top := &s.Components[len(s.Components)-1]; {
	case silent && s.Files != nil && !checksData(top):
		return fmt.Errorf("faults: %s: the layer %q has no checksums of data, so it cannot notice that: use btrfs, or a checker of your own with the command integrity",
			s.Faults[at], top.Name)
	case s.Files != nil:
	case !silent && len(s.Checker.Integrity) > 0:
		return errors.New("checker: integrity takes the place of check after a silent fault that is not in repairs, and faults has none")
	case silent && len(s.Checker.Integrity) == 0:
		return fmt.Errorf("faults: after %s, data may be gone that nobody can know of: add to checker the command integrity, which says what must still hold, or name the fault in repairs",
			s.Faults[at])
	}
	for i := range s.Components {
		if c := &s.Components[i]; c.Fails != "" && len(s.Faults) > 0 {
			return fmt.Errorf("faults: the layer %q loses a device already (fails): leave out one of them", c.Name)
		}
	}
	return nil
}

// checksData reports whether a layer finds out by itself that data is not what was written.
func checksData(c *stack.Component) bool {
	return c.FileSystem == "btrfs" && !strings.Contains(c.Options, "nodatasum") &&
		!strings.Contains(c.Options, "nodatacow")
}

// fault is one that happens.
type fault struct {
	kind stack.Fault
	at   int // among the requests at which it may, from 1
	// struck says that it has happened.
	struck bool
}

// silent reports whether something is hidden from the stack, which need not repair it.
func (s *Spec) silent(f *fault) bool {
	return f != nil && f.struck && f.kind.Silent() && !slices.Contains(s.Repairs, f.kind)
}

// repairs reports whether a fault has happened that nobody may notice.
func (s *Spec) repairs(f *fault) bool {
	return f != nil && f.struck && slices.Contains(s.Repairs, f.kind)
}

// faulty are plans, and behind each of them the same one with each fault.
type faulty struct {
	plans
	judge *judge
	queue []*plan
}

func (f *faulty) next() *plan {
	if len(f.queue) == 0 {
		return f.plans.next()
	}
	p := f.queue[0]
	f.queue = f.queue[1:]
	return p
}

func (f *faulty) done(p *plan) {
	if p.fault != nil {
		return
	}
	f.plans.done(p)
	for _, kind := range f.judge.Spec.Faults {
		all := p.requests.Counts(kind)
		some := min(all, f.judge.Spec.Failures)
		f.judge.FaultsLeftOut += all - some
		for i := range some { // from all parts of the workload
			at := i*all/some + 1
			f.queue = append(f.queue, &plan{name: fmt.Sprintf("%s; %s", p.name, kind.Words(at)), calls: p.calls,
				answers: p.chosen, fault: &fault{kind: kind, at: at}})
		}
	}
}
