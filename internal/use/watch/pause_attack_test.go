package watch

import (
	"slices"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/judge/live"
	"github.com/ariadne-mc/ariadne/internal/system/native"
	"github.com/ariadne-mc/ariadne/internal/system/native/probe"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// TestPausedBetween: a call between the read of the ring and the pause comes behind the record that
// all is unknown, and must not make its value known: the probes are out when it changes.
func TestPausedBetween(t *testing.T) {
	s := specOf(t, `
nodes: [{name: n1}]
expose: {x: {function: take, fields: {k: k}, until_function: release}}
properties: {one: {one: x}}
watch: {max_calls: 10, pause_probes: true, nodes: {n1: {pid: 1, before: nothing}}}
`)
	a, err := newAgent(s, NewMemory(), nil)
	if err != nil {
		t.Fatal(err)
	}
	a.kernel = &probe.Kernel{}
	take := slices.IndexFunc(s.Probes, func(p spec.Probe) bool { return !p.Ends })
	a.of, a.made = []*spec.Probe{&s.Probes[take]}, []uint64{11}
	a.second = a.now()
	read := a.now() // the ring was empty then
	if err := a.pause(true); err != nil {
		t.Fatal(err)
	}
	if !a.isPaused() || a.pausedAt <= read {
		t.Fatal("no pause")
	}
	// It is read at the next turn.
	a.showCall(&probe.Call{At: a.pausedAt - 1 + a.base - native.FromKernel(0), Values: []string{"1"}})
	lost := slices.IndexFunc(a.batch, func(r live.Record) bool { return r.Kind == live.Lost })
	show := slices.IndexFunc(a.batch, func(r live.Record) bool { return r.Kind == live.Show })
	if lost < 0 {
		t.Fatal("nothing was lost")
	}
	if show > lost && !slices.Contains(a.nodes[0].unknown, "x") {
		t.Errorf("while probes are out, x counts as known by a call before the pause: %+v", a.batch)
	}
	a.kernel = nil
	if err := a.close(); err != nil {
		t.Fatal(err)
	}
}
