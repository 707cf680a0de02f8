package sys

import (
	"slices"
	"testing"

	"ariadne/internal/spec"
)

// TestFailingCalls: of each call that a spec may have fail it is known when it may, and of its
// errors which numbers they have.
func TestFailingCalls(t *testing.T) {
	calls := spec.FailingCalls()
	for nr := range Table {
		if r := &Table[nr]; slices.Contains(calls, r.Name) != (r.mayFail != nil) {
			t.Errorf("%s: specs may have it fail or it is known when it may, not both", r.Name)
		}
	}
	for call, errors := range spec.FailErrors() {
		for _, e := range errors {
			if _, ok := Errno(e); !ok {
				t.Errorf("%s: %s has no number", call, e)
			}
		}
	}
}
