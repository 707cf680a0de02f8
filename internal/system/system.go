// Package system opens a system for execution: from a spec, as it is or as a trace has it
// (Traced), it makes the world, the digests of the programs and of whatever nodes learn of
// the host's files, and the ways to start the nodes. It says what has changed since a trace
// was made, and what on the host may be why a node did not do the same twice.
//
// It executes nothing and writes nothing; it starts nodes for packages that do.
//
// Invariants: a System is its own: what it changes of a spec it changes in a copy. The names of
// local states (World) cover everything on which a node's behaviour depends, besides its inputs and
// the files that it asks for.
//
// Packages below it read a spec, build a machine's configuration from it, run a user's checkers and
// look at this machine. The folder may import machine, explore, judge, leaf and the nouns; record
// and use may import it.
//
// Read next: nodes.go, traced.go, files.go; then internal/record, internal/use/run,
// internal/use/check.
package system

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/judge"
	"github.com/ariadne-mc/ariadne/internal/judge/history"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/judge/stage"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/iface"
	"github.com/ariadne-mc/ariadne/internal/machine/sys"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// Options are how a system is to be opened.
type Options struct {
	// Nodes starts the nodes; nil for real processes.
	Nodes Factory
	// CallName names a system call in messages; nil for the support table's names.
	CallName func(nr int) string
	// Version is Ariadne's own, for the traces.
	Version string
}

// System is a spec with all that its executions have in common. Any number of goroutines may
// use it, once Spec and Rules are as they are to be.
type System struct {
	Spec     *spec.Spec  // a copy of its own
	Rules    world.Rules // the spec's, unless who opened it says less
	Programs []trace.Program
	Digests  *Digests

	nodes    Factory
	callName func(nr int) string
	version  string
	ctx      context.Context    // ends the steps of nodes where they are
	checked  []property.Subject // what checks know of the nodes
	judged   *judge.Properties  // what must hold
	watched  *judge.Properties  // and numbers of which nothing must
	final    *final             // nil: there is no command
	ran      code
	sought   []Sought // by node
}

// Open opens a system. When ctx ends its nodes' steps end where they are.
func Open(ctx context.Context, s *spec.Spec, o Options) (*System, error) {
	for i := range s.Nodes {
		if n := &s.Nodes[i]; len(n.Commands) == 0 {
			return nil, spec.Errors{{Path: s.Path, Line: n.Line, Node: n.Name,
				Text: "no command: the node can be watched, but not be run or checked"}}
		}
	}
	own := *s
	own.Listings = &spec.Listings{}
	d := newDigests(&own)
	programs, err := programsOf(s, d)
	if err != nil {
		return nil, err
	}
	if err := canShow(s.Processor); err != nil {
		return nil, fmt.Errorf("%s: %w", s.Path, err)
	}
	var probed []string
	for _, p := range s.Probes {
		probed = append(probed, p.What())
	}
	for _, l := range s.Looks {
		if l.Command != nil {
			probed = append(probed, l.What())
		}
	}
	watched, err := judge.NewProperties(judge.Config{Path: s.Path, Definitions: s.Properties.Definitions,
		Sources: s.Properties.Sources, Stages: s.Properties.Stages, Probed: probed, History: s.Properties.History,
		Predicates: s.Properties.Predicates, Histories: s.Properties.Histories, Goals: s.Properties.Goals,
		Nodes: namesOf(s)})
	if err != nil {
		return nil, err
	}
	judged, err := watched.Searched()
	if err != nil {
		return nil, err
	}
	if o.Nodes == nil {
		o.Nodes = Processes{}
	}
	if o.CallName == nil {
		o.CallName = callName
	}
	y := &System{
		Spec: &own, Programs: programs, Digests: d,
		Rules: world.Rules{Latency: s.Latency, ClockError: s.TimerError(), Delays: s.Delays, MaxDelay: s.MaxDelay,
			Faults: s.Faults, Combined: s.Fail.Combined, After: s.After, AfterOf: s.AfterOf, Where: s.Where,
			NodeFaults: s.NodeFaultsOf(), Partitions: s.PartitionsOf(), GiveUp: giveUp, Keeps: keeps, Coarse: s.Coarse,
			Seldom: s.SeldomOf()},
		nodes: o.Nodes, callName: o.CallName, version: o.Version, ctx: ctx, checked: checkedNodes(s), judged: judged,
		watched: watched,
		sought:  make([]Sought, len(s.Nodes)),
	}
	if s.Properties.Finally != nil {
		y.final = &final{system: y, verdicts: map[hash.Hash]string{}}
	}
	return y, nil
}

// keeps are calls by which programs bring to the disk what they have written.
var keeps = []string{"fsync", "fdatasync", "sync", "syncfs", "msync", "sync_file_range"}

// giveUp is how long Linux sends again what is not acknowledged, with net.ipv4.tcp_retries2 of 15
// and a line as fast as this one, before it takes a connection for dead.
const giveUp = 925 * time.Second

// callName names a system call as the table has it.
func callName(nr int) string {
	if nr >= 0 && nr < len(sys.Table) && sys.Table[nr].Name != "" {
		return sys.Table[nr].Name
	}
	return fmt.Sprintf("system call %d", nr)
}

// CallName names a system call.
func (y *System) CallName(nr int) string { return y.callName(nr) }

// Names are the nodes' names.
func (y *System) Names() []string { return namesOf(y.Spec) }

func namesOf(s *spec.Spec) (names []string) {
	for i := range s.Nodes {
		names = append(names, s.Nodes[i].Name)
	}
	return names
}

// Hide hides from the nodes the directories to which Ariadne writes, if they are beside the spec.
// So a list or a copy of the spec's directory is the same each time.
func (y *System) Hide(written ...string) error {
	dir, err := filepath.EvalSymlinks(y.Spec.Dir)
	if err != nil {
		return err
	}
	y.Spec.Hidden = nil
	for _, p := range written {
		p, err := filepath.Abs(p)
		if err != nil {
			return err
		}
		if real, err := filepath.EvalSymlinks(p); err == nil {
			p = real
		}
		if rel, err := filepath.Rel(dir, p); err == nil && rel != "." && filepath.IsLocal(rel) {
			y.Spec.Hidden = append(y.Spec.Hidden, filepath.Join(y.Spec.Dir, rel))
		}
	}
	slices.Sort(y.Spec.Hidden)
	y.Spec.Hidden = slices.Compact(y.Spec.Hidden)
	return nil
}

// Limits are the spec's, of one execution.
func (y *System) Limits() search.Limits {
	return search.Limits{Steps: y.Spec.Limits.Steps, Time: ariadne.Time(y.Spec.Limits.Time)}
}

// Header is the head of the trace of an execution within Limits, for a trace in dir.
func (y *System) Header(execution int, dir string) (trace.Header, error) {
	s := y.Spec
	path, err := Relative(dir, s.Path)
	return trace.Header{
		Version: y.version, Name: s.Name, Spec: path, SpecDigest: s.Digest,
		Programs: y.Programs, Seed: s.Seed, Execution: execution,
		Latency: s.Latency, ClockError: s.ClockError, Delays: s.Delays, MaxDelay: s.MaxDelay, Fine: !s.Coarse &&
			s.HasShortFaults(), Stronger: !s.Power.Alone && s.Faults[world.Power] > 0, Faults: faultsOf(s),
		MaxSteps: s.Limits.Steps, MaxTime: s.Limits.Time, MaxCalls: s.Limits.Calls, Date: s.Date,
		Processor: s.Processor,
	}, err
}

// Relative is path as seen from dir, so that both may be moved together.
func Relative(dir, path string) (string, error) {
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

// Judge has the spec's properties judged in a space, which is one goroutine's. share is of what
// stages compute by what has changed (stage.Graph.NewRunner). When ctx ends nothing more is judged.
func (y *System) Judge(ctx context.Context, s *space.Space, share float64) *space.Space {
	return y.judgedBy(ctx, y.judged, s, share)
}

// Stages runs the spec's stages, for one goroutine, with share as in Judge. nil: there are none.
func (y *System) Stages(share float64) *stage.Runner { return y.watched.Stages().NewRunner(share) }

func (y *System) judgedBy(ctx context.Context, p *judge.Properties, s *space.Space, share float64) *space.Space {
	if j := p.NewJudge(share); j != nil {
		s.Properties = j
	}
	if y.final != nil {
		s.Final = &finalJudge{y.final, ctx}
	}
	return s
}

// Unordered are the operations of clients in an execution that no order explains
// (judge.Properties).
func (y *System) Unordered(steps []ariadne.Step, given func(step int) *ariadne.Message) (property string,
	all []history.Operation, err error) {
	return y.judged.Unordered(steps, given, y.Names())
}

// Doubts say what of the spec's properties could not be judged so far, one line each.
func (y *System) Doubts() []string {
	doubts := y.watched.Doubts()
	if y.final != nil {
		y.final.mu.Lock()
		defer y.final.mu.Unlock()
		doubts = append(doubts, y.final.doubts...)
	}
	return doubts
}

// Notes say what is to be known of them besides, one line each.
func (y *System) Notes() []string { return y.judged.Notes() }

// Checks are what watches one execution.
func (y *System) Checks() []property.Check { return property.Generic(y.checked) }

// CommandNames says what the commands of a spec's nodes are called, as messages have them; that of
// a node with one alone has a number, like those that are not known.
func CommandNames(s *spec.Spec) func(id ariadne.NodeID, command int) string {
	nodes := checkedNodes(s)
	return func(id ariadne.NodeID, command int) string {
		if all := nodes[id].Commands; len(all) > 1 && command < len(all) {
			return all[command]
		}
		return fmt.Sprintf("command %d", command+1)
	}
}

// CommandName says what the commands of a spec's nodes are called, each by itself.
func CommandName(s *spec.Spec) func(id ariadne.NodeID, command int) string {
	nodes := checkedNodes(s)
	return func(id ariadne.NodeID, command int) string {
		if all := nodes[id].Commands; command >= 0 && command < len(all) {
			return all[command]
		}
		return fmt.Sprintf("command %d", command+1)
	}
}

func checkedNodes(s *spec.Spec) []property.Subject {
	var nodes []property.Subject
	for _, n := range s.Nodes {
		p := property.Subject{Name: n.Name, MayFail: n.MayFail, Client: n.Client, Checkers: len(n.AfterCrash)}
		for _, c := range n.Programs() {
			p.Commands = append(p.Commands, commandName(c))
		}
		nodes = append(nodes, p)
	}
	return nodes
}

// commandName is a command as messages have it: short, and a shell's line without
// the shell.
func commandName(c spec.Command) string {
	name := c.Name
	if name == "" {
		name = strings.Join(append([]string{filepath.Base(c.Args[0])}, c.Args[1:]...), " ")
	}
	if len(c.Args) == 3 && c.Name == "" && c.Args[0] == "/bin/sh" && c.Args[1] == "-c" {
		name = c.Args[2]
	}
	name = strings.Join(strings.Fields(name), " ")
	if r := []rune(name); len(r) > maxCommandName {
		name = string(r[:maxCommandName-1]) + "…"
	}
	return name
}

const maxCommandName = 40

// World is the system without its nodes.
func (y *System) World() *world.System {
	var nodes []world.Node
	for i := range y.Spec.Nodes {
		def := &y.Spec.Nodes[i]
		nodes = append(nodes,
			world.Node{Name: def.Name, Addrs: append(slices.Clone(def.Addrs), iface.LinkLocal(ariadne.NodeID(i))),
				Start: ariadne.Time(def.Start), After: def.After,
				Client: def.Client, Transit: kernel.MemoryForObjects(def.Memory), Initial: y.initial(i)})
	}
	return world.NewSystem(y.Rules, nodes)
}

// start starts node i, whose steps end where they are when the channel is closed that interrupt
// returns. calls: with Output.CallTrace.
func (y *System) start(interrupt func() <-chan struct{}, i int, calls bool) (memo.Instance, error) {
	def := &y.Spec.Nodes[i]
	n, err := y.nodes.Start(NodeConfig{Spec: y.Spec, Node: def, Calls: calls, Interrupt: interrupt,
		Seen:   y.Digests.seen,
		Learnt: func(files []ariadne.File) { y.ran.learn(def.ID, files) },
		Sought: &y.sought[i]})
	if err != nil {
		return nil, &ariadne.SetupError{Err: fmt.Errorf("node %s: %w", def.Name, err)}
	}
	return n, nil
}

// Living returns the system with nodes that live. When ctx ends their steps end where they are; ctx
// is the system's own or ends with it.
func (y *System) Living(ctx context.Context, now func() time.Duration) *memo.Living {
	var start []func() (memo.Instance, error)
	for i := range y.Spec.Nodes {
		start = append(start, func() (memo.Instance, error) { return y.start(ctx.Done, i, true) })
	}
	return memo.NewLiving(y.World(), start, now)
}

// Boots are the ways to make the nodes of an executor. A step ends where it is when the channel is
// closed that interrupt returns at that time.
func (y *System) Boots(interrupt func() <-chan struct{}) []memo.Boot {
	var boots []memo.Boot
	for i := range y.Spec.Nodes {
		boots = append(boots, func() (memo.Freezable, error) {
			n, err := y.start(interrupt, i, false)
			if err != nil {
				return nil, err
			}
			m, ok := n.(memo.Freezable)
			if !ok {
				return nil, errors.Join(errNotFrozen, n.Close())
			}
			return m, nil
		})
	}
	return boots
}

var errNotFrozen error = &ariadne.SetupError{Err: errors.New("these nodes cannot be frozen: choose a strategy that freezes no nodes, such as random")}

// initial names the state in which node i is before its start.
func (y *System) initial(i int) ariadne.Digest {
	h := sha256.New()
	fmt.Fprintf(h, "%x %d %d %q %d", y.Spec.Digest, y.Spec.Seed, y.Spec.Date.UnixNano(), y.Spec.Processor, i)
	for _, p := range y.Programs {
		fmt.Fprintf(h, " %x", p.Digest)
	}
	fmt.Fprintf(h, " %q %q %q", y.Spec.Nodes[i].Links, MachineOf(y.Spec), kindsOf(y.Spec))
	if n := &y.Spec.Nodes[i]; n.Login != "" {
		fmt.Fprintf(h, " %d %d", n.User, n.Group)
	}
	if s := y.Spec; !s.Coarse && s.HasShortFaults() {
		fmt.Fprint(h, " fine")
	}
	if s := y.Spec; !s.Power.Alone && s.Faults[world.Power] > 0 {
		fmt.Fprint(h, " stronger")
	}
	// A line that stays is an effect: a fault behind it leaves another system than one before it,
	// so the node lists other places.
	id := ariadne.NodeID(i)
	for _, r := range y.Spec.Properties.Sources {
		if r.Stays && (r.Nodes == nil || slices.Contains(r.Nodes, id)) {
			fmt.Fprintf(h, " stays %q %q %q %q %v %v", r.Name, r.Line, r.Until, r.Fields, r.Key,
				r.UntilKey)
		}
	}
	return ariadne.Digest(h.Sum(nil))
}

// programsOf are the files behind the commands, with their digests.
func programsOf(s *spec.Spec, digests *Digests) ([]trace.Program, error) {
	var programs []trace.Program
	for _, n := range s.Nodes {
		for i, c := range n.Programs() {
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

func FileDigest(path string) (d ariadne.Digest, err error) {
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
