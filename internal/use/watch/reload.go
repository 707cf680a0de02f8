package watch

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/live"
	"github.com/ariadne-mc/ariadne/internal/system/native"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// reload judges by the spec's properties as its file has them now. Programs that run, and what is
// known of them, stay. New verifiers begin with a log of their own, which begins with that.
func (w *watching) reload() error {
	s, err := spec.Read(w.spec.Path)
	if err != nil {
		return err
	}
	next := &watching{spec: s, options: w.options, log: NewMemory(), findings: w.findings, agent: w.agent,
		turn: w.turn + 1}
	p, err := w.agent.prepareFor(s)
	if err != nil {
		return err
	}
	if err := next.verifyBy(s); err != nil {
		next.log.Close()
		return errors.Join(err, p.close())
	}
	shown := next.show()
	was := w.log
	if err := w.agent.do(func() error { return w.agent.change(p, next.log) }); err != nil {
		next.log.Close()
		return errors.Join(err, p.close())
	}
	was.Turn()
	w.ended = append(w.ended, w.verify...)
	w.shown = append(w.shown, shown)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.spec, w.log, w.verify, w.report.Notes, w.turn = s, next.log, next.verify, next.report.Notes, next.turn
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
	case !maps.Equal(was.Watch.Sample, now.Watch.Sample), was.Watch.MaxCalls != now.Watch.MaxCalls,
		was.Watch.PauseProbes != now.Watch.PauseProbes, was.Watch.EachMessage != now.Watch.EachMessage:
		return fail("watch: sample, max_calls, pause_probes or each_message has")
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

// prepared is what an agent needs to tell by another spec.
type prepared struct {
	spec     *spec.Spec
	*probing // nil: the probes stay as they are
}

// prepareFor gets ready to tell by another spec. It sets probes in the programs that run, and
// leaves those that are there. Other goroutines than the agent's may call it, which goes on
// meanwhile.
func (a *Agent) prepareFor(s *spec.Spec) (p *prepared, err error) {
	p = &prepared{spec: s}
	var pids []int
	err = a.do(func() error {
		if err := sameNodes(a.spec, s); err != nil || reflect.DeepEqual(a.spec.Probes, s.Probes) {
			return err
		}
		p.probing = &probing{}
		for _, n := range a.nodes {
			if n.process != nil && !n.isStarted() {
				pids = append(pids, n.process.PID)
			}
		}
		return nil
	})
	if err != nil || p.probing == nil {
		return p, err
	}
	beside := &Agent{spec: s, onWait: a.onWait, kills: a.kills}
	for _, n := range a.nodes {
		id := n.def.ID
		beside.nodes = append(beside.nodes, &watched{def: &s.Nodes[id], native: &s.Watch.Native[id]})
	}
	if err = beside.openKernel(a); err == nil {
		err = beside.probeStarted()
	}
	for _, pid := range pids {
		if err == nil {
			err = beside.probeRunning(native.Descendants(pid))
		}
	}
	*p.probing = beside.probing
	if err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

// close ends what was prepared.
func (p *prepared) close() error {
	if p.probing == nil {
		return nil
	}
	return p.probing.close()
}

// change has the agent tell by another spec, in another log, which begins with what is known.
func (a *Agent) change(p *prepared, log Log) error {
	a.flush()
	was, before, s := a.spec, a.log, p.spec
	numbers := mapped(a.nodes, func(n *watched) uint64 { return n.seq })
	a.spec, a.log = s, log
	for _, n := range a.nodes {
		n.native, n.seq = &s.Watch.Native[n.def.ID], 0
		n.def = &s.Nodes[n.def.ID]
		if len(n.native.Logs) > 0 {
			n.told = a.now() // lines before may have shown what only the new properties read
		}
	}
	if p.probing != nil {
		if err := a.probeBy(*p.probing); err != nil {
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
		if slices.Contains(polledNames(s), src.Name) {
			continue // it is read at once
		}
		if !known(src) || p.probing != nil && src.Line == nil {
			names = append(names, src.Name)
		}
	}
	for _, n := range a.nodes {
		n.lacks, n.lacking = nil, nil
		for _, name := range slices.Concat(polledNames(was), polledNames(s)) {
			if !samePolled(was, s, name) {
				delete(n.polls.values, name)
				n.exposed = n.exposed.After([]expose.Change{{Tuple: expose.Tuple{Name: name}, Ends: true, All: true}})
			}
		}
		a.tellKnown(n, names)
	}
	a.flush()
	return nil
}

// tellKnown records all known values of a node, and marks some names as unknown.
func (a *Agent) tellKnown(n *watched, unknown []string) {
	r := live.Record{Kind: live.Down, After: n.checked, At: a.now(), Text: "no process is there"}
	if n.process != nil {
		r.Kind, r.Text = live.Up, fmt.Sprintf("process %d", n.process.PID)
	}
	a.addRecord(n, r)
	var changes []expose.Change
	for _, t := range n.exposed.Tuples() {
		changes = append(changes, expose.Change{Tuple: t})
	}
	if len(changes) > 0 {
		r.Kind, r.Changes, r.Text = live.Show, changes, "known before"
		a.addRecord(n, r)
	}
	names := slices.DeleteFunc(slices.Concat(unknown, n.unknown), func(name string) bool {
		return !a.spec.Properties.Sources.Expose(name, n.def.ID)
	})
	if n.process == nil {
		names = a.staying(names)
	}
	if len(names) > 0 {
		n.unknown = slices.Compact(slices.Sorted(slices.Values(names)))
		r.Kind, r.Changes, r.Names, r.Text = live.Lost, nil, slices.Clone(n.unknown), "the spec has changed"
		a.addRecord(n, r)
	}
	a.poll(n, r.After)
	if n.process != nil {
		a.beginSight(n)
	} else {
		n.sight = sight{}
		a.seek(n)
	}
	if n.sought != "" {
		a.tellSought(n)
	}
	a.tellTurned(n)
}

// tellTurned records that all was told that is known of a node.
func (a *Agent) tellTurned(n *watched) {
	a.addRecord(n, live.Record{Kind: live.Turned, After: n.checked, At: a.now()})
}

// probeBy follows the nodes by prepared probes, in place of those that are there.
func (a *Agent) probeBy(next probing) error {
	was := a.probing
	a.probing = next
	for _, n := range a.nodes {
		if n.process == nil {
			continue
		}
		if err := a.follow(n, n.process.PID); err != nil {
			a.probing = was
			return err
		}
		a.begunUnseen(n, a.now()) // since the programs were looked at
	}
	return was.close()
}

// close ends the probes.
func (p *probing) close() error {
	if p.kernel == nil {
		return nil
	}
	return p.kernel.Close()
}
