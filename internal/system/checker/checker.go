//go:build linux

// Package checker runs commands that look at files which nodes have left. They are no nodes': they
// are run as they are, on this machine, within a limit of real time.
//
// Read next: internal/use/crash, which lets one look at images of disks, and internal/system, at
// how executions ended.
package checker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/ariadne-mc/ariadne/internal/machine/sandbox"

	"golang.org/x/sys/unix"
)

// Command is one that looks at files.
type Command struct {
	Program string   // path
	Args    []string // the program's name first
	Dir     string   // where it runs
	Env     []string
	In      *os.File
	Out     *os.File // what it says; a pipe would be held open by whom it leaves running
	Timeout time.Duration
	// View, when not nil, is what the command sees of this machine's files. Program and Dir are
	// paths in it.
	View *sandbox.View
	// Follow, when not nil, brings the process, which is started to be traced, to its end, with all
	// that it starts. It is called on the thread of Run's caller, which may have no other children.
	Follow func(ctx context.Context, pid int) (syscall.WaitStatus, error)
}

// Run runs the command, and says how it ended, if not with status 0. late: it did not end in time.
// Processes that it leaves in its process group are killed.
func (c *Command) Run(ctx context.Context) (how string, late bool, err error) {
	pid, err := c.start()
	if err != nil {
		return "", false, fmt.Errorf("checker: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.Timeout, errLate)
	defer cancel()
	wait := waitFor
	if c.Follow != nil {
		wait = c.Follow
	}
	status, err := wait(ctx, pid)
	stopped := ctx.Err() != nil && status.Signaled() && status.Signal() == syscall.SIGKILL
	switch {
	case err != nil:
		return "", false, fmt.Errorf("checker: %w", err)
	case stopped && errors.Is(context.Cause(ctx), errLate):
		return fmt.Sprintf("it did not end within %v", c.Timeout), true, nil
	case stopped:
		return "", false, context.Cause(ctx)
	case status.Signaled():
		return "signal: " + status.Signal().String(), false, nil
	case status.ExitStatus() != 0:
		return fmt.Sprintf("exit status %d", status.ExitStatus()), false, nil
	}
	return "", false, nil
}

// start starts the command as the leader of a process group of its own.
func (c *Command) start() (pid int, err error) {
	if c.View != nil {
		return c.View.Start(sandbox.Command{Program: c.Program, Args: c.Args, Env: c.Env, Dir: c.Dir, In: c.In,
			Out: c.Out, Traced: c.Follow != nil})
	}
	out := c.Out.Fd()
	pid, err = syscall.ForkExec(c.Program, c.Args, &syscall.ProcAttr{
		Dir: c.Dir, Env: c.Env, Files: []uintptr{c.In.Fd(), out, out},
		Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, Ptrace: c.Follow != nil},
	})
	if err != nil {
		err = &fs.PathError{Op: "exec", Path: c.Program, Err: err}
	}
	return pid, err
}

// waitFor waits for the end of a process, which is killed when ctx ends. Processes that it leaves
// in its group are killed, too.
func waitFor(ctx context.Context, pid int) (status syscall.WaitStatus, err error) {
	kill := func() { syscall.Kill(-pid, syscall.SIGKILL) }
	killed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { kill(); close(killed) })
	for { // its id stays its own until it is waited for
		if err = unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != unix.EINTR {
			break
		}
	}
	if !stop() {
		<-killed
	}
	kill()
	if _, err2 := syscall.Wait4(pid, &status, 0, nil); err == nil {
		err = err2
	}
	gone(pid)
	return status, err
}

// gone waits until nobody is left of a process group that was killed: who is yet to die may hold a
// port or a lock that the next run needs. It does not wait long: nobody may have waited for the
// dead.
func gone(group int) {
	for pause := 100 * time.Microsecond; pause < time.Second && syscall.Kill(-group, 0) == nil; pause *= 2 {
		time.Sleep(pause)
	}
}

var errLate = errors.New("the checker takes too long")

// mostSaid is how much of the end of what a command says is looked at, in bytes.
const mostSaid = 64 << 10

// Said is the end of what the command has written.
func (c *Command) Said() string {
	end, err := c.Out.Seek(0, io.SeekEnd)
	if err != nil {
		return ""
	}
	b := make([]byte, min(end, mostSaid))
	n, _ := c.Out.ReadAt(b, end-int64(len(b)))
	return string(b[:n])
}

// Remove removes a directory with all that is in it, whatever modes its directories have.
func Remove(dir string) {
	if os.RemoveAll(dir) == nil {
		return
	}
	makeWritable(dir)
	os.RemoveAll(dir) // what is left goes with Temp
}

// Empty removes all that is in a directory, likewise.
func Empty(dir string) error {
	empty := func() error {
		list, err := os.ReadDir(dir)
		for _, d := range list {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, d.Name())))
		}
		return err
	}
	if empty() == nil {
		return nil
	}
	makeWritable(dir)
	return empty()
}

// makeWritable makes the directories below dir writable for their owner.
func makeWritable(dir string) {
	filepath.WalkDir(dir, func(name string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() { // called before it is read
			os.Chmod(name, 0o700)
		}
		return nil
	})
}
