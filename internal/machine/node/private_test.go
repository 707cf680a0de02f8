//go:build linux

package node

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne"
)

// TestPrivateMappings: what a program has written to a private mapping of a file of its own is in
// each copy of the node, whether the file was longer or shorter in those that ran in between.
func TestPrivateMappings(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "private")
	if out, err := exec.Command("cc", "-O1", "-w", "-static", "-o", program,
		"testdata/private.c").CombinedOutput(); err != nil {
		t.Skipf("cc: %v\n%s", err, out)
	}
	const want = "longer 2 0 3\nstill 2 0 3\nbefore 2 0 3\nshorter 0 0 0\nend 0 4 0"
	for _, kind := range []string{"file", "memory"} {
		n, apply := start(t, alone(dir, "/spec/private", kind))
		var outs []ariadne.Output
		var all []*Checkpoint
		defer func() {
			for _, c := range all {
				if err := c.Drop(); err != nil {
					t.Error(err)
				}
			}
		}()
		in := ariadne.Input{Kind: ariadne.Start}
		var text []string
		for {
			out := apply(in)
			outs = append(outs, out)
			text = append(text, lines(&out)...)
			in = ariadne.Input{Kind: ariadne.Fire, At: out.Deadline}
			if out.Done {
				break
			}
			c, err := n.Freeze()
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, c)
		}
		if got := strings.Join(text, "\n"); got != want {
			t.Fatalf("%s: %q", kind, got)
		}
		for _, k := range []int{3, 0, 2, 1, 3, 2, 0, 1} {
			c, err := all[k].Thaw()
			if err != nil {
				t.Fatal(err)
			}
			for at := k + 1; at < len(outs); at++ {
				out, err := c.Apply(ariadne.Input{Kind: ariadne.Fire, At: outs[at-1].Deadline})
				if err != nil {
					t.Fatal(err)
				}
				if got, was := lines(&out), lines(&outs[at]); out.Digest != outs[at].Digest ||
					strings.Join(got, "") != strings.Join(was, "") {
					t.Errorf("%s: from step %d on, step %d says %q, not %q", kind, k, at, got, was)
				}
			}
			if err := c.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
