package run

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ariadne"
	"ariadne/internal/memo"
	"ariadne/internal/property"
	"ariadne/internal/search"
	"ariadne/internal/spec"
	"ariadne/internal/trace"
	"ariadne/internal/world"
)

// system is a spec with all that its executions have in common.
type system struct {
	spec     *spec.Spec
	opts     Options
	programs []trace.Program
	digests  *digests
	locked   *os.File        // the run directory; nil until it is in use
	checked  []property.Node // what checks know of the nodes
	ran      code
}

func newSystem(s *spec.Spec, o Options) (*system, error) {
	own := *s
	own.Listings = &spec.Listings{}
	d := newDigests(&own)
	programs, err := programsOf(s, d)
	if err != nil {
		return nil, err
	}
	return &system{spec: &own, opts: o, programs: programs, digests: d, checked: checkedNodes(s)}, nil
}

// hide hides from the nodes what Ariadne writes: these run directories, those that the
// spec's directory holds already, and where they come to lie by default. What a node
// finds when it lists that directory, or has a copy of, is then the same each time.
func (y *system) hide(runs ...string) error {
	dir, err := filepath.EvalSymlinks(y.spec.Dir)
	if err != nil {
		return err
	}
	runs = append(runs, runsDir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if p := filepath.Join(dir, e.Name()); e.IsDir() && (e.Name() == runsDir || isRun(p)) {
			runs = append(runs, p)
		}
	}
	y.spec.Hidden = nil
	for _, p := range runs {
		p, err := filepath.Abs(p)
		if err != nil {
			return err
		}
		if real, err := filepath.EvalSymlinks(p); err == nil {
			p = real
		}
		if rel, err := filepath.Rel(dir, p); err == nil && rel != "." && filepath.IsLocal(rel) {
			y.spec.Hidden = append(y.spec.Hidden, filepath.Join(y.spec.Dir, rel))
		}
	}
	slices.Sort(y.spec.Hidden)
	y.spec.Hidden = slices.Compact(y.spec.Hidden)
	return nil
}

// limits of one execution.
func (y *system) limits() search.Limits {
	l := search.Limits{Steps: y.spec.Limits.Steps, Time: ariadne.Time(y.spec.Limits.Time)}
	if d := y.opts.Depth; d > 0 && (l.Steps == 0 || d < l.Steps) {
		l.Steps = d
	}
	return l
}

// header is the head of the trace of an execution, for a trace in dir.
func (y *system) header(execution int, dir string) (trace.Header, error) {
	path, err := relative(dir, y.spec.Path)
	steps := y.limits().Steps
	if y.opts.From != nil {
		steps = y.spec.Limits.Steps // a depth counts from there, not from the start
	}
	return trace.Header{
		Version: y.opts.Version, Name: y.spec.Name, Spec: path, SpecDigest: y.spec.Digest,
		Programs: y.programs, Seed: y.spec.Seed, Execution: execution,
		Latency: y.spec.Latency, ClockError: y.spec.ClockError, Delays: y.spec.Delays, Faults: faultsOf(y.spec),
		MaxSteps: steps, MaxTime: y.spec.Limits.Time, MaxCalls: y.spec.Limits.Calls, Date: y.spec.Date,
	}, err
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

// faultsIn are those of a trace.
func faultsIn(t *trace.Trace) (all world.Faults, err error) {
	for _, f := range t.Faults {
		k, ok := world.KindNamed(f.Kind)
		if !ok || world.KindOf(k).Fault == "" || f.Count < 0 || f.Count > world.MaxFaults {
			return all, fmt.Errorf("the trace has %d faults of kind %q, of which this version knows nothing", f.Count, f.Kind)
		}
		all[k] = uint8(f.Count)
	}
	return all, nil
}

// relative is path as seen from dir, so that both may be moved together.
func relative(dir, path string) (string, error) {
	d, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	p, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.Rel(d, p)
}

// checks are what watches one execution.
func (y *system) checks() []property.Check { return property.Generic(y.checked) }

func checkedNodes(s *spec.Spec) []property.Node {
	var nodes []property.Node
	for _, n := range s.Nodes {
		p := property.Node{Name: n.Name, MayFail: n.MayFail, Client: n.Client}
		for _, c := range n.Commands {
			p.Commands = append(p.Commands, commandName(c))
		}
		nodes = append(nodes, p)
	}
	return nodes
}

// commandName is a command as messages have it: short, and a shell's line without
// the shell.
func commandName(c spec.Command) string {
	name := strings.Join(append([]string{filepath.Base(c.Args[0])}, c.Args[1:]...), " ")
	if len(c.Args) == 3 && c.Args[0] == "/bin/sh" && c.Args[1] == "-c" {
		name = c.Args[2]
	}
	name = strings.Join(strings.Fields(name), " ")
	if r := []rune(name); len(r) > maxCommandName {
		name = string(r[:maxCommandName-1]) + "…"
	}
	return name
}

const maxCommandName = 40

// world is the system without its nodes.
func (y *system) world() *world.System {
	var nodes []world.Node
	for i := range y.spec.Nodes {
		def := &y.spec.Nodes[i]
		nodes = append(nodes, world.Node{Name: def.Name, Addrs: def.Addrs, Start: ariadne.Time(def.Start),
			Client: def.Client, Initial: y.initial(i)})
	}
	delays := y.opts.Search.Delays.Min(y.spec.Delays)
	return world.NewSystem(world.Rules{Latency: y.spec.Latency, ClockError: y.spec.ClockError, Delays: delays, Faults: y.spec.Faults}, nodes)
}

// start starts node i. calls: with Output.CallTrace.
func (y *system) start(i int, calls bool) (memo.Node, error) {
	def := &y.spec.Nodes[i]
	n, err := y.opts.Nodes.Start(NodeConfig{Spec: y.spec, Node: def, Calls: calls,
		Learnt: func(files []ariadne.File) { y.ran.learn(def.ID, files) }})
	if err != nil {
		return nil, &ariadne.SetupError{Err: fmt.Errorf("node %s: %w", def.Name, err)}
	}
	return n, nil
}

// living returns the system with nodes that live.
func (y *system) living(now func() time.Duration) *memo.Living {
	var start []func() (memo.Node, error)
	for i := range y.spec.Nodes {
		start = append(start, func() (memo.Node, error) { return y.start(i, true) })
	}
	return memo.NewLiving(y.world(), start, now)
}

// boots are the ways to make the nodes of an executor.
func (y *system) boots() []memo.Boot {
	var boots []memo.Boot
	for i := range y.spec.Nodes {
		boots = append(boots, func() (memo.Machine, error) {
			n, err := y.start(i, false)
			if err != nil {
				return nil, err
			}
			m, ok := n.(memo.Machine)
			if !ok {
				return nil, errors.Join(errNotFrozen, n.Close())
			}
			return m, nil
		})
	}
	return boots
}

var errNotFrozen error = &ariadne.SetupError{Err: errors.New("these nodes cannot be frozen, which a strategy that remembers needs")}

// initial names the state in which node i is before its start.
func (y *system) initial(i int) ariadne.Digest {
	h := sha256.New()
	fmt.Fprintf(h, "%x %d %d %d", y.spec.Digest, y.spec.Seed, y.spec.Date.UnixNano(), i)
	for _, p := range y.programs {
		fmt.Fprintf(h, " %x", p.Digest)
	}
	fmt.Fprintf(h, " %q %q", y.spec.Nodes[i].Links, machineFacts())
	return ariadne.Digest(h.Sum(nil))
}

// programsOf are the files behind the commands, with their digests.
func programsOf(s *spec.Spec, digests *digests) ([]trace.Program, error) {
	var programs []trace.Program
	for _, n := range s.Nodes {
		for i, c := range n.Commands {
			d, err := digests.content(hostPath(s, c.Args[0]))
			if err != nil {
				return nil, fmt.Errorf("%s:%d: node %s: %w", s.Path, c.Line, n.Name, err)
			}
			programs = append(programs, trace.Program{Node: n.Name, Command: i, Path: c.Args[0], Digest: d})
		}
	}
	return programs, nil
}

// hostPath is where a program lies that nodes see at path.
func hostPath(s *spec.Spec, path string) string {
	if rel, ok := strings.CutPrefix(path, "/spec"); ok && besideSpec(path) {
		return filepath.Join(s.Dir, rel)
	}
	return path
}

func fileDigest(path string) (d ariadne.Digest, err error) {
	f, err := os.Open(path)
	if err != nil {
		return d, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return d, fmt.Errorf("%s is not a regular file", path)
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return d, err
	}
	return ariadne.Digest(h.Sum(nil)), nil
}
