// Package machines says what machine each node of a spec is. It is the one place where the terms of
// a spec become those of a machine.
//
// Read next: internal/machine/node/config.
package machines

import (
	"net/netip"
	"path"
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/machine/node/config"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// Of is the machine that a node of a spec is. seed is that of its randomness.
func Of(s *spec.Spec, index int, seed uint64) *config.Machine {
	def := &s.Nodes[index]
	m := &config.Machine{
		ID: ariadne.NodeID(index), Name: def.Name, Seed: seed, Addrs: def.Addrs,
		Date: s.Date, ClockOffset: def.ClockOffset, ClockDrift: def.ClockDrift, Coarse: s.Coarse,
		Processor: s.Processor, CPUs: def.CPUs, Memory: def.Memory, Disk: def.Disk,
		Commands: commands(def.Commands), Restart: commands(def.Restart), AfterCrash: commands(def.AfterCrash),
		Path: spec.Path, Env: def.Env, Stdin: def.Stdin, StdinOpen: def.StdinOpen, User: def.User, Group: def.Group,
		SpecDir: s.Dir, Beside: s, WorkDir: def.Dir, Writable: def.Writable, Run: def.Run,
		Links: slices.DeleteFunc(slices.Clone(def.Links), func(name string) bool {
			return slices.Contains(s.Hidden, path.Join(s.Dir, name))
		}),
		Limits: config.Limits{Divergence: s.Limits.Divergence, Calls: s.Limits.Calls},
		Faults: faults(s, def.ID),
		Ready:  config.Ready{Port: def.Ready.Port, Line: def.Ready.Line},
		Stays:  stays(s.Properties.Sources, def.ID),
	}
	if m.Date.IsZero() {
		m.Date = spec.DefaultDate
	}
	for i := range s.Nodes {
		m.Hosts = append(m.Hosts, config.Host{Name: s.Nodes[i].Name, Addrs: s.Nodes[i].Addrs})
	}
	for i := range s.Probes {
		p := &s.Probes[i]
		m.Probes = append(m.Probes,
			config.Probe{Name: p.Name, Function: p.Function, Variable: p.Variable, Values: p.Values, Returns: p.Returns,
				Ends: p.Ends, Ignored: !p.At(def.ID)})
	}
	for i := range s.Looks {
		l := &s.Looks[i]
		look := config.Look{Name: l.Name, File: l.File, Match: l.Match, Ignored: !l.At(def.ID)}
		if l.Command != nil {
			look.Command = &config.Command{Args: l.Command.Args}
		}
		m.Looks = append(m.Looks, look)
	}
	if g := s.Growth; g != nil {
		m.Growth = &config.Growth{Descriptors: g.Descriptors, Memory: g.Memory}
	}
	if s.Serves {
		m.Serves = []string{spec.Serving, spec.Served}
	}
	return m
}

// commands keeps nil apart from an empty list: without commands for another start a machine runs
// its first ones.
func commands(all []spec.Command) (of []config.Command) {
	for _, c := range all {
		of = append(of, config.Command{Args: c.Args})
	}
	if all != nil && of == nil {
		of = []config.Command{}
	}
	return of
}

// faults are those that may happen within the steps of a node.
func faults(s *spec.Spec, id ariadne.NodeID) (f config.Faults) {
	f.After = make([]config.After, len(s.After))
	for k, line := range s.After {
		if of, ok := s.AfterOf[ariadne.ActionKind(k)]; !ok || of == id {
			f.After[k] = config.After{Kind: world.KindOf(ariadne.ActionKind(k)).Name, Line: line}
		}
	}
	f.Fail = fails(s, id)
	f.Late = s.ThreadsLate(id)
	f.Stall = config.Stall{For: s.Stalls(id), Paths: s.Stall.Paths}
	f.Within, f.Falls = s.Within(id), s.Falls(id)
	f.PausesAtReads = s.PausesAtReads(id)
	f.LosesPower = s.LosesPower(id)
	f.Power = config.Power{Model: s.Power.Model, Images: s.Power.Images, Alone: s.Power.Alone}
	f.Kill = config.Kill{May: s.Kills(id), Programs: s.Kill.Programs, Between: s.Kill.Between, Restart: s.Kill.Restart}
	f.Parted = len(s.PartitionsOf()) > 0 || s.Faults[world.Stop] > 0 || s.Faults[world.Power] > 0
	return f
}

// fails says which calls of a node may fail.
func fails(s *spec.Spec, id ariadne.NodeID) (f config.Fail) {
	if s.Faults[world.Fail] == 0 || !s.Fail.Of(id) {
		return f
	}
	f = config.Fail{Errors: s.Fail.Errors, Functions: s.Fail.Functions, Paths: s.Fail.Paths, Programs: s.Fail.Programs,
		Sites: s.Fail.Sites}
	if f.Errors == nil {
		f.Errors = spec.DefaultFail().Errors
	}
	if s.Fail.Peers != nil {
		f.Peers = []netip.Addr{}
	}
	for _, peer := range s.Fail.Peers {
		f.Peers = append(f.Peers, s.Nodes[peer].Addrs...)
	}
	return f
}

// stays tells whether a node exposes something that outlives its crash; nil: there is no such
// thing.
func stays(sources expose.Sources, id ariadne.NodeID) func(told *ariadne.Output) bool {
	if !slices.ContainsFunc(sources, func(r expose.Source) bool { return r.Stays }) {
		return nil
	}
	return func(told *ariadne.Output) bool {
		return slices.ContainsFunc(sources.Changes(id, told), func(c expose.Change) bool { return c.Stays })
	}
}
