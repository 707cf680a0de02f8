package watch

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge/live"
	"github.com/ariadne-mc/ariadne/internal/leaf/debuginfo"
	"github.com/ariadne-mc/ariadne/internal/system/native"
	"github.com/ariadne-mc/ariadne/internal/system/native/probe"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// probing is what the agent sees by programs in the kernel, and what it has found in the programs
// of nodes.
type probing struct {
	kernel    *probe.Kernel // nil: there is none
	without   string        // why there is none
	noStrikes string        // why there are no strikes
	placeless string        // why positions are not known
	queries   []debuginfo.Query
	of        []*spec.Probe // by query
	functions bool          // some of them are functions
	programs  map[native.FileID]*program
	// others has the identity of a program's file as this process sees it, by the one of which the
	// kernel tells
	others  map[native.FileID]native.FileID
	begun   []begun         // programs that are being read, and those that run them
	reading *sync.Mutex     // is held to read one of them
	found   []bool          // by query
	dropped []probe.Dropped // by node, as it was known last
	placed  ariadne.Time    // when positions were read last
	called  bool            // there were calls when they were read last
	second  ariadne.Time    // when calls began to be counted against max_calls
	made    []uint64        // by node, how many there were since
	counted ariadne.Time    // when calls that were dropped were counted last
	// when probes were taken out of programs last, and when all of them were set again; Never: they
	// are out
	pausedAt, resumedAt ariadne.Time
}

// unseen says of names of tuples why a watch does not see them.
func unseen(s *spec.Spec) map[string]string {
	all := map[string]string{}
	for i := range s.Looks {
		if !isPolled(&s.Looks[i]) {
			all[s.Looks[i].Name] = s.Looks[i].What()
		}
	}
	for i := range s.Probes {
		if p := &s.Probes[i]; p.Returns {
			all[p.Name] = "the return of " + p.What()
		}
	}
	return all
}

// openKernel prepares the probes, which tell another agent, or this one. Without functions to
// probe, the watch can do without them.
func (a *Agent) openKernel(tells *Agent) (err error) {
	a.programs, a.dropped = map[native.FileID]*program{}, make([]probe.Dropped, len(a.spec.Nodes))
	a.others, a.reading = map[native.FileID]native.FileID{}, &sync.Mutex{}
	a.made = make([]uint64, len(a.spec.Nodes))
	function := ""
	for i := range a.spec.Probes {
		p := &a.spec.Probes[i]
		if p.Returns {
			continue
		}
		a.queries = append(a.queries,
			debuginfo.Query{Function: p.Function, Variable: p.Variable, Values: p.Values, Emulated: true})
		a.of = append(a.of, p)
		function = cmp.Or(function, p.Function)
	}
	a.functions = function != ""
	a.found = make([]bool, len(a.queries))
	a.kernel, err = probe.Open()
	if err == nil {
		a.kernel.MaxCalls = a.spec.Watch.MaxCalls
		if a.spec.Watch.EachMessage {
			err = a.kernel.FollowMessages(tells.hearMessage)
		}
		if err == nil && a.functions {
			err = a.kernel.FollowPrograms(tells.hearBegun)
		}
		if err == nil {
			err = a.kernel.FollowSockets()
		}
		// Functions and kills can do without the list of sockets.
		some := (a.functions || a.kills) && !a.spec.Watch.EachMessage && errors.Is(err, probe.ErrNoSockets)
		if err == nil || some {
			a.without = probe.Explain(err)
			a.prepareStrikes(tells)
			return nil
		}
		err = errors.Join(err, a.kernel.Close())
		a.kernel = nil
	}
	if a.spec.Watch.EachMessage {
		return fmt.Errorf("watch: each_message is not possible: %s", probe.Explain(err))
	}
	if a.functions {
		return fmt.Errorf("function %s cannot be probed: %s", function, probe.Explain(err))
	}
	a.without = probe.Explain(err)
	a.noStrikes = a.without
	return nil
}

// prepareStrikes makes kills behind system calls possible, or notes why they are not.
func (a *Agent) prepareStrikes(tells *Agent) {
	if a.kills {
		a.noStrikes = probe.Explain(a.kernel.PrepareStrikes(tells.hearStruck))
	}
}

// probeStarted sets probes in the programs that nodes will run, before these begin, and finds their
// variables.
func (a *Agent) probeStarted() error {
	if a.queries == nil {
		return nil
	}
	// What was read of programs is not needed any more, and is much.
	defer debug.FreeOSMemory()
	for _, n := range a.nodes {
		if !n.isStarted() {
			continue
		}
		for _, args := range n.commands() {
			for _, path := range a.programsIn(args) {
				if err := a.probeFile(path); err != nil {
					return fmt.Errorf("node %s: %w", n.def.Name, err)
				}
			}
		}
	}
	return nil
}

// commands are those that start a node's programs.
func (n *watched) commands() (all [][]string) {
	if n.native.Start != nil {
		return [][]string{n.native.Start}
	}
	for _, c := range slices.Concat(n.def.Commands, n.def.Restart) {
		all = append(all, c.Args)
	}
	return all
}

// programsIn are the files of programs that a command names: the first word, and in a script for a
// shell each word that is one.
func (a *Agent) programsIn(args []string) (all []string) {
	for i, arg := range args {
		words := []string{arg}
		if i > 0 {
			words = strings.Fields(arg)
		}
		for _, w := range words {
			w = a.besideSpec(strings.Trim(w, `"';()`))
			if !strings.Contains(w, "/") {
				found, err := exec.LookPath(w)
				if err != nil {
					continue
				}
				w = found
			} else if !filepath.IsAbs(w) {
				w = filepath.Join(a.spec.Dir, w)
			}
			if info, err := os.Stat(w); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 && isELF(w) {
				all = append(all, w)
			}
		}
	}
	return all
}

func isELF(path string) bool {
	f, err := elf.Open(path)
	if err != nil {
		return false
	}
	return f.Close() == nil
}

// probeFile sets probes in a program's file, and finds its variables, once.
func (a *Agent) probeFile(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	id, err := native.IdentifyFile(f)
	if err != nil || a.programs[id] != nil {
		return err
	}
	if a.onWait != nil {
		a.onWait("reading the debug information of " + path)
	}
	found, err := findIn(f, a.queries)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	// By now the path may be that of another file.
	if err := a.enterProgram(id, fmt.Sprintf("/proc/self/fd/%d", f.Fd()), found); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// follow has the kernel follow the processes of a node.
func (a *Agent) follow(n *watched, pid int) error {
	follow := func(pids ...int) error {
		if a.kernel == nil {
			return nil
		}
		return a.kernel.Follow(int(n.def.ID), pids...)
	}
	// What it starts from here on is followed, too, and what it had started is found then.
	if err := follow(pid); err != nil {
		return err
	}
	all := native.Descendants(pid)
	if err := follow(all...); err != nil {
		return err
	}
	if a.queries == nil || n.isStarted() {
		return nil
	}
	return a.probeRunning(all)
}

// probeRunning sets probes in the programs of processes, and finds their variables.
func (a *Agent) probeRunning(pids []int) error {
	if a.queries == nil {
		return nil
	}
	for _, pid := range pids {
		path := fmt.Sprintf("/proc/%d/exe", pid)
		if !isELF(path) {
			continue // it has ended
		}
		if err := a.probeFile(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// readCalls tells what calls of functions expose. complete: no earlier one is missing.
func (a *Agent) readCalls() (complete bool, err error) {
	if a.kernel == nil {
		return true, nil
	}
	// What a call exposes is told before a loss of calls that follow it: a call that was dropped
	// before the others are read is told of after these.
	began, some, dropped := a.now(), false, make([]probe.Dropped, len(a.dropped))
	for _, n := range a.nodes {
		if dropped[n.def.ID], err = a.kernel.Dropped(int(n.def.ID)); err != nil {
			return false, err
		}
	}
	complete, err = a.kernel.Calls(func(c probe.Call) {
		some = true
		a.made[c.Node]++
		a.showCall(&c)
	})
	a.called = some
	if err != nil {
		return complete, err
	}
	a.settle()
	if !complete {
		return false, nil
	}
	for _, n := range a.nodes {
		id, since := n.def.ID, cmp.Or(a.counted, n.checked)
		calls, programs := dropped[id].Calls-a.dropped[id].Calls, dropped[id].Programs-a.dropped[id].Programs
		a.made[id] += calls
		if more := calls + programs; more > 0 {
			a.loseCounted(n, since, a.now(), a.namesByCalls(n), more, "calls of functions came too fast")
		}
		if programs > 0 {
			a.begunUnseen(n, since)
		}
	}
	a.dropped, a.counted = dropped, began
	return true, a.pause()
}

// isPaused reports whether the probes are out of the programs.
func (a *Agent) isPaused() bool { return a.resumedAt == ariadne.Never }

// pause takes the probes out of the programs for the rest of a second in which a node has made more
// calls than are watched (pause_probes).
func (a *Agent) pause() error {
	switch {
	case !a.spec.Watch.PauseProbes:
		return nil
	case a.now() >= a.second.Add(time.Second):
		clear(a.made)
		a.second = a.now()
		if !a.isPaused() {
			return nil
		}
		if err := a.kernel.Resume(); err != nil {
			// A program's file may be about to be replaced.
			for _, n := range a.nodes {
				a.lose(n, a.counted, a.now(), a.namesByCalls(n), fmt.Sprintf("probes cannot be set again: %v", err))
			}
			return a.kernel.Pause()
		}
		a.resumedAt = a.now()
		return nil
	case a.isPaused() || slices.Max(a.made) <= uint64(a.spec.Watch.MaxCalls):
		return nil
	}
	// Calls since the last look would be told behind the loss.
	a.pausedAt, a.resumedAt = a.counted, ariadne.Never
	for _, n := range a.nodes {
		a.lose(n, a.pausedAt, a.now(), a.namesByCalls(n),
			"calls of functions came too fast: probes were taken out for a while")
	}
	return a.kernel.Pause()
}

// namesByCalls are those of the tuples that a node may expose by calls of functions.
func (a *Agent) namesByCalls(n *watched) []string {
	names := map[string]bool{}
	for _, p := range a.of {
		if p.Function != "" && p.At(n.def.ID) {
			names[p.Name] = true
		}
	}
	all := slices.Sorted(maps.Keys(names))
	if n.process == nil {
		return a.staying(all)
	}
	return all
}

// showCall tells what one call exposes.
func (a *Agent) showCall(c *probe.Call) {
	p, n, at := a.of[c.Query], a.watchedAs(ariadne.NodeID(c.Node)), native.FromKernel(c.At)-a.base
	if n == nil || !p.At(n.def.ID) {
		return
	}
	if a.pausedAt < at && at <= a.resumedAt {
		return // some of the probes were out, so what is exposed stays unknown
	}
	if c.Missing {
		a.lose(n, at, at, []string{p.Name}, fmt.Sprintf("a value could not be read at a call of %s", p.Function))
		return
	}
	e := ariadne.Exposure{Name: p.Name, Values: c.Values}
	if p.Ends {
		e = ariadne.Exposure{Name: p.Name, Key: ariadne.ExposureKey(c.Values), Ends: true}
	}
	out := ariadne.Output{Exposures: []ariadne.Shown{{At: at, Exposure: e}}}
	changes := a.sampled(a.living(n, a.spec.Properties.Sources.Changes(n.def.ID, &out)))
	if len(changes) == 0 {
		return
	}
	n.enter(changes)
	a.shows(n, at)
	a.addRecord(n, live.Record{Kind: live.Show, Channel: live.Functions, After: at, At: at, Changes: changes,
		Text: "call of " + p.Function})
}

// positionsEvery is how often positions are read at most.
const positionsEvery = 5 * time.Millisecond

// readPositions returns the positions of each node in TCP streams; nil: they are not read now.
func (a *Agent) readPositions(some bool) ([]*live.Positions, error) {
	since := time.Duration(a.now() - a.placed)
	exactly := some && a.spec.Watch.EachMessage
	follows := a.kernel != nil && a.kernel.FollowsSockets()
	if !exactly && (since < positionsEvery || (!some || !follows) && since < a.spec.Watch.Heartbeat) {
		return nil, nil
	}
	a.placed = a.now()
	all := make([]*live.Positions, len(a.spec.Nodes))
	for i := range all {
		all[i] = &live.Positions{Sent: map[live.Stream]uint32{}, Got: map[live.Stream]uint32{}}
	}
	if !follows {
		return all, a.diagnose(all)
	}
	sockets, err := a.kernel.Sockets()
	if err != nil {
		return nil, err
	}
	for _, s := range sockets {
		if s.Node < len(all) {
			all[s.Node].Sent[live.Stream{From: s.Local, To: s.Remote}] = s.Written
			all[s.Node].Got[live.Stream{From: s.Remote, To: s.Local}] = s.Read
		}
	}
	return all, nil
}

// diagnose enters positions that the kernel tells everybody, of nodes in this network namespace.
func (a *Agent) diagnose(all []*live.Positions) error {
	streams, err := native.Streams()
	if errors.Is(err, native.ErrNoStreams) {
		a.placeless = err.Error()
		return nil
	} else if err != nil {
		return err
	}
	for _, n := range a.nodes {
		if n.process == nil {
			continue
		}
		own := all[n.def.ID]
		own.Counted = true
		for inode := range native.SocketsOf(native.Descendants(n.process.PID)) {
			if s, ok := streams[inode]; ok {
				own.Sent[live.Stream{From: s.Local, To: s.Remote}] = s.Written
				own.Got[live.Stream{From: s.Remote, To: s.Local}] = s.Read
			}
		}
	}
	return nil
}

// doubts say what was not found in programs, one line each.
func (a *Agent) doubts() (all []string) {
	for i, found := range a.found {
		if !found && a.of[i].Function != "" {
			all = append(all, fmt.Sprintf("no program with debug information has a %s: check the name, and that the program is not stripped", a.of[i].What()))
		}
	}
	return all
}
