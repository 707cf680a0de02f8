package run

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ariadne"
	"ariadne/internal/readfile"
	"ariadne/internal/report"
	"ariadne/internal/spec"
	"ariadne/internal/trace"
)

// A run directory has
//
//	spec.yaml        a copy of the spec
//	report.json      the Report, as far as it goes
//
// and the record of the execution of a run or a replay:
//
//	trace.txt        what a replay follows
//	trace.txt.calls  the system calls of each step
//	trace.txt.host   what of the host the trace does not hold for, but may explain it
//	steps.jsonl      each step with its messages
//	timeline.txt     the same for people
//	nodes/NAME.log   what each node wrote
//
// The directory of a check has such a record of its first execution in
// execution-0/ (the natural schedule, unless it was asked to begin elsewhere), of
// each violation in violation-N/ and of what did not happen again in
// unconfirmed-N/. Of random walks it has the trace of the first that ended in each
// way, in execution-N/. A search in memory adds
//
//	coverage.csv     how much was seen, as it grew
//	coverage.svg     the same as a plot
//	coverage.seen    what was seen, so that a resumed check goes on counting; of random
//	                 searches, which do not walk again (coverage.Log)
//	memo.db          what the nodes did, so that the next check in this directory
//	                 starts warm; without a directory of its own, a check has it in
//	                 NAME.memo.db beside its run directory
//
// Files are replaced in one go or appended to line by line, so
// that an end at any moment leaves what was there. The report comes first: a
// directory without one is empty, but for a report that was being written.
const (
	runsDir      = "ariadne-runs" // where run directories lie by default
	specFile     = "spec.yaml"
	reportFile   = "report.json"
	traceFile    = "trace.txt"
	stepsFile    = "steps.jsonl"
	nodesDir     = "nodes"
	executionDir = "execution-"
	violationDir = "violation-"
	unconfirmed  = "unconfirmed" // -N
)

// ours are the patterns of all that a run directory is emptied of. Its report is replaced.
var ours = []string{coverageFile, plotFile, seenFile, traceFile, traceFile + trace.CallsSuffix, traceFile + trace.HostSuffix, stepsFile, report.TimelineFile,
	nodesDir, executionDir + "*", violationDir + "*", unconfirmed + "-*"}

// makeOut makes the run directory and returns its path. It may hold an earlier run of the
// same command, which is one that has its report, and whose place this one takes. Anything
// else that holds files is refused.
func (y *system) makeOut(command string) (out string, err error) {
	if out = y.opts.Out; out == "" {
		out, err = newOut(filepath.Join(runsDir, fileName(y.spec.Name)))
		return out, first(err, y.lock(out))
	}
	if err := first(os.MkdirAll(out, 0o777), y.lock(out)); err != nil {
		return "", err
	}
	begun, err := isBegun(out)
	if err != nil || !begun {
		return out, err
	}
	r, err := loadReport(out)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("%s: not empty and not a run directory", out)
	case err != nil:
		return "", fmt.Errorf("%w; remove %s, or choose another directory with --out", err, out)
	case r.Command != command && !r.untouched():
		return "", fmt.Errorf("%s holds a %s, which a %s does not replace; remove it, or choose another directory with --out", out, r.Command, command)
	}
	return out, nil
}

// isBegun reports whether there is more in a directory than what is left by a command
// that was ended before it had written its first report.
func isBegun(out string) (bool, error) {
	entries, err := os.ReadDir(out)
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() != reportFile+newSuffix }), err
}

// isRun reports whether a directory is a run directory.
func isRun(dir string) bool {
	r, _, err := readReport(dir)
	return err == nil && r.Command != "" && r.SpecDigest != ariadne.Digest{}
}

// empty removes from a run directory what an earlier run left there.
func empty(out string) error {
	for _, pattern := range ours {
		matches, err := filepath.Glob(filepath.Join(globEscape(out), pattern))
		if err != nil {
			return err
		}
		for _, m := range matches {
			if err := os.RemoveAll(m); err != nil {
				return err
			}
		}
	}
	return nil
}

// newOut makes the first of prefix-1, prefix-2, ... that is not there.
func newOut(prefix string) (string, error) {
	if err := os.MkdirAll(filepath.Dir(prefix), 0o777); err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		out := fmt.Sprintf("%s-%d", prefix, n)
		err := os.Mkdir(out, 0o777)
		if !errors.Is(err, fs.ErrExist) {
			return out, err
		}
	}
}

// fileName makes a name fit for a file.
func fileName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == '/' || r < ' ' {
			return '_'
		}
		return r
	}, name)
	if name == "" || strings.HasPrefix(name, ".") {
		return "_" + name
	}
	return name
}

// globEscape makes path match itself only.
func globEscape(path string) string {
	return strings.NewReplacer(`*`, `\*`, `?`, `\?`, `[`, `\[`, `\`, `\\`).Replace(path)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// newSuffix is that of a file which is to replace another one.
const newSuffix = ".new"

// writeFile replaces a file in one go.
func writeFile(path string, data []byte) error {
	tmp := path + newSuffix
	if err := os.WriteFile(tmp, data, 0o666); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

// copySpec keeps what was run. A spec without a file has nothing to keep.
func copySpec(out string, s *spec.Spec) error {
	data, err := readfile.AtMost(s.Path, readfile.Spec)
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(out, specFile), data)
}

// encode is the report as the run directory has it.
func (r *Report) encode() ([]byte, error) {
	r.Checksum = noSum
	data, err := json.MarshalIndent(r, "", "  ")
	data = append(data, '\n')
	at := sumAt(data)
	if err != nil || at < 0 {
		return data, err
	}
	copy(data[at:], reportSum(data))
	return data, nil
}

// noSum stands in the place of a report's checksum when that is computed.
const noSum = "0000000000000000"

// sumAt is where the checksum stands in a report, or less than 0.
func sumAt(data []byte) int {
	const key = "\"Checksum\": \""
	at := bytes.LastIndex(data, []byte(key))
	if at < 0 || at+len(key)+len(noSum) > len(data) {
		return -1
	}
	return at + len(key)
}

func reportSum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:len(noSum)/2])
}

func (r *Report) save() error {
	data, err := r.encode()
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(r.Out, reportFile), data)
}

// loadReport reads the report of an earlier command, as it was written.
func loadReport(out string) (*Report, error) {
	r, data, err := readReport(out)
	if err != nil {
		return nil, err
	}
	at := sumAt(data)
	if at >= 0 {
		copy(data[at:], noSum)
	}
	if at < 0 || reportSum(data) != r.Checksum {
		return nil, fmt.Errorf("%s was changed after it was written", filepath.Join(out, reportFile))
	}
	return r, nil
}

// readReport reads a report, whether or not it is as it was written.
func readReport(out string) (*Report, []byte, error) {
	path := filepath.Join(out, reportFile)
	data, err := readfile.AtMost(path, readfile.Record)
	if err != nil {
		return nil, nil, err
	}
	r := &Report{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, nil, fmt.Errorf("%s is damaged: %w", path, err)
	}
	return r, data, nil
}
