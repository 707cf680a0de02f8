package debug

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/record/causal"
	"github.com/ariadne-mc/ariadne/internal/record/report"
	"github.com/ariadne-mc/ariadne/internal/use/session"
)

// command is what a user may type.
type command struct {
	names string // separated by blanks, the long one first
	args  string // as help shows them
	doc   string
	more  string // further lines of its own help
	run   func(d *Debugger, args string) (string, error)
}

// conditionHelp says what a WHAT may be.
const conditionHelp = `WHAT is one of these:
  node NAME      a step of a node
  kind KIND      start, message, timer, fault or event
  text REGEX     a step whose line in the list matches
  line REGEX     a step in which a program writes a line that matches
  exposed REGEX  a step that changes an exposed value, as in "term = 2", that matches
  function NAME FUNCTION
                 a step in which a node enters a function, as in n1 main.(*server).vote`

// commands are all, in the order of their help.
var commands []command

func init() {
	commands = []command{
		{"help h ?", "[COMMAND]", "say what commands there are, or what one does", "", (*Debugger).help},
		{"where w", "", "show the step at which you are", "", (*Debugger).where},
		{"list l", "[FROM-TO | all | WHAT]", "list the steps around here, some steps, or those of a kind",
			conditionHelp, (*Debugger).list},
		{"goto g", "PLACE", "go to the state after a step", `PLACE is one of these:
  41             the step of this number; 0 is before all steps
  1.5s           the last step up to a virtual time
  start, end     the beginning, or the last known step
  violation      the step that shows the violation
  critical       the step behind which something that must happen never does (eventually, leads_to)
  line REGEX     the first step in which a program writes a line that matches`, (*Debugger).gotoPlace},
		{"next n", "[COUNT | WHAT]", "go forward: one step, some steps, or up to a step of a kind",
			"After the last known step, next takes the event that comes first in time.\n" + conditionHelp, (*Debugger).next},
		{"back b", "[COUNT | WHAT]", "go back: one step, some steps, or up to a step of a kind", conditionHelp,
			(*Debugger).back},
		{"break", "[WHAT]", "set a breakpoint at steps of a kind, or list the breakpoints", conditionHelp,
			(*Debugger).setBreak},
		{"unbreak", "[NUMBER]", "remove a breakpoint, or all of them", "", (*Debugger).unbreak},
		{"continue cont", "", "go forward to the next known step that is at a breakpoint", "", (*Debugger).toBreak},
		{"reverse-continue rc", "", "go back to the step before that is at a breakpoint", "", (*Debugger).backToBreak},
		{"step s", "[NUMBER]", "show all of a step: what it delivers, and what comes of it", "", (*Debugger).showStep},
		{"node", "NAME", "show a node: its exposed values, last lines, threads, sockets, timers", "", (*Debugger).showNode},
		{"nodes", "", "show all nodes, a line each", "", (*Debugger).showNodes},
		{"exposed x", "[NAME]", "show the values that nodes, or one node, expose", "", (*Debugger).showExposed},
		{"lines", "NAME [COUNT]", "show the last lines that a node has written (10)", "", (*Debugger).showLines},
		{"threads t", "NAME", "show a node's threads, the call in which each waits, and the function and line", "", (*Debugger).showThreads},
		{"backtrace bt", "NAME [THREAD]", "show in which functions a node's threads are, and who called those", "", (*Debugger).showBacktrace},
		{"print p", "NAME VARIABLE", "show a variable of a node's programs, by their debug information",
			"VARIABLE is a global one or a part of one, as in main.server.term.", (*Debugger).print},
		{"change", "NAME VARIABLE", "go forward to the step that changes a variable", "", (*Debugger).change},
		{"origin", "NAME VARIABLE", "go back to the step that gave a variable what it holds", "", (*Debugger).origin},
		{"sockets", "NAME", "show a node's sockets, and what is queued in each", "", (*Debugger).showSockets},
		{"open", "NAME", "show all open files of a node's processes", "", (*Debugger).showOpen},
		{"timers", "NAME", "show a node's timers", "", (*Debugger).showTimers},
		{"files", "NAME", "show a node's own files", "", (*Debugger).showFiles},
		{"flight f", "", "show the messages that are under way", "", (*Debugger).showFlight},
		{"diff d", "NAME STEP [STEP [VARIABLE...]]", "show what differs in a node between two steps, or between a step and here",
			"STEP is a number, or one on a branch, as in 41@well. VARIABLE is as in print.", (*Debugger).diff},
		{"digest", "NAME", "print a number for the whole state of a node", "", (*Debugger).showDigest},
		{"core", "NAME FILE", "write core files of a node's processes, which gdb opens", "", (*Debugger).core},
		{"choices c", "", "list the events that can happen next", "", (*Debugger).choices},
		{"choose", "NUMBER | ACTION", "let something else happen here; this makes another branch", "",
			(*Debugger).choose},
		{"run r", "[COUNT]", "go on to the end, or by COUNT steps; each step is the event that comes first in time", "", (*Debugger).run},
		{"live", "[COUNT]", "go on, as run does, until nothing waits that must happen (eventually, leads_to)", "", (*Debugger).live},
		{"wander", "COUNT [SEED]", "go on by COUNT steps, each drawn from the events that can happen next", "", (*Debugger).wander},
		{"keep k", "NAME", "give this place a name, as a branch", "", (*Debugger).keepBranch},
		{"branch", "NAME", "go to a branch; a trace is the branch " + traceName, "", (*Debugger).toBranch},
		{"branches", "", "list the branches", "", (*Debugger).branches},
		{"note", "TEXT", "write a note at this step; it lasts in a file beside the trace", "", (*Debugger).note},
		{"unnote", "", "remove the notes of this step", "", (*Debugger).unnote},
		{"notes", "", "show all notes", "", (*Debugger).showNotes},
		{"load", "NAME FILE", "make another trace of this system a branch, and go there", "", (*Debugger).load},
		{"beside", "NAME [COUNT]", "show the steps here beside those of a branch, from the first difference on", "",
			(*Debugger).beside},
		{"together", "[NAME]", "show a branch together with this one, step by step; without a name, no longer", "",
			(*Debugger).together},
	}
}

// ErrQuit is the error of the command that ends the debugger.
var ErrQuit = errors.New("quit")

// Execute executes a line, and returns the answer. Empty lines and those that begin with # have
// none.
func (d *Debugger) Execute(line string) (string, error) {
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' {
		return "", nil
	}
	word, args, _ := strings.Cut(line, " ")
	if word == "quit" || word == "q" || word == "exit" {
		return "", ErrQuit
	}
	c, err := find(word)
	if err != nil {
		return "", err
	}
	args = strings.TrimSpace(args)
	if c.args == "" && args != "" {
		return "", fmt.Errorf("%s takes no argument, but there is %q", c.name(), args)
	}
	if args == "" && c.args != "" && c.args[0] != '[' {
		return "", fmt.Errorf("%s wants %s", c.name(), c.args)
	}
	d.entry = ""
	return c.run(d, args)
}

// name is the long one.
func (c *command) name() string {
	name, _, _ := strings.Cut(c.names, " ")
	return name
}

func find(word string) (*command, error) {
	for i := range commands {
		if slices.Contains(strings.Fields(commands[i].names), word) {
			return &commands[i], nil
		}
	}
	return nil, fmt.Errorf("no command is called %q: help lists all", word)
}

// help lists the commands, or says what one does.
func (d *Debugger) help(args string) (string, error) {
	if args != "" {
		c, err := find(args)
		if err != nil {
			return "", err
		}
		names := strings.Fields(c.names)
		text := strings.TrimSpace(c.name()+" "+c.args) + "\n  " + c.doc + "\n"
		if len(names) > 1 {
			text += "  short: " + strings.Join(names[1:], ", ") + "\n"
		}
		if c.more != "" {
			text += c.more + "\n"
		}
		return text, nil
	}
	var b strings.Builder
	for i := range commands {
		c := &commands[i]
		names := strings.Fields(c.names)
		short := ""
		if len(names) > 1 {
			short = names[1]
		}
		fmt.Fprintf(&b, "%4s %-30s %s\n", short, strings.TrimSpace(c.name()+" "+c.args), c.doc)
	}
	fmt.Fprintf(&b, "%2s %-32s %s\n", "q", "quit", "end")
	return b.String(), nil
}

// where says where the debugger stands.
func (d *Debugger) where(string) (string, error) {
	text := d.Position() + "\n"
	if d.entry != "" {
		text += d.entry + "\n"
	}
	if c := d.Companion(); c != nil {
		text += d.compared(c)
	}
	return text, nil
}

// compared says what a companion does in the step behind which the debugger stands.
func (d *Debugger) compared(c *Companion) string {
	n := d.Step()
	switch {
	case n <= c.Common:
		return fmt.Sprintf("%s: the same up to here\n", c.Name)
	case n > len(c.Events):
		return fmt.Sprintf("%s: has ended, after %d steps\n", c.Name, len(c.Events))
	}
	e := &c.Events[n-1]
	return fmt.Sprintf("%s: differs since step %d; step %d, %v: %s\n", c.Name, c.Common+1, n, e.At, Line(e))
}

// Position says in a line where the debugger stands.
func (d *Debugger) Position() string {
	n := d.Step()
	text := fmt.Sprintf("step %d of %d", n, len(d.known))
	if d.branch != "" && d.branch != traceName {
		text += " on " + d.branch
	}
	if n == 0 {
		text += ": nothing has happened yet"
	} else {
		e := &d.Events()[n-1]
		text += fmt.Sprintf(", %v: %s", e.At, Line(e))
	}
	if pending := d.session.Now().Pending; len(pending) > 0 {
		text += "\nthese must still happen: " + strings.Join(pending, ", ")
	}
	if end, v := d.session.End(); v != nil {
		text += "\nthe execution ends here with a violation: " + v.Message
	} else if end != "" {
		text += "\nthe execution ends here: " + end
	}
	return text
}

// Line is a step without its number and time.
func Line(e *causal.Event) string {
	text := e.Place() + "  " + abridge(e.Text, 120)
	if e.Late > 0 && e.Kind == causal.Delivered {
		text += fmt.Sprintf(" (%v late)", e.Late.Round(time.Microsecond))
	}
	some := e.Outcomes[max(0, len(e.Outcomes)-mostOutcomes):]
	if n := len(e.Outcomes) - len(some); n > 0 {
		text += fmt.Sprintf("  | %d more", n)
	}
	for _, o := range some {
		text += "  | " + abridge(o.Text, 80)
	}
	return printable(text)
}

// mostOutcomes is how many outcomes of a step its line has: the last, which say most.
const mostOutcomes = 3

// printable is a text without control characters, of at most mostShown characters.
func printable(text string) string { return abridge(report.Style{}.Line(text), mostShown) }

// mostShown is how many characters of a program's line are shown. The node's log has all.
const mostShown = 2000

// abridge cuts a text to so many characters.
func abridge(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}

// around is how many steps a list has before and behind the place where one stands.
const around = 8

func (d *Debugger) list(args string) (string, error) {
	events, n := d.Events(), d.Step()
	from, to := max(1, n-around), min(len(events), n+around)
	all := sure(func(*causal.Event) bool { return true })
	if a, b, ok := strings.Cut(args, "-"); ok && isNumber(a) && isNumber(b) {
		from, _ = strconv.Atoi(a)
		to, _ = strconv.Atoi(b)
		from, to = max(from, 1), min(to, len(events))
	} else if args != "" {
		from, to = 1, len(events)
		if args != "all" {
			var err error
			if all, err = d.condition(args); err != nil {
				return "", err
			}
		}
	}
	var b strings.Builder
	if n == 0 && from == 1 && args == "" {
		b.WriteString("> before all steps\n")
	}
	for i := from; i <= to; i++ {
		e := &events[i-1]
		is, err := all(e)
		if err != nil {
			return "", err
		}
		if is {
			b.WriteString(d.Row(e) + "\n")
		}
	}
	if b.Len() == 0 {
		return "no step matches\n", nil
	}
	return b.String(), nil
}

// Row is a step in a list of them.
func (d *Debugger) Row(e *causal.Event) string {
	mark := " "
	if e.Step == d.Step() {
		mark = ">"
	}
	text := fmt.Sprintf("%s%5d %12v  %s", mark, e.Step, e.At, Line(e))
	if note := d.Note(e.Step); note != "" {
		text += "\n" + strings.Repeat(" ", 21) + "note: " + note
	}
	return text
}

func isNumber(text string) bool {
	_, err := strconv.Atoi(text)
	return err == nil
}

func (d *Debugger) gotoPlace(args string) (string, error) {
	step, err := d.place(args)
	if err == nil {
		err = d.Goto(step)
	}
	if err != nil {
		return "", err
	}
	return d.where("")
}

// huntTime is how long the critical transition is looked for, in real time, at most.
const huntTime = time.Minute

// critical is the critical transition of the trace.
func (d *Debugger) critical() (int, error) {
	if d.branch != traceName {
		return 0, fmt.Errorf("the critical transition is one of the trace: go to the branch %s", traceName)
	}
	if d.crisis == 0 {
		stood := d.Step()
		goal, err := d.session.Critical(context.Background(), session.Hunt{Time: huntTime})
		if err = errors.Join(err, d.Goto(stood)); err != nil {
			return 0, err
		}
		if goal.Critical == 0 {
			return 0, fmt.Errorf("no critical transition was found: %s", goal.Verdict)
		}
		d.crisis = goal.Critical
	}
	return d.crisis, nil
}

// place is the step that a PLACE means.
func (d *Debugger) place(text string) (int, error) {
	if n, err := strconv.Atoi(text); err == nil {
		return n, nil
	}
	switch word, rest, _ := strings.Cut(text, " "); word {
	case "start":
		return 0, nil
	case "end":
		return len(d.known), nil
	case "violation":
		step, _, ok := d.violation()
		if !ok {
			return 0, errors.New("no violation is known on this branch")
		}
		return step, nil
	case "critical":
		return d.critical()
	case "line":
		is, err := d.condition("line " + rest)
		if err != nil {
			return 0, err
		}
		step, err := d.first(is, 1, len(d.known))
		if step == 0 && err == nil {
			err = fmt.Errorf("no known step writes a line that matches %q", rest)
		}
		return step, err
	}
	at, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q is no place: want a step, a time as in 1.5s, start, end, violation, critical or line REGEX", text)
	}
	step := 0
	for i := range d.known {
		if d.known[i].At <= ariadne.Time(at) {
			step = i + 1
		}
	}
	return step, nil
}

func (d *Debugger) next(args string) (string, error) {
	count, is, err := d.count(args)
	switch {
	case err != nil:
		return "", err
	case is == nil:
		before := d.Step()
		if err = d.forward(count); err == nil && d.Step() == before && count > 0 {
			end, _ := d.session.End()
			err = fmt.Errorf("nothing can happen next: %s", end)
		}
	default:
		err = d.gotoFirst(is, d.Step()+1, len(d.known), fmt.Sprintf("matches %q", args))
	}
	if err != nil {
		return "", err
	}
	return d.where("")
}

func (d *Debugger) back(args string) (string, error) {
	count, is, err := d.count(args)
	switch {
	case err != nil:
		return "", err
	case is == nil && count > d.Step():
		return "", fmt.Errorf("there are only %d steps before", d.Step())
	case is == nil:
		err = d.Goto(d.Step() - count)
	default:
		err = d.gotoFirst(is, d.Step()-1, 1, fmt.Sprintf("matches %q", args))
	}
	if err != nil {
		return "", err
	}
	return d.where("")
}

func (d *Debugger) choices(string) (string, error) {
	all := d.session.Enabled()
	if len(all) == 0 {
		end, _ := d.session.End()
		return fmt.Sprintf("nothing can happen: %s\n", end), nil
	}
	next := ""
	if n := d.Step(); n < len(d.known) {
		next = d.known[n].Name
	}
	var b strings.Builder
	for i, c := range all {
		note := ""
		if c.Name == next {
			note, next = "  (as on this branch)", ""
		}
		fmt.Fprintf(&b, "%3d %12v  %s%s\n", i+1, c.At, c.Name, note)
	}
	if next != "" {
		fmt.Fprintf(&b, "on this branch: %s\n", next)
	}
	return b.String(), nil
}

func (d *Debugger) choose(args string) (string, error) {
	name := args
	if n, err := strconv.Atoi(args); err == nil {
		all := d.session.Enabled()
		if n < 1 || n > len(all) {
			return "", fmt.Errorf("there is no choice %d: choices lists %d", n, len(all))
		}
		name = all[n-1].Name
	}
	if err := d.take(name); err != nil {
		return "", err
	}
	return d.where("")
}

// numberOfSteps reads how many steps are wanted; "": otherwise.
func numberOfSteps(text string, otherwise int) (int, error) {
	if text == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q is no number of steps", text)
	}
	return n, nil
}

func (d *Debugger) run(args string) (string, error) {
	most, err := numberOfSteps(args, 1<<30)
	if err != nil {
		return "", err
	}
	if err := d.natural(most); err != nil {
		return "", err
	}
	return d.where("")
}

// live goes on until no goal is pending, by at most so many steps.
func (d *Debugger) live(args string) (string, error) {
	most, err := numberOfSteps(args, 1<<30)
	if err != nil {
		return "", err
	}
	stood := d.Step()
	for n := 0; n < most && len(d.session.Now().Pending) > 0 && len(d.session.Enabled()) > 0; n++ {
		if err := d.natural(1); err != nil {
			return "", err
		}
	}
	if pending := d.session.Now().Pending; len(pending) > 0 {
		return fmt.Sprintf("after %d steps these still wait: %s\n%s\n", d.Step()-stood, strings.Join(pending, ", "),
			d.Position()), nil
	}
	return fmt.Sprintf("after %d steps nothing waits that must happen\n%s\n", d.Step()-stood, d.Position()), nil
}

func (d *Debugger) keepBranch(args string) (string, error) {
	if strings.ContainsAny(args, " \t") || args == traceName {
		return "", fmt.Errorf("%q cannot be the name of a branch: want another word", args)
	}
	d.keep(args)
	return d.branches("")
}

func (d *Debugger) toBranch(args string) (string, error) {
	if err := d.to(args); err != nil {
		return "", err
	}
	return d.where("")
}

func (d *Debugger) branches(string) (string, error) {
	if len(d.order) == 0 {
		return "no branch is kept\n", nil
	}
	var b strings.Builder
	for _, name := range d.order {
		mark := " "
		if name == d.branch {
			mark = ">"
		}
		fmt.Fprintf(&b, "%s %s, %d steps\n", mark, name, d.kept[name].Steps())
	}
	return b.String(), nil
}
