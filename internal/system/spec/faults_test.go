package spec

import (
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// TestRowsOfFaults: each kind of fault has a row, or says itself what there is to say, or hits
// messages, and nothing else has one. A kind says as much of nodes as it has a place for.
func TestRowsOfFaults(t *testing.T) {
	for _, k := range world.Kinds() {
		kind := world.KindOf(k)
		if has := rows[k] != nil; !has && kind.Fault != "" && !kind.Messages && kind.Network == nil &&
			kind.OnNodes == nil || has && kind.Fault == "" {
			t.Errorf("%s: a row: %v", kind.Name, has)
		}
	}
	eachFault(func(k ariadne.ActionKind, row *fault) {
		if row.fields == nil || row.set == nil {
			t.Errorf("%s cannot be read", world.KindOf(k).Name)
		}
		if row.victims != nil && row.nodes == nil {
			t.Errorf("%s happens to nodes that no spec names", world.KindOf(k).Name)
		}
	})
}
