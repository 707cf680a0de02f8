// Package early ends the process with one line where packages of others could not begin. The
// package splice of go-fuse makes a pipe when it is initialized, and panics where it cannot, also
// in processes that need no FUSE.
//
// Packages are initialized in the order of their import paths, as far as their own imports are
// (Go's specification, "Program initialization"). This one imports nothing that splice does not, so
// it comes first.
package early

import (
	"fmt"
	"os"
	"syscall"
)

func init() {
	r, w, err := os.Pipe()
	if err != nil {
		var most syscall.Rlimit
		_ = syscall.Getrlimit(syscall.RLIMIT_NOFILE, &most) // or 0 is shown
		fmt.Printf("inconclusive: %v: Ariadne may have %d files open: raise ulimit -n\n", err, most.Cur)
		os.Exit(inconclusive)
	}
	r.Close()
	w.Close()
}

// inconclusive is the exit status of what could not be decided.
const inconclusive = 3
