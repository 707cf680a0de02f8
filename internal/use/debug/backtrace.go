package debug

import (
	"debug/elf"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/leaf/debuginfo/stack"
	"github.com/ariadne-mc/ariadne/internal/leaf/inspect"
)

// programs are the program files that stacks have led through, by their paths on the host; nil: it
// is none.
type programs map[string]*stack.Code

// of is what is known of a program file, or nil.
func (p programs) of(name, onHost string) *stack.Code {
	code, known := p[onHost]
	if known || onHost == "" {
		return code
	}
	if f, err := elf.Open(onHost); err == nil {
		code = stack.New(name, f)
		f.Close()
	}
	p[onHost] = code
	return code
}

// stackOf follows the stack of a process's thread.
func (d *Debugger) stackOf(m inspect.Machine, pid, tid int) ([]stack.Frame, error) {
	all, err := m.Mappings(pid)
	if err != nil {
		return nil, err
	}
	var modules []stack.Module
	for i := range all {
		a := &all[i]
		if !a.Execute || !strings.HasPrefix(a.Name, "/") {
			continue
		}
		if code := d.programs.of(a.Name, d.onHost(a.Name)); code != nil {
			modules = append(modules, stack.Module{Code: code, Start: a.Start, End: a.End, Offset: a.Offset})
		}
	}
	named, err := m.Registers(tid)
	if err != nil {
		return nil, err
	}
	var r stack.Registers
	for i, name := range stack.Names {
		r[i], _ = named.Of(name)
	}
	read := func(b []byte, addr uint64) error {
		n, err := m.ReadMemory(pid, addr, b)
		if err == nil && n < len(b) {
			err = fmt.Errorf("there is no memory at %#x", addr+uint64(n))
		}
		return err
	}
	return stack.Of(r, modules, read), nil
}

// forPrograms are the beginnings of functions of Go that make calls, or wait, for others.
var forPrograms = []string{"runtime.", "runtime/", "internal/", "syscall.", "os.", "net.", "sync.", "time.", "io.",
	"bufio.", "golang.org/x/sys/"}

// own is the innermost frame of the program itself: not in a library, nor in Go's packages that
// make calls for others. Where one has a line, those without are of a library that was linked into
// the program. ok: there is one whose function is known.
func own(frames []stack.Frame, program string) (own *stack.Frame, ok bool) {
	for i := range frames {
		f := &frames[i]
		if f.Module != program || f.Function == "" || f.Function == "_start" ||
			slices.ContainsFunc(forPrograms, func(s string) bool { return strings.HasPrefix(f.Function, s) }) {
			continue
		}
		if own == nil || f.Line > 0 {
			own = f
		}
		if f.Line > 0 {
			break
		}
	}
	return own, own != nil
}

// inFunction says in a few words in which function of the program a thread is, or "".
func (d *Debugger) inFunction(m inspect.Machine, p *inspect.Process, tid int) string {
	frames, err := d.stackOf(m, p.PID, tid)
	if err != nil {
		return ""
	}
	if f, ok := own(frames, p.Exe); ok {
		return ", in " + f.String()
	}
	return ""
}

// showBacktrace shows the stacks of a node's threads.
func (d *Debugger) showBacktrace(args string) (string, error) {
	words := strings.Fields(args)
	if len(words) == 0 || len(words) > 2 {
		return "", fmt.Errorf("backtrace wants a node, and perhaps a thread's number, not %q", args)
	}
	id, err := d.node(words[0])
	if err != nil {
		return "", err
	}
	only := 0
	if len(words) == 2 {
		if only, err = strconv.Atoi(words[1]); err != nil || only <= 0 {
			return "", fmt.Errorf("%q is not the number of a thread", words[1])
		}
	}
	var b strings.Builder
	err = d.session.Visit(id, func(m inspect.Machine) error {
		v, err := m.Look()
		if err != nil {
			return err
		}
		for i := range v.Processes {
			p := &v.Processes[i]
			for _, t := range p.Threads {
				if only != 0 && t.TID != only {
					continue
				}
				frames, err := d.stackOf(m, p.PID, t.TID)
				if err != nil {
					return err
				}
				fmt.Fprintf(&b, "thread %v\n", t)
				for i := range frames {
					fmt.Fprintf(&b, "  %2d  %s\n", i, &frames[i])
				}
			}
		}
		return nil
	})
	if err != nil || b.Len() > 0 {
		return b.String(), err
	}
	n := d.session.Now().Node(id)
	if only != 0 {
		return "", fmt.Errorf("%s has no thread %d here", words[0], only)
	}
	return fmt.Sprintf("%s: there is no thread (%s)\n", words[0], inWords(&n)), nil
}
