package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// start is where the program begins that make build links.
//
//lint:ignore U1000 the linker uses it
func start()

// The least memory that Go's runtime and the threads of a check need, in bytes, and the messages
// for smaller limits.
var (
	fewestSpace uint64 = 2560 << 20
	fewestData  uint64 = 256 << 20
	littleSpace        = "ariadne: the limit on address space is too small: Ariadne needs 2560 MB at least (ulimit -v 2621440, or unlimited)\n"
	littleData         = "ariadne: the limit on data is too small: Ariadne needs 256 MB at least (ulimit -d 262144, or unlimited)\n"
)

// enoughMemory ends the process where a limit on its memory is too small. It is start in Go, for
// programs that are linked without it: where the runtime has come so far, it would end in the midst
// of anything.
func enoughMemory() {
	for _, l := range []struct {
		what   int
		fewest uint64
		little string
	}{{unix.RLIMIT_AS, fewestSpace, littleSpace}, {unix.RLIMIT_DATA, fewestData, littleData}} {
		var r unix.Rlimit
		if unix.Getrlimit(l.what, &r) == nil && r.Cur < l.fewest {
			os.Stderr.WriteString(l.little)
			os.Exit(statusUsage)
		}
	}
}
