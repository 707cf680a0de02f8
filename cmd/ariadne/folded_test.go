package main

import (
	"strings"
	"testing"
)

// TestFolded: lines are left alone up to a length, have all of their words then, and of very long
// ones how much is missing.
func TestFolded(t *testing.T) {
	if s := strings.Repeat("ab ", 100); folded(s) != s {
		t.Errorf("%q", folded(s))
	}
	s := strings.Repeat("word ", 200) + "end"
	if got := folded(s); strings.Join(strings.Fields(got), " ") != s {
		t.Errorf("%q", got)
	}
	for _, line := range strings.Split(folded(s), "\n") {
		if len(line) > width {
			t.Errorf("%d: %q", len(line), line)
		}
	}
	s = strings.Repeat("word ", 1000)
	if got := folded(s); !strings.HasSuffix(got, " ... (3001 more bytes: message in report.json)") ||
		len(got) > mostShown+200 {
		t.Errorf("%d: %q", len(got), got[len(got)-80:])
	}
}
