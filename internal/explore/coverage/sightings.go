package coverage

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// Sightings are what a search has seen, as a value: Totals of another search of the same system can
// take them, in any order and more than once. The meaning of a hash depends on the key of a Log.
type Sightings struct {
	States   Hashes `json:"states,omitempty"`
	Traces   Hashes `json:"traces,omitempty"`
	Locals   Hashes `json:"locals,omitempty"`
	Protocol Hashes `json:"protocol,omitempty"`
	Global   Hashes `json:"global,omitempty"`
}

// Hashes are different hashes in order. As text they are 16 bytes each, in base64.
type Hashes []hash.Hash

// MarshalText implements encoding.TextMarshaler.
func (h Hashes) MarshalText() ([]byte, error) {
	var b []byte
	for _, x := range h {
		b = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(b, x.Hi), x.Lo)
	}
	return base64.StdEncoding.AppendEncode(nil, b), nil
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (h *Hashes) UnmarshalText(text []byte) error {
	b, err := base64.StdEncoding.Strict().AppendDecode(nil, text)
	if err != nil || len(b)%16 != 0 {
		return errors.New("no hashes")
	}
	*h = nil
	for ; len(b) > 0; b = b[16:] {
		*h = append(*h, hash.Hash{Hi: binary.BigEndian.Uint64(b), Lo: binary.BigEndian.Uint64(b[8:])})
	}
	return nil
}

// Add adds those of others.
func (h *Hashes) Add(more Hashes) {
	if len(more) == 0 {
		return
	}
	all := slices.Concat(*h, more)
	slices.SortFunc(all, func(a, b hash.Hash) int {
		switch {
		case a.Less(b):
			return -1
		case b.Less(a):
			return 1
		}
		return 0
	})
	*h = slices.Compact(all)
}

// Add adds those of another search.
func (s *Sightings) Add(o *Sightings) {
	for i, h := range s.all() {
		h.Add(*o.all()[i])
	}
}

func (s *Sightings) all() []*Hashes {
	return []*Hashes{&s.States, &s.Traces, &s.Locals, &s.Protocol, &s.Global}
}

// Sightings are what was seen.
func (t *Totals) Sightings() *Sightings {
	s := &Sightings{}
	for i, h := range s.all() {
		var all Hashes
		t.seenSets()[i].All(func(x hash.Hash) { all = append(all, x) })
		h.Add(all)
	}
	return s
}

// Take takes what another search has seen. The error says what is wrong with it.
func (t *Totals) Take(s *Sightings) error {
	for i, h := range s.all() {
		set := t.seenSets()[i]
		for _, x := range spread(*h) {
			if set.Add(x) && set == &t.seen && !t.enterLocal(x) {
				return errors.New("a local state was seen of a node that there is not")
			}
		}
	}
	return nil
}

// seenSets are those of Sightings.
func (t *Totals) seenSets() []*space.Set {
	return []*space.Set{&t.states, &t.traces, &t.seen, &t.tuples, &t.combined}
}

// spread are the same hashes in an order in which a set can take them (space.Set.TakeNew).
func spread(all Hashes) Hashes {
	const parts = 64
	out := make(Hashes, 0, len(all))
	for from := range parts {
		for i := from; i < len(all); i += parts {
			out = append(out, all[i])
		}
	}
	return out
}

// Walked enters that so many paths have ended by themselves elsewhere, with so many steps.
func (t *Totals) Walked(paths, steps int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.before += steps
	t.paths.Add(int64(paths))
}
