//go:build linux

package crash

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
)

// tried are attempts that are told as they stand.
func tried(all ...*Attempt) *Attempts {
	return &Attempts{Count: len(all), Run: func(_ context.Context, tell func(*Attempt) error) error {
		for _, a := range all {
			copied := *a
			if err := tell(&copied); err != nil {
				return err
			}
		}
		return nil
	}}
}

// TestCalls: what a command says decides what it may leave.
func TestCalls(t *testing.T) {
	whole := replace(true)
	for name, c := range map[string]struct {
		check string
		a     Attempt
		want  string // what is said of it
	}{
		"reported, without effect": {"grep -qx new f", Attempt{Status: 1}, "passed, before"},
		"reported, in the midst": {"test $ARIADNE_STATUS = 0 || test ! -e t",
			Attempt{Status: 1, Log: whole[:2]}, "fsync of t5 failed with EIO: it says so"},
		"reported, and accepted": {"test -e t || grep -qx new f", Attempt{Status: 1, Log: whole[:2]},
			"passed, other"},
		"success, without effect": {"grep -qx 'old\\|new' f", Attempt{},
			"said: as before, 5 bytes from after"},
		"success, without effect, and bad": {"test $ARIADNE_STATUS != 0 || grep -qx new f", Attempt{},
			"fsync of t5 failed with EIO: it says so"},
		"success, with effect": {"test $ARIADNE_STATUS != 0 || grep -qx new f", Attempt{Log: whole},
			"passed, after"},
		"hangs": {"test -z \"$ARIADNE_STATUS\" || grep -qx new f",
			Attempt{Hangs: true, Log: whole[:2]}, "passed, other"},
		"undecided": {"grep -qx new f", Attempt{Undecided: "who knows", Log: whole[:2]},
			"unknown"},
		"in vain": {"grep -qx new f",
			Attempt{Status: 1,
				Log: []*disk.Op{{Kind: disk.Mark, Target: "begin"}, {Kind: disk.Mark, Target: "end failed"}}},
			"passed, before"},
		"promised": {"test -z \"$ARIADNE_PROMISES\" && grep -qx new f",
			Attempt{Status: 1, Log: []*disk.Op{{Kind: disk.Mark, Target: "promise x"}}},
			"fsync of t5 failed with EIO: it says so"},
		"lost with the power":     {"grep -qx 'old\\|new' f", Attempt{Syncs: true, Log: replace(false)}, "fsync of t5 failed with EIO: it says so, then power is lost (any)"},
		"lost, but not by a sync": {"grep -qx 'old\\|new' f", Attempt{Log: replace(false)}, "passed, after"},
		"not advised":             {"", Attempt{Log: whole}, "unjudged, after"},
		"advised":                 {"", Attempt{Log: whole[:2]}, "said: as before, 5 bytes from after"},
		"left behind": {"", Attempt{Status: 1, Log: whole[:2]},
			"t: left behind, 5 bytes from before"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range map[string]string{"f": "old\n", "said": ""} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			c.a.Call, c.a.File, c.a.Error, c.a.How = "fsync", "t5", "EIO", "it says so"
			o := Options{Dir: dir, Log: whole, Models: []disk.Model{disk.Any}, Images: 100, Workers: 2,
				Timeout: 10 * time.Second, Temp: t.TempDir(), Attempts: tried(&c.a)}
			if c.check != "" {
				o.Check = []string{"/bin/sh", "-c", c.check}
			}
			all, err := Judge(t.Context(), o)
			if err != nil || len(all) != 3 {
				t.Fatal(all, err)
			}
			r := all[2]
			e := r.Failures.Executions[0]
			got := "passed, "
			switch {
			case len(r.Groups) == 1 && e.Failed:
				got, e.Files = strings.ReplaceAll(r.Groups[0].Kept, "tN", "t5"), ""
			case len(r.Advice) > 0:
				got, _, _ = strings.Cut(r.Advice[0].String(),
					", in 1 execution: fsync of tN failed with EIO: it says so")
				e.Files = ""
			case r.Failures.Undecided > 0:
				got = ""
			case r.Advised:
				got = "unjudged, "
			}
			if got += e.Files; got != c.want {
				t.Errorf("%q, want %q: %+v", got, c.want, *r)
			}
		})
	}
}

// TestCallsEnd: an error of who executes them ends it, and a checker that takes the natural end for
// bad when it is told the status.
func TestCallsEnd(t *testing.T) {
	o := Options{Log: replace(true)[:3], Check: []string{"/bin/sh", "-c", `test "$ARIADNE_STATUS" != 0`}, Workers: 1,
		Timeout: 10 * time.Second, Temp: t.TempDir(), Attempts: tried()}
	if _, err := Judge(t.Context(), o); err == nil ||
		!strings.Contains(err.Error(), "with ARIADNE_STATUS=0: exit status 1") {
		t.Error(err)
	}
	broken := errors.New("broken")
	o.Check, o.Temp = []string{"/bin/true"}, t.TempDir()
	o.Attempts = &Attempts{Count: 2, Run: func(_ context.Context, tell func(*Attempt) error) error {
		return errors.Join(tell(&Attempt{Log: o.Log}), fmt.Errorf("it is %w", broken))
	}}
	if all, err := Judge(t.Context(), o); !errors.Is(err, broken) || len(all) != 2 || all[1].Judged != 1 {
		t.Error(all, err)
	}
}
