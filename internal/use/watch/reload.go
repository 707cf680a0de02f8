package watch

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/live"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// reload judges by the spec's properties as its file has them now. Programs that run, and what is
// known of them, stay. New verifiers begin with a log of their own, which begins with that.
func (w *watching) reload() error {
	s, err := spec.Read(w.spec.Path)
	if err != nil {
		return err
	}
	if err := sameNodes(w.spec, s); err != nil {
		return err
	}
	next := &watching{spec: s, options: w.options, log: NewMemory(), findings: w.findings, agent: w.agent}
	if err := next.verifyBy(s); err != nil {
		next.log.Close()
		return err
	}
	shown := next.show()
	was := w.log
	if err := w.agent.do(func() error { return w.agent.change(s, next.log) }); err != nil {
		next.log.Close()
		return err
	}
	was.Close()
	w.ended = append(w.ended, w.verify...)
	w.shown = append(w.shown, shown)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.spec, w.log, w.verify, w.report.Notes = s, next.log, next.verify, next.report.Notes
	return nil
}

// sameNodes says what of a spec cannot change while it is watched.
func sameNodes(was, now *spec.Spec) error {
	fail := func(what string) error {
		return spec.Errors{{Path: now.Path, Text: what + " changed: start the watch again"}}
	}
	name := func(n spec.Node) string { return n.Name }
	switch {
	case !slices.Equal(mapped(was.Nodes, name), mapped(now.Nodes, name)):
		return fail("the nodes have")
	case !reflect.DeepEqual(unlined(was.Watch.Native), unlined(now.Watch.Native)):
		return fail("the ways to find the nodes (watch: nodes) have")
	case !maps.Equal(was.Watch.Sample, now.Watch.Sample), was.Watch.MaxCalls != now.Watch.MaxCalls:
		return fail("watch: sample or max_calls has")
	}
	return nil
}

func mapped[T, U any](all []T, f func(T) U) (to []U) {
	for _, x := range all {
		to = append(to, f(x))
	}
	return to
}

// unlined are ways to find nodes without their lines in the spec.
func unlined(all []spec.Native) []string {
	return mapped(all, func(n spec.Native) string {
		n.Line = 0
		return fmt.Sprint(n)
	})
}

// change has the agent tell by another spec, in another log, which begins with what is known.
func (a *Agent) change(s *spec.Spec, log Log) error {
	a.flush()
	was, before := a.spec, a.log
	numbers := mapped(a.nodes, func(n *watched) uint64 { return n.seq })
	a.spec, a.log = s, log
	for _, n := range a.nodes {
		n.native, n.seq = &s.Watch.Native[n.def.ID], 0
		n.def = &s.Nodes[n.def.ID]
	}
	if !reflect.DeepEqual(was.Probes, s.Probes) {
		if err := a.probeAgain(); err != nil {
			a.spec, a.log = was, before
			for i, n := range a.nodes {
				n.seq = numbers[i]
			}
			return err
		}
	}
	known := func(src *expose.Source) bool {
		return slices.ContainsFunc(was.Properties.Sources, func(o expose.Source) bool {
			return fmt.Sprint(o) == fmt.Sprint(*src)
		})
	}
	var names []string
	for i := range s.Properties.Sources {
		src := &s.Properties.Sources[i]
		if !known(src) || !reflect.DeepEqual(was.Probes, s.Probes) && src.Line == nil {
			names = append(names, src.Name)
		}
	}
	for _, n := range a.nodes {
		a.tellKnown(n, names)
	}
	a.flush()
	return nil
}

// tellKnown records all known values of a node, and marks some names as unknown.
func (a *Agent) tellKnown(n *watched, unknown []string) {
	at := a.now()
	var changes []expose.Change
	for _, t := range n.exposed.Tuples() {
		changes = append(changes, expose.Change{Tuple: t})
	}
	if n.process != nil {
		a.addRecord(n, live.Record{Kind: live.Up, After: at, At: at, Text: fmt.Sprintf("process %d", n.process.PID)})
	}
	if len(changes) > 0 {
		a.addRecord(n, live.Record{Kind: live.Show, After: at, At: at, Changes: changes, Text: "known before"})
	}
	if names := slices.Concat(unknown, n.unknown); n.process != nil && len(names) > 0 {
		a.addRecord(n, live.Record{Kind: live.Lost, After: at, At: at, Text: "the spec has changed", Names: names})
	}
}

// probeAgain sets the probes of another spec in place of those that are there.
func (a *Agent) probeAgain() error {
	was := a.probing
	a.probing = probing{}
	err := a.openKernel()
	if err == nil {
		err = a.probeStarted()
	}
	for _, n := range a.nodes {
		if err == nil && n.process != nil {
			err = a.follow(n, n.process.PID)
		}
	}
	if err != nil {
		err = errors.Join(err, a.probing.close())
		a.probing = was
		return err
	}
	if was.kernel != nil && was.kernel.Descriptor() >= 0 {
		a.waiter.Drop(was.kernel.Descriptor())
	}
	if a.kernel != nil && a.kernel.Descriptor() >= 0 {
		err = a.waiter.Add(a.kernel.Descriptor())
	}
	return errors.Join(err, was.close())
}

// close ends the probes.
func (p *probing) close() error {
	if p.kernel == nil {
		return nil
	}
	return p.kernel.Close()
}
