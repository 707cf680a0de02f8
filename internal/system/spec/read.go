package spec

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/leaf/readfile"
)

// Error is one thing wrong with a spec.
type Error struct {
	Path string // of the spec, as given
	Line int    // from 1; 0 when the file as a whole is meant
	Node string // whose description is wrong, or ""
	Text string
}

func (e Error) Error() string {
	where := e.Path
	if e.Line > 0 {
		where = fmt.Sprintf("%s:%d", e.Path, e.Line)
	}
	if e.Node != "" {
		where += ": node " + e.Node
	}
	return where + ": " + e.Text
}

// Errors are all things wrong with a spec, in the order of its lines.
type Errors []Error

func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Read reads and validates the spec in the file at path. Its error is an Errors.
func Read(path string) (*Spec, error) {
	data, err := readfile.AtMost(path, readfile.Spec)
	if err != nil {
		return nil, Errors{{Path: path, Text: "cannot be read: " + cause(err)}}
	}
	return Parse(path, data)
}

// Parse validates data as the spec in the file at path, which need not exist;
// its directory is where relative names start. Its error is an Errors.
func Parse(path string, data []byte) (*Spec, error) {
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return nil, Errors{{Path: path, Text: cause(err)}}
	}
	r := &reader{path: path, dir: dir}
	s := defaults()
	s.Path, s.Dir, s.Digest = path, dir, sha256.Sum256(data)
	s.Name = strings.TrimSuffix(filepath.Base(path), filepath.Ext(path))

	var written specText
	if isColumns(path, data) {
		written.nodes = r.columns(data)
		s.EndsByTime = true // this form cannot say who is a client
	} else {
		written = r.document(&s, data)
	}
	if len(r.errs) == 0 { // else what follows would complain of what is missing
		r.drawnBy = s.Seed
		for _, n := range written.watch.nodes {
			r.watches = append(r.watches, n.name.string)
		}
		s.Nodes = r.build(written.nodes)
	}
	if r.read != nil { // what stands in further files counts as if it stood in the spec
		s.Digest = sha256.Sum256(append(s.Digest[:], r.read...))
	}
	if len(r.errs) == 0 {
		s.Explore.Symmetric = r.symmetric(written.explore.symmetric, s.Nodes)
		r.namesInFaults(&s, &written)
		r.exposures(&s, &written)
		r.watched(&s, &written.watch)
		for i, t := range written.explore.states {
			if err := s.Tells(s.Explore.States[i]); err != nil {
				r.fail(t.line, "states: %s", err)
			}
		}
	}
	if part := s.parting(false); len(r.errs) == 0 && part > s.ClockError {
		drifts := slices.IndexFunc(s.Nodes, func(n Node) bool { return n.ClockDrift != 0 })
		r.fail(s.Nodes[drifts].Line, "clock_drift: in %v the nodes' clocks drift apart by %v, which is more than clock_error (%v)", s.Limits.Time, part, s.ClockError)
	}
	if len(r.errs) == 0 {
		for _, k := range world.Kinds() {
			if what := cmp.Or(s.impossible(k), s.strikesNobody(k)); what != "" {
				r.fail(written.budgets[k].line, "%s", what)
			}
		}
	}
	if len(r.errs) > 0 {
		slices.SortStableFunc(r.errs, func(a, b Error) int { return cmp.Compare(a.Line, b.Line) })
		return nil, r.errs
	}
	return &s, nil
}

// reader carries what every part of reading needs: where the spec is, whose
// description is being read, and what was wrong so far.
type reader struct {
	path, dir string
	node      string
	drawnBy   uint64 // seed of workloads
	awaited   []awaited
	watches   []string // names and templates of nodes that are found outside the checker
	read      []byte   // what nodes were given of further files
	fields    []string // that are being read, each within the one before
	lines     [][]byte // of a spec in YAML
	errs      Errors
}

// fail records an error. The copies that a template makes of one mistake are one error.
func (r *reader) fail(line int, format string, args ...any) {
	e := Error{Path: r.path, Line: line, Node: r.node, Text: fmt.Sprintf(format, args...)}
	e.Text = strings.ReplaceAll(e.Text, "\n", " ")
	same := func(o Error) bool { return o.Line == e.Line && o.Text == e.Text }
	if !slices.ContainsFunc(r.errs, same) {
		r.errs = append(r.errs, e)
	}
}

// cause is the last part of an error of package os: what without where.
func cause(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}
