package memo

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// A Mismatch is a transition that was executed twice and was not the same: the
// node is not a function of its inputs.
type Mismatch struct {
	State         *Local
	Input         world.Input
	First, Second ariadne.Output
	// Calls are the system calls of two executions that differ: the two of an audit;
	// otherwise two more, if they differed as well. Else they are nil.
	Calls [2][]ariadne.CallRecord
	// Stored: the first one was in an earlier check, and others now do all the same.
	Stored bool
}

func (m *Mismatch) Error() string {
	return fmt.Sprintf("two executions of the same input in local state %v of node %d differ: digests %v and %v, %d and %d calls",
		m.State.Name, m.State.Node, m.First.Digest, m.Second.Digest, m.First.Calls, m.Second.Calls)
}

// audits decides by the transition whether it is audited.
func (x *Executor) audits(l *Local, in world.Input) bool {
	if x.limits.Audit <= 0 {
		return false
	}
	h := hash.Of(binary.LittleEndian.Uint64(l.Name[:]), in.Key().Hi, in.Key().Lo)
	return float64(h.Lo>>11)/(1<<53) < x.limits.Audit
}

// audit executes a transition a second time, on another instance, and compares what
// it did, each system call, and the memory that the calls read and wrote. first has
// its CallTrace.
func (x *Executor) audit(l *Local, in world.Input, first *ariadne.Output) error {
	x.counts.Audited++
	second, comparable, err := x.withCalls(l, in)
	switch {
	case err != nil:
		return err
	case !comparable || first.Unreplayable:
		x.counts.Incomparable++
		return nil
	case second.Digest == first.Digest && slices.Equal(first.CallTrace, second.CallTrace):
		return nil
	}
	return x.mismatch(&Mismatch{State: l, Input: in, First: *first, Second: second,
		Calls: [2][]ariadne.CallRecord{first.CallTrace, second.CallTrace}})
}

// withCalls executes a transition on an instance of its own, as again does. The output has its
// CallTrace.
func (x *Executor) withCalls(l *Local, in world.Input) (out ariadne.Output, comparable bool, err error) {
	return x.again(l, func(m Freezable) (ariadne.Output, error) {
		m.RecordCalls(true)
		return x.apply(m, in)
	})
}

// again has an instance of its own do something in a state, as oneMore does, and another
// one when that is lost. It comes from no adopted checkpoint: so audits compare these, too.
func (x *Executor) again(l *Local, do func(Freezable) (ariadne.Output, error)) (out ariadne.Output, comparable bool,
	err error) {
	for {
		from, c := x.kept.nearestMade(l)
		m, err := x.newInstance(from, c)
		if err != nil {
			return out, false, err
		}
		out, comparable, err = x.oneMore(m, from, l, do)
		if !errors.Is(err, ariadne.ErrLost) {
			return out, comparable, err
		}
		if err := x.lose(from); err != nil {
			return out, false, err
		}
	}
}

// oneMore brings an instance that stands at from to a state, has it do something there, closes it,
// and returns what was done. The result is not comparable when a thread was preempted on
// the way, or when the instance already went astray there, which is reported.
func (x *Executor) oneMore(m Freezable, from, l *Local, do func(Freezable) (ariadne.Output, error)) (out ariadne.Output,
	comparable bool, err error) {
	defer func() { err = errors.Join(err, m.Close()) }()
	preempted := false
	for _, s := range between(from, l) {
		out, err = x.apply(m, s.Input)
		x.counts.Replayed++
		if err != nil {
			return out, false, err
		}
		preempted = preempted || out.Unreplayable || s.Unreplayable
		if out.Digest != s.StepDigest {
			if !preempted {
				err = x.mismatch(&Mismatch{State: s.Parent, Input: s.Input, First: ariadne.Output{Digest: s.StepDigest},
					Second: out})
			}
			return out, false, err
		}
	}
	out, err = do(m)
	return out, !preempted && !out.Unreplayable, err
}

// explain looks for the calls that differ, by two more executions.
func (x *Executor) explain(m *Mismatch) error {
	a, fine, err := x.withCalls(m.State, m.Input)
	if err != nil || !fine {
		return err
	}
	b, fine, err := x.withCalls(m.State, m.Input)
	if err != nil || !fine {
		return err
	}
	if a.Digest != b.Digest {
		m.Calls = [2][]ariadne.CallRecord{a.CallTrace, b.CallTrace}
		return nil
	}
	t := m.State.find(m.Input.Key())
	m.Stored = t != nil && t.stored && a.Digest != m.First.Digest && a.Digest == m.Second.Digest
	return nil
}

func (x *Executor) mismatch(m *Mismatch) error {
	x.counts.Mismatches++
	if x.OnMismatch == nil {
		return m
	}
	x.OnMismatch(m)
	return nil
}
