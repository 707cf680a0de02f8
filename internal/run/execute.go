package run

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"

	"ariadne"
	host "ariadne/internal/machine"
	"ariadne/internal/replay"
	"ariadne/internal/search"
	"ariadne/internal/search/strategy"
	"ariadne/internal/space"
	"ariadne/internal/trace"
)

// bug is an error that is Ariadne's own fault.
type bug struct{ error }

// asBug makes err a bug, unless it is the host's or that of a file.
func asBug(err error) error {
	var setup *ariadne.SetupError
	var killed *ariadne.KilledError
	if err != nil && !errors.As(err, &killed) {
		err = AsLimit(err)
	}
	var limit *ariadne.LimitError
	if err == nil || errors.As(err, &limit) || errors.Is(err, ariadne.ErrInterrupted) || errors.As(err, &setup) || errors.As(err, &killed) || errors.Is(err, trace.ErrDamagedCalls) {
		return err
	}
	return bug{err}
}

// AsLimit makes err a LimitError when it comes from a limit of the host's.
func AsLimit(err error) error {
	var limit *ariadne.LimitError
	if err == nil || errors.As(err, &limit) {
		return err
	}
	if why := host.Limited(err); why != "" {
		what, _, _ := strings.Cut(err.Error(), "\n") // one is enough when there are several
		return &ariadne.LimitError{Err: fmt.Errorf("%s: %s", what, why)}
	}
	return err
}

// attempt is what one execution came to.
type attempt struct {
	search.Result
	refusals map[ariadne.NodeID][]ariadne.Refusal
	counted  bool // the refusals are in the report already
}

// refused adds what a step met that is not modelled.
func (a *attempt) refused(id ariadne.NodeID, step []ariadne.Refusal) {
	if len(step) == 0 {
		return
	}
	if a.refusals == nil {
		a.refusals = map[ariadne.NodeID][]ariadne.Refusal{}
	}
	a.refusals[id] = addRefusals(a.refusals[id], step)
}

// execution is one way through the system, from its start to an end.
type execution struct {
	explorer strategy.Explorer
	watch    func(ariadne.Step) // or nil
	stopped  func() bool
}

// execute executes the system once, on the thread of the goroutine.
func (y *system) execute(e execution) (a attempt, err error) {
	err = y.live(func(s *space.Space) error {
		x := search.Execution{
			Space: s, Explorer: e.explorer, Checks: y.checks, Limits: y.limits(), Stopped: e.stopped,
			Watch: func(s ariadne.Step) bool {
				a.refused(s.Action.Node, s.Output.Refusals)
				if e.watch != nil {
					e.watch(s)
				}
				return true
			},
		}
		a.Result, err = x.Run()
		return asBug(err)
	})
	return a, err
}

// follow executes the system along a trace. calls may be nil.
func (y *system) follow(t *trace.Trace, calls *trace.CallReader, watch func(ariadne.Step), stopped func() bool) (a attempt, m *replay.Mismatch, err error) {
	err = y.live(func(s *space.Space) error {
		r := replay.Replay{
			Space: s, Trace: t, Checks: y.checks, Calls: calls, CallName: y.opts.CallName,
			Stopped: stopped,
			Watch: func(s ariadne.Step) {
				a.refused(s.Action.Node, s.Output.Refusals)
				if watch != nil {
					watch(s)
				}
			},
		}
		a.Result, m, err = r.Run()
		return asBug(err)
	})
	return a, m, err
}

// live lends f the space of living nodes. A panic is an error that says where.
func (y *system) live(f func(*space.Space) error) (err error) {
	nodes := y.living(nil)
	defer func() {
		if p := recover(); p != nil {
			err = bug{fmt.Errorf("panic: %v\n%s", p, debug.Stack())}
		}
		if e := nodes.Close(); err == nil && e != nil {
			err = asBug(e)
		}
	}()
	return f(space.Live(y.world(), nodes))
}

// onThread runs f on a goroutine and thread of its own, which end with it: the
// nodes belong to the thread that makes them. It is the place of worker i.
func (y *system) onThread(i int, f func() error) (err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if p, ok := y.opts.Nodes.(Places); ok {
			if err = p.Enter(i); err != nil {
				return
			}
		}
		err = f()
	}()
	<-done
	return err
}

// tape keeps what a replay of an execution needs, in memory.
type tape struct {
	steps []trace.Step
	used  used
	file  bytes.Buffer
	calls *trace.CallWriter
}

func newTape(d *digests) *tape {
	t := &tape{used: newUsed(d)}
	// Writing to a buffer does not fail.
	t.calls, _ = trace.NewCallWriter(&t.file)
	return t
}

func (t *tape) step(s ariadne.Step) {
	t.steps = append(t.steps, trace.NewStep(s))
	t.calls.Step(s.Output.CallTrace)
	t.used.step(s)
}

// end returns the trace and the file of its calls.
func (t *tape) end(h trace.Header, r *search.Result, nodes []string) (*trace.Trace, []byte) {
	t.calls.Close()
	return &trace.Trace{Header: h, Steps: t.steps, Files: t.used.binding(), End: r.End, Violation: namedViolation(r.Violation, nodes)}, t.file.Bytes()
}

// saveTrace writes them to a directory, with what was learnt of the host, and returns the
// trace's path.
func saveTrace(dir string, t *trace.Trace, calls, host []byte) (string, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", err
	}
	path := filepath.Join(dir, traceFile)
	if err := writeFile(path+trace.CallsSuffix, calls); err != nil {
		return "", err
	}
	if err := writeFile(path+trace.HostSuffix, host); err != nil {
		return "", err
	}
	return path, writeFile(path, trace.Format(t))
}

func namedViolation(v *ariadne.Violation, nodes []string) *trace.Violation {
	return trace.NewViolation(v, func(id ariadne.NodeID) string { return nodeName(id, nodes) })
}

func nodeName(id ariadne.NodeID, nodes []string) string {
	if id == ariadne.NoNode {
		return ""
	}
	return nodes[id]
}
