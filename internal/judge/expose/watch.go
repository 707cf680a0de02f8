package expose

import "github.com/ariadne-mc/ariadne"

// Watch follows what nodes expose from step to step of one execution.
type Watch struct {
	Sources Sources
	sets    map[ariadne.NodeID]*Set
}

// Step returns what of the node's tuples is another after a step: first those that are no more,
// then those that are new or have other values, both in order of names and keys.
func (w *Watch) Step(s *ariadne.Step) (gone, come []Tuple) {
	id := s.Action.Node
	before := w.sets[id]
	after := before.After(w.Sources.Changes(id, &s.Output))
	if d := s.Output.Down; d != ariadne.Up && d != ariadne.Paused {
		after = after.Staying()
	}
	if w.sets == nil {
		w.sets = map[ariadne.NodeID]*Set{}
	}
	w.sets[id] = after
	for _, t := range before.Tuples() {
		if after.find(&t) == nil {
			gone = append(gone, t)
		}
	}
	for _, t := range after.Tuples() {
		if was := before.find(&t); was == nil || was.String() != t.String() {
			come = append(come, t)
		}
	}
	return gone, come
}

// Exposed is what a node exposes now.
func (w *Watch) Exposed(id ariadne.NodeID) *Set { return w.sets[id] }

// find is the tuple with a name and key, or nil.
func (s *Set) find(t *Tuple) *Tuple {
	all := s.Named(t.Name)
	for i := range all {
		if all[i].Key == t.Key {
			return &all[i]
		}
	}
	return nil
}
