//go:build linux

package node

import (
	"bytes"
	"fmt"
	"os"

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
	var m mapping
	for line := range bytes.Lines(smaps) {
		if next, ok := parseMapping(line); ok {
			m = next
			continue
		}
		shown, ok := bytes.CutPrefix(line, []byte("VmFlags:"))
		if !ok {
			continue
		}
		has := func(flag string) bool { return bytes.Contains(shown, []byte(" "+flag+" ")) }
		var r int64
		switch {
		case has("de"): // Linux's own: it marks them in the same way
		case has(sys.ShownDontFork):
			r, err = child.Inject(unix.SYS_MUNMAP, m.start, m.end-m.start)
		case has(sys.ShownWipe):
			r, err = child.Inject(unix.SYS_MADVISE, m.start, m.end-m.start, unix.MADV_DONTNEED)
		}
		if err != nil {
			return err
		}
		if r != 0 {
			return fmt.Errorf("memory %x-%x of a child: %w", m.start, m.end, unix.Errno(-r))
		}
	}
	return nil
}
