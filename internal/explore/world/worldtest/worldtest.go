// Package worldtest has nodes of a few lines of Go, so that the engine is tested
// without Linux: a frame that does the bookkeeping of an automaton (Automaton),
// and small systems built on it, one file each, some with a bug that shows only
// in some orders.
package worldtest

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// Program is what a node of a test does with its inputs.
type Program interface {
	Start(*Ctx)
	Receive(*Ctx, ariadne.Message)
	Fire(*Ctx)
}

// Forgetful is a Program of which at times nothing is left but its content, which the output
// then says (ariadne.Output.Content).
type Forgetful interface{ Forgot() bool }

// Cost is how far an action of a program advances its clock.
const Cost = ariadne.Time(1000)

// Automaton runs a Program as a node.
type Automaton struct {
	ID      ariadne.NodeID
	Program Program
	Calls   bool // record Output.CallTrace
	Instant bool // its actions take no time
	// Outages are the faults that may take it down before its second action of a step and later
	// ones; they are over at multiples of Grid.
	Outages []ariadne.Outage
	Grid    ariadne.Time

	down   bool
	boots  int // by switching the machine on
	clock  ariadne.Time
	seqs   map[ariadne.Flow]int
	timer  ariadne.Time
	again  []again // in order of time
	drift  int     // by how many parts per million its clock runs fast
	done   bool
	ended  bool
	spared bool
	ready  bool
	limits *[]ariadne.Limit // what is to be said
	said   []ariadne.Limit  // what has been
}

// again is a process that was killed and is to be run again.
type again struct {
	at      ariadne.Time
	process string
}

// Addr is the address of a node in these systems.
func Addr(id ariadne.NodeID) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, 0, byte(id + 1)}) }

// Nodes makes nodes named n1, n2, ... of programs.
func Nodes(programs ...Program) []world.Node {
	var nodes []world.Node
	for i := range programs {
		id := ariadne.NodeID(i)
		nodes = append(nodes, world.Node{
			Name: fmt.Sprintf("n%d", i+1), Addrs: []netip.Addr{Addr(id)},
			Initial: ariadne.Digest{byte(i + 1)},
		})
	}
	return nodes
}

// Automata makes automata of programs.
func Automata(programs ...Program) []ariadne.Automaton {
	var all []ariadne.Automaton
	for i, p := range programs {
		all = append(all, NewAutomaton(ariadne.NodeID(i), p))
	}
	return all
}

// NewAutomaton returns a node that has not been switched on.
func NewAutomaton(id ariadne.NodeID, p Program) *Automaton {
	return &Automaton{ID: id, Program: p, Calls: true, seqs: map[ariadne.Flow]int{}, timer: ariadne.Never}
}

// Apply implements ariadne.Automaton.
func (a *Automaton) Apply(in ariadne.Input) (ariadne.Output, error) {
	a.clock = max(a.clock, in.At)
	c := &Ctx{a: a, course: ariadne.NewCourse(&in)}
	switch fallen := c.run(in).(type) {
	case ariadne.Kill:
		c.killed = true
		c.kill(fallen.Process)
	case ariadne.Outage:
		c.fall(fallen)
	}
	for c.out.Down == ariadne.Paused && a.deadline() <= a.clock {
		c.fire()
	}
	c.out.Clock, c.out.Deadline, c.out.Done = a.clock, a.deadline(), a.done && a.again == nil || a.down
	c.out.Ended = (a.done || a.ended) && a.again == nil
	c.out.Spared, c.out.Ready = a.spared, a.ready
	c.out.Limits, a.limits = a.limits, nil
	if _, ok := a.Program.(Multiple); ok {
		if all := a.processes(); all != nil {
			c.out.Processes = &all
		}
	}
	c.out.Calls, c.out.Places = len(c.calls), c.course.Places
	if f, ok := a.Program.(Forgetful); ok && f.Forgot() {
		c.out.Content = a.content()
	}
	if c.out.Down.Off() {
		c.out.Content = a.content()
	}
	c.out.Digest = c.out.Sum(sum(c.calls))
	if a.Calls {
		c.out.CallTrace = c.calls
	}
	return c.out, nil
}

// deadline is the earliest of the node's timer and of what is to be run again.
func (a *Automaton) deadline() ariadne.Time {
	t := a.timer
	if a.done {
		t = ariadne.Never
	}
	if a.again != nil {
		t = min(t, a.again[0].at)
	}
	return t
}

// runs is when something is due that would be at a time if the clock ran fast by was: what is left
// of it the clock takes another time to show.
func (a *Automaton) runs(at ariadne.Time, was int) ariadne.Time {
	if at == ariadne.Never {
		return at
	}
	return a.clock + max(1, (at-a.clock)*ariadne.Time(1e6+was)/ariadne.Time(1e6+a.drift))
}

// fire fires what is due at the deadline.
func (c *Ctx) fire() {
	a := c.a
	if a.again != nil && a.again[0].at == a.deadline() {
		process := a.again[0].process
		if a.again = a.again[1:]; len(a.again) == 0 {
			a.again = nil
		}
		a.done, a.ended = false, false
		a.Program.(Multiple).RunAgain(c, process)
		return
	}
	a.timer = ariadne.Never
	a.Program.Fire(c)
}

// processes are those that may be killed now.
func (a *Automaton) processes() []string {
	all := a.Program.(Multiple).Processes()
	if all != nil && a.done {
		return []string{}
	}
	return slices.DeleteFunc(all, func(p string) bool {
		return slices.ContainsFunc(a.again, func(g again) bool { return g.process == p })
	})
}

// kill kills a process, between two steps or in the midst of one.
func (c *Ctx) kill(process string) {
	a, p := c.a, c.a.Program.(Multiple)
	if after := p.RunsAgain(process); after > 0 && !a.ended {
		a.again = append(a.again, again{a.runs(a.clock.Add(after), 0), process})
	}
	p.Kill(c, process)
}

// run lets the program act. When that is taken down in its midst, it returns by what.
func (c *Ctx) run(in ariadne.Input) (fallen ariadne.NodeFault) {
	defer func() {
		if p := recover(); p != nil {
			o, ok := p.(ariadne.NodeFault)
			if !ok {
				panic(p)
			}
			fallen = o
		}
	}()
	a := c.a
	switch {
	case in.Kind == ariadne.Fault:
		return c.hitBy(in.Fault)
	case in.Kind == ariadne.Start:
		a.down = false
		a.Program.Start(c)
	case a.done && a.again == nil || a.down:
	case in.Kind == ariadne.Deliver && !a.done:
		a.Program.Receive(c, *in.Message)
	case in.Kind == ariadne.Fire:
		c.fire()
	}
	return nil
}

// hitBy has a fault happen between two steps, and returns it if that takes the node down.
func (c *Ctx) hitBy(f ariadne.NodeFault) (fallen ariadne.NodeFault) {
	a := c.a
	switch f := f.(type) {
	case ariadne.Jump:
		if p, ok := a.Program.(Clocked); ok {
			p.Jump(c, f.By)
		}
	case ariadne.Drift:
		was := a.drift
		a.drift = f.By
		a.timer = a.runs(a.timer, was)
		for i := range a.again {
			a.again[i].at = a.runs(a.again[i].at, was)
		}
	case ariadne.Kill:
		c.kill(f.Process)
	case ariadne.Outage:
		if f.Down != ariadne.Paused {
			return f
		}
		c.pause(f)
	default:
		panic(fmt.Sprintf("a fault of kind %s", f.Kind()))
	}
	return nil
}

// Clocked is a Program that takes notice when its real-time clock is set.
type Clocked interface {
	Jump(c *Ctx, by time.Duration)
}

// Multiple is a Program with processes that may be killed one by one.
type Multiple interface {
	Processes() []string // nil: there is nothing to tell
	Kill(c *Ctx, process string)
	// RunsAgain is after what time a process that was killed is run again; 0: it is not.
	RunsAgain(process string) time.Duration
	RunAgain(c *Ctx, process string)
	// Works is the process that does what the program does, if it may be killed in the midst of
	// a step, or "".
	Works() string
}

// Durable is a Program of which something is left when it is taken down.
type Durable interface{ Fall() }

// Stored is a Durable program of which one of several images may be left when its machine loses
// power.
type Stored interface {
	Images() int
	Left(image int) // from 0
}

// lose leaves one of the images of a program's files.
func (c *Ctx) lose(p Stored) {
	var others []string
	for i := 2; i <= p.Images(); i++ {
		others = append(others, fmt.Sprintf("%s:%d", ariadne.DiskImage, i))
	}
	which := 0
	if len(others) > 0 {
		which = slices.Index(others, c.course.At(0, ariadne.DiskImage, "", others)) + 1
	}
	p.Left(which)
}

// pause lets the time of an outage pass. Timers expire when the program has done what it is at.
func (c *Ctx) pause(o ariadne.Outage) {
	a := c.a
	a.clock = ariadne.EndOf(a.clock, o.For, a.Grid)
	c.out.Down, c.out.Back = o.Down, a.clock
}

// fall takes the node down.
func (c *Ctx) fall(o ariadne.Outage) {
	a, now := c.a, c.a.clock
	if d, ok := a.Program.(Durable); ok {
		d.Fall()
	}
	if p, ok := a.Program.(Stored); ok && o.Down == ariadne.PowerLost {
		c.lose(p)
	}
	a.down, a.timer, a.again, a.done, a.spared = true, ariadne.Never, nil, false, false
	a.ready = false
	c.out.Down, c.out.Back = o.Down, ariadne.EndOf(a.clock, o.For, a.Grid)
	if o.Down.Off() {
		a.said, a.limits = nil, nil
		a.boots++
		clear(a.seqs)
		if a.clock = c.out.Back; c.out.Back == ariadne.Never {
			a.clock = ariadne.CoarseEndOf(now, 0, a.Grid)
		}
	}
}

// content is over all that there is of the node besides its times.
func (a *Automaton) content() ariadne.Digest {
	b := fmt.Appendf(nil, "%+v %v %v %d", a.Program, a.seqs, a.down, a.boots)
	if a.ready {
		b = append(b, " ready"...)
	}
	if a.again != nil { // the deadline does not tell all times
		b = fmt.Appendf(b, " %v %v %v %v", a.again, a.timer, a.done, a.ended)
	}
	if a.drift != 0 {
		b = fmt.Appendf(b, " %d", a.drift)
	}
	return sha256.Sum256(b)
}

// sum is over the stream of calls.
func sum(calls []ariadne.CallRecord) uint64 {
	h := sha256.New()
	binary.Write(h, binary.LittleEndian, int64(len(calls)))
	for _, c := range calls {
		binary.Write(h, binary.LittleEndian, []int64{int64(c.TID), int64(c.NR), c.Result, int64(c.Hash)})
	}
	return binary.LittleEndian.Uint64(h.Sum(nil))
}

// Ctx is what a program can do in one step.
type Ctx struct {
	a      *Automaton
	out    ariadne.Output
	calls  []ariadne.CallRecord
	course ariadne.Course
	acted  bool // it has done something that others can see
	killed bool // in the midst of the step
}

// The numbers of these nodes' "system calls".
const (
	CallSend = iota + 1
	CallLog
	CallTimer
	CallExit
	CallTry
	CallChoose
	CallEvent
	CallSync
)

// CallName names them.
func CallName(nr int) string {
	return [...]string{"?", "send", "log", "timer", "exit", "try", "choose", "event", "sync"}[nr]
}

func (c *Ctx) recordCall(nr int, result int64, what ...any) {
	if all := c.possibleFaults(); all != nil {
		if taken := c.course.At(1, CallName(nr), "", all); taken != "" {
			f, err := ariadne.ParseNodeFault(taken)
			if err != nil {
				panic(err)
			}
			o := ariadne.OutageOf(f)
			if o.Down != ariadne.Paused {
				panic(f)
			}
			c.pause(o)
		}
	}
	c.acted = c.acted || nr == CallSend
	if !c.a.Instant { // it ends before the timer fires
		c.a.clock = max(c.a.clock, min(c.a.clock+Cost, c.a.deadline()-1))
	}
	h := sha256.Sum256(fmt.Append(nil, what...))
	c.calls = append(c.calls, ariadne.CallRecord{TID: 1, NR: nr, Result: result, Hash: binary.BigEndian.Uint64(h[:])})
}

// possibleFaults are the faults that may hit the node where it stands in a step.
func (c *Ctx) possibleFaults() (all []string) {
	if !c.acted || c.killed || c.a.spared || c.out.Down != ariadne.Up {
		return nil
	}
	for _, o := range c.a.Outages {
		all = append(all, ariadne.Alternative(o))
	}
	if p, ok := c.a.Program.(Multiple); ok {
		if works := p.Works(); slices.Contains(c.a.processes(), works) {
			all = append(all, ariadne.Alternative(ariadne.Kill{Process: works}))
		}
	}
	return all
}

// ID is the node's own.
func (c *Ctx) ID() ariadne.NodeID { return c.a.ID }

// Now is the node's clock. Where the program is a Watcher the node may be paused before.
func (c *Ctx) Now() ariadne.Time {
	if _, ok := c.a.Program.(Watcher); !ok || c.killed || c.a.spared || c.out.Down != ariadne.Up {
		return c.a.clock
	}
	var pauses []string
	for _, o := range c.a.Outages {
		if o.Down == ariadne.Paused {
			pauses = append(pauses, ariadne.Alternative(o))
		}
	}
	if pauses == nil {
		return c.a.clock
	}
	if taken := c.course.At(1, "clock", "", pauses); taken != "" {
		c.pause(ariadne.OutageIn(taken))
	}
	return c.a.clock
}

// Watcher is a Program that may be paused where it reads the clock.
type Watcher interface{ Watches() }

// Send sends text on a connection to another node.
func (c *Ctx) Send(to ariadne.NodeID, text string) { c.send(ariadne.TCP, to, text) }

// SendDatagram sends text as a datagram.
func (c *Ctx) SendDatagram(to ariadne.NodeID, text string) { c.send(ariadne.UDP, to, text) }

func (c *Ctx) flow(p ariadne.Protocol, to ariadne.NodeID) ariadne.Flow {
	return ariadne.Flow{Proto: p,
		Src: netip.AddrPortFrom(Addr(c.a.ID), uint16(1000+to)),
		Dst: netip.AddrPortFrom(Addr(to), uint16(1000+c.a.ID)), Epoch: c.a.boots}
}

// sendOn is Send; the first message opens the connection if opens says so.
func (c *Ctx) sendOn(to ariadne.NodeID, text string, opens bool) {
	m := c.send(ariadne.TCP, to, text)
	if opens && m.Seq == 1 {
		m.Flags = ariadne.SYN
	}
}

// TrySend is sendOn, which fails where a call on a connection may: who opens one may find no way to
// the node, and another is reset, at both ends. It returns the error, or "".
func (c *Ctx) TrySend(to ariadne.NodeID, text string, opens bool) string {
	flow := c.flow(ariadne.TCP, to)
	failure := "ECONNRESET"
	if opens && c.a.seqs[flow] == 0 {
		failure = "ENETUNREACH"
	}
	if c.a.spared || c.course.At(1, "send", fmt.Sprint(to), []string{"fail:" + failure}) == "" {
		c.sendOn(to, text, opens)
		return ""
	}
	if failure == "ECONNRESET" {
		c.send(ariadne.TCP, to, "").Flags = ariadne.RST | ariadne.MID
	}
	return failure
}

func (c *Ctx) send(p ariadne.Protocol, to ariadne.NodeID, text string) *ariadne.Message {
	c.recordCall(CallSend, int64(len(text)), to, text)
	f := c.flow(p, to)
	c.a.seqs[f]++
	c.out.Messages = append(c.out.Messages, ariadne.Message{
		From: c.a.ID, To: to, Flow: f, Seq: c.a.seqs[f], Data: []byte(text), Sent: c.a.clock})
	return &c.out.Messages[len(c.out.Messages)-1]
}

// Log writes a line to standard output.
func (c *Ctx) Log(format string, args ...any) { c.log(1, fmt.Sprintf(format, args...)) }

func (c *Ctx) log(stream int, text string) {
	c.recordCall(CallLog, int64(len(text)), stream, text)
	c.out.Logs = append(c.out.Logs, ariadne.LogLine{At: c.a.clock, Stream: stream, PID: 1, Text: text})
}

// SetTimer sets the node's only timer.
func (c *Ctx) SetTimer(after time.Duration) {
	c.a.timer = ariadne.Never
	c.recordCall(CallTimer, 0, after)
	c.a.timer = c.a.runs(c.a.clock.Add(max(after, 1)), 0)
}

// Try does something on an object that can fail, and returns "" or which of the errors it was; ""
// while the node is spared.
func (c *Ctx) Try(object string, errors ...string) string {
	if c.a.spared {
		c.recordCall(CallTry, 0, object)
		return ""
	}
	alternatives := make([]string, len(errors))
	for i, e := range errors {
		alternatives[i] = "fail:" + e
	}
	_, failed, _ := strings.Cut(c.course.At(1, "try", object, alternatives), ":")
	c.recordCall(CallTry, 0, object, failed)
	return failed
}

// Choose asks which of n things to do, from 0.
func (c *Ctx) Choose(n int) int {
	alternatives := make([]string, n-1)
	for i := range alternatives {
		alternatives[i] = fmt.Sprint("choose:", i+1)
	}
	chosen := 0
	if taken := c.course.At(1, "choose", fmt.Sprint(n), alternatives); taken != "" {
		fmt.Sscanf(taken, "choose:%d", &chosen)
	}
	c.recordCall(CallChoose, int64(chosen), n)
	return chosen
}

// Event tells of an event of the program's own.
func (c *Ctx) Event(text string) {
	c.recordCall(CallEvent, int64(len(text)), text)
	f := ariadne.OwnFlow(ariadne.App, Addr(c.a.ID), c.a.boots)
	c.a.seqs[f]++
	c.out.Messages = append(c.out.Messages, ariadne.Message{
		From: c.a.ID, To: c.a.ID, Flow: f, Seq: c.a.seqs[f], Data: []byte(text), Sent: c.a.clock})
}

// Sync has something written to the disk, which may take one of some times. Then the program hears
// when that is over.
func (c *Ctx) Sync(object string, lengths ...time.Duration) {
	alternatives := make([]string, len(lengths))
	for i, l := range lengths {
		alternatives[i] = ariadne.SyncStalls + ":" + l.String()
	}
	taken := ""
	if !c.a.spared {
		taken = c.course.At(1, "sync", object, alternatives)
	}
	c.recordCall(CallSync, 0, object, taken)
	i := slices.Index(alternatives, taken)
	if i < 0 {
		return
	}
	f := ariadne.OwnFlow(ariadne.Disk, Addr(c.a.ID), c.a.boots)
	c.a.seqs[f]++
	c.out.Messages = append(c.out.Messages, ariadne.Message{
		From: c.a.ID, To: c.a.ID, Flow: f, Seq: c.a.seqs[f], Data: []byte(object), Sent: c.a.clock,
		Window: int(lengths[i])})
}

// Spare says whether faults may hit the node.
func (c *Ctx) Spare(on bool) { c.a.spared = on }

// Ready says that the node is what others may wait for.
func (c *Ctx) Ready() { c.a.ready = true }

// Limit says how long the node waits for an answer on its connection to another.
func (c *Ctx) Limit(to ariadne.NodeID, data, idle time.Duration) {
	f := c.flow(ariadne.TCP, to)
	all := []ariadne.Limit{{Flow: f, Data: data, Idle: idle, First: idle / 2, Every: idle / 4}}
	for _, l := range c.a.said {
		if l.Flow != f {
			all = append(all, l)
		}
	}
	c.a.said, c.a.limits = all, &all
}

// StopTimer clears it.
func (c *Ctx) StopTimer() { c.a.timer = ariadne.Never }

// Exit ends the node's program.
func (c *Ctx) Exit(status int) {
	c.recordCall(CallExit, int64(status), status)
	c.out.Exits = append(c.out.Exits, ariadne.Exit{At: c.a.clock, Status: status})
	c.a.done = true
}

// End ends the node's command; what it has started runs on.
func (c *Ctx) End() {
	c.recordCall(CallExit, 0, "command")
	c.a.ended = true
}

// Panic ends it as a failed assertion would: with a line on standard error and
// SIGABRT.
func (c *Ctx) Panic(format string, args ...any) {
	c.log(2, "panic: "+fmt.Sprintf(format, args...))
	c.out.Exits = append(c.out.Exits, ariadne.Exit{At: c.a.clock, Status: -1, Signal: 6})
	c.a.done = true
}

// Diverge says that the step never came to rest.
func (c *Ctx) Diverge() { c.out.Diverged = "9 system calls in one step" }

// Output gives a test the rest of what a node can say.
func (c *Ctx) Output() *ariadne.Output { return &c.out }
