package spec

import (
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// faultFields are those of all kinds of faults.
var faultFields = func() (all []field[specText]) {
	for _, k := range world.Kinds() {
		if kind := world.KindOf(k); kind.Fault != "" {
			all = append(all, faultField(k, kind))
		}
	}
	return all
}()

// faultField is a number, or that with more to say.
func faultField(k ariadne.ActionKind, kind *world.Kind) field[specText] {
	definition, set := kind.Name, setOf[k]
	switch _, down := downBy(k); {
	case kind.Messages:
		definition, set = "messages", setHit(k)
	case down && k != world.Power && k != world.Pause:
		definition, set = "outage", setOutage(k)
	case down:
		set = setOutage(k)
	}
	number := schema{"type": "integer", "minimum": 0, "maximum": world.MaxFaults}
	return field[specText]{kind.Name, kind.Fault + ", at most.", schema{"anyOf": []schema{number, {"$ref": "#/$defs/" + definition}}}, set}
}

// setOf reads kinds of faults that are like no other.
var setOf = map[ariadne.ActionKind]setter{world.Fail: setFail, world.Preempt: setPreempt, world.Stall: setStall, world.Kill: setKill, world.Jump: setJump, world.Drift: setDrift, world.Cut: setCut, world.Slow: setSlow}

// faultyNodes are the nodes that are named somewhere within faults.
func (r *reader) faultyNodes(where string, written []text, nodes []Node) []ariadne.NodeID {
	return r.namedNodes("faults: "+where, written, nodes)
}

// namedNodes are the nodes that are named somewhere.
func (r *reader) namedNodes(where string, written []text, nodes []Node) (all []ariadne.NodeID) {
	for _, t := range written {
		i := slices.IndexFunc(nodes, func(n Node) bool { return n.Name == t.string })
		if i < 0 {
			r.fail(t.line, "%s: no node %q", where, t.string)
			continue
		}
		all = append(all, nodes[i].ID)
	}
	return all
}

// namesInFaults resolves the names of nodes that stand within faults.
func (r *reader) namesInFaults(s *Spec, written *specText) {
	r.cutNames(&s.Cut, world.Cut, &written.cut, s.Nodes)
	r.cutNames(&s.Slow, world.Slow, &written.slow, s.Nodes)
	for _, k := range world.Kinds() {
		b, name := &written.budgets[k], world.KindOf(k).Name
		*s.nodesOf(k) = r.faultyNodes(name+": nodes", b.nodes, s.Nodes)
		*s.peersOf(k) = r.faultyNodes(name+": peers", b.peers, s.Nodes)
		if b.afterOf.line > 0 {
			if of := r.faultyNodes(name+": after: node", []text{b.afterOf}, s.Nodes); len(of) > 0 {
				if s.AfterOf == nil {
					s.AfterOf = map[ariadne.ActionKind]ariadne.NodeID{}
				}
				s.AfterOf[k] = of[0]
			}
		}
	}
	r.outagesTogether(s, written)
}

// nodesOf is where a spec has the nodes that are meant by a kind of fault.
func (s *Spec) nodesOf(k ariadne.ActionKind) *[]ariadne.NodeID {
	switch k {
	case world.Fail:
		return &s.Fail.Nodes
	case world.Preempt:
		return &s.Preempt.Nodes
	case world.Stall:
		return &s.Stall.Nodes
	case world.Jump:
		return &s.Jump.Nodes
	case world.Drift:
		return &s.Drift.Nodes
	case world.Kill:
		return &s.Kill.Nodes
	}
	if down, ok := downBy(k); ok {
		return &s.Outages[down].Nodes
	}
	return &s.Where[k].Nodes
}

// peersOf is where a spec has the nodes at the other end of what is meant by a kind of fault.
func (s *Spec) peersOf(k ariadne.ActionKind) *[]ariadne.NodeID {
	if k == world.Fail {
		return &s.Fail.Peers
	}
	return &s.Where[k].Peers
}
