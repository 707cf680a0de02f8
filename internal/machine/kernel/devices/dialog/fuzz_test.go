package dialog

import "testing"

// FuzzParse: each line that a program writes is read, or refused with a reason, and no line ends
// the process.
func FuzzParse(f *testing.F) {
	for _, line := range []string{"choose 3", "choose get put", "choose 0", "event {}", `event {"op": "flush"}`,
		"event {", "expose a 1", "begin x", "end x",
		"promise row 3", "crash now", "assert always true x", "fault off", "fault on", "", " ", "nonsense"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if a, why := parse(line); (a == nil) == (why == "") {
			t.Errorf("%q: %v, refused because of %q", line, a, why)
		}
	})
}
