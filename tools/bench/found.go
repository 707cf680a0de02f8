package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/ariadne-mc/ariadne/tools/harness"
)

// bugged are examples with a bug that a watch looks for while their nodes run natively and are
// killed now and then.
var bugged = []string{"ring/loop-bug", "ring/rejoin-bug", "locks/restart-bug", "locks/conflicts-bug",
	"primarybackup/primaries-bug", "primarybackup/prepared-bug", "election/recovery-bug"}

// foundWithin is for how long a watch looks for a bug.
const foundWithin = time.Minute

// measureFound measures after how long a watch finds bugs of examples, by kills every 3 s at random
// times, and how many of the watches find them.
func (b *bench) measureFound() error {
	if os.Getuid() != 0 {
		b.missing = append(b.missing, "watch_found: nodes with networks of their own need root")
		return nil
	}
	for _, name := range bugged {
		spec := "examples/" + name + ".yaml"
		if !b.fetch(spec) {
			continue
		}
		var took []float64
		for seed := range b.repeat {
			began := time.Now()
			found, err := b.finds(spec, seed+1)
			if err != nil {
				return err
			}
			if found {
				took = append(took, time.Since(began).Seconds())
			}
		}
		as := filepath.Dir(name) + "." + filepath.Base(name)
		b.keep("watch_found_share."+as, "", []float64{float64(len(took)) / float64(b.repeat)})
		if took != nil {
			b.keep("watch_found_s."+as, "s", took)
		}
	}
	return nil
}

// finds reports whether a watch finds a violation, or suspects one.
func (b *bench) finds(spec string, seed int) (bool, error) {
	c := b.command(b.ariadne.Binary, "watch", spec, "--first", "--quiet", "--kill", "3s", "--restart",
		"--seed", fmt.Sprint(seed), "--time", foundWithin.String())
	out, err := c.Output()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return false, nil
	case !errors.As(err, &exit):
		return false, err
	}
	switch exit.ExitCode() {
	case harness.Violated.ExitStatus(), harness.Suspected.ExitStatus():
		return true, nil
	case harness.Inconclusive.ExitStatus():
		return false, nil
	}
	return false, fmt.Errorf("a watch of %s ended with status %d: %s", spec, exit.ExitCode(), out)
}
