//go:build linux

package stack

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk/fsmodel"

	"golang.org/x/sys/unix"
)

// do does steps until one fails, and then those that are always done.
func (m *mounts) do(steps []Step) (results []Result) {
	failed := false
	for i := range steps {
		s := &steps[i]
		if failed && !s.Always {
			results = append(results, Result{Skipped: true})
			continue
		}
		began := time.Now()
		r := m.withThreads(s)
		r.Nanos = time.Since(began).Nanoseconds()
		failed = failed || r.Failed != ""
		results = append(results, r)
		if s.Kind == Unmount && s.Keep && failed { // nobody verifies it
			m.unmount(false)
		}
	}
	return results
}

func (m *mounts) step(s *Step) Result {
	switch s.Kind {
	case Make, Mount:
		m.exact = s.Exact
		return m.mount(s.Nodes, s.Kind == Make, s.Recover).result()
	case Unmount:
		return m.unmount(s.Keep).result()
	case Verify:
		return m.verify(s.Nodes).result()
	case Pass:
		return Result{}
	case Run:
		return m.run(s)
	case Apply:
		return m.apply(s.Calls, s.Faulty)
	case Look:
		tree, err := look(m.top())
		if err != nil {
			return Result{Failed: "the file tree: " + err.Error()}
		}
		return Result{Tree: tree}
	}
	return Result{Failed: fmt.Sprintf("unknown step %q", s.Kind)}
}

// run runs a command of the checker at the top of the stack.
func (m *mounts) run(s *Step) Result {
	dir := m.top()
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		dir = m.Dir
	}
	how, late, output := m.execute(s.Command, dir, append(m.env(nil), s.Env...), s.Timeout, true)
	return Result{Failed: how, Late: late, Output: output}
}

// verify has each component examine what is below it. Nothing is mounted. Devices that are still
// attached have in their caches what is on them.
func (m *mounts) verify(nodes []uint64) *failure {
	defer m.unmount(false)
	attached := len(m.up) > 0
	devices := m.attached()
	for i := range m.Components {
		c := &m.Components[i]
		if at := slices.Index(devices, c); at >= 0 {
			if attached {
				continue
			}
			if f := m.attach(c, nodes[at]); f != nil {
				return f
			}
		} else if f := m.command(c, "verify", c.Verify); f != nil {
			return f
		}
	}
	return nil
}

// IsFault reports whether the number of a call's error is one of a device that fails, or of a file
// system that does not go on because of it.
func IsFault(errno int) bool {
	switch unix.Errno(errno) {
	case unix.EIO, unix.EROFS, unix.EUCLEAN, unix.EBADMSG, unix.ESHUTDOWN:
		return true
	}
	return false
}

// apply makes calls, and says before and after each of them where it is.
func (m *mounts) apply(calls []fsmodel.Call, faulty bool) (r Result) {
	for i, c := range calls {
		if err := writeLine(fmt.Sprintf("call %d", i)); err != nil {
			return Result{Failed: "/dev/ariadne: " + err.Error()}
		}
		err := doCall(c, m.top())
		r.Errnos = append(r.Errnos, errno(err))
		if faulty && IsFault(errno(err)) {
			return r
		}
		var after []fsmodel.Entry
		if err != nil { // it reads files, so also where nobody compares them
			if after, err = look(m.top()); err != nil && !faulty {
				return Result{Failed: "the file tree: " + err.Error()}
			}
		}
		r.After = append(r.After, after)
		if err := writeLine(fmt.Sprintf("done %d", i)); err != nil {
			return Result{Failed: "/dev/ariadne: " + err.Error()}
		}
	}
	return r
}

// writeLine writes a line to /dev/ariadne.
func writeLine(line string) error {
	f, err := os.OpenFile("/dev/ariadne", os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line + "\n")
	return errors.Join(err, f.Close())
}

// command runs a command of a component.
func (m *mounts) command(c *Component, what string, words []string) *failure {
	if len(words) == 0 {
		return nil
	}
	if at := slices.Index(words, Below); at >= 0 {
		words = slices.Clone(words)
		words[at] = m.below(c)
	}
	how, late, output := m.execute(words, m.Dir, m.env(c), m.Timeout, false)
	if how == "" {
		return nil
	}
	return &failure{component: c.Name, what: what + ": " + how, output: output, late: late}
}

// env are the variables of a component's command, or without one of the checker's.
func (m *mounts) env(c *Component) []string {
	env := append(os.Environ(), m.Env...)
	var devices []string
	for i := range m.Components {
		d := &m.Components[i]
		if at := m.at[d.Name]; d.IsDevice() && at != "" {
			devices = append(devices, at)
		}
	}
	mount := m.top()
	if c != nil {
		mount = m.at[c.Name]
		env = append(env, "ARIADNE_BELOW="+m.below(c))
	}
	return append(env, "ARIADNE_MOUNT="+mount, "ARIADNE_DEVICES="+strings.Join(devices, " "), "ARIADNE_SPEC="+m.Dir)
}

// below is where the layers are that a component is on.
func (m *mounts) below(c *Component) string {
	var below []string
	for _, name := range c.On {
		below = append(below, m.at[name])
	}
	return strings.Join(below, " ")
}

// execute runs a command in a process group of its own. kill: processes that it leaves are killed.
// Processes that a component starts run on.
func (m *mounts) execute(words []string, dir string, env []string, limit time.Duration,
	kill bool) (how string, late bool, output string) {
	p := startProcess(words, dir, env, limit, m.out)
	how, late, output = p.wait()
	if kill {
		p.kill()
	}
	m.reap()
	return how, late, output
}
