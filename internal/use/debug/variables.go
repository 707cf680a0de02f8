package debug

import (
	"debug/elf"
	"errors"
	"fmt"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/debuginfo"
	"github.com/ariadne-mc/ariadne/internal/leaf/inspect"
)

// variable is one of a program's, or a part of one.
type variable struct {
	site  *debuginfo.Site // nil: the program has none of this name
	progs []elf.ProgHeader
	err   error
}

// named is a variable of a program file on this machine.
type named struct{ host, name string }

// lookUp finds a variable in a program file. Reading debug information takes long, so it is kept.
func (d *Debugger) lookUp(host, name string) *variable {
	key := named{host, name}
	if v := d.variables[key]; v != nil {
		return v
	}
	v := &variable{}
	d.variables[key] = v
	f, err := elf.Open(host)
	if err != nil {
		v.err = err
		return v
	}
	defer f.Close()
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			v.progs = append(v.progs, p.ProgHeader)
		}
	}
	var sites []debuginfo.Site
	if sites, v.err = debuginfo.Sites(f, []debuginfo.Query{{Variable: name}}); len(sites) > 0 {
		v.site = &sites[0]
	}
	return v
}

// bias is what the addresses of a process are more than those of its program file.
func (v *variable) bias(m inspect.Machine, p *inspect.Process) (uint64, error) {
	all, err := m.Mappings(p.PID)
	if err != nil {
		return 0, err
	}
	const page = 4096
	for i := range all {
		a := &all[i]
		if a.Name != p.Exe {
			continue
		}
		for _, h := range v.progs {
			if h.Off&^(page-1) == a.Offset {
				return a.Start - h.Vaddr&^(page-1), nil
			}
		}
	}
	return 0, fmt.Errorf("process %d has nothing of its program in memory", p.PID)
}

// still is a process between two steps, as a debuginfo.Machine. A variable needs no registers.
type still struct {
	inspect.Machine
	pid int
}

func (s still) Register(int) uint64 { return 0 }
func (s still) Vectors() (v [16][16]byte, _ error) {
	return v, errors.New("not known between two steps")
}

// Read implements debuginfo.Machine.
func (s still) Read(b []byte, addr uint64) error {
	n, err := s.ReadMemory(s.pid, addr, b)
	if err == nil && n < len(b) {
		err = fmt.Errorf("there is no memory at %#x", addr+uint64(n))
	}
	return err
}

// valueOf is what a variable of a node holds where the debugger stands, in each process that has
// it.
func (d *Debugger) valueOf(id ariadne.NodeID, name string) (text string, err error) {
	var values, wrong []string
	err = d.session.Visit(id, func(m inspect.Machine) error {
		look, err := m.Look()
		if err != nil {
			return err
		}
		for i := range look.Processes {
			p := &look.Processes[i]
			host := d.session.OnHost(p.Exe)
			if host == "" || p.Zombie {
				continue
			}
			v := d.lookUp(host, name)
			if v.err != nil {
				wrong = append(wrong, fmt.Sprintf("%s: %v", p.Exe, v.err))
			}
			if v.site == nil {
				continue
			}
			bias, err := v.bias(m, p)
			if err != nil {
				return err
			}
			values = append(values, strings.Join(v.site.Rest(still{m, p.PID}, bias), " "))
			if len(look.Processes) > 1 {
				values[len(values)-1] += fmt.Sprintf(" (process %d)", p.PID)
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return "", err
	case len(values) > 0:
		return printable(strings.Join(values, ", ")), nil
	case len(wrong) > 0:
		return "", errors.New(strings.Join(wrong, "; "))
	}
	return "", fmt.Errorf("no process of %s has a variable %s in its debug information here", d.names[id], name)
}

// ofNode are the node and the variable that a command names.
func (d *Debugger) ofNode(args string) (id ariadne.NodeID, name string, err error) {
	node, name, _ := strings.Cut(args, " ")
	if name = strings.TrimSpace(name); name == "" {
		return 0, "", fmt.Errorf("a node and a variable are needed, as in n1 main.server.term, not %q", args)
	}
	id, err = d.node(node)
	return id, name, err
}

// print shows a variable.
func (d *Debugger) print(args string) (string, error) {
	id, name, err := d.ofNode(args)
	if err != nil {
		return "", err
	}
	text, err := d.valueOf(id, name)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s = %s\n", name, text), nil
}

// stepsOfNode are the known steps of a node after one, up to another, in order.
func (d *Debugger) stepsOfNode(id ariadne.NodeID, after, to int) (steps []int) {
	for step := after + 1; step <= to; step++ {
		if d.known[step-1].Action.Node == id {
			steps = append(steps, step)
		}
	}
	return steps
}

// change goes forward to the next known step behind which a variable holds something else.
func (d *Debugger) change(args string) (string, error) {
	return d.seek(args, func(id ariadne.NodeID, differs func(step int) (bool, error)) (int, error) {
		for _, step := range d.stepsOfNode(id, d.Step(), len(d.known)) {
			if is, err := differs(step); is || err != nil {
				return step, err
			}
		}
		return 0, errors.New("it holds the same up to the last known step")
	})
}

// origin goes back to the step that gave a variable what it holds.
func (d *Debugger) origin(args string) (string, error) {
	return d.seek(args, func(id ariadne.NodeID, differs func(step int) (bool, error)) (int, error) {
		steps := append([]int{0}, d.stepsOfNode(id, 0, d.Step())...)
		for i := len(steps) - 1; i > 0; i-- {
			if is, err := differs(steps[i-1]); is || err != nil {
				return steps[i], err
			}
		}
		return 0, errors.New("it has held the same since the beginning")
	})
}

// seek goes to the step that find returns, and says what a variable held before and holds then.
// differs tells find whether the variable holds something else behind a step than here.
func (d *Debugger) seek(args string,
	find func(id ariadne.NodeID, differs func(step int) (bool, error)) (int, error)) (string, error) {
	id, name, err := d.ofNode(args)
	if err != nil {
		return "", err
	}
	stood := d.Step()
	was, err := d.valueOf(id, name)
	if err != nil {
		return "", err
	}
	other := was
	step, err := find(id, func(step int) (bool, error) {
		if err := d.Goto(step); err != nil {
			return false, err
		}
		value, err := d.valueOf(id, name)
		other = orMissing(value, err)
		return other != was, nil
	})
	if err != nil {
		return "", errors.Join(err, d.Goto(stood))
	}
	if err := d.Goto(step); err != nil {
		return "", err
	}
	before, after := was, other
	if step <= stood {
		before, after = other, was
	}
	return fmt.Sprintf("%s = %s, was %s\n%s\n", name, after, before, d.Position()), nil
}

// noValue stands for the value of a variable that a node does not have.
const noValue = "missing"

// orMissing is a value, or says that there is none.
func orMissing(value string, err error) string {
	if err != nil {
		return noValue
	}
	return value
}
