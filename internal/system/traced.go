package system

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/leaf/readfile"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// LoadTrace reads a trace; the error names file and line.
func LoadTrace(path string) (*trace.Trace, error) {
	b, err := readfile.AtMost(path, readfile.Record)
	if err != nil {
		return nil, err
	}
	t, err := trace.Parse(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}

// SpecOf is the path of the spec of the trace at path.
func SpecOf(path string, t *trace.Trace) string {
	if filepath.IsAbs(t.Spec) {
		return t.Spec
	}
	return filepath.Join(filepath.Dir(path), t.Spec)
}

// ReadTraced reads the trace at path, and its spec from where the trace says, unless it is
// given.
func ReadTraced(path string, s *spec.Spec) (*trace.Trace, *spec.Spec, error) {
	t, err := LoadTrace(path)
	if err == nil && s == nil {
		s, err = spec.Read(SpecOf(path, t))
	}
	return t, s, err
}

// Traced opens a system as it was when a trace was made: what the trace holds of the rules
// takes the place of what the spec says now.
func Traced(ctx context.Context, s *spec.Spec, t *trace.Trace, o Options) (*System, error) {
	faults, err := faultsIn(t)
	if err != nil {
		return nil, err
	}
	was := *s
	was.Faults, was.Processor, was.Coarse, was.Power.Alone = faults, t.Processor, !t.Fine, !t.Stronger
	was.Seed, was.Date, was.Latency, was.ClockError, was.Delays, was.MaxDelay = t.Seed, t.Date, t.Latency, t.ClockError,
		t.Delays, t.MaxDelay
	was.Limits.Steps, was.Limits.Time, was.Limits.Calls = t.MaxSteps, t.MaxTime, t.MaxCalls
	return Open(ctx, &was, o)
}

// Alike opens a system as it is now, in which the choices of a trace can be taken: with its
// seed, and with budgets that are no less.
func Alike(ctx context.Context, s *spec.Spec, t *trace.Trace, o Options) (*System, error) {
	faults, err := faultsIn(t)
	if err != nil {
		return nil, err
	}
	now := *s
	now.Seed, now.Delays, now.MaxDelay = t.Seed, max(s.Delays, t.Delays), max(s.MaxDelay, t.MaxDelay)
	if t.MaxDelay == 0 {
		now.MaxDelay = 0 // as late as may be
	}
	for k, n := range faults {
		now.Faults[k] = max(now.Faults[k], n)
	}
	return Open(ctx, &now, o)
}

// faultsOf are the budgets of faults as a trace has them.
func faultsOf(s *spec.Spec) (all []trace.Fault) {
	for _, k := range world.Kinds() {
		if n := s.Faults[k]; n > 0 {
			all = append(all, trace.Fault{Kind: world.KindOf(k).Name, Count: int(n)})
		}
	}
	return all
}

// kindsOf are the kinds of faults for which there is a budget: for these nodes list places. How
// large it is nodes are not told.
func kindsOf(s *spec.Spec) (all []string) {
	for _, f := range faultsOf(s) {
		all = append(all, f.Kind)
	}
	return all
}

// faultsIn are those of a trace.
func faultsIn(t *trace.Trace) (all world.Faults, err error) {
	for _, f := range t.Faults {
		k, ok := world.KindNamed(f.Kind)
		if !ok || world.KindOf(k).Fault == "" || f.Count < 0 || f.Count > world.MaxFaults {
			return all, fmt.Errorf("the trace has %d faults of kind %q, which this version of Ariadne does not have", f.Count, f.Kind)
		}
		all[k] = uint8(f.Count)
	}
	return all, nil
}

// Changes says what is not as it was when the trace was made, one line each.
func (y *System) Changes(t *trace.Trace) []string {
	var lines []string
	h := &t.Header
	if y.Spec.Digest != h.SpecDigest {
		lines = append(lines, fmt.Sprintf("spec %s has changed", y.Spec.Path))
	}
	for _, p := range h.Programs {
		i := slices.IndexFunc(y.Programs, func(q trace.Program) bool {
			return q.Node == p.Node && q.Command == p.Command
		})
		switch {
		case i < 0:
			lines = append(lines, fmt.Sprintf("node %s: command %d (%s) is gone", p.Node, p.Command+1, p.Path))
		case y.Programs[i] != p:
			lines = append(lines, fmt.Sprintf("node %s: program %s has changed (digest %s, in the trace %s %s)",
				p.Node, y.Programs[i].Path, y.Programs[i].Digest, p.Path, p.Digest))
		}
	}
	if len(y.Programs) > len(h.Programs) {
		lines = append(lines,
			fmt.Sprintf("the spec has %d commands, and the trace %d", len(y.Programs), len(h.Programs)))
	}
	files := slices.DeleteFunc(slices.Clone(t.Files), func(f trace.File) bool {
		// told above
		return slices.ContainsFunc(h.Programs, func(p trace.Program) bool { return p.Path == f.Path })
	})
	return append(lines, y.Digests.Changed(files)...)
}

// HostChanges says what is not as it was when the trace at path was made, of what the
// trace does not hold for.
func (y *System) HostChanges(path string) []string {
	path += trace.HostSuffix
	b, err := readfile.AtMost(path, readfile.Record)
	if errors.Is(err, fs.ErrNotExist) {
		return []string{path + " is missing, so other changes of the host are not known"}
	}
	if err != nil {
		return []string{err.Error()}
	}
	h, err := trace.ParseHost(b)
	if err != nil {
		return []string{fmt.Sprintf("%s: %v", path, err)}
	}
	var lines []string
	now := facts(y.Spec)
	for _, f := range h.Facts {
		i := slices.IndexFunc(now, func(g trace.Fact) bool { return g.Name == f.Name })
		switch {
		case i < 0:
			lines = append(lines, f.Name+": gone")
		case now[i].Value != f.Value:
			lines = append(lines, fmt.Sprintf("%s: now %q, in the trace %q", f.Name, now[i].Value, f.Value))
		}
	}
	return append(lines, y.Digests.Changed(h.Files)...)
}
