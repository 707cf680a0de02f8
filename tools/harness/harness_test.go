package harness

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestInterrupt: a command is interrupted at its limit and when the context ends, and says then
// what it has found.
func TestInterrupt(t *testing.T) {
	program := filepath.Join(t.TempDir(), "ariadne")
	const script = `#!/bin/sh
trap 'echo "{\"event\": \"report\", \"executions\": 7}"; exit 3' INT
touch "$6"
[ -p "$6.begun" ] && echo begun >"$6.begun"
[ "$2" = long ] && while :; do sleep 0.01; done
echo '{"event": "report", "executions": 1}'
`
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		subject     string
		limit       time.Duration
		asked       bool
		executions  int
		interrupted bool
	}{
		"it ends by itself": {"short", time.Minute, false, 1, false},
		"at its limit":      {"long", time.Second, false, 7, true},
		"when asked":        {"long", time.Minute, true, 7, true},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			out := filepath.Join(t.TempDir(), "out")
			if c.asked {
				if err := unix.Mkfifo(out+".begun", 0o600); err != nil {
					t.Fatal(err)
				}
				go func() {
					defer cancel()
					if _, err := os.ReadFile(out + ".begun"); err != nil {
						t.Error(err)
					}
					os.Remove(out + ".begun")
				}()
			}
			a := &Ariadne{Binary: program, Limit: c.limit}
			r, err := a.Run(ctx, out, "check", c.subject)
			if err != nil || r.Executions != c.executions || r.Interrupted != c.interrupted {
				t.Fatalf("%+v, %v", r, err)
			}
			if _, err := a.Run(ctx, out, "check", "short"); (err != nil) != c.asked {
				t.Errorf("the next one: %v", err)
			}
		})
	}
}
