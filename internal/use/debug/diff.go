package debug

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// diff says in what a node differs between two steps.
func (d *Debugger) diff(args string) (string, error) {
	words := strings.Fields(args)
	var names []string // of variables
	if len(words) > 3 {
		words, names = words[:3], words[3:]
	}
	if len(words) < 2 {
		return "", fmt.Errorf("diff wants a node and one or two steps, not %q", args)
	}
	id, err := d.node(words[0])
	if err != nil {
		return "", err
	}
	places := []string{"0", strconv.Itoa(d.Step())}
	copy(places, words[1:])
	var views [2][]fact
	for i, place := range places {
		if views[i], err = d.lookAt(id, place, names); err != nil {
			return "", err
		}
	}
	for _, name := range names {
		if is := missing(name); slices.Contains(views[0], is) && slices.Contains(views[1], is) {
			return "", fmt.Errorf("no process of %s has a variable %s behind step %s or step %s", words[0], name,
				places[0], places[1])
		}
	}
	text := differences(views[0], views[1])
	if text == "" {
		text = "nothing differs in what can be seen of it\n"
	}
	return fmt.Sprintf("%s, behind step %s (-) and step %s (+)\n%s", words[0], places[0], places[1], text), nil
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
