//go:build linux

package disk

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Able says what this machine lacks for stacks, or returns nil.
func Able() error {
	if os.Geteuid() != 0 {
		return fmt.Errorf("disk: only root may mount file systems: run it as root (sudo)")
	}
	for _, name := range []string{"/dev/fuse", "/dev/loop-control"} {
		if err := unix.Access(name, unix.R_OK|unix.W_OK); err != nil {
			return fmt.Errorf("disk: %s: %w: the kernel, or this container, has no such device", name, err)
		}
	}
	return nil
}
