package debug

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/record/causal"
)

// kinds are those of steps that a condition may name.
var kinds = []causal.EventKind{causal.Started, causal.Delivered, causal.Fired, causal.Struck, causal.Told}

// condition understands a WHAT.
func (d *Debugger) condition(text string) (func(*causal.Event) bool, error) {
	word, rest, _ := strings.Cut(text, " ")
	rest = strings.TrimSpace(rest)
	switch word {
	case "node":
		if _, err := d.node(rest); err != nil {
			return nil, err
		}
		return func(e *causal.Event) bool { return e.Node == rest }, nil
	case "kind":
		if rest == string(causal.Struck) {
			return d.fault, nil
		}
		for _, k := range kinds {
			if string(k) == rest {
				return func(e *causal.Event) bool { return e.Kind == k }, nil
			}
		}
		return nil, fmt.Errorf("no kind of steps is called %q: there are start, message, timer, fault and event", rest)
	case "text", "line", "exposed":
		r, err := regexp.Compile(rest)
		if err != nil || rest == "" {
			return nil, fmt.Errorf("%s wants a regular expression, not %q", word, rest)
		}
		if word == "text" {
			return func(e *causal.Event) bool { return r.MatchString(Line(e)) }, nil
		}
		kind := map[string]causal.OutcomeKind{"line": causal.Line, "exposed": causal.Exposed}[word]
		return func(e *causal.Event) bool {
			for i := range e.Outcomes {
				if e.Outcomes[i].Kind == kind && r.MatchString(e.Outcomes[i].Text) {
					return true
				}
			}
			return false
		}, nil
	}
	return nil, fmt.Errorf("%q says no step: want a number, or one of these before it: node, kind, text, line, exposed", text)
}

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
func (d *Debugger) count(args string) (n int, match func(*causal.Event) bool, err error) {
	if args == "" {
		return 1, nil, nil
	}
	if n, err = strconv.Atoi(args); err == nil {
		if n < 1 {
			return 0, nil, fmt.Errorf("%d is no number of steps", n)
		}
		return n, nil, nil
	}
	match, err = d.condition(args)
	return 0, match, err
}
