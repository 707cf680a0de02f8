package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/readfile"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
	"github.com/ariadne-mc/ariadne/internal/record/report"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

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
	coverageFile = "coverage.csv"
	plotFile     = "coverage.svg"
	seenFile     = "coverage.seen"
	memoFile     = "memo.db"
	corpusFile   = "corpus.json"
)

// ours are the patterns of all that a run directory is emptied of. Its report is replaced.
var ours = []string{coverageFile, plotFile, seenFile, traceFile, traceFile + trace.CallsSuffix,
	traceFile + trace.HostSuffix, stepsFile, report.TimelineFile,
	nodesDir, executionDir + "*", violationDir + "*", unconfirmed + "-*"}

// Dir is a run directory in use.
type Dir struct {
	Path  string
	given bool // by name
	lock  *os.File
}

// Open makes the run directory out, or one below ariadne-runs for a system of that name when
// out is "", and takes it. Close gives it back.
func Open(out, name string) (d *Dir, err error) {
	d = &Dir{Path: out, given: out != ""}
	if d.given {
		err = os.MkdirAll(out, 0o777)
	} else {
		d.Path, err = newDir(filepath.Join(runsDir, fileName(name)))
	}
	if err == nil {
		err = d.take()
	}
	if err != nil {
		return nil, system.AsLimit(err)
	}
	return d, nil
}

// OpenExisting takes a run directory that is there.
func OpenExisting(out string) (*Dir, error) {
	d := &Dir{Path: out, given: true}
	if err := d.take(); err != nil {
		return nil, err
	}
	return d, nil
}

// Command is what a run directory is used for.
type Command struct {
	Name   string // "run", "check", "replay"
	System *system.System
	Room   system.Room // for the copies of files
	First  int         // index of the first execution
	Hidden []string    // run directories besides, that nodes must not see
}

// Begin begins the record of a command. The report comes before anything else
// is written or removed: whenever this ends, the directory is one of a command that
// has not done anything yet.
//
// The directory may hold an earlier run of the same command, which is one that has its
// report, and whose place this one takes. Anything else that holds files is refused.
func (d *Dir) Begin(c Command) (*Report, error) {
	if err := d.mayTake(c.Name); err != nil {
		return nil, system.AsLimit(err)
	}
	r := newReport(c.Name, c.System.Spec, d.Path)
	r.Next = c.First
	if err := r.Save(); err != nil {
		return nil, system.AsLimit(err)
	}
	err := Hide(c.System, append(c.Hidden, d.Path)...)
	for _, do := range []func() error{
		func() error { return c.System.Fits(c.Room) },
		d.empty,
		func() error { return d.copySpec(c.System.Spec) },
	} {
		if err == nil {
			err = do()
		}
	}
	return r, system.AsLimit(err)
}

// mayTake says what speaks against the directory's being used for a command.
func (d *Dir) mayTake(command string) error {
	begun, err := d.Begun()
	if err != nil || !begun {
		return err
	}
	h, _, err := d.head()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s is not empty, and is not a run directory: choose another directory with --out", d.Path)
	case err != nil:
		return fmt.Errorf("%w; remove %s, or choose another directory with --out", err, d.Path)
	case h.Command != command && !h.untouched():
		return fmt.Errorf("%s has the results of a %s, which a %s does not replace: remove it, or choose another directory with --out", d.Path, h.Command, command)
	}
	return nil
}

// Finish closes the report. A bug, and what makes it inconclusive, belong into it; any other
// error is returned.
func (d *Dir) Finish(r *Report, err error) (*Report, error) {
	var b system.Bug
	if err = system.AsLimit(err); errors.As(err, &b) {
		r.Bugs = append(r.Bugs, b.Error())
		err = nil
	}
	var killed *ariadne.KilledError
	var limit *ariadne.LimitError
	var changed *ariadne.ChangedError
	if errors.As(err, &killed) || errors.As(err, &limit) || errors.As(err, &changed) {
		r.Doubt(err.Error())
		err = nil
	}
	var dead *system.NotStarted
	if errors.As(err, &dead) {
		if e := r.keepLog(dead); e != nil {
			return nil, system.AsLimit(e)
		}
	}
	if err != nil {
		return nil, err
	}
	if r.Command != "check" {
		for i := range r.Nodes {
			if log := filepath.Join(d.Path, logFile(r.Nodes[i].Name)); exists(log) {
				r.Nodes[i].Log = log
			}
		}
	}
	r.Judge()
	return r, system.AsLimit(r.Save())
}

// keepLog writes what a node wrote that did not start to its log and names that in the
// message.
func (r *Report) keepLog(dead *system.NotStarted) error {
	if len(dead.Logs) == 0 {
		return nil
	}
	name := filepath.Join(r.Out, logFile(r.Nodes[dead.Node].Name))
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	var all []byte
	for _, l := range dead.Logs {
		all = appendLog(all, l)
	}
	dead.Errors[0].Text = strings.TrimRight(dead.Errors[0].Text, "\n ") + "\n  log: " + name
	r.Nodes[dead.Node].Log = name
	return WriteFile(name, all)
}

// Hide hides from a system's nodes what Ariadne writes: these run directories, those that
// the spec's directory holds already, and where they come to lie by default.
func Hide(y *system.System, runs ...string) error {
	dir, err := filepath.EvalSymlinks(y.Spec.Dir)
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	runs = append(runs, runsDir)
	for _, e := range entries {
		if p := filepath.Join(dir, e.Name()); e.IsDir() && (e.Name() == runsDir || isRun(p)) {
			runs = append(runs, p)
		}
	}
	return y.Hide(runs...)
}

// RunsOf are the run directories in which a trace lies.
func RunsOf(path string) (runs []string) {
	dir := filepath.Dir(path)
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if isRun(d) {
			runs = append(runs, d)
		}
	}
	return runs
}

// Execution is where an execution of a check has its own directory, of which something is kept.
func (d *Dir) Execution(index int) string {
	return filepath.Join(d.Path, fmt.Sprintf("%s%d", executionDir, index))
}

// Violation is where the record of a check's n-th violation lies, from 1.
func (d *Dir) Violation(n int) string {
	return filepath.Join(d.Path, fmt.Sprintf("%s%d", violationDir, n))
}

// Adopted is the directory of a violation that a unit of work has found, by its number there.
func (d *Dir) Adopted(unit, n int) string {
	return filepath.Join(d.Path, fmt.Sprintf("%s%d.%d", violationDir, unit, n))
}

// NewUnconfirmed makes the directory of one more violation that did not happen again.
func (d *Dir) NewUnconfirmed() (string, error) { return newDir(filepath.Join(d.Path, unconfirmed)) }

// Traces are the paths of the traces of a check.
func (d *Dir) Traces() (paths []string) {
	for _, pattern := range []string{executionDir, violationDir} {
		// a good pattern
		some, _ := filepath.Glob(filepath.Join(globEscape(d.Path), pattern+"*", traceFile))
		paths = append(paths, some...)
	}
	return paths
}

// Coverage, Plot and Memo are the paths of a search's files. A directory that nobody named
// has the store of transitions beside it, where the next check of the system finds it; alone
// is where it lies if that one is in use.
func (d *Dir) Coverage() string { return filepath.Join(d.Path, coverageFile) }

func (d *Dir) Plot() string { return filepath.Join(d.Path, plotFile) }

func (d *Dir) Memo(name string) (path, alone string) {
	alone = filepath.Join(d.Path, memoFile)
	if d.given {
		return alone, alone
	}
	return filepath.Join(filepath.Dir(d.Path), fileName(name)+"."+memoFile), alone
}

// Corpus is the path of what goes on with the next check of a system, beside its store of
// transitions.
func (d *Dir) Corpus(name string) string {
	if d.given {
		return filepath.Join(d.Path, corpusFile)
	}
	return filepath.Join(filepath.Dir(d.Path), fileName(name)+"."+corpusFile)
}

// Begun reports whether there is more in the directory than what is left by a command
// that was ended before it had written its first report.
func (d *Dir) Begun() (bool, error) {
	entries, err := os.ReadDir(d.Path)
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() != reportFile+newSuffix }), err
}

// isRun reports whether a directory is a run directory.
func isRun(dir string) bool {
	h, _, err := readHead(dir)
	return err == nil && h.Command != "" && h.SpecDigest != ariadne.Digest{}
}

// empty removes what an earlier run left.
func (d *Dir) empty() error {
	for _, pattern := range ours {
		matches, err := filepath.Glob(filepath.Join(globEscape(d.Path), pattern))
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

// newDir makes the first of prefix-1, prefix-2, ... that is not there.
func newDir(prefix string) (string, error) {
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

// WriteFile replaces a file in one go.
func WriteFile(path string, data []byte) error {
	tmp := path + newSuffix
	if err := os.WriteFile(tmp, data, 0o666); err != nil {
		return err
	}
	return os.Rename(tmp, path)
}

// copySpec keeps what was run. A spec without a file has nothing to keep.
func (d *Dir) copySpec(s *spec.Spec) error {
	data, err := readfile.AtMost(s.Path, readfile.Spec)
	if err != nil {
		return err
	}
	return WriteFile(filepath.Join(d.Path, specFile), data)
}
