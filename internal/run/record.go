package run

import (
	"fmt"
	"os"
	"path/filepath"

	"ariadne"
	"ariadne/internal/report"
	"ariadne/internal/search"
	"ariadne/internal/spec"
	"ariadne/internal/trace"
)

// recorder keeps an execution in a directory while it goes on. The first error
// of writing stays and is returned at the end.
type recorder struct {
	dir      string
	nodes    []string
	trace    *trace.Writer
	traceTo  *os.File
	steps    *os.File
	callFile *os.File
	calls    *trace.CallWriter
	logs     []*os.File // by node; nil until it writes
	used     used
	timeline *report.Timeline
	lines    *os.File // of the timeline
	err      error
}

// newRecorder begins the record of an execution.
func newRecorder(dir string, s *spec.Spec, h trace.Header, d *digests) (*recorder, error) {
	if err := os.MkdirAll(filepath.Join(dir, nodesDir), 0o777); err != nil {
		return nil, err
	}
	r := &recorder{dir: dir, nodes: nodeNames(s), logs: make([]*os.File, len(s.Nodes)), used: newUsed(d)}
	r.timeline = report.NewTimeline(r.nodes, s.Latency, report.Style{})
	r.traceTo = r.create(traceFile)
	r.trace = trace.NewWriter(r.traceTo)
	r.steps = r.create(stepsFile)
	r.callFile = r.create(traceFile + trace.CallsSuffix)
	r.lines = r.create(report.TimelineFile)
	if r.err == nil {
		r.calls, r.err = trace.NewCallWriter(r.callFile)
	}
	if r.err == nil {
		r.err = r.trace.Header(&h)
	}
	r.writeLines(r.timeline.Head())
	if r.err != nil {
		return nil, r.close()
	}
	return r, nil
}

func nodeNames(s *spec.Spec) []string {
	var names []string
	for _, n := range s.Nodes {
		names = append(names, n.Name)
	}
	return names
}

func (r *recorder) create(name string) *os.File {
	f, err := os.Create(filepath.Join(r.dir, name))
	r.fail(err)
	return f
}

func (r *recorder) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *recorder) write(f *os.File, b []byte) {
	if r.err == nil {
		_, r.err = f.Write(b)
	}
}

// path is where the trace stands.
func (r *recorder) path() string { return filepath.Join(r.dir, traceFile) }

// step keeps a step.
func (r *recorder) step(s ariadne.Step) {
	if r.err == nil {
		r.err = r.trace.Step(trace.NewStep(s))
	}
	r.write(r.steps, report.StepLine(s, r.nodes))
	if r.err == nil {
		r.err = r.calls.Step(s.Output.CallTrace)
	}
	r.used.step(s)
	for _, l := range s.Output.Logs {
		r.log(s.Action.Node, l)
	}
	r.writeLines(r.timeline.Step(s)...)
}

func (r *recorder) writeLines(lines ...string) {
	for _, l := range lines {
		r.write(r.lines, []byte(l+"\n"))
	}
}

func (r *recorder) log(id ariadne.NodeID, l ariadne.LogLine) {
	if r.logs[id] == nil {
		r.logs[id] = r.create(logFile(r.nodes[id]))
	}
	r.write(r.logs[id], appendLog(nil, l))
}

// appendLog appends a line as a node's log has it.
func appendLog(b []byte, l ariadne.LogLine) []byte {
	stream := "out"
	if l.Stream == 2 {
		stream = "err"
	}
	return fmt.Appendf(b, "%v %s %d %s\n", l.At, stream, l.PID, l.Text)
}

func logFile(node string) string { return filepath.Join(nodesDir, fileName(node)+".log") }

// end completes the record.
func (r *recorder) end(result *search.Result) error {
	if r.err == nil && result.End != "" {
		r.err = r.trace.End(r.used.binding(), namedViolation(result.Violation, r.nodes), result.End)
	}
	if r.err == nil {
		r.err = writeFile(r.path()+trace.HostSuffix, r.used.host())
	}
	return r.close()
}

// close gives up the files and returns the first error of all.
func (r *recorder) close() error {
	if r.calls != nil {
		r.fail(r.calls.Close())
	}
	if r.lines != nil {
		r.writeLines(r.timeline.End()...)
		r.writeLines(r.timeline.Undelivered()...)
	}
	for _, f := range append([]*os.File{r.traceTo, r.steps, r.callFile, r.lines}, r.logs...) {
		if f != nil {
			r.fail(f.Close())
		}
	}
	return r.err
}
