package property

import (
	"testing"

	"github.com/ariadne-mc/ariadne"
)

// TestLastWords: what a program says as it ends comes before what it says of other troubles, and
// what a log calls harmless says nothing of its end.
func TestLastWords(t *testing.T) {
	type lines []ariadne.LogLine
	err := func(text string) ariadne.LogLine { return ariadne.LogLine{Stream: 2, Text: text} }
	for want, logs := range map[string]lines{
		"":               {{Stream: 1, Text: "ready"}},
		"bye":            {err("hello"), err("bye"), err(" ")},
		"error: no room": {err("begin"), err("error: no room"), err("closed")},
		"panic: index out of range": {err("write failed"), err("panic: index out of range"),
			err("goroutine 1 [running]:")},
		"Assertion `a == b' failed.": {{Stream: 1, Text: "Assertion `a == b' failed."}},
		`{"level":"fatal","msg":"max entry size limit exceeded"}`: {
			err(`{"level":"info","msg":"failed to detect default host"}`), err(`{"level":"warn","msg":"an error"}`),
			err(`{"level":"fatal","msg":"max entry size limit exceeded"}`)},
		"2026-11-24 10:00:01 ERROR cannot bind": {err("2026-11-24 10:00:00 INFO no error yet"),
			err("2026-11-24 10:00:01 ERROR cannot bind")},
		"the last": {err("[warning] an exception was handled"), err("the last")},
	} {
		if got := LastWords(logs); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
