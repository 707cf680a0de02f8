package debug

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/record/causal"
	"github.com/ariadne-mc/ariadne/internal/use/session"
)

// kinds are those of steps that a condition may name.
var kinds = []causal.EventKind{causal.Started, causal.Delivered, causal.Fired, causal.Struck, causal.Told}

// match reports whether a step is of a kind.
type match func(*causal.Event) (bool, error)

// sure is a match that always knows.
func sure(is func(*causal.Event) bool) match {
	return func(e *causal.Event) (bool, error) { return is(e), nil }
}

// condition understands a WHAT.
func (d *Debugger) condition(text string) (match, error) {
	word, rest, _ := strings.Cut(text, " ")
	rest = strings.TrimSpace(rest)
	switch word {
	case "node":
		if _, err := d.node(rest); err != nil {
			return nil, err
		}
		return sure(func(e *causal.Event) bool { return e.Node == rest }), nil
	case "kind":
		if rest == string(causal.Struck) {
			return sure(d.fault), nil
		}
		for _, k := range kinds {
			if string(k) == rest {
				return sure(func(e *causal.Event) bool { return e.Kind == k }), nil
			}
		}
		return nil, fmt.Errorf("no kind of steps is called %q: there are start, message, timer, fault and event", rest)
	case "text", "line", "exposed":
		r, err := regexp.Compile(rest)
		if err != nil || rest == "" {
			return nil, fmt.Errorf("%s wants a regular expression, not %q", word, rest)
		}
		if word == "text" {
			return sure(func(e *causal.Event) bool { return r.MatchString(Line(e)) }), nil
		}
		kind := map[string]causal.OutcomeKind{"line": causal.Line, "exposed": causal.Exposed}[word]
		return sure(func(e *causal.Event) bool {
			return slices.ContainsFunc(e.Outcomes, func(o causal.Outcome) bool {
				return o.Kind == kind && r.MatchString(o.Text)
			})
		}), nil
	case "function":
		return d.enters(rest)
	}
	return nil, fmt.Errorf("%q says no step: want a number, or one of these before it: node, kind, text, line, exposed, function", text)
}

// enters matches the steps in which a node enters a function.
func (d *Debugger) enters(args string) (match, error) {
	node, name, _ := strings.Cut(args, " ")
	id, err := d.node(node)
	if err != nil {
		return nil, err
	}
	if name = strings.TrimSpace(name); name == "" {
		return nil, fmt.Errorf("function wants a node and a function, as in %s main.handleVote", node)
	}
	// Here a name that is mistyped is seen, unless the node runs nothing.
	found, err := d.session.Functions(id, name)
	if err != nil {
		return nil, err
	}
	if found != nil && len(found) == 0 {
		return nil, fmt.Errorf("no process of %s has a function %s here", node, name)
	}
	return func(e *causal.Event) (bool, error) {
		if e.Node != node {
			return false, nil
		}
		entry, err := d.session.Enters(e.Step, name)
		if entry != nil {
			d.entry = entryText(entry)
		}
		return entry != nil, err
	}, nil
}

// entryText says which function is entered, and who called it.
func entryText(e *session.Entry) string {
	text := "enters"
	for i := range e.Frames[:min(len(e.Frames), mostFrames)] {
		if i > 0 {
			text += ", called by"
		}
		text += " " + e.Frames[i].String()
	}
	return printable(text)
}

// mostFrames is how many functions of a stack a line has.
const mostFrames = 3

// fault reports whether a step is a fault, or has one within it.
func (d *Debugger) fault(e *causal.Event) bool {
	if e.Kind == causal.Struck {
		return true
	}
	for _, c := range d.known[e.Step-1].Action.Vary.Choices() {
		if !world.FreeKind(c.Alternative) {
			return true
		}
	}
	return false
}

// count understands a number of steps (none: 1) or a WHAT.
func (d *Debugger) count(args string) (n int, is match, err error) {
	if args == "" {
		return 1, nil, nil
	}
	if n, err = strconv.Atoi(args); err == nil {
		if n < 1 {
			return 0, nil, fmt.Errorf("%d is no number of steps", n)
		}
		return n, nil, nil
	}
	is, err = d.condition(args)
	return 0, is, err
}
