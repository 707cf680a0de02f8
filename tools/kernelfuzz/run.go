package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// patience is the real time that one run of the interpreter may take.
const patience = 5 * time.Minute

// Bench is where cases are run: a directory with the interpreter, and Ariadne.
type Bench struct {
	dir     string
	ariadne string
}

// NewBench builds the interpreter of the package's directory.
func NewBench(testdata, ariadne string) (*Bench, error) {
	dir, err := os.MkdirTemp("", "kernelfuzz")
	if err != nil {
		return nil, err
	}
	b := &Bench{dir: dir, ariadne: ariadne}
	args := []string{"-O1", "-Wall", "-Wno-unused-parameter", "-o", filepath.Join(dir, "interp"),
		filepath.Join(testdata, "interp.c")}
	if out, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		b.Close()
		return nil, fmt.Errorf("building the interpreter: %v\n%s", err, out)
	}
	return b, nil
}

// Close removes all that was made.
func (b *Bench) Close() { os.RemoveAll(b.dir) }

// Possible says why no case can be run natively here, or nil. The calls run in namespaces of
// their own: of processes, mounts, network and IPC.
func (b *Bench) Possible() error {
	if _, err := exec.LookPath("unshare"); err != nil {
		return err
	}
	out, err := b.native("true").CombinedOutput()
	if err != nil {
		return fmt.Errorf("no namespaces: %v: %s", err, bytes.TrimSpace(out))
	}
	return nil
}

// native is a command in namespaces of its own; all in them ends with it.
func (b *Bench) native(name string, args ...string) *exec.Cmd {
	args = append([]string{"--net", "--mount", "--pid", "--ipc", "--fork", "--mount-proc", "--kill-child", name},
		args...)
	if os.Getuid() != 0 {
		args = append([]string{"--map-root-user"}, args...)
	}
	cmd := exec.Command("unshare", args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	return cmd
}

// Native runs cases on Linux.
func (b *Bench) Native(cases []Case) (Outcome, error) {
	dir, file, err := b.prepare(cases)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	work := filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o755); err != nil {
		return nil, err
	}
	cmd := b.native(filepath.Join(dir, "interp"), file, "native")
	cmd.Dir = work
	out, errs, err := finish(cmd)
	if err != nil {
		return nil, fmt.Errorf("natively: %v\n%s%s", err, tail(out), tail(errs))
	}
	return observe(out), nil
}

// spec runs the interpreter as the one program of one node, or of each of two.
const (
	spec = `name: kernelfuzz
latency: 100us
nodes:
  - name: a
    command: "./interp cases a"
    address: [10.0.0.1, "fd00::1"]
    client: true
    may_fail: true
`
	second = `  - name: b
    command: "./interp cases b"
    address: [10.0.0.2, "fd00::2"]
    may_fail: true
`
)

// Ariadne runs cases under Ariadne, and also returns what it refused.
func (b *Bench) Ariadne(cases []Case) (Outcome, []string, error) {
	dir, _, err := b.prepare(cases)
	if err != nil {
		return nil, nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "spec.yaml")
	text := spec
	if slices.ContainsFunc(cases, Case.two) {
		text += second
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		return nil, nil, err
	}
	out, errs, err := finish(exec.Command(b.ariadne, "run", "--json", "--out", filepath.Join(dir, "run"), file))
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() < 4 {
		err = nil // refusals make it inconclusive
	}
	if err != nil {
		return nil, nil, fmt.Errorf("ariadne: %v\n%s%s", err, tail(out), tail(errs))
	}
	var logs strings.Builder
	var refused []string
	dec := json.NewDecoder(strings.NewReader(out))
	for {
		var e struct {
			Logs     []struct{ Text string }
			Refusals []struct{ Name string }
		}
		if err := dec.Decode(&e); err == io.EOF {
			break
		} else if err != nil {
			return nil, nil, fmt.Errorf("ariadne: %v\n%s", err, tail(out))
		}
		for _, l := range e.Logs {
			logs.WriteString(l.Text + "\n")
		}
		for _, r := range e.Refusals {
			refused = append(refused, r.Name)
		}
	}
	return observe(logs.String()), refused, nil
}

// prepare makes a directory with the interpreter and the cases.
func (b *Bench) prepare(cases []Case) (dir, file string, err error) {
	if dir, err = os.MkdirTemp(b.dir, "run"); err != nil {
		return "", "", err
	}
	if err := os.Link(filepath.Join(b.dir, "interp"), filepath.Join(dir, "interp")); err != nil {
		return "", "", err
	}
	var text bytes.Buffer
	write(&text, cases)
	file = filepath.Join(dir, "cases")
	return dir, file, os.WriteFile(file, text.Bytes(), 0o644)
}

// finish runs cmd to its end, within patience.
func finish(cmd *exec.Cmd) (stdout, stderr string, err error) {
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := cmd.Start(); err != nil {
		return "", "", err
	}
	stop := context.AfterFunc(ctx, func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
	err = cmd.Wait()
	if !stop() {
		err = fmt.Errorf("did not end within %v", patience)
	}
	return out.String(), errs.String(), err
}

// tail is the end of a text.
func tail(s string) string {
	const most = 2000
	if len(s) > most {
		s = "..." + s[len(s)-most:]
	}
	return s
}

// Both runs cases natively and under Ariadne.
func (b *Bench) Both(cases []Case) (native, ariadne Outcome, err error) {
	var refusedErr error
	done := make(chan struct{})
	go func() {
		defer close(done)
		ariadne, _, refusedErr = b.Ariadne(cases)
	}()
	native, err = b.Native(cases)
	<-done
	return native, ariadne, errors.Join(err, refusedErr)
}

// Found is a case with a difference.
type Found struct {
	Case Case
	Difference
}

// endsRun stands for the outcome of a case that Ariadne did not run to its end.
const endsRun = "the run ends here"

// Differences runs cases and returns those that differ, in order. Results that differ between two
// native runs do not count.
func (b *Bench) Differences(cases []Case) ([]Found, error) {
	if len(cases) == 0 {
		return nil, nil
	}
	native, ariadne, err := b.Both(cases)
	if err != nil {
		return nil, err
	}
	var found []Found
	var again []Case
	for i, c := range cases {
		if native[c.Name] == nil {
			return nil, fmt.Errorf("natively %s was not run", c.Name)
		}
		if ariadne[c.Name] == nil {
			// This one ended the run: those after it have not been made.
			more, err := b.Differences(cases[i+1:])
			return append(append(found, Found{c, Difference{"", endsRun}}), more...), err
		}
		if d, ok := compare(native[c.Name], ariadne[c.Name]); ok {
			found, again = append(found, Found{c, d}), append(again, c)
		}
	}
	for range 2 {
		if len(again) == 0 {
			break
		}
		second, err := b.Native(again)
		if err != nil {
			return nil, err
		}
		var stable []Found
		again = again[:0]
		for _, f := range found {
			if _, ok := compare(native[f.Case.Name], second[f.Case.Name]); !ok {
				stable, again = append(stable, f), append(again, f.Case)
			}
		}
		found = stable
	}
	return found, nil
}
