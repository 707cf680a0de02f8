package run

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"

	"ariadne"
	"ariadne/internal/sys"
)

// What the commands have in common: how each begins and ends.

// begin makes the run directory and the report. The report comes before anything else
// is written or removed: whenever this ends, the directory is one of a command that
// has not done anything yet. It and further run directories are hidden from the nodes.
func (y *system) begin(command string, hidden ...string) (*Report, error) {
	if err := enoughTasks(); err != nil {
		return nil, err
	}
	out, err := y.makeOut(command)
	if err != nil {
		return nil, AsLimit(err)
	}
	r := newReport(command, y.spec, out)
	r.Next = y.opts.First
	if err := r.save(); err != nil {
		return nil, AsLimit(err)
	}
	return r, AsLimit(first(y.hide(append(hidden, out)...), first(y.fits(command), first(empty(out), copySpec(out, y.spec)))))
}

// record begins the record of an execution in dir.
func (y *system) record(execution int, dir string) (*recorder, error) {
	h, err := y.header(execution, dir)
	if err != nil {
		return nil, err
	}
	return newRecorder(dir, y.spec, h, y.digests)
}

// finish closes the report. A bug belongs into it; any other error is returned.
func (y *system) finish(r *Report, err error) (*Report, error) {
	var b bug
	if err = AsLimit(err); errors.As(err, &b) {
		r.Bugs = append(r.Bugs, b.Error())
		err = nil
	}
	var killed *ariadne.KilledError
	var limit *ariadne.LimitError
	if errors.As(err, &killed) || errors.As(err, &limit) {
		r.doubt(err.Error())
		err = nil
	}
	var dead *notStarted
	if errors.As(err, &dead) {
		if e := dead.keep(r); e != nil {
			return nil, AsLimit(e)
		}
		if dead.suspect() {
			r.refused(dead.node, dead.refusals)
			r.doubt(dead.Error())
			err = nil
		}
	}
	if err != nil {
		return nil, err
	}
	if r.Command != "check" {
		for i := range r.Nodes {
			if log := filepath.Join(r.Out, logFile(r.Nodes[i].Name)); exists(log) {
				r.Nodes[i].Log = log
			}
		}
	}
	r.judge()
	return r, AsLimit(r.save())
}

// setDefaults fills in what was left open.
func (o *Options) setDefaults() {
	if o.Nodes == nil {
		o.Nodes = Processes{}
	}
	if o.CallName == nil {
		o.CallName = callName
	}
	if o.Search.Strategy == "" {
		o.Search.Strategy = "random"
	}
	if o.Workers <= 0 {
		o.Workers = runtime.NumCPU()
	}
}

// callName names a system call as the table has it.
func callName(nr int) string {
	if nr >= 0 && nr < len(sys.Table) && sys.Table[nr].Name != "" {
		return sys.Table[nr].Name
	}
	return fmt.Sprintf("system call %d", nr)
}

// first is the first error of two.
func first(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
