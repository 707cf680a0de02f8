package guest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestAudits executes each step of a program twice, in file trees of its own, as root and
// as an ordinary user of the node, and compares the calls with the memory that they read
// and wrote: nothing of the host that differs from run to run, such as the numbers of
// devices and inodes, may have a part in them. It takes those programs that look at files
// and processes most; all of them with ARIADNE_LONG=1.
func TestAudits(t *testing.T) {
	command, err := ariadne()
	if err != nil {
		t.Fatal(err)
	}
	some := map[string]bool{"file/stat": true, "file/static": true, "file/readdir": true, "file/removed_open": true,
		"procfs/maps": true, "procfs/fd": true,
		"signal/altstack_wait": true}
	for _, p := range programs(t) {
		if p.spins || !some[p.name] && os.Getenv("ARIADNE_LONG") == "" {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			p.skip(t)
			dir := t.TempDir()
			n := node{name: "guest", program: p, file: p.build(t, dir), args: p.args}
			for _, user := range []string{"0", "1000"} {
				spec := filepath.Join(dir, "spec"+user+".yaml")
				if err := os.WriteFile(spec, []byte(describe([]node{n})+"    user: "+user+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
				defer cancel()
				o := finish(t,
					exec.CommandContext(ctx, command, "check", "-v", "--audit", "1", "--no-memo", "--executions", "1",
						"--jobs", "1",
						"--out", filepath.Join(dir, "check"+user), spec))
				if o.status == 4 || !strings.Contains(o.stdout+o.stderr, ", 0 different") {
					t.Errorf("as user %s: status %d\n%s%s", user, o.status, last(o.stdout, 2000), last(o.stderr, 2000))
				}
			}
		})
	}
}
