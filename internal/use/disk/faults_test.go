//go:build linux

package disk

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestFaults: one request fails in each execution but the first. A workload that ends at the first
// error loses nothing of what it has promised, and one that ignores errors does.
func TestFaults(t *testing.T) {
	able(t, "mkfs.ext4")
	const of = `
checker:
  mutate: '%s for i in 1 2; do echo text > tmp; sync tmp; mv tmp note$i; sync .; echo promise note$i > /dev/ariadne; done'
  check: 'for n in $ARIADNE_PROMISES; do grep -qs text $n || { echo $n is lost; exit 1; }; done'
images: 4
faults: {write: 1, flush: 1}
failures: 4
`
	r := check(t, Options{Spec: parse(t, ext4Stack+fmt.Sprintf(of, "set -e;"))})
	if r.Failed+r.Undecided > 0 || r.Executions != 9 || r.Faulty != 8 || r.FaultsTold != 8 || r.FaultsLeftOut == 0 {
		t.Error(printed(r))
	}
	r = check(t, Options{Spec: parse(t, ext4Stack+fmt.Sprintf(of, ""))})
	if r.Failed == 0 || r.Faulty != 8 || r.FaultsTold != 0 || len(r.Groups) == 0 ||
		!strings.Contains(r.Groups[0].Example.Execution, " fails") {
		t.Error(printed(r))
	}
}

// TestNoFaults: specs that cannot be.
func TestNoFaults(t *testing.T) {
	const own = "checker: {mutate: 'true', check: 'true'}\n"
	for text, want := range map[string]string{
		own + "faults: {discard: 1}":      `faults: "discard" is neither write, flush nor read`,
		own + "faults: {write: 2}":        "faults: write: 2 is neither 0 nor 1",
		own + "failures: 3":               "add faults",
		"files: {}\nfaults: {write: 1}\n": "faults: the ready-made checker (files) expects",
	} {
		_, err := Parse(filepath.Join(t.TempDir(), "test.yaml"), []byte(ext4Stack+text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	for _, option := range []string{"options: errors=panic", "mkfs: -e panic"} {
		text := strings.Replace(ext4Stack, "mkfs: -b 1024", option, 1) + own
		if _, err := Parse(filepath.Join(t.TempDir(), "test.yaml"), []byte(text)); err == nil {
			t.Errorf("%s is accepted", option)
		}
	}
}
