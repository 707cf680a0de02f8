package session

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/leaf/debuginfo/stack"
	"github.com/ariadne-mc/ariadne/internal/leaf/inspect"
)

// Entry is a call of a function: the stack of the thread that entered it, innermost frame first.
type Entry struct {
	PID, TID int
	Frames   []stack.Frame
}

// Functions are the addresses, by process, of the functions of a node that a name means, where the
// session stands. A process that has none is not in it; nil: no process runs.
func (s *Session) Functions(id ariadne.NodeID, name string) (all map[int][]uint64, err error) {
	err = s.Visit(id, func(m inspect.Machine) (err error) {
		all, err = s.functions(m, name)
		return err
	})
	return all, err
}

func (s *Session) functions(m inspect.Machine, name string) (map[int][]uint64, error) {
	look, err := m.Look()
	if err != nil {
		return nil, err
	}
	var all map[int][]uint64
	for i := range look.Processes {
		p := &look.Processes[i]
		if p.Zombie {
			continue
		}
		if all == nil {
			all = map[int][]uint64{}
		}
		modules, err := s.modules(m, p.PID)
		if err != nil {
			return nil, err
		}
		for i := range modules {
			if found := modules[i].Addresses(name); len(found) > 0 {
				all[p.PID] = append(all[p.PID], found...)
			}
		}
	}
	return all, nil
}

// Enters is the first call, in a step of the line, of a function that a name means; nil: the step
// enters none. It executes the step once more, on copies of its node. Processes that begin in the
// step are not looked into, nor are functions that the compiler has put into others.
func (s *Session) Enters(step int, name string) (found *Entry, err error) {
	if step < 1 || step > len(s.Now().Line) {
		return nil, fmt.Errorf("%w: %d", ErrNoSuchStep, step)
	}
	err = s.before(step, func(in ariadne.Input, did *ariadne.Step) error {
		local := s.path.Last().State.Locals[did.Action.Node]
		if local.Parent == nil { // nothing has happened to it
			return nil
		}
		return s.executor.Visit(local, func(m memo.Instance) error {
			machine, ok := m.(inspect.Steppable)
			if !ok {
				return nil
			}
			wanted, err := s.functions(machine, name)
			if err != nil || len(wanted) == 0 {
				return err
			}
			frozen, err := m.(memo.Freezable).Freeze()
			if err != nil {
				return err
			}
			for _, pid := range slices.Sorted(maps.Keys(wanted)) {
				if err == nil && found == nil {
					found, err = s.entry(frozen, pid, wanted[pid], in, did)
				}
			}
			return errors.Join(err, frozen.Drop())
		})
	})
	return found, err
}

// entry lets a copy do a step, and finds the first arrival of a process at one of some addresses.
func (s *Session) entry(at memo.Frozen, pid int, addresses []uint64, in ariadne.Input, did *ariadne.Step) (*Entry,
	error) {
	node, err := at.Thaw()
	if err != nil {
		return nil, err
	}
	m := node.(inspect.Steppable)
	a := &arrivals{session: s, machine: m, pid: pid}
	err = m.Debug(pid, a)
	for _, addr := range addresses {
		err = errors.Join(err, m.SetBreakpoint(addr))
	}
	if err == nil {
		err = once(node, in, did)
	}
	if errors.Is(err, errArrived) {
		err = nil
	}
	return a.found, errors.Join(err, node.Close())
}

// errArrived ends the step of a copy that has shown what was asked.
var errArrived = errors.New("the copy is given up")

// arrivals sees a process arrive at breakpoints.
type arrivals struct {
	session *Session
	machine inspect.Steppable
	pid     int
	found   *Entry
}

// GoesOn implements inspect.Debugger.
func (a *arrivals) GoesOn(tid int, why inspect.Arrival) (step bool, err error) {
	if why != inspect.AtBreak {
		return false, nil
	}
	frames, err := a.session.Stack(a.machine, a.pid, tid)
	if err != nil {
		return false, err
	}
	a.found = &Entry{PID: a.pid, TID: tid, Frames: frames}
	return false, errArrived
}
