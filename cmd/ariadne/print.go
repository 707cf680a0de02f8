package main

import (
	"fmt"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/use/check"
)

// printer shows what happens and what came of it.
type printer interface {
	step(ariadne.Step)
	limits(check.Options)
	progress(check.Progress)
	violation(record.Violation)
	printScriptLine(line string) // by a script
	report(*record.Report)
}

// printer returns the one that the flags ask for.
func (a *app) printer(o outputFlags, s *spec.Spec) printer {
	names := make([]string, len(s.Nodes))
	for i, n := range s.Nodes {
		names[i] = n.Name
	}
	if o.json {
		return newJSONPrinter(a.out, names, o.quiet)
	}
	p := newTextPrinter(a.out, a.err, names, s.Latency, o.quiet)
	p.verbose = o.verbose
	p.timeline.Commands = system.CommandNames(s)
	return p
}

// finish prints the report and sets the exit status.
func (a *app) finish(p printer, r *record.Report, err error) error {
	if err != nil {
		return err
	}
	p.report(r)
	a.status = r.Outcome.ExitStatus()
	return nil
}

// plural prints a number with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
