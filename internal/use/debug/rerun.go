package debug

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/leaf/inspect"
	"github.com/ariadne-mc/ariadne/internal/use/session"
)

// What a node does in its steps is executed on copies of it, thread by thread. Going back is to
// execute the same again on another copy, up to a place before. So a place has a name that is the
// same in each execution: the step, how often a thread went on from a call in it, and how many
// instructions it has executed since.

// place is where an execution of a node's steps stands.
type place struct {
	step int // index of the step that comes next or is under way
	// stretch counts how often threads have gone on from a call in this step; 0: it has not begun.
	stretch int
	// executed counts the instructions since then; not known behind a breakpoint to which the
	// thread ran.
	executed int
}

// before reports whether a place comes before another one.
func (p place) before(q place) bool {
	return cmp.Or(cmp.Compare(p.step, q.step), cmp.Compare(p.stretch, q.stretch),
		cmp.Compare(p.executed, q.executed)) < 0
}

// request is what the user of a debugger wants next.
type request int

const (
	leave request = iota
	proceed
	stepThread  // until rerun.thread has executed one instruction
	reverseStep // one instruction back
	reverse     // back to the last arrival at a breakpoint
	restart     // back to where it began
)

// why is what an execution has stopped for.
type why int

const (
	stopped     why = iota // one instruction is executed, or undone
	broke                  // at a breakpoint
	changed                // memory that is watched has changed, or would change next
	begins                 // nothing is known that was before
	ends                   // nothing is known that comes next
	exits                  // the process has ended
	interrupted            // the user wants it to stop
)

// rerun executes steps of a node. It stands between two steps, or is in one: then all is called
// from within GoesOn.
type rerun struct {
	pid     int
	command int           // of the spec, or -1
	exit    *ariadne.Exit // of the command, once it has ended
	ahead   []session.Ahead
	starts  []memo.Frozen // before every Apart-th step; those behind the first are our own
	// stopped asks the user what to do where the execution stands.
	stopped func(w why) (request, error)
	// interrupt reports, once, that the user wants the execution to stop; nil: never.
	interrupt func() bool

	copy   inspect.Steppable
	node   memo.Freezable // the same
	breaks map[uint64]bool
	// watches are pieces of memory whose content is looked at behind each instruction, by address:
	// what each held last.
	watches map[uint64][]byte
	// hit is the address of the one that has changed.
	hit uint64

	at     place
	known  bool // at.executed
	thread int  // that ran last
	single int  // the thread that is to execute one instruction, anyThread, or 0
	moved  bool // it may have, since that was asked
	asked  bool // the thread that goes on was to execute one instruction
	next   request
	// pilot decides in the user's place how a thread goes on, and whether the user is asked, for a
	// reason; nil: the user decides.
	pilot  func(w inspect.Arrival) (step, here bool, err error)
	reason why
	// stretches are those of the step under way or just executed, and counts those of all steps
	// that were executed whole.
	stretches int
	counts    []int
}

// anyThread stands for whichever thread goes on next.
const anyThread = -1

// errLeft ends a step of a copy that is given up, since the user wants something else.
var errLeft = errors.New("the copy is given up")

// run asks and executes until the user leaves.
func (r *rerun) run() (err error) {
	if err := r.copyBefore(0); err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, r.node.Close())
		for _, f := range r.starts[1:] {
			err = errors.Join(err, f.Drop())
		}
	}()
	next, err := r.stopped(stopped)
	for err == nil && next != leave {
		switch next {
		case proceed, stepThread:
			next, err = r.forward()
		case reverseStep:
			next, err = r.stepBack()
		case reverse:
			next, err = r.back()
		case restart:
			next, err = r.to(place{}, begins)
		}
	}
	return err
}

// copyBefore makes a new copy of the node, in its state before a step.
func (r *rerun) copyBefore(step int) error {
	near := min(step/Apart, len(r.starts)-1)
	node, err := r.starts[near].Thaw()
	if err != nil {
		return err
	}
	if r.node != nil {
		err = r.node.Close()
	}
	r.node, r.copy = node, node.(inspect.Steppable)
	r.at, r.known = place{step: near * Apart}, true
	for r.at.step < step && err == nil {
		err = r.whole()
	}
	return errors.Join(err, r.copy.Debug(r.pid, r))
}

// insert sets the user's breakpoints in the copy.
func (r *rerun) insert() (err error) {
	for _, addr := range slices.Sorted(maps.Keys(r.breaks)) {
		err = errors.Join(err, r.copy.SetBreakpoint(addr))
	}
	return err
}

// GoesOn implements inspect.Debugger.
func (r *rerun) GoesOn(tid int, w inspect.Arrival) (step bool, err error) {
	r.thread = tid
	if w == inspect.Begins {
		r.at.stretch++
		r.stretches = r.at.stretch
		r.at.executed, r.known = 0, true
	} else if r.asked {
		r.at.executed++
	} else {
		r.known = false
	}
	defer func() { r.asked = step }()
	if r.pilot != nil {
		step, here, err := r.pilot(w)
		if err != nil || !here {
			return step, err
		}
		r.pilot = nil
		return r.ask(r.reason)
	}
	if r.wantsStop() {
		return r.ask(interrupted)
	}
	if r.look() {
		return r.ask(changed)
	}
	if w == inspect.AtBreak {
		return r.ask(broke)
	}
	single := r.single == tid || r.single == anyThread
	if single && r.moved {
		return r.ask(stopped)
	}
	r.moved = r.moved || single
	return single || len(r.watches) > 0, nil
}

// wantsStop reports, once, that the user wants the execution to stop.
func (r *rerun) wantsStop() bool { return r.interrupt != nil && r.interrupt() }

// watch looks at a piece of memory from now on.
func (r *rerun) watch(addr uint64, size int) {
	r.watches[addr] = make([]byte, size)
	r.look()
}

// look reports whether a piece of memory that is watched has changed since it was looked at last.
func (r *rerun) look() (is bool) {
	for _, addr := range slices.Sorted(maps.Keys(r.watches)) {
		was := r.watches[addr]
		b := make([]byte, len(was))
		if _, err := r.copy.ReadMemory(r.pid, addr, b); err != nil {
			continue // it is not there any more
		}
		if !is && !slices.Equal(b, was) {
			is, r.hit = true, addr
		}
		r.watches[addr] = b
	}
	return is
}

// ask stops within a step.
func (r *rerun) ask(w why) (step bool, err error) {
	if r.next, err = r.stopped(w); err != nil {
		return false, err
	}
	switch r.next {
	case proceed:
		r.single = 0
		return len(r.watches) > 0, nil
	case stepThread:
		r.moved = r.single == r.thread || r.single == anyThread
		return r.moved || len(r.watches) > 0, nil
	}
	return false, errLeft
}

// forward goes on from where the execution stands between two steps.
func (r *rerun) forward() (request, error) {
	r.moved = false
	for r.at.step < len(r.ahead) {
		left, err := r.apply()
		if left || err != nil {
			return r.next, err
		}
		if p, ok := r.copy.Process(r.pid); !ok || p.Zombie {
			return r.stopped(exits)
		}
	}
	r.single = 0
	return r.stopped(ends)
}

// whole executes the next step up to its end.
func (r *rerun) whole() error {
	a := &r.ahead[r.at.step]
	r.stretches = 0
	out, err := r.node.Apply(a.Input)
	if err != nil {
		return err
	}
	if out.Digest != a.Digest {
		return fmt.Errorf("executed once more, step %d does something else than before", a.Step)
	}
	r.at, r.known = place{step: r.at.step + 1}, true
	for i := range out.Exits {
		if e := &out.Exits[i]; e.Command == r.command {
			r.exit = e
		}
	}
	return nil
}

// apply executes the next step. left: the user has left it.
func (r *rerun) apply() (left bool, err error) {
	err = r.whole()
	if errors.Is(err, errLeft) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	if r.at.step > len(r.counts) {
		r.counts = append(r.counts, r.stretches)
	}
	if r.at.step != len(r.starts)*Apart {
		return false, nil
	}
	if err := r.copy.Debug(0, nil); err != nil { // a checkpoint has no breakpoints
		return false, err
	}
	switch f, err := r.node.Freeze(); {
	case err == nil:
		r.starts = append(r.starts, f)
	case !errors.Is(err, ariadne.ErrNotFreezable): // then later steps begin at an earlier start
		return false, err
	}
	return false, errors.Join(r.copy.Debug(r.pid, r), r.insert())
}

// again executes a step on another copy. The pilot says at each arrival whether the thread goes on
// by one instruction, and whether the user is asked here, for the reason w. ended: the step came to
// its end.
func (r *rerun) again(step int, breaks bool, w why,
	pilot func(w inspect.Arrival) (step, here bool, err error)) (ended bool, err error) {
	if err := r.copyBefore(step); err != nil {
		return false, err
	}
	if breaks {
		if err := r.insert(); err != nil {
			return false, err
		}
	}
	r.single, r.pilot, r.reason = 0, pilot, w
	r.look()
	left, err := r.apply()
	r.pilot = nil
	return !left, err
}

// to stops at a place whose instructions are counted.
func (r *rerun) to(p place, w why) (request, error) {
	if p.stretch == 0 {
		if err := r.copyBefore(p.step); err != nil {
			return leave, err
		}
		if p.step == 0 {
			w = begins
		}
		return r.stopped(w)
	}
	ended, err := r.again(p.step, false, w, func(inspect.Arrival) (step, here bool, err error) {
		reached := r.at.stretch == p.stretch
		return reached, reached && r.at.executed == p.executed, nil
	})
	return r.onward(ended, err)
}

// onward is what comes next behind an execution that stopped where the user was asked.
func (r *rerun) onward(ended bool, err error) (request, error) {
	if err != nil || !ended {
		return r.next, err
	}
	// The user was asked in the step, and went on to its end.
	if p, ok := r.copy.Process(r.pid); !ok || p.Zombie {
		return r.stopped(exits)
	}
	return r.forward()
}

// stepBack goes one instruction back. Behind a call the instruction before is the call.
func (r *rerun) stepBack() (request, error) {
	if err := r.count(); err != nil {
		return leave, err
	}
	p := r.at
	switch {
	case p.executed > 0:
		p.executed--
		return r.to(p, stopped)
	case p.stretch > 1:
		p.stretch--
	case p.step == 0:
		return r.to(place{}, begins)
	default:
		p.step--
		p.stretch = r.counts[p.step]
	}
	for p.stretch == 0 && p.step > 0 { // the process did nothing in that step
		p.step--
		p.stretch = r.counts[p.step]
	}
	if p.stretch == 0 {
		return r.to(place{}, begins)
	}
	n, err := r.length(p)
	if err != nil {
		return leave, err
	}
	p.executed = n - 1
	return r.to(p, stopped)
}

// length counts the instructions of a stretch.
func (r *rerun) length(p place) (n int, err error) {
	_, err = r.again(p.step, false, stopped, func(inspect.Arrival) (step, here bool, err error) {
		switch {
		case r.at.stretch > p.stretch:
			return false, false, errLeft
		case r.at.stretch == p.stretch:
			n = r.at.executed
			return true, false, nil
		}
		return false, false, nil
	})
	return n + 1, err // the last one, which makes a call, comes to no arrival
}

// count finds out how many instructions were executed since the thread went on from a call, where a
// breakpoint has stopped it: that many behind which its registers and its stack are the same.
func (r *rerun) count() error {
	if r.known {
		return nil
	}
	stands := r.at
	want, err := r.fingerprint()
	if err != nil {
		return err
	}
	found := false
	_, err = r.again(stands.step, false, stopped, func(inspect.Arrival) (step, here bool, err error) {
		if r.at.stretch < stands.stretch {
			return false, false, nil
		}
		is, err := r.fingerprint()
		if err == nil && r.at.stretch == stands.stretch && is == want {
			stands.executed, found = r.at.executed, true
			err = errLeft
		}
		if r.at.stretch > stands.stretch {
			err = errLeft
		}
		return true, false, err
	})
	if err == nil && !found {
		err = errors.New("the place was not found again")
	}
	r.at, r.known = stands, true
	return err
}

// fingerprint is what tells places of a stretch apart: registers, and what is on the stack.
func (r *rerun) fingerprint() (string, error) {
	regs, err := r.copy.Registers(r.thread)
	if err != nil {
		return "", err
	}
	sp, _ := regs.Of("rsp")
	stack := make([]byte, 512)
	n, err := r.copy.ReadMemory(r.pid, sp, stack)
	return fmt.Sprint(regs.Named, stack[:n]), err
}

// event is an arrival at a breakpoint, or a change of memory that is watched.
type event struct {
	place   place // before the change
	arrival int   // at a breakpoint: the how manyeth of the step, from 1
	why     why
	hit     uint64
}

// back goes to the last arrival at a breakpoint before, or to before the last change.
func (r *rerun) back() (request, error) {
	if err := r.count(); err != nil {
		return leave, err
	}
	until := r.at
	for step := until.step; step >= 0; step-- {
		if step == len(r.ahead) || step == until.step && until.stretch == 0 {
			continue
		}
		if r.wantsStop() {
			return r.to(until, interrupted)
		}
		last, err := r.lastEvent(step, until)
		if err != nil {
			return leave, err
		}
		switch {
		case last == nil:
		case len(r.watches) > 0: // so each instruction was counted
			r.hit = last.hit
			return r.to(last.place, last.why)
		default:
			n := 0
			ended, err := r.again(step, true, broke, func(w inspect.Arrival) (one, here bool, err error) {
				if w == inspect.AtBreak {
					n++
				}
				return false, n == last.arrival && w == inspect.AtBreak, nil
			})
			return r.onward(ended, err)
		}
	}
	return r.to(place{}, begins)
}

// lastEvent is the last event of a step before a place, or nil.
func (r *rerun) lastEvent(step int, until place) (last *event, err error) {
	var before place
	arrivals := 0
	_, err = r.again(step, true, stopped, func(w inspect.Arrival) (one, here bool, err error) {
		in := step == until.step && r.at.stretch == until.stretch
		if r.look() && before.stretch > 0 {
			last = &event{place: before, why: changed, hit: r.hit}
		}
		if before = r.at; in && r.at.executed == until.executed || step == until.step && r.at.stretch > until.stretch {
			return false, false, errLeft
		}
		if w == inspect.AtBreak {
			arrivals++
			last = &event{place: r.at, arrival: arrivals, why: broke}
		}
		return in || len(r.watches) > 0, false, nil
	})
	return last, err
}
