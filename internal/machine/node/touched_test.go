//go:build linux

package node

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/ariadne-mc/ariadne"
)

// TestMemoryOfFollowedPages: pages that nobody has touched are not among those of a node's memory,
// also where it is known which pages are written.
func TestMemoryOfFollowedPages(t *testing.T) {
	const most = 2048
	const source = `#include <unistd.h>
static volatile char room[4 * 2048 * 4096];
int main(void) { for (int i = 0;; i++) { room[4096 * 3 * i] = 1; sleep(1); } }`
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "room.c"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "room")
	if out, err := exec.Command("cc", "-o", program, program+".c").CombinedOutput(); err != nil {
		t.Skipf("cc: %v\n%s", err, out)
	}
	n, apply := startAs(t, alone(dir, "/spec/room"), Config{Pages: true})
	out := apply(ariadne.Input{Kind: ariadne.Start})
	before, err := n.Memory(most)
	if err != nil || len(before) == 0 {
		t.Fatalf("%d pages: %v", len(before), err)
	}
	for sleeps := 1; sleeps < 8; sleeps++ {
		c, err := n.Freeze()
		if err != nil {
			t.Fatal(err)
		}
		defer c.Drop()
		out = apply(ariadne.Input{Kind: ariadne.Fire, At: out.Deadline})
		if after, err := n.Memory(most); err != nil || len(after) < len(before) || len(after) > len(before)+2*sleeps {
			t.Errorf("sleep %d: %d pages, and %d at the beginning: %v", sleeps, len(after), len(before), err)
		}
	}
}
