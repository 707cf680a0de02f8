package main

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/use/session"
	"github.com/ariadne-mc/ariadne/tools/harness"
)

// outcome is what came of a failure.
type outcome string

const (
	unchanged outcome = "unchanged" // clients saw what they see without it
	told      outcome = "told"      // a client saw something else, or failed
	// exits: the program ended with a status other than 0, and a message
	exits  outcome = "exits"
	silent outcome = "exits, mute" // without one
	// stops: it ended with status 0, where it goes on without the failure
	stops        outcome = "stops"
	aborts       outcome = "aborts"       // SIGABRT
	crashes      outcome = "crashes"      // another signal
	hangs        outcome = "hangs"        // somebody waits, or computes, for ever
	inconclusive outcome = "inconclusive" // it came to what is not modelled, or took too long
)

// outcomes are all of them, in the order of the page.
var outcomes = []outcome{unchanged, told, exits, stops, silent, aborts, crashes, hangs, inconclusive}

// bad are those that need an explanation.
func (o outcome) bad() bool {
	return o == silent || o == stops || o == aborts || o == crashes || o == hangs
}

// site is a place, and what came of failing it.
type site struct {
	Place   string // as the report has it: call, file, place in the code
	Vary    string // the variation that was tried
	Step    int
	Node    string
	Outcome outcome
	Words   string // how the program ended, or the client's first other line
	// Lines are the last ones of the node, when the outcome is bad.
	Lines []string `json:",omitempty"`
}

// result is what a target showed.
type result struct {
	Origin  harness.Origin
	Steps   int // of the natural schedule
	Places  int // in it, at which a call could fail
	Beyond  int // of them, those not in the program's code: the loader's
	Sites   []site
	Left    int // sites that there was no time for
	Seconds float64
}

// failures are what fails at each call, one error each: the first usual one.
func failures(families []string) map[string][]string {
	f := map[string][]string{}
	for call, errors := range spec.UsualErrors(families) {
		f[call] = errors[:1]
	}
	return f
}

// families are those that are swept: what is interrupted or moved by parts fails nothing.
var families = []string{"writes", "copies", "reads", "syncs", "room", "opens", "names", "sockets", "descriptors",
	"memory"}

// sweep fails each site of a system's programs once.
func sweep(ctx context.Context, s *spec.Spec, t target, limit time.Duration, memory int64) (r result, err error) {
	began := time.Now()
	s.Faults = [len(s.Faults)]uint8{}
	s.Faults[world.Fail] = 1
	s.Fail = spec.Fail{Errors: failures(families), Programs: t.Programs, Functions: t.Functions, Sites: true}
	x, err := session.Open(ctx, s, session.Options{System: system.Options{Version: "sweep"}, Memory: memory})
	if err != nil {
		return r, err
	}
	defer x.Close()
	natural, err := follow(x)
	if err != nil {
		return r, err
	}
	line := x.Position()
	r.Steps = len(natural.steps)
	tried := map[string]bool{}
	var due []site
	for i := range natural.steps {
		step := &natural.steps[i]
		for _, p := range step.Output.Places {
			r.Places++
			place := placeOf(p.Name)
			if strings.HasSuffix(place, " at ") { // before the program runs, or out of sight
				r.Beyond++
			} else if !tried[place] {
				tried[place] = true
				due = append(due,
					site{Place: place, Vary: ariadne.Choice{Alternative: p.Alternatives[0], Place: p.Name}.String(),
						Step: step.Index, Node: s.Nodes[step.Action.Node].Name})
			}
		}
	}
	for i := range due {
		if time.Since(began) > limit {
			r.Left = len(due) - i
			break
		}
		if err := try(x, s, line, &natural, &due[i]); err != nil {
			return r, fmt.Errorf("step %d, %s: %w", due[i].Step, due[i].Vary, err)
		}
		if o := due[i].Outcome; o != unchanged {
			fmt.Printf("  %s: %s: %s\n", o, due[i].Vary, due[i].Words)
		}
		r.Sites = append(r.Sites, due[i])
	}
	r.Seconds = time.Since(began).Seconds()
	return r, nil
}

// placeOf is a place without its thread, its occurrence and the numbers in the name of its file.
func placeOf(name string) string {
	_, name, _ = strings.Cut(name, "/")
	name = name[:strings.LastIndexByte(name, '#')]
	on, code, _ := strings.Cut(name, "<")
	call, file, _ := strings.Cut(on, ":")
	if file != "" {
		call += " " + numbers.ReplaceAllString(file, "N")
	}
	return call + " at " + code
}

var numbers = regexp.MustCompile(`[0-9]+|[0-9a-f]{8,}`)

// execution is one to its end.
type execution struct {
	steps []ariadne.Step
	end   string
	v     *ariadne.Violation
}

// follow takes what comes first in time from where the session stands, to the end.
func follow(x *session.Session) (e execution, err error) {
	for {
		if e.end, e.v = x.End(); e.end != "" {
			break
		}
		if _, err := x.Natural(); err != nil {
			return e, err
		}
	}
	e.steps = x.Taken()
	return e, nil
}

// try fails one site, and goes on naturally.
func try(x *session.Session, s *spec.Spec, line session.Position, natural *execution, a *site) error {
	if err := x.Return(line); err != nil {
		return err
	}
	if err := x.Go(a.Step - 1); err != nil {
		return err
	}
	action := natural.steps[a.Step-1].Action
	choices := x.Enabled()
	i := slices.IndexFunc(choices, func(c session.Choice) bool {
		plain := c.Action
		plain.Vary = ""
		return plain == action && string(c.Action.Vary) == a.Vary
	})
	if i < 0 {
		return fmt.Errorf("it is not among the %d choices", len(choices))
	}
	if _, err := x.Step(choices[i].Name); err != nil {
		return err
	}
	e, err := follow(x)
	if err != nil {
		return err
	}
	a.Outcome, a.Words = classify(s, natural, &e, a.Step)
	if a.Outcome.bad() {
		a.Lines = lastLines(&e, action.Node)
	}
	return nil
}

// lastLines are the last lines that a node wrote.
func lastLines(e *execution, id ariadne.NodeID) (all []string) {
	const most = 12
	for i := range e.steps {
		if e.steps[i].Action.Node == id {
			for l := range e.steps[i].Output.Lines() {
				all = append(all, l.Text)
			}
		}
	}
	return all[max(0, len(all)-most):]
}

// classify says what came of an execution with a failure in the step of that number.
func classify(s *spec.Spec, natural, e *execution, failed int) (outcome, string) {
	was := exitsOf(natural)
	for i := range e.steps {
		step := &e.steps[i]
		node := &s.Nodes[step.Action.Node]
		for _, x := range step.Output.Exits {
			how := x.How()
			last := lastWords(natural, e, i, failed)
			if panicked := panicOf(e, i, failed); panicked != "" {
				last = panicked
			}
			words := node.Name + " " + how
			if last != "" {
				words += ": " + last
			}
			signal := x.Signal
			if x.Status > 128 && x.Status < 160 { // a shell's word for it
				signal = x.Status - 128
			}
			switch {
			case signal == 6:
				return aborts, words
			case signal != 0, strings.Contains(last, "runtime error: "): // Go's own word
				return crashes, words
			case x.Status == 0 && was[exit{step.Action.Node, x.Command}]:
			case x.Status == 0 && !node.Client:
				return stops, words
			case x.Status == 0:
			case node.Client && !isProgram(s, step.Action.Node):
				return told, words
			case last == "":
				return silent, words
			default:
				return exits, words
			}
		}
	}
	switch {
	case e.v != nil:
		return hangs, e.v.Kind + ": " + e.v.Message
	case e.end == search.EndFatal || e.end == search.EndCut || e.end == search.EndStopped:
		return inconclusive, e.end
	case e.end != natural.end:
		return hangs, "ends otherwise: " + e.end
	}
	if line, same := compare(s, natural, e); !same {
		return told, line
	}
	return unchanged, ""
}

// panicOf is what Go's runtime says of an error of its own, since the failure, on the node that
// ends in the i-th step; or "".
func panicOf(e *execution, i, failed int) string {
	for k := failed - 1; k <= i; k++ {
		if e.steps[k].Action.Node != e.steps[i].Action.Node {
			continue
		}
		for _, l := range e.steps[k].Output.Logs {
			if strings.HasPrefix(l.Text, "panic: runtime error: ") {
				return l.Text
			}
		}
	}
	return ""
}

// lastWords are those of the node that ends in the i-th step, since the failure: lines that sound
// like it, or the last that it does not write in the natural schedule.
func lastWords(natural, e *execution, i, failed int) string {
	id := e.steps[i].Action.Node
	usual := map[string]bool{"Aborted": true, "": true}
	for k := range natural.steps {
		if natural.steps[k].Action.Node == id {
			for _, l := range natural.steps[k].Output.Logs {
				usual[strings.TrimSpace(l.Text)] = true
			}
		}
	}
	var fresh []ariadne.LogLine
	for k := failed - 1; k <= i; k++ {
		if e.steps[k].Action.Node == id {
			for _, l := range e.steps[k].Output.Logs {
				if !usual[strings.TrimSpace(l.Text)] {
					fresh = append(fresh, l)
				}
			}
		}
	}
	if words := property.LastWords(fresh); words != "" || len(fresh) == 0 {
		return words
	}
	return fresh[len(fresh)-1].Text
}

// isProgram: a client runs what is swept, too.
func isProgram(s *spec.Spec, id ariadne.NodeID) bool {
	for _, c := range s.Nodes[id].Commands {
		for _, p := range s.Fail.Programs {
			if strings.HasSuffix(c.Args[0], p) {
				return true
			}
		}
	}
	return false
}

type exit struct {
	node    ariadne.NodeID
	command int
}

func exitsOf(e *execution) map[exit]bool {
	all := map[exit]bool{}
	for i := range e.steps {
		for _, x := range e.steps[i].Output.Exits {
			all[exit{e.steps[i].Action.Node, x.Command}] = true
		}
	}
	return all
}

// compare finds the first line that a client writes otherwise.
func compare(s *spec.Spec, a, b *execution) (line string, same bool) {
	x, y := clientLines(s, a), clientLines(s, b)
	for i := range max(len(x), len(y)) {
		switch {
		case i >= len(x):
			return y[i], false
		case i >= len(y):
			return "no longer: " + x[i], false
		case x[i] != y[i]:
			return y[i], false
		}
	}
	return "", true
}

// clientLines are the lines of clients, node by node.
func clientLines(s *spec.Spec, e *execution) (all []string) {
	for id := range s.Nodes {
		if !s.Nodes[id].Client {
			continue
		}
		for i := range e.steps {
			if int(e.steps[i].Action.Node) != id {
				continue
			}
			for l := range e.steps[i].Output.Lines() {
				all = append(all, s.Nodes[id].Name+": "+l.Text)
			}
		}
	}
	return all
}
