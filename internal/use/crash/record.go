package crash

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/use/run"
)

// Record runs the one node of a spec, and returns what it did to its files, and its steps. Files of
// the run go to the directory out. command: the spec was made of a command line. r is not nil when
// nothing can be said of the files, and the report says why.
func Record(ctx context.Context, s *spec.Spec, o system.Options, out string, command bool) (ops []*disk.Op,
	steps []ariadne.Step, r *record.Report, err error) {
	var log *disk.Log
	opts := run.Options{Out: out, System: o, OnStep: func(s ariadne.Step) { steps = append(steps, s) }}
	opts.System.Nodes = system.Processes{Files: func(_ ariadne.NodeID, l *disk.Log) { log = l }}
	r, err = run.Run(ctx, s, opts)
	var start *system.NotStarted
	switch {
	case errors.As(err, &start):
		var said []string
		for _, l := range start.Logs {
			said = append(said, l.Text)
		}
		return nil, nil, nil, commandFailed(start.How, said, start.Advice)
	case err != nil:
		return nil, nil, nil, err
	case r.Stopped == record.Interrupted:
		return nil, nil, nil, cmp.Or(ctx.Err(), context.Canceled)
	case r.Outcome == record.Violated: // then what it did to its files says little
		v := &r.Violations[0]
		return nil, nil, nil, commandFailed(v.Message, v.Said, r.Notes)
	case command && r.End == search.EndTime && r.Outcome == record.Inconclusive:
		return nil, nil, nil, fmt.Errorf("the command does not end: it was cut off after %v of virtual time. End it (sh -c 'timeout 5 SERVER; true'), or write a spec with ends: time and a limit (ariadne init)", s.Limits.Time)
	case r.Outcome != record.Nothing:
		for _, v := range r.Violations { // their records are about to be removed
			r.Doubt(fmt.Sprintf("%s: %s (%s)", v.Kind, v.Message, v.Suspect))
		}
		r.Violations, r.Out, r.Trace = nil, "", ""
		return nil, nil, r, nil
	}
	return log.Ops(), steps, nil, nil
}

// commandFailed says how a command ended of which no images are formed, what it wrote last, and
// what is to be known besides.
func commandFailed(how string, said, notes []string) error {
	text := "the command failed: " + how
	if said = said[max(len(said)-maxSaid, 0):]; len(said) > 1 || len(said) == 1 && !strings.HasSuffix(how, said[0]) {
		text += "; its last lines:\n  | " + strings.Join(said, "\n  | ")
	}
	for _, n := range notes {
		text += "\n  " + n
	}
	return errors.New(text)
}

// maxSaid is how many of the last lines of a command are shown that failed.
const maxSaid = 6

// Judgeable says what is wrong where images of the command's directory say nothing of its work.
func Judgeable(s *spec.Spec, ops []*disk.Op, fails bool) error {
	inside := 0
	for _, op := range ops {
		for _, dir := range s.Nodes[0].Writable {
			if dir = path.Clean(dir); op.Path == dir || strings.HasPrefix(op.Path, dir+"/") {
				return fmt.Errorf("crash: the command changes %s, and the checker sees only the directory /node: give the node these files by dir", op.Path)
			}
		}
		if strings.HasPrefix(op.Path, "/node") {
			inside++
		}
	}
	if inside == 0 && !fails {
		return fmt.Errorf("crash: the command changed nothing in its directory, so there is nothing to check (files elsewhere, as in /tmp, are not checked)")
	}
	return nil
}
