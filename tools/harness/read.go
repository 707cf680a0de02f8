package harness

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/record/report"
)

// Outcomes, Report.Outcome.
const (
	Nothing      = record.Nothing
	Violated     = record.Violated
	Suspected    = record.Suspected // of what must happen
	Inconclusive = record.Inconclusive
	ToolBug      = record.ToolBug
)

// Ends of executions, keys of Report.Ends, and an end of a check, Report.Stopped.
const (
	EndClients   = "clients done"
	EndViolation = "violation"
	StopTime     = "time"
)

// Report is what a command says at its end (docs/reference/json.md), with the coverage by its
// fields for programs, which have medians of times.
type Report struct {
	record.Report
	Coverage *Coverage `json:"coverage"`
}

// The parts of a report.
type (
	Violation = record.Violation
	Refusal   = record.Refusal
	Mismatch  = record.Mismatch
	Coverage  = record.CoverageFields
	Tried     = record.FaultsFields
	Size      = record.Size
)

// A step as steps.jsonl has it.
type (
	Step = report.Step
	Exit = report.Exit
)

// Taken is how many faults were taken, by kind.
func Taken(faults []Tried) string {
	var parts []string
	for _, f := range faults {
		parts = append(parts, fmt.Sprintf("%d %s", f.Taken, f.Kind))
	}
	return strings.Join(parts, ", ")
}

// ReadSteps reads the steps of a run or a replay.
func (r *Run) ReadSteps() ([]Step, error) {
	path := filepath.Join(r.Out, "steps.jsonl")
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var steps []Step
	for dec := json.NewDecoder(bufio.NewReader(f)); ; {
		var s Step
		if err := dec.Decode(&s); err == io.EOF {
			return steps, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: step %d: %w", path, len(steps)+1, err)
		}
		steps = append(steps, s)
	}
}

// Trace is where a run's trace is.
func (r *Run) Trace() string { return filepath.Join(r.Out, traceFile) }

const traceFile = "trace.txt"

// Traces are those of the executions that a check has kept.
func (r *Run) Traces() ([]string, error) { return filepath.Glob(filepath.Join(r.Out, "*", traceFile)) }

// Used are the lines of a trace that say what the run depended on beside its choices: programs and
// files of the host, with their digests.
func Used(trace string) ([]string, error) {
	b, err := os.ReadFile(trace)
	if err != nil {
		return nil, err
	}
	var lines []string
	for line := range strings.Lines(string(b)) {
		switch word, _, _ := strings.Cut(line, " "); word {
		case "program", "file":
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	return lines, nil
}

// Logged says whether a node has written a line that matches.
func (r *Run) Logged(line *regexp.Regexp) (bool, error) {
	text, err := r.Log()
	return line.MatchString(text), err
}

// Log is what the nodes have written, one after the other by name.
func (r *Run) Log() (string, error) {
	logs, err := filepath.Glob(filepath.Join(r.Out, "nodes", "*.log"))
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, log := range logs {
		b, err := os.ReadFile(log)
		if err != nil {
			return "", err
		}
		text.Write(b)
	}
	return text.String(), nil
}
