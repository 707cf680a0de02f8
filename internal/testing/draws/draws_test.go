package draws

import (
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestAllPropertyTestsDrawTheSame: a package whose tests use rapid imports this one.
func TestAllPropertyTestsDrawTheSame(t *testing.T) {
	list := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .TestImports " "}} {{join .XTestImports " "}}`, "../../../...")
	var errs bytes.Buffer
	list.Stderr = &errs
	out, err := list.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	n := 0
	for line := range strings.Lines(string(out)) {
		of := strings.Fields(line)
		if !slices.Contains(of[1:], "pgregory.net/rapid") {
			continue
		}
		n++
		if !slices.Contains(of[1:], "github.com/ariadne-mc/ariadne/internal/testing/draws") {
			t.Errorf("tests of %s use rapid and do not import draws: they may fail by the luck of a draw", of[0])
		}
	}
	if n < 10 {
		t.Errorf("%d packages use rapid", n)
	}
}
