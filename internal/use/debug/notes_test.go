package debug

import (
	"path/filepath"
	"testing"
)

// TestNotesOfSeveral: no debugger of a trace loses the notes of another one.
func TestNotesOfSeveral(t *testing.T) {
	trace := filepath.Join(t.TempDir(), "trace.txt")
	one, two := Debugger{trace: trace, branch: traceName}, Debugger{trace: trace, branch: traceName}
	for _, c := range []struct {
		d    *Debugger
		text string
	}{{&one, "a"}, {&two, "b"}, {&one, "c"}} {
		if err := c.d.changeNotes(func() { c.d.notes[3] = append(c.d.notes[3], c.text) }); err != nil {
			t.Fatal(err)
		}
	}
	if got := one.Note(3); got != "a; b; c" {
		t.Errorf("the notes are %q, want a; b; c", got)
	}
}
