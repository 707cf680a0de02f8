//go:build linux

package node

import (
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// TestJump: who waits for a time of the real-time clock goes on when that has come by the clock as
// it was set, and who waits for a span when it is over; a timer that is cancelled by a jump says so
// (clock_settime(2), timerfd_create(2)).
func TestJump(t *testing.T) {
	program := filepath.Join(t.TempDir(), "jump")
	if out, err := exec.Command("cc", "-O1", "-Wall", "-static", "-pthread", "-o", program,
		"testdata/jump.c").CombinedOutput(); err != nil {
		t.Skipf("cc: %v\n%s", err, out)
	}
	for _, c := range []struct {
		name string
		by   time.Duration
		at   int // seconds
		want [][]string
	}{
		{"forward", 70 * time.Second, 1, [][]string{
			{"condition 1 Connection timed out", "sleep until 1 ok", "timer 1 ok",
				"timer that is cancelled 1 Operation canceled"},
			{"sleep for 5 ok"},
		}},
		{"forward, not far enough", 20 * time.Second, 1, [][]string{
			{"timer that is cancelled 1 Operation canceled"},
			{"sleep for 5 ok"},
			{"condition 40 Connection timed out", "sleep until 40 ok", "timer 40 ok"},
		}},
		{"back", -30 * time.Second, 2, [][]string{
			{"timer that is cancelled 2 Operation canceled"},
			{"sleep for 5 ok"},
			{"condition 90 Connection timed out", "sleep until 90 ok", "timer 90 ok"},
		}},
		{"back to before the machine was switched on", -60 * 365 * 24 * time.Hour, 2, [][]string{
			nil,
			{"sleep for 5 ok"},
			{"condition 60 Connection timed out", "sleep until 60 ok", "timer 60 ok", "timer that is cancelled 60 ok"},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, apply := downOf(t, world.Jump, filepath.Dir(program), "/spec/jump")
			apply(ariadne.Input{Kind: ariadne.Start})
			out := apply(ariadne.Input{Kind: ariadne.Fault, At: ariadne.Time(c.at) * 1e9,
				Fault: ariadne.Jump{By: c.by}})
			if out.Down != ariadne.Up || out.Done {
				t.Errorf("it is %v", out.Down)
			}
			for i, want := range c.want {
				said := lines(&out)
				for len(said) < len(want) && out.Deadline != ariadne.Never {
					out = apply(ariadne.Input{Kind: ariadne.Fire, At: out.Deadline})
					said = append(said, lines(&out)...)
				}
				slices.Sort(said)
				if !slices.Equal(said, want) {
					t.Errorf("after %d it says %q, want %q", i, said, want)
				}
				out.Logs = nil
			}
		})
	}
}
