//go:build linux

package disk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
	"github.com/ariadne-mc/ariadne/internal/leaf/disk/block"
	"github.com/ariadne-mc/ariadne/internal/leaf/disk/fsmodel"
	"github.com/ariadne-mc/ariadne/internal/system/stack"

	"golang.org/x/sys/unix"
)

// execution is a workload that was recorded.
type execution struct {
	plan    *plan
	base    []*block.Disk
	log     []block.Op
	history *fsmodel.History // of the ready-made checker
	results []bool           // which of its calls failed
	// failed says how the workload failed while it ran, or is "".
	failed string
}

// crashNow is the line by which a workload asks for images.
const crashNow = "crash now"

// hearing takes the lines that a workload writes to /dev/ariadne.
type hearing struct {
	plan *plan
	to   *stack.Recorder
	said disk.Epoch
}

// hear logs marks and answers choices.
func (h *hearing) hear(line string) (answer, why string) {
	words := strings.Fields(line)
	switch {
	case strings.HasPrefix(line, callLine), strings.HasPrefix(line, doneLine):
	case len(words) > 1 && words[0] == "choose":
		return h.choose(words[1:])
	default:
		if why := disk.CheckMark(line); why != "" {
			return "", why
		}
		if why := h.said.Say(line); why != "" {
			return "", why
		}
	}
	h.to.Mark(line)
	return "", ""
}

// mostChoices is of how many things there may be a choice.
const mostChoices = 1000

// choose answers a choice: by the plan, or with the first alternative.
func (h *hearing) choose(things []string) (answer, why string) {
	n := len(things)
	if k, err := strconv.Atoi(things[0]); n == 1 && err == nil {
		things, n = nil, k
	}
	if n < 1 || n > mostChoices {
		return "", fmt.Sprintf("want 1 to %d things", mostChoices)
	}
	k := h.plan.choose(n, false)
	if things == nil {
		return strconv.Itoa(k), ""
	}
	return things[k], ""
}

// execute runs a workload on the stack, and records it. It ends the workload at a signature that is
// known.
func (j *judge) execute(ctx context.Context, p *plan) (*execution, error) {
	w := j.recorder
	e := &execution{plan: p, base: j.base}
	disks := clones(j.base)
	to := new(stack.Recorder)
	h := &hearing{plan: p, to: to}
	w.Hear(h.hear)
	defer w.Hear(nil)
	nodes := w.Serve(disks, to, false)
	defer w.Drop(nodes)
	p.requests = stack.NewRequests("", 0, 0, 0)
	if p.fault != nil {
		p.requests = stack.NewRequests(p.fault.kind, p.fault.at, j.Spec.Sector, j.Spec.Seed)
	}
	w.Count(nodes, p.requests)
	do := func(steps ...stack.Step) ([]stack.Result, error) {
		results, err := w.Do(ctx, steps, limitOf(steps, &j.Spec.Config))
		if err != nil {
			return nil, err
		}
		if f := failure(steps, results); f != nil {
			return nil, fmt.Errorf("%s: %s", p.name, f)
		}
		return results, nil
	}
	exact := slices.ContainsFunc(j.Spec.Faults, stack.Fault.OfReads)
	if _, err := do(stack.Step{Kind: stack.Mount, Nodes: nodes, Exact: exact}); err != nil {
		return nil, err
	}
	p.requests.Count(true)
	var last []stack.Result
	for n, m := range j.subject.record(p) {
		steps := m.steps
		if m.threads {
			steps = p.addThreads(j.Spec, n+1, steps)
		}
		results, err := do(steps...)
		if struck := p.strike(); err != nil && struck && !Interrupted(err) {
			j.tell(e, strings.TrimPrefix(err.Error(), p.name+": "))
			break
		}
		if err != nil {
			return nil, errors.Join(err, unmount(ctx, w))
		}
		last = results
		if m.signed && p.fault == nil && j.known(results[len(results)-1].Output, n, p) &&
			n+1 < j.Spec.Checker.Mutations {
			j.Equal++
			break
		}
	}
	p.requests.Count(false)
	struck := p.strike()
	if _, err := do(stack.Step{Kind: stack.Unmount}); err != nil && struck && !Interrupted(err) {
		// Its file system cannot go on. Another worker executes what follows.
		w.Close()
		if j.recorder, err = j.startWorker(true); err != nil {
			return nil, err
		}
	} else if err != nil {
		return nil, err
	}
	if struck {
		j.Faulty++
		p.name += " (" + p.requests.Struck() + ")"
	} else if p.fault != nil {
		j.FaultsMissed++
	}
	e.log = to.Ops()
	if p.calls != nil {
		e.history = j.subject.(files).history()
		if err := lacking(p.calls, last[0].Errnos); err != nil {
			return nil, fmt.Errorf("%s: %w", p.name, err)
		}
		e.recall(last[0])
		if told := len(last[0].Errnos); p.fault != nil && told > 0 && stack.IsFault(last[0].Errnos[told-1]) {
			j.tell(e, p.calls[told-1].String()+" fails")
		}
	}
	return e, nil
}

// tell counts an execution of which the workload was told of the fault.
func (j *judge) tell(e *execution, how string) {
	j.FaultsTold++
	if j.Spec.repairs(e.plan.fault) {
		e.failed = "the workload is told of a fault that the stack must repair: " + how
	}
}

// strike notes that the fault of the plan has happened, if it has.
func (p *plan) strike() bool {
	struck := p.requests.Struck() != ""
	if struck {
		p.fault.struck = true
	}
	return struck
}

// unmount unmounts the stack after a failure.
func unmount(ctx context.Context, w *stack.Worker) error {
	_, err := w.Do(ctx, []stack.Step{{Kind: stack.Unmount}}, time.Minute)
	return err
}

// signed is where a signature was seen first.
type signed struct {
	mutations int
	chosen    string // the answers to all choices until then
}

// known reports whether a signature was seen in another execution after as many mutations, or after
// fewer: what can follow is tried from there.
func (j *judge) known(signature string, mutations int, p *plan) bool {
	now := signed{mutations, fmt.Sprint(p.chosen)}
	before, ok := j.signatures[signature]
	switch {
	case ok && before == now: // the same beginning
		return false
	case ok && before.mutations <= mutations:
		return true
	}
	j.signatures[signature] = now
	return false
}

func clones(disks []*block.Disk) (all []*block.Disk) {
	for _, d := range disks {
		all = append(all, d.Clone())
	}
	return all
}

// lacking is an error if the file system does not have one of the further calls of workloads.
func lacking(calls []fsmodel.Call, errnos []int) error {
	for i, c := range calls[:len(errnos)] {
		if errnos[i] == int(unix.EOPNOTSUPP) && slices.Contains(fsmodel.Also(), c.Kind) {
			return fmt.Errorf("files: also: the file system does not have the call %q: leave it out", c.Kind)
		}
	}
	return nil
}

// recall finds out what the calls of a workload have done, and compares that with what they must
// do.
func (e *execution) recall(r stack.Result) {
	for i, c := range e.plan.calls[:len(r.Errnos)] {
		if stack.IsFault(r.Errnos[i]) && e.plan.fault != nil { // it was done, or not, or in part
			e.results = append(e.results, false)
			e.history.Add(c, true)
			return
		}
		before := e.history.Last()
		ok := r.Errnos[i] == 0
		e.results = append(e.results, !ok)
		wrong := e.history.Add(c, ok)
		if wrong == "" && !ok && e.plan.fault == nil {
			if differ := before.Differ(r.After[i]); differ != "" {
				wrong = fmt.Sprintf("%s fails and has an effect: %s", c, differ)
			}
		}
		if wrong != "" && e.failed == "" {
			e.failed = wrong
		}
	}
}
