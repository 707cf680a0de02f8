package spec

import (
	"cmp"
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// fault is all that a spec says of a kind of fault: a row, which stands in the kind's file. A kind
// without one says itself what there is to say, of the network (networkRow) or of nodes
// (onNodesRow), or hits messages (hits).
type fault struct {
	definition string        // what the schema calls its fields; "": the kind's name
	fields     func() schema // that definition
	set        setter        // reads a number, or that with more to say
	// nodes is where a spec has the nodes that are meant, and peers where it has those at the other
	// end. nil: Spec.Where.
	nodes, peers func(s *Spec) *[]ariadne.NodeID
	// names resolves what other names of nodes there are, once those of nodes and peers are known;
	// nil: none.
	names func(r *reader, s *Spec, written *specText)
	// victims are the nodes to which it happens; nil: it happens to no node as such.
	victims func(s *Spec) []ariadne.NodeID
	// nodeFaults are the faults of nodes, and parts what becomes of the network, for the rules;
	// nil: none.
	nodeFaults func(s *Spec) []world.NodeFaults
	parts      func(s *Spec) []*world.Partition
	// within are those that may hit a node within its steps; nil: none, or the node knows.
	within func(s *Spec, id ariadne.NodeID) []ariadne.NodeFault
	// impossible says what about it contradicts the rest of the spec, or "", and nowhere why none
	// of it can happen, or ""; nil: nothing.
	impossible, nowhere func(s *Spec) string
}

// rows are those of kinds that have one.
var rows [world.MaxKinds]*fault

func faultRow(k ariadne.ActionKind, row fault) { rows[k] = &row }

// rowOf is the row of a kind of fault.
func rowOf(k ariadne.ActionKind) *fault {
	kind := world.KindOf(k)
	switch row := rows[k]; {
	case row != nil:
		return row
	case kind.Network != nil:
		return networkRow(k, kind)
	case kind.OnNodes != nil:
		return onNodesRow(k, kind)
	}
	return hits(k)
}

// eachFault calls f with all kinds of faults and their rows, in order.
func eachFault(f func(k ariadne.ActionKind, row *fault)) {
	for _, k := range world.Kinds() {
		if world.KindOf(k).Fault != "" {
			f(k, rowOf(k))
		}
	}
}

// definedBy is what the schema calls the fields of a kind of fault.
func (f *fault) definedBy(k ariadne.ActionKind) string {
	return cmp.Or(f.definition, world.KindOf(k).Name)
}

// faultFields are those of all kinds of faults: each a number, or that with more to say.
func faultFields() (all []field[specText]) {
	number := schema{"type": "integer", "minimum": 0, "maximum": world.MaxFaults}
	eachFault(func(k ariadne.ActionKind, row *fault) {
		kind := world.KindOf(k)
		all = append(all,
			field[specText]{kind.Name, kind.Fault + ", at most.",
				schema{"anyOf": []schema{number, {"$ref": "#/$defs/" + row.definedBy(k)}}}, row.set})
	})
	return all
}

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
	eachFault(func(k ariadne.ActionKind, row *fault) {
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
		if row.names != nil {
			row.names(r, s, written)
		}
	})
}

// nodesOf is where a spec has the nodes that are meant by a kind of fault.
func (s *Spec) nodesOf(k ariadne.ActionKind) *[]ariadne.NodeID {
	if nodes := rowOf(k).nodes; nodes != nil {
		return nodes(s)
	}
	return &s.Where[k].Nodes
}

// peersOf is where a spec has the nodes at the other end of what is meant by a kind of fault.
func (s *Spec) peersOf(k ariadne.ActionKind) *[]ariadne.NodeID {
	if peers := rowOf(k).peers; peers != nil {
		return peers(s)
	}
	return &s.Where[k].Peers
}

// NodeFaultsOf are the faults that may hit nodes, for the rules.
func (s *Spec) NodeFaultsOf() (all []world.NodeFaults) {
	eachFault(func(k ariadne.ActionKind, row *fault) {
		if s.Faults[k] > 0 && row.nodeFaults != nil {
			all = append(all, row.nodeFaults(s)...)
		}
	})
	return all
}

// PartitionsOf are the ways in which the spec's faults may part the network or make it slow, for
// the rules.
func (s *Spec) PartitionsOf() (all []*world.Partition) {
	eachFault(func(k ariadne.ActionKind, row *fault) {
		if s.Faults[k] > 0 && row.parts != nil {
			all = append(all, row.parts(s)...)
		}
	})
	return all
}

// Within are the faults that may hit a node within its steps, but for those that the node itself
// has to list.
func (s *Spec) Within(id ariadne.NodeID) (all []ariadne.NodeFault) {
	eachFault(func(k ariadne.ActionKind, row *fault) {
		if s.Faults[k] > 0 && row.within != nil {
			all = append(all, row.within(s, id)...)
		}
	})
	return all
}

// impossible says what about a kind of fault contradicts the rest of the spec, or "".
func (s *Spec) impossible(k ariadne.ActionKind) string {
	if row := rowOf(k); s.Faults[k] > 0 && row.impossible != nil {
		return row.impossible(s)
	}
	return ""
}

// strikesNobody says why no fault of a kind can happen although there is a budget for it, or "".
func (s *Spec) strikesNobody(k ariadne.ActionKind) string {
	row, name := rowOf(k), world.KindOf(k).Name
	if s.Faults[k] == 0 {
		return ""
	}
	if row.nowhere != nil {
		if why := row.nowhere(s); why != "" {
			return why
		}
	}
	switch {
	case s.Where[k].Nowhere():
		return "faults: " + name + ": it hits no message: nodes and peers are the same node"
	case row.victims != nil && len(row.victims(s)) == 0:
		return "faults: " + name + ": it happens to no node; to clients only when nodes names them"
	}
	return ""
}
