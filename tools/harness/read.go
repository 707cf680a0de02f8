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
	"time"
)

// Outcomes, Report.Outcome.
const (
	Nothing      = "nothing found"
	Violated     = "violation"
	Suspected    = "suspected violation" // of what must happen
	Inconclusive = "inconclusive"
	ToolBug      = "bug in ariadne"
)

// Ends of executions, keys of Report.Ends, and an end of a check, Report.Stopped.
const (
	EndClients   = "clients done"
	EndViolation = "violation"
	StopTime     = "time"
)

// Report is what a command says at its end (docs/json.md). Times are seconds.
type Report struct {
	Outcome     string         `json:"outcome"`
	ExitStatus  int            `json:"exit_status"`
	End         string         `json:"end"`
	Stopped     string         `json:"stopped"`
	Executions  int            `json:"executions"`
	Steps       int            `json:"steps"`
	Calls       int            `json:"calls"`
	Messages    int            `json:"messages"`
	VirtualTime float64        `json:"virtual_time"`
	RealTime    float64        `json:"real_time"`
	Ends        map[string]int `json:"ends"`
	Violations  []Violation    `json:"violations"`
	Refusals    []Refusal      `json:"refusals"`
	Doubts      []string       `json:"doubts"`
	Bugs        []string       `json:"bugs"`
	Mismatch    *Mismatch      `json:"mismatch"`
	Coverage    *Coverage      `json:"coverage"` // of a search in memory
}

// Violation is one kind of violation, and how often it was seen.
type Violation struct {
	Kind    string  `json:"kind"`
	Node    string  `json:"node"`
	Message string  `json:"message"`
	Trace   string  `json:"trace"`
	Suspect string  `json:"suspect"`
	Count   int     `json:"count"`
	Size    *Size   `json:"size"`   // of what a check has found
	Shrunk  *Shrunk `json:"shrunk"` // nil: no smaller execution was looked for, or found
	Goal    *Goal   `json:"goal"`   // of what must happen and does not
}

// Shrunk is a smaller execution that ends in the same violation.
type Shrunk struct {
	Trace string        `json:"trace"`
	From  Size          `json:"from"`
	To    Size          `json:"to"`
	Took  time.Duration `json:"took_ns"`
	Goal  *Goal         `json:"goal"`
}

// Size is how large an execution is.
type Size struct {
	Faults     int `json:"faults"`
	Deviations int `json:"deviations"`
	Steps      int `json:"steps"`
}

// Goal is what is known of an execution in which something does not happen that must.
type Goal struct {
	Critical  int           `json:"critical_step"` // 0: it is not known
	Name      string        `json:"critical_name"` // of this step
	Lines     []string      `json:"critical_lines"`
	Walks     int           `json:"walks"`
	WalkSteps int           `json:"walks_steps"`
	FromStart int           `json:"walks_steps_from_start"`
	Took      time.Duration `json:"took_ns"` // to find the critical step
}

// Refusal is what was asked for and is not modelled.
type Refusal struct {
	Node     string `json:"node"`
	Name     string `json:"name"`
	Detail   string `json:"detail"`
	Program  string `json:"program"`
	Count    int    `json:"count"`
	Harmless bool   `json:"harmless"`
}

// Mismatch is where a replay differed.
type Mismatch struct {
	Step    int    `json:"step"`
	Action  string `json:"action"`
	Node    string `json:"node"`
	Message string `json:"message"`
}

// Coverage is what a search in memory has seen and done.
type Coverage struct {
	Strategy     string  `json:"strategy"`
	Exhausted    bool    `json:"exhausted"`
	Digest       string  `json:"states_digest"`
	Missed       string  `json:"missed"`
	Known        int     `json:"known"`
	GivenUp      int     `json:"given_up"`
	Paths        int     `json:"paths"`
	Traces       int     `json:"traces"`
	States       int     `json:"states"`
	Combined     int     `json:"protocol_combinations"`
	Executed     int     `json:"executed"`
	Remembered   int     `json:"remembered"`
	Replayed     int     `json:"replayed"`
	Boots        int     `json:"boots"`
	Thaws        int     `json:"thaws"`
	Freezes      int     `json:"freezes"`
	Unfrozen     int     `json:"unfrozen"`
	Stopped      int     `json:"stopped"`
	Disks        int     `json:"disks"`
	Unreplayable int     `json:"unreplayable"`
	Audited      int     `json:"audited"`
	Incomparable int     `json:"incomparable"`
	Mismatches   int     `json:"mismatches"`
	Stepping     float64 `json:"stepping"`
	Freezing     float64 `json:"freezing"`
	Thawing      float64 `json:"thawing"`
	Booting      float64 `json:"booting"`
	Replaying    float64 `json:"replaying"`
	Ending       float64 `json:"ending"`
	Faults       []Tried `json:"faults"`
	// Liveness says how it looked for what must happen; nil: nothing must.
	Liveness *struct {
		Bound   int   `json:"bound"`   // steps of a walk by which it should be live
		Sampled []int `json:"sampled"` // steps of walks from the natural schedule to their first live state
	} `json:"liveness"`
}

// Tried is how much faults of a kind were tried.
type Tried struct {
	Kind       string `json:"kind"`
	Budget     int    `json:"budget"`
	Executions int    `json:"executions"`
	Taken      int    `json:"taken"`
}

// Taken is how many faults were taken, by kind.
func Taken(faults []Tried) string {
	var parts []string
	for _, f := range faults {
		parts = append(parts, fmt.Sprintf("%d %s", f.Taken, f.Kind))
	}
	return strings.Join(parts, ", ")
}

// InNodes are the seconds that workers have spent in living nodes.
func (c *Coverage) InNodes() float64 {
	return c.Stepping + c.Freezing + c.Thawing + c.Booting + c.Replaying + c.Ending
}

// Step is a step as steps.jsonl has it. Times are nanoseconds.
type Step struct {
	Step         int       `json:"step"`
	At           int64     `json:"at_ns"`
	Node         string    `json:"node"`
	Action       string    `json:"action"`
	Digest       string    `json:"digest"`
	Clock        int64     `json:"clock_ns"`
	Deadline     *int64    `json:"deadline_ns"` // nil: no timer
	Calls        int       `json:"calls"`
	Messages     []Message `json:"messages"`
	Logs         []string  `json:"logs"`
	Exits        []Exit    `json:"exits"`
	Done         bool      `json:"done"`
	Unreplayable bool      `json:"unreplayable"`
	Cut          string    `json:"cut"`
	Diverged     string    `json:"diverged"`
	Polling      string    `json:"polling"`
	Fatal        string    `json:"fatal"`
}

// Exit is the end of a program.
type Exit struct {
	At      int64 `json:"at_ns"`
	Command int   `json:"command"`
	Status  int   `json:"status"`
	Signal  int   `json:"signal"`
}

// Message is one that a step has sent.
type Message struct {
	To    string `json:"to"`
	Proto string `json:"proto"`
	Src   string `json:"src"`
	Dst   string `json:"dst"`
	Epoch int    `json:"epoch"`
	Seq   int    `json:"seq"`
	Flags string `json:"flags"`
	Sent  int64  `json:"sent_ns"`
	Data  []byte `json:"data"`
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
