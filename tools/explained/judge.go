package main

import (
	"bytes"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne/tools/harness"
)

// judge compares a story with the step at fault of its bug.
func judge(b *bug, x *harness.Explained) *result {
	r := &result{Found: true, Tried: x.Tried}
	for i := range x.Story {
		r.Story = append(r.Story, lineOf(&x.Story[i].Event))
	}
	r.Named = named(b.Steps, r.Story)
	return r
}

// named are the numbers of the lines that match patterns, from 1, each behind that of the one
// before; 0: none does.
func named(patterns []harness.Pattern, lines []string) (all []int) {
	at := 0
	for _, p := range patterns {
		found := 0
		for i := at; i < len(lines) && found == 0; i++ {
			if p.MatchString(lines[i]) {
				found = i + 1
			}
		}
		at = max(at, found)
		all = append(all, found)
	}
	return all
}

// lineOf is a step as patterns have it.
func lineOf(e *harness.StepInWords) string {
	place := e.Node
	switch {
	case e.Node == "":
		place = "network"
	case e.From != "":
		place = e.From + " -> " + e.Node
	}
	line := place + ": " + e.Text
	if e.Late > 0 {
		line += fmt.Sprintf(" (%v late)", e.Late.Round(time.Microsecond))
	}
	for _, o := range e.Outcomes {
		line += " | " + o.Text
	}
	return line
}

const head = `# Violations, explained

This page shows what ` + "`ariadne explain`" + ` says of the violations of known bugs. ` + "`make explained`" + ` writes
it from ` + "`examples/explained.yaml`" + `. That file names the step at fault of each bug by patterns. They were
written down before the traces were explained the first time.

A story has at most 15 steps. It *names the step at fault* when the patterns match lines of it, in
their order. [From a violation to its cause](../guides/explain.md) says how to read a story.

| bug | program | step at fault | named in line |
| --- | --- | --- | --- |
`

// page is the whole page.
func page(bugs []bug, all []*result) []byte {
	var b bytes.Buffer
	b.WriteString(head)
	for i := range bugs {
		program := "real"
		if bugs[i].Paper != "" {
			program = "ours, after " + bugs[i].Paper
		}
		if bugs[i].Kind != "" {
			program += " (" + bugs[i].Kind + ")"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", bugs[i].Name, program, bugs[i].Fault, verdict(all[i]))
	}
	for i := range bugs {
		if r := all[i]; r != nil && r.Found {
			fmt.Fprintf(&b, "\n## %s\n\n    ariadne check %s\n\n```\n%s\n```\n", bugs[i].Name,
				path.Join("examples", bugs[i].Spec), strings.TrimSpace(narrow(r.Text)))
		}
	}
	return b.Bytes()
}

// verdict says in which lines a story names the step at fault.
func verdict(r *result) string {
	switch {
	case r == nil:
		return "not looked for"
	case !r.Found:
		return "the bug was not found"
	}
	var words []string
	for _, n := range r.Named {
		if n == 0 {
			words = append(words, "none")
		} else {
			words = append(words, fmt.Sprint(n))
		}
	}
	return fmt.Sprintf("%s of %d", strings.Join(words, ", "), len(r.Story))
}

// narrow cuts the lines of a text to a width that a page shows.
func narrow(text string) string {
	const most = 150
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if r := []rune(line); len(r) > most {
			line = string(r[:most-1]) + "…"
		}
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return strings.Join(lines, "\n")
}
