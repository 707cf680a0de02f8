package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne/tools/harness"
)

// hunt is how a bug is looked for while the nodes of a system run natively. They are killed or
// parted at random times. Each watch starts the system again.
type hunt struct {
	kill, cut, time time.Duration // as the options of a watch; 0: nothing is killed, or parted
	watches         int
	options         []string
}

// Where something must never be, short watches with many faults look for it: a replica that was
// down may never come back to its group, so a long watch soon has nothing to kill. A watch counts
// what must happen in the end as missing only after the patience of its spec. A system does nothing
// any more when all replicas have been killed, and come back to no group, or when a majority stays
// down. So there are no more kills than the spec allows in one execution. The client of a system
// that is to stay broken is not started again: it would ask for what was done before.
var (
	never      = hunt{kill: time.Second, cut: time.Second, time: 15 * time.Second, watches: 20, options: again}
	eventually = hunt{kill: 15 * time.Second, cut: 5 * time.Second, time: 5 * time.Minute, watches: 1, options: again}
	budgeted   = hunt{kill: time.Second, time: 18 * time.Second, watches: 16, options: []string{"--budget"}}

	again = []string{"--restart"}
)

// bugged are examples with a bug that watches look for.
var bugged = []struct {
	name string
	hunt
}{
	{"ring/loop-bug", never}, {"ring/rejoin-bug", eventually}, {"locks/restart-bug", never},
	{"locks/conflicts-bug", never}, {"primarybackup/primaries-bug", never},
	{"primarybackup/prepared-bug", budgeted}, {"election/recovery-bug", budgeted},
}

// measureFound measures after how long watches find bugs of examples by kills and cuts at random
// times, and how many of the hunts find them. The versions without the bugs are watched likewise.
func (b *bench) measureFound() error {
	if os.Getuid() != 0 {
		b.missing = append(b.missing, "watch_found: nodes with networks of their own need root")
		return nil
	}
	for _, e := range bugged {
		for _, name := range []string{e.name, strings.TrimSuffix(e.name, "-bug")} {
			if err := b.hunt(name, &e.hunt); err != nil {
				return err
			}
		}
	}
	return nil
}

// hunt looks for a violation of an example, if there is such an example.
func (b *bench) hunt(name string, h *hunt) error {
	spec := "examples/" + name + ".yaml"
	if _, err := os.Stat(spec); err != nil || !b.fetch(spec) {
		return nil
	}
	var took []float64
	for i := range b.repeat {
		began := time.Now()
		for k := range h.watches {
			found, err := b.finds(spec, h, 1+i*h.watches+k)
			if err != nil {
				return err
			}
			if found {
				took = append(took, time.Since(began).Seconds())
				break
			}
		}
	}
	as := strings.ReplaceAll(name, "/", ".")
	b.keep("watch_found_share."+as, "", []float64{float64(len(took)) / float64(b.repeat)})
	if took != nil {
		b.keep("watch_found_s."+as, "s", took)
	}
	return nil
}

// finds reports whether a watch finds a violation, or suspects one.
func (b *bench) finds(spec string, h *hunt, seed int) (bool, error) {
	args := append([]string{"watch", spec, "--first", "--quiet", "--kill", h.kill.String(), "--cut",
		h.cut.String(), "--seed", fmt.Sprint(seed), "--time", h.time.String()}, h.options...)
	c := b.command(b.ariadne.Binary, args...)
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
