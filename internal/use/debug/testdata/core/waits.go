// Waits has two threads that print where they are, as return addresses, and wait. Each address is
// in a line "NAME 0x…", from the innermost function outwards.
package main

import (
	"fmt"
	"runtime"
	"strings"
	"syscall"
)

//go:noinline
func inner(name string, secret int) int {
	var at [64]uintptr
	var b strings.Builder
	for _, pc := range at[:runtime.Callers(1, at[:])] {
		fmt.Fprintf(&b, "%s %#x\n", name, pc)
	}
	fmt.Print(b.String())
	if err := syscall.Nanosleep(&syscall.Timespec{Sec: 1000}, nil); err != nil {
		panic(err)
	}
	return secret + 1
}

//go:noinline
func outer(name string, secret int) int { return inner(name, secret*2) + 1 }

func second() {
	runtime.LockOSThread()
	outer("second", 21)
}

func main() {
	runtime.LockOSThread()
	go second()
	outer("main", 50)
}
