//go:build linux

package crash

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"ariadne/internal/checker"

	"golang.org/x/sys/unix"
)

// looker runs a command in one image after the other, each of which it puts at the same place.
type looker struct {
	checker.Command        // without its environment
	log             string // where what was done is told
	env             []string
	// thread does what it is given on an OS thread that has no other children.
	thread chan func()
}

// newChecker returns one that puts images below a directory, which it makes.
func newChecker(args []string, dir string, timeout time.Duration) (*looker, error) {
	program, err := exec.LookPath(args[0])
	if err != nil {
		return nil, fmt.Errorf("checker: %w", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, err
	}
	out, err := os.OpenFile(filepath.Join(dir, "output"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		null.Close()
		return nil, err
	}
	image := filepath.Join(dir, "node")
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PWD=") })
	log := filepath.Join(dir, "log")
	c := &looker{checker.Command{Program: program, Args: args, Dir: image, In: null, Out: out, Timeout: timeout}, log, append(env, "PWD="+image), make(chan func())}
	go c.serve()
	return c, nil
}

// serve does what the thread is given. A thread of Go's runtime may have made children for another goroutine: such a one
// is held until another was found.
func (c *looker) serve() {
	runtime.LockOSThread()
	if err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT|unix.WALL|wnothread, nil); err != unix.ECHILD {
		found := make(chan struct{})
		go func() {
			defer close(found)
			c.serve()
		}()
		<-found
		runtime.UnlockOSThread() // it goes on, and its children do
		return
	}
	for f := range c.thread {
		f()
	}
	// The thread ends with the goroutine that is locked to it.
}

func (c *looker) close() {
	close(c.thread)
	c.In.Close()
	c.Out.Close()
}

// took is how long the parts of a check took.
type took struct{ writing, checking, removing time.Duration }

// check lets the command look at files. With a watch, which must be of these files, it is found out what it looks at.
func (c *looker) check(ctx context.Context, work *job, w *watch) (v *verdict, d took, err error) {
	if err := ctx.Err(); err != nil {
		return nil, d, err
	}
	began := time.Now()
	defer func() {
		checked := time.Now()
		checker.Remove(c.Dir)
		d.removing = time.Since(checked)
	}()
	if err := work.tree.write(c.Dir); err != nil {
		return nil, d, err
	}
	env := slices.Concat(c.env, work.env)
	if work.log != nil {
		if err := os.WriteFile(c.log, work.log, 0o600); err != nil {
			return nil, d, err
		}
		env = append(env, "ARIADNE_LOG="+c.log)
	}
	if err := c.Out.Truncate(0); err != nil {
		return nil, d, err
	}
	written := time.Now()
	d.writing = written.Sub(began)
	c.Env, c.Follow = env, nil
	var status string
	var late bool
	if w == nil {
		status, late, err = c.Run(ctx)
	} else {
		w.image, c.Follow = c.Dir, w.follow
		done := make(chan struct{})
		c.thread <- func() {
			defer close(done)
			status, late, err = c.Run(ctx)
		}
		<-done
	}
	d.checking = time.Since(written)
	if err != nil {
		return nil, d, err
	}
	return &verdict{passed: status == "", undecided: late, status: status, output: c.Said()}, d, nil
}
