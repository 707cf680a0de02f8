//go:build linux

package node

import (
	"fmt"
	"os"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/leaf/host/procmaps"
	"github.com/ariadne-mc/ariadne/internal/machine/sys"
	"github.com/ariadne-mc/ariadne/internal/machine/tracee"

	"golang.org/x/sys/unix"
)

// heedForkAdvice does to the memory of a new child what its parent asked for by
// madvise: see sys.ShownDontFork.
func (n *Node) heedForkAdvice(child *tracee.Thread) error {
	smaps, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps", child.PID))
	if err != nil {
		return err
	}
	child.StandAtExit()
	var m procmaps.Mapping
	for line := range strings.Lines(string(smaps)) {
		if next, ok := procmaps.Parse(line); ok {
			m = next
			continue
		}
		shown, ok := strings.CutPrefix(line, "VmFlags:")
		if !ok {
			continue
		}
		has := func(flag string) bool { return strings.Contains(shown, " "+flag+" ") }
		var r int64
		switch {
		case has("de"): // Linux's own: it marks them in the same way
		case has(sys.ShownDontFork):
			r, err = child.Inject(unix.SYS_MUNMAP, m.Start, m.End-m.Start)
		case has(sys.ShownWipe):
			r, err = child.Inject(unix.SYS_MADVISE, m.Start, m.End-m.Start, unix.MADV_DONTNEED)
		}
		if err != nil {
			return err
		}
		if r != 0 {
			return fmt.Errorf("memory %x-%x of a child: %w", m.Start, m.End, unix.Errno(-r))
		}
	}
	return nil
}
