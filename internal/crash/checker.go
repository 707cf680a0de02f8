//go:build linux

package crash

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// checker runs a command in one image after the other, each of which it puts at the same place.
type checker struct {
	program string
	args    []string
	dir     string // of the images
	log     string // where what was done is told
	env     []string
	null    *os.File
	out     *os.File // what the command says; a pipe would be held open by whom it leaves running
	timeout time.Duration
}

// newChecker returns one that puts images below a directory, which it makes.
func newChecker(args []string, dir string, timeout time.Duration) (*checker, error) {
	program, err := exec.LookPath(args[0])
	if err != nil {
		return nil, fmt.Errorf("checker: %w", err)
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
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
	return &checker{program, args, image, log, append(env, "PWD="+image), null, out, timeout}, nil
}

func (c *checker) close() {
	c.null.Close()
	c.out.Close()
}

// took is how long the parts of a check took.
type took struct{ writing, checking, removing time.Duration }

// check lets the command look at files.
func (c *checker) check(ctx context.Context, work *job) (v *verdict, d took, err error) {
	if err := ctx.Err(); err != nil {
		return nil, d, err
	}
	began := time.Now()
	defer func() {
		checked := time.Now()
		remove(c.dir)
		d.removing = time.Since(checked)
	}()
	if err := work.tree.write(c.dir); err != nil {
		return nil, d, err
	}
	env := slices.Concat(c.env, work.env)
	if work.log != nil {
		if err := os.WriteFile(c.log, work.log, 0o600); err != nil {
			return nil, d, err
		}
		env = append(env, "ARIADNE_LOG="+c.log)
	}
	if err := c.out.Truncate(0); err != nil {
		return nil, d, err
	}
	written := time.Now()
	d.writing = written.Sub(began)
	status, late, err := c.run(ctx, env)
	d.checking = time.Since(written)
	if err != nil {
		return nil, d, err
	}
	return &verdict{passed: status == "", undecided: late, status: status, output: c.said()}, d, nil
}

// run runs the command, and says how it ended, if not with status 0; late: it did not in time. What it leaves running in
// its process group is killed.
func (c *checker) run(ctx context.Context, env []string) (how string, late bool, err error) {
	out := c.out.Fd()
	pid, err := syscall.ForkExec(c.program, c.args, &syscall.ProcAttr{
		Dir: c.dir, Env: env, Files: []uintptr{c.null.Fd(), out, out},
		Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		return "", false, fmt.Errorf("checker: %w", &fs.PathError{Op: "exec", Path: c.program, Err: err})
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.timeout, errLate)
	defer cancel()
	kill := func() { syscall.Kill(-pid, syscall.SIGKILL) }
	killed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() { kill(); close(killed) })
	for { // its id stays its own until it is waited for
		if err = unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != unix.EINTR {
			break
		}
	}
	stopped := !stop()
	if stopped {
		<-killed
	}
	kill()
	var status syscall.WaitStatus
	if _, err2 := syscall.Wait4(pid, &status, 0, nil); err == nil {
		err = err2
	}
	switch {
	case err != nil:
		return "", false, fmt.Errorf("checker: %w", err)
	case stopped && errors.Is(context.Cause(ctx), errLate):
		return fmt.Sprintf("it did not end within %v", c.timeout), true, nil
	case stopped:
		return "", false, context.Cause(ctx)
	case status.Signaled():
		return "signal: " + status.Signal().String(), false, nil
	case status.ExitStatus() != 0:
		return fmt.Sprintf("exit status %d", status.ExitStatus()), false, nil
	}
	return "", false, nil
}

var errLate = errors.New("the checker takes too long")

// mostSaid is how much of the end of what a command says is looked at, in bytes.
const mostSaid = 64 << 10

// said is what the command has written.
func (c *checker) said() string {
	end, err := c.out.Seek(0, io.SeekEnd)
	if err != nil {
		return ""
	}
	b := make([]byte, min(end, mostSaid))
	n, _ := c.out.ReadAt(b, end-int64(len(b)))
	return string(b[:n])
}

// remove removes a directory with all that is in it, whatever modes its directories have.
func remove(dir string) {
	if os.RemoveAll(dir) == nil {
		return
	}
	filepath.WalkDir(dir, func(name string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() { // called before it is read
			os.Chmod(name, 0o700)
		}
		return nil
	})
	os.RemoveAll(dir) // what is left goes with Temp
}
