package main

import (
	"fmt"
	"strings"
)

// comparison is what came of comparing two recordings.
type comparison struct {
	different bool
	changed   bool     // spec or programs are others: a difference says nothing
	lines     []string // what differs, and what could not be compared
	steps     int      // that are the same
	checks    int
}

func (c *comparison) verdict() string {
	same := fmt.Sprintf("%d steps and %d searches", c.steps, c.checks)
	switch {
	case c.changed:
		return "not comparable"
	case c.different:
		return "DIFFERS; the same are " + same
	}
	return "same " + same
}

// compare compares a recording with the one that is wanted.
func compare(want, got *golden) *comparison {
	c := &comparison{}
	c.natural(want, got)
	c.search(want.checks, got.checks)
	if !c.different {
		return c
	}
	for _, other := range []struct{ what, want, got string }{{"the spec is another", want.spec, got.spec},
		{"the programs are others", want.uses, got.uses}} {
		if other.want != other.got {
			c.changed, c.different = true, false
			c.lines = append(c.lines, other.what)
		}
	}
	return c
}

func (c *comparison) differ(format string, args ...any) {
	c.different = true
	c.lines = append(c.lines, fmt.Sprintf(format, args...))
}

// natural compares up to the first step that differs or is not comparable.
func (c *comparison) natural(want, got *golden) {
	n := min(len(want.steps), len(got.steps))
	for i := range n {
		if want.steps[i] != got.steps[i] {
			c.differ("want %s", want.steps[i])
			c.differ("got  %s", got.steps[i])
			return
		}
		c.steps++
	}
	if (want.preempted > 0 && n == len(want.steps)) || (got.preempted > 0 && n == len(got.steps)) {
		c.lines = append(c.lines, fmt.Sprintf("from step %d on not comparable: a thread was preempted", n+1))
		return
	}
	if len(want.steps) != len(got.steps) {
		c.differ("want %d steps, got %d", len(want.steps), len(got.steps))
		return
	}
	if want.run != got.run {
		c.differ("want %s", want.run)
		c.differ("got  %s", got.run)
	}
}

// search compares the searches that both have made.
func (c *comparison) search(want, got []string) {
	counts := map[string]string{}
	for _, line := range got {
		name, count, _ := strings.Cut(line, ": ")
		counts[name] = count
	}
	for _, line := range want {
		name, w, _ := strings.Cut(line, ": ")
		g, ok := counts[name]
		switch {
		case !ok:
		case strings.HasPrefix(w, notComparable), strings.HasPrefix(g, notComparable):
			c.lines = append(c.lines, fmt.Sprintf("%s is not comparable: want %s; got %s", name, w, g))
		case w != g:
			c.differ("want %s: %s", name, w)
			c.differ("got  %s: %s", name, g)
		default:
			c.checks++
		}
	}
}
