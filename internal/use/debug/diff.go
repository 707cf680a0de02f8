package debug

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// diff says in what a node differs between two steps.
func (d *Debugger) diff(args string) (string, error) {
	words := strings.Fields(args)
	if len(words) < 2 || len(words) > 3 {
		return "", fmt.Errorf("diff wants a node and one or two steps, not %q", args)
	}
	id, err := d.node(words[0])
	if err != nil {
		return "", err
	}
	stood := d.Step()
	steps := []int{0, stood}
	for i, word := range words[1:] {
		if steps[i], err = strconv.Atoi(word); err != nil {
			return "", fmt.Errorf("%q is no step", word)
		}
	}
	var views [2][]fact
	for i, step := range steps {
		if err = d.Goto(step); err == nil {
			views[i], err = d.look(id, true)
		}
		if err != nil {
			break
		}
	}
	if err = errors.Join(err, d.Goto(stood)); err != nil {
		return "", err
	}
	text := differences(views[0], views[1])
	if text == "" {
		text = "nothing differs in what can be seen of it\n"
	}
	return fmt.Sprintf("%s, behind step %d (-) and step %d (+)\n%s", words[0], steps[0], steps[1], text), nil
}

// differences are the facts that are not the same in two views, in their order.
func differences(a, b []fact) string {
	type key struct {
		section section
		key     string
	}
	of := func(facts []fact) map[key]string {
		texts := map[key]string{}
		for _, f := range facts {
			texts[key{f.section, f.key}] = f.text
		}
		return texts
	}
	was, is := of(a), of(b)
	var out strings.Builder
	for _, f := range a {
		now, there := is[key{f.section, f.key}]
		if there && now == f.text {
			continue
		}
		fmt.Fprintf(&out, "- %-8s %s\n", f.section, printable(f.text))
		if there {
			fmt.Fprintf(&out, "+ %-8s %s\n", f.section, printable(now))
		}
	}
	for _, f := range b {
		if _, there := was[key{f.section, f.key}]; !there {
			fmt.Fprintf(&out, "+ %-8s %s\n", f.section, printable(f.text))
		}
	}
	return out.String()
}
