//go:build linux

package stack

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// process is a command that was started, in a process group of its own.
type process struct {
	cmd    *exec.Cmd
	limit  time.Duration
	ctx    context.Context // of the limit
	cancel context.CancelFunc
	out    *os.File
	err    error // it was not started
}

// startProcess starts a command, whose output goes to a file.
func startProcess(words []string, dir string, env []string, limit time.Duration, out *os.File) *process {
	p := &process{limit: limit, out: out}
	p.ctx, p.cancel = context.WithTimeout(context.Background(), limit)
	p.cmd = exec.CommandContext(p.ctx, words[0], words[1:]...)
	p.cmd.Dir, p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = dir, env, out, out
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.cmd.Cancel = p.kill
	if p.err = out.Truncate(0); p.err == nil {
		out.Seek(0, io.SeekStart)
		p.err = p.cmd.Start()
	}
	return p
}

// kill kills the processes of the command. It is an error if there are none.
func (p *process) kill() error {
	if p.cmd.Process == nil {
		return unix.ESRCH
	}
	return unix.Kill(-p.cmd.Process.Pid, unix.SIGKILL)
}

// wait waits for the command, and says how it has failed, if it has.
func (p *process) wait() (how string, late bool, output string) {
	defer p.cancel()
	if p.err != nil {
		return p.err.Error(), false, ""
	}
	err := p.cmd.Wait()
	switch {
	case err == nil:
		return "", false, tailOf(p.out)
	case p.ctx.Err() != nil:
		return fmt.Sprintf("it did not end within %v", p.limit), true, tailOf(p.out)
	}
	return err.Error(), false, tailOf(p.out)
}

// mostSaid is how much of the end of a command's output is kept, in bytes.
const mostSaid = 16 << 10

// tailOf is the end of what a command has written.
func tailOf(out *os.File) string {
	end, err := out.Seek(0, io.SeekEnd)
	if err != nil {
		return ""
	}
	b := make([]byte, min(end, mostSaid))
	n, _ := out.ReadAt(b, end-int64(len(b)))
	return string(b[:n])
}

// thread is a thread of a component that runs.
type thread struct {
	c *Component
	p *process
}

// withThreads does a step, and runs threads at the same time. They end before the next step.
func (m *mounts) withThreads(s *Step) Result {
	threads, f := m.beginThreads(s.Beside)
	if f != nil {
		m.endThreads(threads, true)
		return f.result()
	}
	r := m.step(s)
	if f := m.endThreads(threads, r.Failed != ""); f != nil && r.Failed == "" {
		failed := f.result()
		r.Failed, r.Component, r.Output, r.Late = failed.Failed, failed.Component, failed.Output, failed.Late
	}
	return r
}

// or is a failure, or another one in the place of none.
func (f *failure) or(other *failure) *failure {
	if f != nil {
		return f
	}
	return other
}

// beginThreads starts threads. They are those that were started also after a failure.
func (m *mounts) beginThreads(list []Thread) (threads []thread, f *failure) {
	for _, t := range list {
		at := slices.IndexFunc(m.Components, func(c Component) bool { return c.Name == t.Component })
		if at < 0 || t.At >= len(m.Components[at].Threads) {
			return threads, &failure{component: t.Component, what: "threads: there is no such thread"}
		}
		c := &m.Components[at]
		fd, err := unix.MemfdCreate("output", unix.MFD_CLOEXEC)
		if err != nil {
			return threads, &failure{component: c.Name, what: "threads: " + err.Error(), host: true}
		}
		out := os.NewFile(uintptr(fd), "output")
		threads = append(threads, thread{c, startProcess(c.Threads[t.At], m.Dir, m.env(c), m.Timeout, out)})
		m.threads++
	}
	return threads, nil
}

// endThreads waits until threads have ended, and says how one has failed: no process of a thread
// may still be at work. kill: they are killed, and how they end is of no interest.
func (m *mounts) endThreads(threads []thread, kill bool) (first *failure) {
	for _, t := range threads {
		if kill {
			t.p.kill()
		}
		how, late, output := t.p.wait()
		t.p.out.Close()
		m.threads--
		if how != "" {
			first = first.or(&failure{component: t.c.Name, what: "threads: " + how, output: output, late: late})
		}
	}
	m.reap()
	for _, t := range threads {
		if t.p.kill() == nil {
			first = first.or(&failure{component: t.c.Name, what: "threads: processes of the command are still at work after it has ended"})
		}
	}
	m.reap()
	if kill {
		return nil
	}
	return first
}

// reap waits for processes that nobody else waits for any more: this is the first process of its
// namespace. It does nothing while threads run, which somebody else waits for.
func (m *mounts) reap() {
	for m.threads == 0 {
		pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
		if err == unix.EINTR {
			continue
		}
		if pid <= 0 || err != nil {
			return
		}
	}
}
