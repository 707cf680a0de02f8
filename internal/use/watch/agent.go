package watch

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/live"
	"github.com/ariadne-mc/ariadne/internal/system/native"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// Agent tells of the nodes of this machine in a log. It is for one goroutine.
type Agent struct {
	spec   *spec.Spec
	log    Log
	waiter *native.Waiter
	nodes  []*watched
	base   ariadne.Time // of native.Now, when the watch began
	// absolute: times are those of native.Now, and the log gives them the common time
	absolute bool
	batch    []live.Record
	beat     ariadne.Time      // when it last told that nothing else has happened
	owed     bool              // something was told since
	behind   bool              // the log is too long
	onWait   func(text string) // or nil
	calls    chan func()       // of do
	leftOut  map[string]int    // changes that are not of the sample, by name
	over     chan struct{}     // is closed when the agent has ended
	closing  func()            // closes over
	turned   bool              // it begins in a watch whose properties have changed
	looked   ariadne.Time      // when it last looked for processes
	started
	probing

	injection
	onFault  func(Change) // or nil
	again    bool         // nodes that have ended are started again
	kills    bool         // nodes are killed
	ending   bool         // it tells what is left
	settleBy ariadne.Time // with ending: until when it waits for programs that are being read
}

// watched is a node as the agent sees it.
type watched struct {
	def     *spec.Node
	native  *spec.Native
	process *native.Process // nil: there is none
	sources []native.Source
	seq     uint64
	checked ariadne.Time // everything before it was told
	finding bool         // its process is looked for
	unfound string       // why that has failed last
	// absent is the begin of the last look for its process that found none: a process that is found
	// next began after it
	absent    ariadne.Time
	before    ariadne.Time // absent as it was before the last look, or the same
	met       bool         // some process of it was found before
	told      ariadne.Time // when a line of it was last read that shows something; or 0
	unclaimed unclaimed
	other     int         // the process that the pidfile names while the one before it lives; or 0
	resumed   bool        // another agent has told of it before
	exposed   *expose.Set // as far as it was told
	unknown   []string    // names of tuples that it may have exposed before it was watched
	skipped   []string    // names of tuples whose changes were left out
	polls     polls
	lacks     map[string]bool // variables that no process of it has had, by name
	lacking   []string        // the same in words, as far as they are missed
	sight     sight
	// unreadable is the first program that it began and that could not be read
	unreadable string
	sought     string           // what of it was never found, as it was told
	heard      [faultKinds]bool // it has written a line that must come before such faults
	traffic
}

// unclaimed is what lines of a node have shown since its process was last there. One that was not
// found may have written them.
type unclaimed struct {
	names []string
	first ariadne.Time // when the first one was read
	since ariadne.Time // nobody was there at this time, which is before all of them
}

// lookAgain is how often the agent looks for a process that is not there.
const lookAgain = 100 * time.Millisecond

// round is the least time from one look at the nodes to the next: how much it costs depends on
// that, and for how long the order of events of different nodes is open.
const round = 200 * time.Microsecond

// do has the agent call a function between two looks at the nodes, and returns when it has.
func (a *Agent) do(f func() error) error {
	done := make(chan error, 1)
	select {
	case a.calls <- func() { done <- f() }:
		a.waiter.Wake()
	case <-a.over:
		return errOver
	}
	select {
	case err := <-done:
		return err
	case <-a.over:
	}
	select {
	case err := <-done: // it was called before the end
		return err
	default:
		return errOver
	}
}

// errOver says that the agent has ended.
var errOver = errors.New("the agent has ended")

// newAgent returns an agent of some nodes; own nil: of all.
func newAgent(s *spec.Spec, log Log, own []ariadne.NodeID) (*Agent, error) {
	w, err := native.NewWaiter()
	if err != nil {
		return nil, err
	}
	a := &Agent{spec: s, log: log, waiter: w, base: native.Now(), calls: make(chan func(), 1),
		over: make(chan struct{}), leftOut: map[string]int{}}
	a.closing = sync.OnceFunc(func() { close(a.over) })
	for i := range s.Nodes {
		if own == nil || slices.Contains(own, s.Nodes[i].ID) {
			a.nodes = append(a.nodes, &watched{def: &s.Nodes[i], native: &s.Watch.Native[i]})
		}
	}
	return a, nil
}

// watchedAs returns a node by its id; nil: it is not watched here.
func (a *Agent) watchedAs(id ariadne.NodeID) *watched {
	for _, n := range a.nodes {
		if n.def.ID == id {
			return n
		}
	}
	return nil
}

// now is the time since the watch began.
func (a *Agent) now() ariadne.Time { return native.Now() - a.base }

// attach finds or starts all nodes.
func (a *Agent) attach(ctx context.Context) error {
	if err := a.openKernel(a); err != nil {
		return err
	}
	if err := a.probeStarted(); err != nil {
		return err
	}
	if !a.absolute {
		a.base = native.Now()
	}
	a.looked = a.now()
	for _, n := range a.nodes {
		n.checked = a.now()
		if err := a.openLogs(n); err != nil {
			return fmt.Errorf("node %s: %w", n.def.Name, err)
		}
	}
	if err := a.startAll(ctx); err != nil {
		return err
	}
	for _, n := range a.nodes {
		if n.native.Found && n.native.Start == nil {
			if err := a.find(ctx, n); err != nil {
				return fmt.Errorf("node %s: %w", n.def.Name, err)
			}
			if n.process == nil && n.resumed {
				a.addRecord(n, live.Record{Kind: live.Down, After: a.looked, At: a.now(), Text: "no process is there"})
			}
		}
		if n.isSought() {
			// Lines that are there already are not of a process that begins now.
			if err := a.readLines(n); err != nil {
				return fmt.Errorf("node %s: %w", n.def.Name, err)
			}
			n.unclaimed = unclaimed{}
		}
		was := n.sought
		if a.seek(n); n.sought == "" && n.resumed {
			a.tellSought(n) // an earlier agent may have told something else
		}
		if n.sought != was && a.onWait != nil {
			a.onWait(fmt.Sprintf("node %s: not found yet: %s: the watch looks for it", n.def.Name, n.sought))
		}
		if a.turned {
			a.tellTurned(n)
		}
	}
	a.flush()
	return nil
}

// openLogs opens the files that have a node's lines.
func (a *Agent) openLogs(n *watched) error {
	for _, path := range n.native.Logs {
		f, err := native.Tail(path, n.native.Before != spec.BeforeInLog)
		if err != nil {
			return err
		}
		if err := a.addSource(n, f); err != nil {
			return err
		}
	}
	return nil
}

func (a *Agent) addSource(n *watched, s native.Source) error {
	n.sources = append(n.sources, s)
	return a.waiter.AddSource(s)
}

// find looks for the process of a node that somebody else starts.
func (a *Agent) find(ctx context.Context, n *watched) error {
	pid, err := pidOf(ctx, n.native)
	if err != nil {
		return err
	}
	n.absent, n.before = a.looked, a.looked
	return a.enterFound(n, pid)
}

// findBeside does so beside the loop: systemctl may take long.
func (a *Agent) findBeside(ctx context.Context, n *watched) {
	n.finding = true
	pid, looked, by := 0, a.looked, n.native
	var wrong error
	a.beside(func() error {
		pid, wrong = pidOf(ctx, by)
		return nil
	}, func() error {
		if n.finding = false; n.process != nil || looked < n.absent {
			return nil // another look has ended before
		}
		if err := a.enterFound(n, pid); err != nil {
			return fmt.Errorf("node %s: %w", n.def.Name, err)
		}
		if ctx.Err() != nil {
			return nil
		}
		// The next look may find it: a pidfile is being written, or another process has the same
		// arguments for a moment.
		was := n.unfound
		if n.unfound = ""; wrong != nil {
			n.unfound = wrong.Error()
		}
		if n.unfound != was {
			a.seek(n)
			if wrong != nil && a.onWait != nil {
				a.onWait(fmt.Sprintf("node %s: %v: the watch looks again", n.def.Name, wrong))
			}
		}
		if n.process == nil {
			a.nobody(n, looked, wrong == nil)
		}
		return nil
	})
}

// nobody enters that a look for a node's process, which began at a time, has found none. Not sure:
// there may be several.
func (a *Agent) nobody(n *watched, looked ariadne.Time, sure bool) {
	if u := n.unclaimed; len(u.names) > 0 && u.first < looked {
		a.lose(n, u.since, a.now(), u.names, "it has written lines while no process was found")
		if sure {
			a.addRecord(n, live.Record{Kind: live.Down, After: looked, At: a.now(), Text: "no process is there"})
			n.unknown = a.staying(n.unknown)
		}
		n.unclaimed = unclaimed{}
	}
	n.absent, n.before = looked, n.absent
}

// enterFound enters that a node's process was found; pid 0: it was not.
func (a *Agent) enterFound(n *watched, pid int) error {
	if pid == 0 {
		return nil
	}
	p, err := native.Attach(pid)
	if err != nil {
		if n.met || n.native.PID == 0 {
			return nil // it has just ended
		}
		return err
	}
	return a.enterProcess(n, p, n.absent)
}

// findLast looks for processes once more at the end, so that the last events can be judged.
func (a *Agent) findLast() error {
	ctx, stop := context.WithTimeout(context.Background(), time.Second)
	defer stop()
	for _, n := range a.nodes {
		if !n.isSought() {
			continue
		}
		looked := a.now()
		pid, err := pidOf(ctx, n.native)
		if err != nil {
			continue // it was said that the watch looks for it
		}
		if err := a.enterFound(n, pid); err != nil {
			return fmt.Errorf("node %s: %w", n.def.Name, err)
		}
		if n.process == nil {
			a.nobody(n, looked, true)
		}
	}
	return nil
}

// isSought reports whether the process of a node is looked for, which somebody else starts.
func (n *watched) isSought() bool {
	return n.process == nil && !n.isStarted() && (n.native.PID == 0 || !n.met)
}

// knownUpTo is the time up to which all events of a node were told, if all was read up to another
// one.
func (a *Agent) knownUpTo(n *watched, all ariadne.Time) ariadne.Time {
	if n.isSought() {
		all = min(all, n.absent) // it may have begun
		if len(n.unclaimed.names) > 0 {
			all = min(all, n.unclaimed.since)
		}
	} else if n.process != nil {
		all = min(all, n.checked) // it may have ended
	}
	return min(all, a.unread(n)-1)
}

// seek tells what of a node was never found, if that has changed.
func (a *Agent) seek(n *watched) {
	var all []string
	if n.native.Found && n.native.Start == nil && !n.met {
		all = append(all, processOf(n.native))
	}
	for _, s := range n.sources {
		if f, ok := s.(*native.File); ok && !f.Found() {
			all = append(all, "the log file "+f.Path())
		}
	}
	if n.unfound != "" && n.process == nil {
		all = append(all, "the process: "+n.unfound)
	}
	if n.other != 0 {
		all = append(all, fmt.Sprintf("process %d, whose id is in %s, since the process before it lives", n.other,
			n.native.PIDFile))
	}
	all = slices.Concat(all, n.lacking, n.sight.unseen)
	if text := strings.Join(all, ", "); text != n.sought {
		n.sought = text
		a.tellSought(n)
	}
}

func (a *Agent) tellSought(n *watched) {
	a.addRecord(n, live.Record{Kind: live.Sought, After: n.checked, At: a.now(), Text: n.sought})
}

// unfound says what of the nodes was never found, one line each.
func (a *Agent) unfound() (all []string) {
	for _, n := range a.nodes {
		if n.sought != "" {
			all = append(all, live.Unfound(n.def.Name, n.sought))
		}
	}
	return all
}

// processOf says in words which process is that of a node.
func processOf(n *spec.Native) string {
	switch {
	case n.PIDFile != "":
		return "a process whose id is in " + n.PIDFile
	case n.Command != nil:
		return fmt.Sprintf("a process whose arguments match %q", n.Command)
	case n.Unit != "":
		return "the main process of the service " + n.Unit
	case n.Group != "":
		return fmt.Sprintf("a process in a control group %q", n.Group)
	}
	return fmt.Sprintf("process %d", n.PID)
}

// pidOf is the id of a node's process; 0: there is none now.
func pidOf(ctx context.Context, n *spec.Native) (int, error) {
	switch {
	case n.PIDFile != "":
		return native.ReadPIDFile(n.PIDFile)
	case n.Command != nil:
		return native.FindCommand(n.Command)
	case n.Unit != "":
		return native.FindUnit(ctx, n.Unit)
	case n.Group != "":
		return native.FindGroup(n.Group)
	}
	return n.PID, nil
}

// enterProcess enters that a node's process is there, which was not there at a time.
func (a *Agent) enterProcess(n *watched, p *native.Process, before ariadne.Time) error {
	n.process = p
	if err := a.follow(n, p.PID); err != nil {
		return err
	}
	at := a.now()
	began := p.Began() - a.base
	if u := n.unclaimed; len(u.names) > 0 {
		a.lose(n, u.since, at, u.names, "it has written lines while no process was found")
	}
	a.addRecord(n, live.Record{Kind: live.Up, After: before, At: at, Text: fmt.Sprintf("process %d", p.PID)})
	n.unknown = a.staying(n.unknown)
	n.exposed = n.exposed.Staying()
	if a.resumedAt > 0 && a.resumedAt >= before {
		a.lose(n, at, at, a.namesByCalls(n), "it has begun while probes were out")
	}
	if names := a.missed(n); len(names) > 0 {
		a.lose(n, at, at, names, "it ran before it was watched")
	}
	if (n.told != 0 && n.told >= began || len(n.unclaimed.names) > 0) && !n.isStarted() {
		// It may have written lines that count as the ones of the process before, or of none.
		a.lose(n, at, at, a.passing(a.namesByLines(n)), "it may have written lines before it was found")
	}
	n.unclaimed, n.unfound = unclaimed{}, ""
	n.polls = polls{}
	a.poll(n, before)
	n.met = true
	a.beginSight(n)
	return a.waiter.Add(p.Descriptor())
}

// missed returns the names of tuples that a process may have exposed before it was found. Of a node
// whose process has ended and come again, the lines are all in the files that the agent follows.
func (a *Agent) missed(n *watched) []string {
	switch {
	case n.isStarted() || n.native.Before == spec.BeforeNothing && (n.met || !n.resumed):
		return nil
	case n.met || n.native.Before == spec.BeforeInLog:
		return a.namesByCalls(n)
	}
	return append(a.namesByLines(n), a.namesByCalls(n)...)
}

// beatEvery is how often the agent tells at most that nothing else has happened.
const beatEvery = 2 * time.Millisecond

// run watches until ctx ends.
func (a *Agent) run(ctx context.Context) error {
	defer a.closing()
	stop := context.AfterFunc(ctx, a.waiter.Wake)
	defer stop()
	for ctx.Err() == nil {
		began := native.Now()
		if err := a.observe(ctx); err != nil {
			return err
		}
		a.flush()
		select {
		case f := <-a.calls:
			f()
		default:
		}
		most := a.spec.Watch.Heartbeat
		switch {
		case a.called: // the next look tells of more
			most = min(most, callsEvery)
		case a.owed:
			most = min(most, beatEvery)
		}
		most = min(most, max(a.untilPoll(), 0))
		if a.isPaused() {
			most = min(most, max(time.Duration(a.second.Add(time.Second)-a.now()), 0))
		}
		if a.random != nil {
			most = min(most, max(time.Duration(a.nextInjected()-a.now()), 0))
		}
		if err := a.wait(most); err != nil {
			return err
		}
		if left := round - native.Since(began); left > 0 {
			time.Sleep(left)
		}
	}
	return a.finish()
}

// callsEvery is how often the agent looks for calls of functions: they wake nobody.
const callsEvery = 10 * time.Millisecond

// wait returns when there may be something to tell, or after a time.
func (a *Agent) wait(most time.Duration) error {
	if !a.functions {
		_, err := a.waiter.Wait(most)
		return err
	}
	for began := native.Now(); ; {
		left := most - native.Since(began)
		some, err := a.waiter.Wait(min(left, callsEvery))
		if err != nil || some || left <= callsEvery || a.kernel.Waiting() {
			return err
		}
	}
}

// finish tells so much of the time after the last event that the event can be judged.
func (a *Agent) finish() error {
	a.ending = true
	a.settleBy = a.now().Add(settleWithin)
	if err := a.findLast(); err != nil {
		return err
	}
	for left := 3; left > 0; left-- { // what polls tell at the end comes before others
		if err := a.observe(context.Background()); err != nil {
			return err
		}
		if len(a.begun) > 0 {
			left++
			select {
			case f := <-a.calls: // a program was read
				f()
			default:
			}
		}
		a.flush()
		time.Sleep(a.spec.Watch.Settle + a.spec.Watch.ClockError + positionsEvery)
		a.placed, a.beat = 0, 0 // however short ago that was
		for _, n := range a.nodes {
			a.poll(n, n.polls.began)
			a.seekVariables(n, 0)
			a.seekFunctions(n)
		}
	}
	if a.strike != nil && a.strike.struck == "" {
		a.limits[killing].count-- // it has not come to that
	}
	return nil
}

// observe records what has happened since it was last called.
func (a *Agent) observe(ctx context.Context) error {
	all := a.now()
	told := len(a.batch)
	ended := mapped(a.nodes, func(n *watched) bool { return n.process != nil && n.process.Ended() })
	// The last calls of what has ended are there then, and its last lines, too.
	complete, err := a.readCalls()
	if err != nil {
		return err
	}
	for i, n := range a.nodes {
		if err := a.readLines(n); err != nil {
			return fmt.Errorf("node %s: %w", n.def.Name, err)
		}
		switch {
		case !ended[i]:
			n.checked = all
		case complete && a.unread(n) == ariadne.Never:
			if err := a.went(n); err != nil {
				return err
			}
			n.checked = all
		}
	}
	if err := errors.Join(a.inject(), a.restart()); err != nil {
		return err
	}
	a.lookRarely(ctx)
	a.pollDue()
	positions, err := a.readPositions(len(a.batch) > told)
	if err != nil {
		return err
	}
	a.tellSkipped()
	before := all
	if !complete {
		before = a.beat
	}
	a.boundEvents(told, positions, before)
	owed := len(a.batch) > told || a.owed
	if a.owed = owed && (!complete || positions == nil && time.Duration(all-a.beat) < beatEvery); a.owed {
		return nil
	}
	a.beat = all
	for _, n := range a.nodes {
		if !complete {
			break // calls may be missing that were before now
		}
		at := a.knownUpTo(n, all)
		r := live.Record{Kind: live.Beat, After: at, At: at, Polled: a.polledUpTo(n), Read: a.now()}
		if positions != nil {
			r.Positions = positions[n.def.ID]
		}
		a.addRecord(n, r)
	}
	return nil
}

// lookRarely does what need not be done at each look.
func (a *Agent) lookRarely(ctx context.Context) {
	if a.now() < a.looked.Add(lookAgain) {
		return
	}
	a.looked = a.now()
	a.dropWritten()
	for _, n := range a.nodes {
		a.seekFunctions(n)
		if n.isSought() && !n.finding {
			a.findBeside(ctx, n)
		}
		a.seekOther(n)
	}
}

// seekOther looks whether a pidfile names another process than the one that is watched, which still
// lives. Nothing is known of what the other one does until it is found, and that is when the
// watched one has ended.
func (a *Agent) seekOther(n *watched) {
	was := n.other
	n.other = 0
	if n.process != nil && !n.isStarted() && n.native.PIDFile != "" {
		// While a pidfile is written it may say anything.
		pid, err := native.ReadPIDFile(n.native.PIDFile)
		if err == nil && pid > 0 && pid != n.process.PID && native.IsThere(pid) {
			n.other = pid
		}
	}
	if n.other != was {
		a.seek(n)
	}
	if n.other != 0 && n.other != was {
		at := a.now()
		names := append(a.passing(a.namesByLines(n)), a.namesByCalls(n)...)
		a.lose(n, n.checked, at, names, fmt.Sprintf("process %d has begun before the one before it has ended", n.other))
	}
}

// readLines tells what the lines of a node show.
func (a *Agent) readLines(n *watched) error {
	for _, s := range slices.Clone(n.sources) {
		lines, lost, err := s.Read()
		if n.sought != "" {
			a.seek(n)
		}
		at := a.now()
		if lost != "" {
			a.lose(n, n.checked, at, a.namesByLines(n), lost)
		}
		for _, line := range lines {
			a.showLine(n, line, at)
		}
		a.loseTorn(n, s)
		if errors.Is(err, io.EOF) {
			a.waiter.Drop(s.Descriptor())
			n.sources = slices.DeleteFunc(n.sources, func(o native.Source) bool { return o == s })
			if err := s.Close(); err != nil {
				return err
			}
		} else if err != nil {
			return err
		}
	}
	return nil
}

// loseTorn tells what is unknown since parts of lines may belong together or not.
func (a *Agent) loseTorn(n *watched, s native.Source) {
	var names []string
	for _, line := range s.Torn() {
		changes := a.changesBy(n, line, a.now())
		a.claim(n, changes, a.now())
		for _, c := range changes {
			if !slices.Contains(names, c.Name) {
				names = append(names, c.Name)
			}
		}
	}
	if n.process == nil {
		names = a.staying(names)
	}
	a.lose(n, n.checked, a.now(), names, "a line of it was divided, or has no end")
}

// namesByLines are those of the tuples that lines of a node expose.
func (a *Agent) namesByLines(n *watched) (names []string) {
	for _, s := range a.spec.Properties.Sources {
		if s.Line != nil && s.At(n.def.ID) {
			names = append(names, s.Name)
		}
	}
	return names
}

// enter keeps what a node exposes after some changes.
func (n *watched) enter(changes []expose.Change) {
	n.exposed = n.exposed.After(changes)
	n.unknown = slices.DeleteFunc(n.unknown, func(name string) bool {
		return slices.ContainsFunc(changes, func(c expose.Change) bool {
			return c.Name == name && (c.Ends && c.All || !c.Ends && c.Key == "")
		})
	})
}

// lose tells, and notes for watches with other properties, that it is unknown what a node exposes
// by some names, until it exposes it again.
func (a *Agent) lose(n *watched, after, at ariadne.Time, names []string, text string) {
	a.loseCounted(n, after, at, names, 0, text)
}

// loseCounted is lose where the missing events were counted.
func (a *Agent) loseCounted(n *watched, after, at ariadne.Time, names []string, missing uint64, text string) {
	if len(names) == 0 {
		return
	}
	for _, name := range names {
		if !slices.Contains(n.unknown, name) {
			n.unknown = append(n.unknown, name)
		}
	}
	a.addRecord(n, live.Record{Kind: live.Lost, After: after, At: at, Names: names, Text: text, Missing: missing})
}

// staying are those of some names whose tuples may outlive the programs.
func (a *Agent) staying(names []string) []string {
	goes := func(name string) bool { return !a.spec.Properties.Sources.Stay(name) }
	return slices.DeleteFunc(slices.Clone(names), goes)
}

// passing are the others.
func (a *Agent) passing(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), a.spec.Properties.Sources.Stay)
}

// isSampled reports whether a key is among those of a sample of one in n.
func isSampled(key string, n int) bool {
	h := fnv.New64a()
	io.WriteString(h, key)
	// The low bits of the sum come of the low bits of each byte: of keys like "k1 k1" they are all
	// the same.
	mixed := h.Sum64()
	mixed ^= mixed >> 33
	mixed *= 0xff51afd7ed558ccd
	return (mixed^mixed>>33)%uint64(n) == 0
}

// sampled are those of some changes that are watched.
func (a *Agent) sampled(changes []expose.Change) []expose.Change {
	if len(a.spec.Watch.Sample) == 0 {
		return changes
	}
	return slices.DeleteFunc(changes, func(c expose.Change) bool {
		n := a.spec.Watch.Sample[c.Name]
		if n == 0 || c.Ends && c.All {
			return false
		}
		if isSampled(c.Key, n) {
			return false
		}
		a.leftOut[c.Name]++
		return true
	})
}

// showLine tells what one line shows.
func (a *Agent) showLine(n *watched, line string, at ariadne.Time) {
	a.hear(n, line)
	all := a.changesBy(n, line, at)
	a.claim(n, all, at)
	if changes := a.sampled(a.living(n, all)); len(changes) > 0 {
		n.enter(changes)
		a.shows(n, at)
		a.addRecord(n, live.Record{Kind: live.Show, After: n.checked, At: at, Changes: changes, Text: line})
	}
}

// claim notes what a line has shown that was read at a time, as far as it is of the process that
// has written the line.
func (a *Agent) claim(n *watched, changes []expose.Change, at ariadne.Time) {
	for _, c := range changes {
		if k := a.spec.Watch.Sample[c.Name]; c.Ends || c.Stays || k != 0 && !isSampled(c.Key, k) {
			continue
		}
		n.told = at
		u := &n.unclaimed
		if !n.isSought() || slices.Contains(u.names, c.Name) {
			continue
		}
		if u.names = append(u.names, c.Name); len(u.names) == 1 {
			u.first, u.since = at, n.before
		}
	}
}

// changesBy are what a line of a node exposes and ends.
func (a *Agent) changesBy(n *watched, line string, at ariadne.Time) []expose.Change {
	return a.spec.Properties.Sources.Changes(n.def.ID,
		&ariadne.Output{Logs: []ariadne.LogLine{{At: at, Stream: 1, Text: line}}})
}

// living are those of some changes that count: a node that is down exposes only what stays,
// whatever processes of it still write or call, and however late its last lines come.
func (a *Agent) living(n *watched, changes []expose.Change) []expose.Change {
	if n.process != nil {
		return changes
	}
	return slices.DeleteFunc(changes, func(c expose.Change) bool { return !c.Ends && !c.Stays })
}

// went enters that a node's process has ended.
func (a *Agent) went(n *watched) error {
	text := fmt.Sprintf("process %d has ended", n.process.PID)
	a.waiter.Drop(n.process.Descriptor())
	if err := n.process.Close(); err != nil {
		return err
	}
	n.process, n.exposed, n.unknown, n.polls = nil, n.exposed.Staying(), a.staying(n.unknown), polls{}
	n.absent, n.before = n.checked, n.checked // the next one begins after it
	a.addRecord(n, live.Record{Kind: live.Down, After: n.checked, At: a.now(), Text: text})
	for _, s := range n.sources {
		s.Tear() // nobody knows whether the program has written all of a line without an end
		a.loseTorn(n, s)
	}
	n.unclaimed = unclaimed{} // these parts are of the process that has ended
	if n.other != 0 {
		n.other = 0
		a.seek(n)
	}
	a.gone(n)
	return nil
}

// mostBehind is how many records verifiers may be behind. Then changes are left out, and what nodes
// expose by these names is unknown.
const mostBehind = 1 << 18

// tellSkipped tells of which names changes were left out.
func (a *Agent) tellSkipped() {
	for _, n := range a.nodes {
		if n.skipped != nil {
			a.addRecord(n, live.Record{Kind: live.Lost, After: n.checked, At: a.now(), Names: n.skipped,
				Text: "changes came faster than they were judged"})
			n.forgetPolled(n.skipped)
			n.skipped = nil
		}
	}
	a.behind = a.log.Behind() > mostBehind
}

// addRecord adds a record of a node.
func (a *Agent) addRecord(n *watched, r live.Record) {
	if a.behind && r.Kind == live.Show {
		for i := range r.Changes {
			if name := r.Changes[i].Name; !slices.Contains(n.skipped, name) {
				n.skipped = append(n.skipped, name)
			}
		}
		return
	}
	n.seq++
	r.Node, r.Seq = n.def.ID, n.seq
	a.batch = append(a.batch, r)
}

// flush gives the log what was told.
func (a *Agent) flush() {
	if len(a.batch) > 0 {
		a.log.Append(a.batch)
		a.batch = nil
	}
}

// close ends the agent: what it has started ends, all else stays as it is.
func (a *Agent) close() error {
	a.closing()
	a.flush()
	var all error
	for _, n := range a.nodes {
		if n.process != nil {
			all = errors.Join(all, n.process.Close())
		}
	}
	all = errors.Join(all, a.stop(), a.probing.close())
	for _, n := range a.nodes {
		for _, s := range n.sources {
			all = errors.Join(all, s.Close())
		}
	}
	return errors.Join(all, a.waiter.Close())
}
