//go:build linux

package disk

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/ariadne-mc/ariadne/internal/system/stack"
)

// requestKinds are the kinds of requests of which one may fail, in the order in which they do.
var requestKinds = []stack.RequestKind{stack.Writes, stack.Flushes, stack.Reads}

// defaultFailures is how many requests of a kind fail, of each workload, where a spec does not say.
const defaultFailures = 16

func (s *Spec) setFaults(t *text) (err error) {
	for name, n := range t.Faults {
		kind := stack.RequestKind(name)
		switch {
		case !slices.Contains(requestKinds, kind):
			return fmt.Errorf("faults: %q is neither write, flush nor read", name)
		case n < 0 || n > 1:
			return fmt.Errorf("faults: %s: %d is neither 0 nor 1: one request fails in an execution, at most", name, n)
		}
	}
	for _, kind := range requestKinds {
		if t.Faults[string(kind)] > 0 {
			s.Faults = append(s.Faults, kind)
		}
	}
	switch {
	case len(s.Faults) > 0 && s.Files != nil:
		return errors.New("faults: the ready-made checker (files) expects each call to succeed: write a checker of your own")
	case t.Failures != nil && len(s.Faults) == 0:
		return errors.New("failures bounds the requests that fail: add faults")
	}
	s.Failures, err = number("failures", t.Failures, math.MaxInt, defaultFailures)
	return err
}

// fault is a request that fails.
type fault struct {
	kind stack.RequestKind
	at   int // among those of the kind, from 1
}

// faulty are plans, and behind each of them the same one with each request failing.
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
			f.queue = append(f.queue, &plan{name: fmt.Sprintf("%s; %s %d fails", p.name, kind, at), answers: p.chosen,
				fault: &fault{kind, at}})
		}
	}
}
