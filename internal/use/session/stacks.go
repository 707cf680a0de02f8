package session

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
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

// OnHost is where on this machine a program of a node lies, or "".
func (s *Session) OnHost(program string) string {
	if below, ok := strings.CutPrefix(program, "/spec/"); ok {
		program = filepath.Join(s.system.Spec.Dir, below)
	}
	if _, err := os.Stat(program); err != nil {
		return ""
	}
	return program
}

// modules are the program files of which a process has mapped code.
func (s *Session) modules(m inspect.Machine, pid int) (modules []stack.Module, err error) {
	all, err := m.Mappings(pid)
	for i := range all {
		a := &all[i]
		if !a.Execute || !strings.HasPrefix(a.Name, "/") {
			continue
		}
		if code := s.programs.of(a.Name, s.OnHost(a.Name)); code != nil {
			modules = append(modules, stack.Module{Code: code, Start: a.Start, End: a.End, Offset: a.Offset})
		}
	}
	return modules, err
}

// Stack follows the stack of a process's thread. m is lent by this session.
func (s *Session) Stack(m inspect.Machine, pid, tid int) ([]stack.Frame, error) {
	modules, err := s.modules(m, pid)
	if err != nil {
		return nil, err
	}
	named, err := m.Registers(tid)
	if err != nil {
		return nil, err
	}
	var r stack.Registers
	for i, name := range stack.Names {
		r[i], _ = named.Of(name)
	}
	return stack.Of(r, modules, memoryOf(m, pid)), nil
}

// memoryOf reads the memory of a process.
func memoryOf(m inspect.Machine, pid int) func(b []byte, address uint64) error {
	return func(b []byte, address uint64) error {
		n, err := m.ReadMemory(pid, address, b)
		if err == nil && n < len(b) {
			err = fmt.Errorf("there is no memory at %#x", address+uint64(n))
		}
		return err
	}
}

// plumbing are the beginnings of functions of Go that make calls, or wait, for others, and
// libraries of those of packages that do more, and call for others as well.
var (
	plumbing = []string{"runtime.", "runtime/", "internal/", "syscall.", "os.", "net.", "sync.", "time.", "io.",
		"bufio.", "golang.org/x/sys/"}
	libraries = []string{"fmt.", "log.", "log/", "net/", "crypto/", "encoding/", "compress/", "database/"}
)

// Own is the innermost frame of the program itself: not in a library, nor in Go's packages that
// make calls for others. Where one has a line, those without are of a library that was linked into
// the program. nil: none is known.
func Own(frames []stack.Frame, program string) *stack.Frame {
	return innermost(frames, program, slices.Concat(plumbing, libraries))
}

// Nearest is Own or, where all frames are of libraries, the innermost of these, as of an HTTP
// server that waits for requests.
func Nearest(frames []stack.Frame, program string) *stack.Frame {
	if f := Own(frames, program); f != nil {
		return f
	}
	return innermost(frames, program, plumbing)
}

// innermost is the innermost frame of a program whose function begins with none of some words.
func innermost(frames []stack.Frame, program string, not []string) (found *stack.Frame) {
	for i := range frames {
		f := &frames[i]
		// Code of a standard library may be compiled with the program: of C++ and of Rust.
		if f.Module != program || f.Function == "" || f.Function == "_start" ||
			strings.HasPrefix(f.File, "/usr/include/") || strings.HasPrefix(f.File, "/rustc/") ||
			slices.ContainsFunc(not, func(s string) bool { return strings.HasPrefix(f.Function, s) }) {
			continue
		}
		if found == nil || f.Line > 0 {
			found = f
		}
		if f.Line > 0 {
			break
		}
	}
	return found
}

// Origins says where in a program's code a step brought something about: a function and its line,
// as in "main.(*server).vote (server.go:41)". "": it is not known, no function of the program
// itself did it, as when an HTTP server sends what its handler has left, or the kernel did it
// outside of a call.
type Origins struct {
	Messages []string // of each of the step's output
	Lines    []string // of each of the step's output
	Changes  []Change // of files, in order
	Exits    []string // of each of the step's output
}

// Change is an operation on a file, and where it was called.
type Change struct {
	Operation string // in words, as outputs name what a loss of power takes
	Code      string
}

// Origins executes a step of the line once more, on a copy of its node, and says where what it did
// was called. nil: the node is of a kind that cannot be watched, or was not switched on before.
func (s *Session) Origins(step int) (o *Origins, err error) {
	if step < 1 || step > len(s.Now().Line) {
		return nil, fmt.Errorf("%w: %d", ErrNoSuchStep, step)
	}
	err = s.before(step, func(in ariadne.Input, did *ariadne.Step) (err error) {
		o, err = s.origins(in, did)
		return err
	})
	return o, err
}

// before has f look into a step of the line that a node does: the session stands before it.
func (s *Session) before(step int, f func(in ariadne.Input, did *ariadne.Step) error) error {
	return s.do(fmt.Sprintf("look into step %d", step), func() (err error) {
		stands := s.path.Steps()
		if err := s.follow(step); err != nil {
			return err
		}
		t, did := s.path.Transition(step), s.path.Step(step)
		if err := s.follow(step - 1); err != nil {
			return err
		}
		if did.Action.Node != ariadne.NoNode {
			err = f(t.Input.Input(), &did)
		}
		return errors.Join(err, s.follow(stands))
	})
}

// origins watches a copy of the node of the next step in that step.
func (s *Session) origins(in ariadne.Input, did *ariadne.Step) (o *Origins, err error) {
	id := did.Action.Node
	local := s.path.Last().State.Locals[id]
	if local.Parent == nil { // nothing has happened to it
		node, err := s.boots[id]()
		if err != nil {
			return nil, err
		}
		return s.watched(node, in, did)
	}
	err = s.executor.Visit(local, func(m memo.Instance) error {
		if _, ok := m.(inspect.Steppable); !ok {
			return nil
		}
		frozen, err := m.(memo.Freezable).Freeze()
		if err != nil {
			return err
		}
		node, err := frozen.Thaw()
		if err == nil {
			o, err = s.watched(node, in, did)
		}
		return errors.Join(err, frozen.Drop())
	})
	return o, err
}

// watched lets a copy do a step, and gives it up.
func (s *Session) watched(node memo.Instance, in ariadne.Input, did *ariadne.Step) (*Origins, error) {
	m, ok := node.(inspect.Steppable)
	if !ok {
		return nil, node.Close()
	}
	o := &Origins{Messages: make([]string, len(did.Output.Messages)), Lines: make([]string, len(did.Output.Logs)),
		Exits: make([]string, len(did.Output.Exits))}
	left := map[ariadne.Flow]string{} // what goes out at the end of the step
	m.Watch(func(e *inspect.Effect) error {
		code, err := s.code(m, e.PID, e.TID)
		for _, f := range e.Flows {
			left[f] = code
		}
		for i := e.Messages[0]; i < min(e.Messages[1], len(o.Messages)); i++ {
			o.Messages[i] = code
		}
		for i := e.Lines[0]; i < min(e.Lines[1], len(o.Lines)); i++ {
			o.Lines[i] = code
		}
		for _, op := range e.Operations {
			o.Changes = append(o.Changes, Change{op, code})
		}
		if p, _ := m.Process(e.PID); e.Ends {
			i := slices.IndexFunc(did.Output.Exits, func(x ariadne.Exit) bool { return x.Command == p.Command })
			if i >= 0 {
				o.Exits[i] = code
			}
		}
		return err
	})
	err := once(node, in, did)
	for i := range o.Messages {
		if o.Messages[i] == "" {
			o.Messages[i] = left[did.Output.Messages[i].Flow]
		}
	}
	return o, errors.Join(err, node.Close())
}

// once lets a copy of a node do a step that the node has done.
func once(node memo.Instance, in ariadne.Input, did *ariadne.Step) error {
	out, err := node.Apply(in)
	if err == nil && out.Digest != did.Output.Digest {
		err = fmt.Errorf("executed once more on a copy of its node, step %d does something else than before", did.Index)
	}
	return err
}

// code is where in its program's own code a thread is, or "". A function without a line is mostly
// one of an interpreter or a runtime, and says nothing.
func (s *Session) code(m inspect.Steppable, pid, tid int) (string, error) {
	p, _ := m.Process(pid)
	frames, err := s.Stack(m, pid, tid)
	if own := Own(frames, p.Exe); own != nil && own.Line > 0 {
		return own.String(), err
	}
	return "", err
}
