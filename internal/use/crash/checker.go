//go:build linux

package crash

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne/internal/machine/sandbox"
	"github.com/ariadne-mc/ariadne/internal/system/checker"

	"golang.org/x/sys/unix"
)

// looker runs commands in one image after the other, each of which it puts at the same place.
type looker struct {
	checker.Command        // the checker's, or the reader's, without its environment
	image           string // the directory in which images are put
	slot            *slot
	shown           []sandbox.Shown
	log             string // where what was done is told
	env             []string
	// thread does what it is given on an OS thread that has no other children.
	thread chan func()
}

// specHome is where a node sees the directory of its spec.
const specHome = "/spec"

// newChecker returns one that puts images below a directory, which it makes. With atHome the
// command sees them where the node has its files, and what is beside the spec, if there is such a
// directory. A homeError says that this cannot be.
func newChecker(args []string, dir, beside string, timeout time.Duration, atHome bool) (_ *looker, err error) {
	program, err := exec.LookPath(args[0])
	if err != nil {
		return nil, fmt.Errorf("checker: %w", err)
	}
	image, stage := filepath.Join(dir, "node"), filepath.Join(dir, "root")
	for _, name := range []string{dir, image, stage} {
		if err := os.Mkdir(name, 0o700); err != nil {
			return nil, err
		}
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
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "PWD=") })
	image = filepath.Join(dir, "node")
	c := &looker{checker.Command{Program: program, Args: args, Dir: image, In: null, Out: out, Timeout: timeout}, image,
		newSlot(image), nil, filepath.Join(dir, "log"), nil, make(chan func())}
	if atHome {
		if err := c.showAtHome(stage, beside); err != nil {
			null.Close()
			out.Close()
			checker.Remove(dir)
			return nil, homeError{err}
		}
	}
	c.env = append(env, "PWD="+c.Dir)
	go c.serve()
	return c, nil
}

// Prepare runs a command on a copy of a directory, which may be "", as a checker runs on an image.
// It returns the copy, which is below temp.
func Prepare(ctx context.Context, args []string, dir, beside, temp string, timeout time.Duration) (string, error) {
	files, err := load(dir)
	if err != nil {
		return "", err
	}
	at := filepath.Join(temp, "init")
	c, err := newChecker(args, at, beside, timeout, true)
	var cannot homeError
	if errors.As(err, &cannot) {
		c, err = newChecker(args, at, beside, timeout, false)
	}
	if err != nil {
		return "", fmt.Errorf("init: %w", err)
	}
	defer c.close()
	v, _, err := c.check(ctx, &job{tree: files}, nil)
	if err == nil && !v.passed {
		err = errors.New(v.String())
	}
	if err != nil {
		return "", fmt.Errorf("init: %w", err)
	}
	return c.image, nil
}

// homeError says why a checker cannot see images where the node has its files.
type homeError struct{ error }

func (e homeError) Unwrap() error { return e.error }

// showAtHome has the command see images where the node has its files.
func (c *looker) showAtHome(stage, beside string) (err error) {
	if c.shown = []sandbox.Shown{{At: home, Dir: c.image}}; beside != "" {
		c.shown = append(c.shown, sandbox.Shown{At: specHome, Dir: beside})
	}
	for _, s := range c.shown {
		if within(c.Program, s.At) {
			return fmt.Errorf("the checker is in this machine's %s, and the image would cover it", s.At)
		}
	}
	c.View, err = sandbox.NewView(stage, c.shown)
	c.Dir = home
	return err
}

// within reports whether a path is that of a directory, or leads into it.
func within(name, dir string) bool { return name == dir || strings.HasPrefix(name, dir+"/") }

// serve does what the thread is given. A thread of Go's runtime may have made children for another
// goroutine: such a one is held until another was found. So is the main thread, to which Linux
// gives the children of threads that end.
func (c *looker) serve() {
	runtime.LockOSThread()
	if err := unix.Waitid(unix.P_ALL, 0, nil, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT|unix.WALL|wnothread,
		nil); err != unix.ECHILD || unix.Gettid() == unix.Getpid() {
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
	c.slot.close()
	if c.View != nil {
		c.View.Close()
	}
	c.In.Close()
	c.Out.Close()
}

// took is how long the parts of a check took.
type took struct{ writing, checking time.Duration }

// sign runs the command that prints the signature of an image.
func (c *looker) sign(ctx context.Context, work *job, args []string) (v *verdict, d took, err error) {
	own := *c
	if own.Program, err = exec.LookPath(args[0]); err != nil {
		return nil, d, fmt.Errorf("signature: %w", err)
	}
	own.Args = args
	return own.check(ctx, work, nil)
}

// check lets the command look at files. With a watch, which must be of these files, it is found out
// what it looks at.
func (c *looker) check(ctx context.Context, work *job, w *watch) (v *verdict, d took, err error) {
	if err := ctx.Err(); err != nil {
		return nil, d, err
	}
	began := time.Now()
	if err := c.slot.put(work.tree); err != nil {
		return nil, d, err
	}
	env := slices.Concat(c.env, work.env)
	if work.log != nil {
		if err := c.slot.putLog(c.log, work.log); err != nil {
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
		w.at(c.image, c.shown)
		c.Follow = w.follow
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
