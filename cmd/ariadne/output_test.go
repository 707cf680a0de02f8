package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/record/report"
)

// TestMessagesFitTheTerminal: a long message is wrapped between words on a terminal, and stays one
// line elsewhere. Codes that move the cursor stay as they are.
func TestMessagesFitTheTerminal(t *testing.T) {
	long := "ariadne: " + strings.Repeat("the host lets Ariadne start fewer processes than it needs ",
		5) + "/a/path/of/which/no/part/is/cut/off\n"
	for _, width := range []int{0, 40, 80, 120} {
		var b bytes.Buffer
		m := &messages{&b, report.Style{Width: width}}
		if n, err := fmt.Fprint(m, long); n != len(long) || err != nil {
			t.Errorf("%d columns: wrote %d of %d bytes, %v", width, n, len(long), err)
		}
		if width == 0 {
			if b.String() != long {
				t.Errorf("in a file: %q", b.String())
			}
			continue
		}
		for i, line := range strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n") {
			if len(line) > width-1 || i > 0 != strings.HasPrefix(line, "  ") {
				t.Errorf("%d columns: line %d is %q", width, i+1, line)
			}
		}
		if got, want := strings.Fields(b.String()),
			strings.Fields(long); strings.Join(got, " ") != strings.Join(want, " ") {
			t.Errorf("%d columns: other words: %q", width, got)
		}
	}
	var b bytes.Buffer
	m := &messages{&b, report.Style{Width: 40}}
	for _, text := range []string{"\r\x1b[K" + strings.Repeat("so far ", 20), strings.Repeat("no end of line ", 10),
		"\n", "two\nlines\n"} {
		b.Reset()
		if fmt.Fprint(m, text); b.String() != text {
			t.Errorf("%q became %q", text, b.String())
		}
	}
}
