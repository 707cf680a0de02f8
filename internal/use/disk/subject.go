//go:build linux

package disk

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
	"github.com/ariadne-mc/ariadne/internal/leaf/disk/block"
	"github.com/ariadne-mc/ariadne/internal/leaf/disk/fsmodel"
	"github.com/ariadne-mc/ariadne/internal/system/stack"
)

// subject is a checker, with its workloads.
type subject interface {
	// setup are steps on the new stack, before all workloads.
	setup() []stack.Step
	plans() plans
	// record are the steps of a workload on the mounted stack: mutations, in a row.
	record(*plan) []mutation
	// examine are the steps on a stack that has recovered. epoch is what was said by the loss.
	examine(*execution, *epoch) []stack.Step
	// key tells apart images with equal contents that are examined each, because of what was said.
	key(*epoch) string
	// verdict says what is wrong by the results of examine, or returns "".
	verdict(*execution, *epoch, []stack.Result) string
}

// mutation is a part of a workload.
type mutation struct {
	steps []stack.Step
	// signed says that the last step prints a signature of the state.
	signed bool
	// threads says that threads of layers may run with the first step.
	threads bool
}

// plans are workloads, one after the other.
type plans interface {
	next() *plan // nil: there are no more
	done(*plan)
	total() int // 0: not known
}

// plan is a workload that is to be executed.
type plan struct {
	name    string
	calls   []fsmodel.Call // of the ready-made checker
	answers []int          // to the first choices, of commands
	asked   []int          // of all choices, how many alternatives there were
	chosen  []int          // the answers to all
	// forThreads says of all choices which are of threads, and ran are the layers of threads that
	// have run.
	forThreads []bool
	ran        []string
	// fault is the request that fails, or nil. Of a plan without one, requests has their counts.
	fault    *fault
	requests *stack.Requests
}

// choose answers the next choice, of n alternatives: by the plan, or with the first one.
func (p *plan) choose(n int, forThread bool) (k int) {
	if at := len(p.asked); at < len(p.answers) {
		k = min(p.answers[at], n-1)
	}
	p.asked, p.chosen = append(p.asked, n), append(p.chosen, k)
	p.forThreads = append(p.forThreads, forThread)
	return k
}

// following are the answers of the next execution: another answer to the last choice of which
// there is one. ok: there is one.
func (p *plan) following() (answers []int, ok bool) {
	for i := len(p.chosen) - 1; i >= 0; i-- {
		if p.chosen[i]+1 < p.asked[i] {
			answers = slices.Clone(p.chosen[:i+1])
			answers[i]++
			return answers, true
		}
	}
	return nil, false
}

// epoch is what was said up to some moment.
type epoch struct {
	disk.Epoch
	begun, ended int   // calls of the ready-made checker
	dropped      []int // devices that have failed, and that layers above go on without
}

// Lines that a worker writes before and after each call.
const (
	callLine = "call "
	doneLine = "done "
)

// add takes in a mark.
func (e *epoch) add(text string) {
	switch {
	case strings.HasPrefix(text, callLine):
		e.begun++
	case strings.HasPrefix(text, doneLine):
		e.ended++
	default:
		e.Say(text)
	}
}

// epochAt is what was said before a position of a log.
func epochAt(ops []block.Op, at int) *epoch {
	var e epoch
	for i := range ops[:at] {
		switch ops[i].Kind {
		case block.Mark:
			e.add(ops[i].Text)
		case block.Drop:
			e.dropped = append(e.dropped, ops[i].Device)
		}
	}
	return &e
}

// commands is a checker of commands.
type commands struct{ *Spec }

func (c commands) run(title string, words []string, env ...string) stack.Step {
	return stack.Step{Kind: stack.Run, Title: title, Command: words, Env: env, Timeout: c.Checker.Timeout}
}

func (c commands) setup() (steps []stack.Step) {
	if len(c.Checker.Init) > 0 {
		steps = append(steps, c.run("init", c.Checker.Init))
	}
	return steps
}

func (c commands) record(*plan) (all []mutation) {
	for n := range c.Checker.Mutations {
		number := fmt.Sprint("ARIADNE_MUTATION=", n+1)
		m := mutation{steps: []stack.Step{c.run("mutate", c.Checker.Mutate, number)}, threads: true}
		if m.signed = len(c.Checker.Signature) > 0; m.signed {
			m.steps = append(m.steps, c.run("signature", c.Checker.Signature, number))
		}
		all = append(all, m)
	}
	if len(c.Checker.Finish) > 0 {
		all = append(all, mutation{steps: []stack.Step{c.run("finish", c.Checker.Finish)}})
	}
	return all
}

func (c commands) examine(x *execution, e *epoch) []stack.Step {
	env := e.Env()
	if f := x.plan.fault; f != nil && f.struck {
		env = append(env, "ARIADNE_FAULT="+string(f.kind))
	}
	if c.silent(x.plan.fault) {
		return []stack.Step{c.run("integrity", c.Checker.Integrity, env...)}
	}
	return []stack.Step{c.run("check", c.Checker.Check, env...)}
}

func (c commands) key(e *epoch) string { return fmt.Sprint(e.Env()) }

func (c commands) verdict(*execution, *epoch, []stack.Result) string { return "" }

func (c commands) plans() plans { return &choices{plan: &plan{name: "the workload"}} }

// choices are executions that differ in the answers to choices: all of the last choice before
// another answer to an earlier one.
type choices struct {
	plan *plan
}

func (c *choices) total() int { return 0 }

func (c *choices) next() *plan { return c.plan }

// done finds the next answers.
func (c *choices) done(p *plan) {
	c.plan = nil
	answers, ok := p.following()
	if !ok {
		return
	}
	c.plan = &plan{name: "the workload", answers: answers}
	var own []int
	for i, k := range answers {
		if !p.forThreads[i] {
			own = append(own, k)
		}
	}
	if own != nil {
		c.plan.name += fmt.Sprint(" with the choices ", own)
	}
}

// files is the ready-made checker of file systems.
type files struct {
	*Spec
	start *fsmodel.Tree
}

func newFiles(s *Spec) files { return files{s, fsmodel.Start(s.Files.Also...)} }

// history is what is known before a workload begins. Mount options make calls durable: of btrfs
// only writes.
func (f files) history() *fsmodel.History {
	h := fsmodel.NewHistory(f.start)
	for _, o := range strings.Split(f.Components[len(f.Components)-1].Options, ",") {
		h.StableNames = h.StableNames || o == "sync" || o == "dirsync"
		h.StableWrites = h.StableWrites || o == "sync"
	}
	return h
}

func (f files) setup() []stack.Step {
	return []stack.Step{{Kind: stack.Apply, Calls: fsmodel.Setup(f.Files.Also...), Timeout: defaultTimeout}}
}

func (f files) record(p *plan) []mutation {
	return []mutation{{steps: []stack.Step{{Kind: stack.Apply, Calls: p.calls, Timeout: defaultTimeout,
		Faulty: p.fault != nil}}, threads: true}}
}

func (f files) examine(*execution, *epoch) []stack.Step { return []stack.Step{{Kind: stack.Look}} }

func (f files) key(*epoch) string { return "" }

// verdict is by the rule of the file system. After a silent fault nothing counts as synced: what
// was lost may be everything. But what can be read must be right.
func (f files) verdict(e *execution, at *epoch, results []stack.Result) string {
	if f.silent(e.plan.fault) {
		if unreadable(results[0].Tree) {
			return ""
		}
		return e.history.Check(f.Files.Rule, 0, at.begun, results[0].Tree)
	}
	return e.history.Check(f.Files.Rule, at.ended, at.begun, results[0].Tree)
}

// unreadable reports whether a file of a tree cannot be read.
func unreadable(tree []fsmodel.Entry) bool {
	return slices.ContainsFunc(tree, func(e fsmodel.Entry) bool { return e.Odd != "" })
}

func (f files) plans() plans {
	all := slices.DeleteFunc(fsmodel.Workloads(f.Files.Workloads, f.Files.Also...), func(calls []fsmodel.Call) bool {
		return slices.ContainsFunc(calls, func(c fsmodel.Call) bool { return slices.Contains(f.Files.Without, c.Kind) })
	})
	var some [][]fsmodel.Call
	for i := int(f.Seed % uint64(f.Files.Of)); i < len(all); i += f.Files.Of {
		some = append(some, all[i])
	}
	return &list{all: some, each: waysOf(f.Components)}
}

// list is workloads of the ready-made checker.
type list struct {
	all     [][]fsmodel.Call
	each    int // executions of each
	at      int
	answers []int // to the choices of the next execution
}

func (l *list) total() int { return len(l.all) * l.each }

func (l *list) next() *plan {
	if l.at == len(l.all) {
		return nil
	}
	calls := l.all[l.at]
	return &plan{name: callsText(calls), calls: calls, answers: l.answers}
}

func (l *list) done(p *plan) {
	answers, ok := p.following()
	if l.answers = answers; !ok {
		l.at++
	}
}

func callsText(calls []fsmodel.Call) string {
	words := make([]string, len(calls))
	for i, c := range calls {
		words[i] = c.String()
	}
	return strings.Join(words, "; ")
}
