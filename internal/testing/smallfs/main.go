//go:build linux

// Package main is smallfs, a small file system with a journal, by FUSE over a block device, for
// tests of storage checkers. Switches plant one bug each:
//
//	missing-flush      no flush between the content of a transaction and its commit
//	reordered-commit   the commit is written before the content
//	lost-entry         fsync of a file leaves out the changes of directories
//	torn-superblock    the superblock takes two sectors, without a checksum
//	twice              a recovery that is interrupted applies appends a second time
//	failed-call        rmdir of a directory that is not empty fails, and removes an entry
//	ignored-error      an error of the device is ignored
//
// Without a switch, each sync makes everything before it durable.
//
// Read next: disk.go (the layout), state.go, serve.go.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// bugs are the switches.
var bugs = []string{"", "missing-flush", "reordered-commit", "lost-entry", "torn-superblock", "twice", "failed-call",
	"ignored-error"}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "smallfs:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	bug := os.Getenv("SMALLFS_BUG")
	if !slices.Contains(bugs, bug) {
		return fmt.Errorf("unknown bug %q", bug)
	}
	switch {
	case len(args) == 2 && args[0] == "mkfs":
		return mkfs(args[1], bug)
	case len(args) == 3 && args[0] == "mount":
		return background(args[1], args[2])
	case len(args) == 3 && args[0] == "serve":
		return serve(args[1], args[2], bug)
	case len(args) == 3 && args[0] == "unmount":
		return unmount(args[1], args[2])
	}
	return errors.New("usage: smallfs mkfs DEVICE | mount DEVICE DIR | unmount DEVICE DIR")
}

// background serves in another process, and returns when the file system is mounted.
func background(device, dir string) error {
	out, in, err := os.Pipe()
	if err != nil {
		return err
	}
	c := exec.Command("/proc/self/exe", "serve", device, dir)
	c.ExtraFiles = []*os.File{in}
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := c.Start(); err != nil {
		return err
	}
	in.Close()
	line, err := bufio.NewReader(out).ReadString('\n')
	if line = strings.TrimSpace(line); line == ready {
		return nil
	}
	return fmt.Errorf("%s (%v)", line, err)
}

// ready is what a server says when its file system is mounted.
const ready = "ready"

// unmount unmounts the file system, and waits for the end of its server.
func unmount(device, dir string) error {
	if err := unix.Unmount(dir, 0); err != nil && err != unix.EINVAL { // not mounted
		return err
	}
	fd, err := unix.Open(device, unix.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Flock(fd, unix.LOCK_EX)
}
