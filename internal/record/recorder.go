package record

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
	"github.com/ariadne-mc/ariadne/internal/record/report"
	"github.com/ariadne-mc/ariadne/internal/system"
)

// Recorder keeps an execution in a directory while it goes on. The first error
// of writing stays and is returned at the end.
type Recorder struct {
	dir      string
	nodes    []string
	trace    *trace.Writer
	traceTo  *os.File
	steps    *os.File
	callFile *os.File
	calls    *trace.CallWriter
	logs     []*os.File // by node; nil until it writes
	used     system.Used
	timeline *report.Timeline
	lines    *os.File // of the timeline
	servers  *Servers
	err      error
}

// NewRecorder begins the record of an execution.
func NewRecorder(dir string, y *system.System, h trace.Header) (*Recorder, error) {
	if err := os.MkdirAll(filepath.Join(dir, nodesDir), 0o777); err != nil {
		return nil, err
	}
	r := &Recorder{dir: dir, nodes: y.Names(), logs: make([]*os.File, len(y.Spec.Nodes)),
		used: system.NewUsed(y.Digests), servers: NewServers(y.Spec)}
	r.timeline = report.NewTimeline(r.nodes, y.Spec.Latency, report.Style{})
	r.timeline.Commands = system.CommandNames(y.Spec)
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

func (r *Recorder) create(name string) *os.File {
	f, err := os.Create(filepath.Join(r.dir, name))
	r.fail(err)
	return f
}

func (r *Recorder) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *Recorder) write(f *os.File, b []byte) {
	if r.err == nil {
		_, r.err = f.Write(b)
	}
}

// Path is where the trace stands.
func (r *Recorder) Path() string { return filepath.Join(r.dir, traceFile) }

// Servers say what became of the servers in the execution (Servers.Lines).
func (r *Recorder) Servers() []string { return r.servers.Lines() }

// Step keeps a step.
func (r *Recorder) Step(s ariadne.Step) {
	if r.err == nil {
		r.err = r.trace.Step(trace.NewStep(s))
	}
	r.write(r.steps, report.StepLine(s, r.nodes))
	if r.err == nil {
		r.err = r.calls.Step(s.Output.CallTrace)
	}
	r.used.Step(s)
	r.servers.Step(&s)
	for l := range s.Output.Record() {
		r.log(s.Action.Node, l)
	}
	r.writeLines(r.timeline.Step(s)...)
}

func (r *Recorder) writeLines(lines ...string) {
	for _, l := range lines {
		r.write(r.lines, []byte(l+"\n"))
	}
}

func (r *Recorder) log(id ariadne.NodeID, l ariadne.LogLine) {
	if r.logs[id] == nil {
		r.logs[id] = r.create(logFile(r.nodes[id]))
	}
	r.write(r.logs[id], appendLog(nil, l))
}

// appendLog appends a line as a node's log has it.
func appendLog(b []byte, l ariadne.LogLine) []byte {
	stream := "out"
	switch l.Stream {
	case 2:
		stream = "err"
	case ariadne.Exposed:
		stream = "dev"
	}
	return fmt.Appendf(b, "%v %s %d %s\n", l.At, stream, l.PID, l.Text)
}

func logFile(node string) string { return filepath.Join(nodesDir, fileName(node)+".log") }

// End completes the record.
func (r *Recorder) End(result *search.Result) error {
	if r.err == nil && result.End != "" {
		r.err = r.trace.End(r.used.Binding(), namedViolation(result.Violation, r.nodes), result.End)
	}
	if r.err == nil {
		r.err = WriteFile(r.Path()+trace.HostSuffix, r.used.Host())
	}
	return r.close()
}

// close gives up the files and returns the first error of all.
func (r *Recorder) close() error {
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
