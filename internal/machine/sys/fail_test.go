package sys

import (
	"slices"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// TestFailingCalls: of each call that a spec may have fail it is known when it may, and of its
// errors which numbers they have.
func TestFailingCalls(t *testing.T) {
	errors := spec.FailErrors()
	for nr := range Table {
		r := &Table[nr]
		var known []string
		for _, f := range r.Fails {
			known = append(known, f.Errors...)
		}
		want := slices.Clone(errors[r.Name])
		slices.Sort(known)
		slices.Sort(want)
		if !slices.Equal(known, want) {
			t.Errorf("%s: specs may have it fail with %v, and it is known when it may with %v", r.Name, want, known)
		}
		delete(errors, r.Name)
	}
	for call := range errors {
		t.Errorf("there is no call %s", call)
	}
	for call, errors := range spec.FailErrors() {
		for _, e := range errors {
			if _, ok := Errno(e); !ok && e != ariadne.CallShort && e != ariadne.CallFull {
				t.Errorf("%s: %s has no number", call, e)
			}
		}
	}
}
