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

	"ariadne"
	"ariadne/internal/world"
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
	Outages []ariadne.NodeFault
	Grid    ariadne.Time

	down   bool
	boots  int // by switching the machine on
	clock  ariadne.Time
	seqs   map[ariadne.Flow]int
	timer  ariadne.Time
	done   bool
	ended  bool
	spared bool
	limits *[]ariadne.Limit // what is to be said
	said   []ariadne.Limit  // what has been
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
	if fallen := c.run(in); fallen != nil {
		c.fall(*fallen)
	}
	for c.out.Down == ariadne.Paused && !a.done && a.timer <= a.clock {
		a.timer = ariadne.Never
		a.Program.Fire(c)
	}
	c.out.Clock, c.out.Deadline, c.out.Done, c.out.Ended = a.clock, a.timer, a.done || a.down, a.done || a.ended
	c.out.Spared = a.spared
	c.out.Limits, a.limits = a.limits, nil
	if p, ok := a.Program.(Multiple); ok {
		if all := p.Processes(); all != nil {
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

// run lets the program act. When that is taken down in its midst, it returns by what.
func (c *Ctx) run(in ariadne.Input) (fallen *ariadne.NodeFault) {
	defer func() {
		if p := recover(); p != nil {
			o, ok := p.(ariadne.NodeFault)
			if !ok {
				panic(p)
			}
			fallen = &o
		}
	}()
	a := c.a
	switch {
	case in.Kind == ariadne.Fault && in.Fault.Down == ariadne.Paused:
		c.pause(in.Fault)
	case in.Kind == ariadne.Fault && in.Fault.Jump != 0:
		if p, ok := a.Program.(Clocked); ok {
			p.Jump(c, in.Fault.Jump)
		}
	case in.Kind == ariadne.Fault && in.Fault.Kill != "":
		a.Program.(Multiple).Kill(c, in.Fault.Kill)
	case in.Kind == ariadne.Fault:
		return &in.Fault
	case in.Kind == ariadne.Start:
		a.down = false
		a.Program.Start(c)
	case a.done || a.down:
	case in.Kind == ariadne.Deliver:
		a.Program.Receive(c, *in.Message)
	case in.Kind == ariadne.Fire:
		a.timer = ariadne.Never
		a.Program.Fire(c)
	}
	return nil
}

// Clocked is a Program that takes notice when its real-time clock is set.
type Clocked interface {
	Jump(c *Ctx, by time.Duration)
}

// Multiple is a Program with processes that may be killed one by one.
type Multiple interface {
	Processes() []string
	Kill(c *Ctx, process string)
}

// Durable is a Program of which something is left when it is taken down.
type Durable interface{ Fall() }

// Stored is a Durable program of which one of several images may be left when its machine loses power.
type Stored interface {
	Images() int
	Left(image int) // from 0
}

// lose leaves one of the images of a program's files.
func (c *Ctx) lose(p Stored) {
	var others []string
	for i := 2; i <= p.Images(); i++ {
		others = append(others, fmt.Sprintf("%s:%d", world.DiskName, i))
	}
	which := 0
	if len(others) > 0 {
		which = slices.Index(others, c.course.At(0, world.DiskName, "", others)) + 1
	}
	p.Left(which)
}

// pause lets the time of an outage pass. Timers expire when the program has done what it is at.
func (c *Ctx) pause(o ariadne.NodeFault) {
	a := c.a
	a.clock = ariadne.EndOf(a.clock, o.For, a.Grid)
	c.out.Down, c.out.Back = o.Down, a.clock
}

// fall takes the node down.
func (c *Ctx) fall(o ariadne.NodeFault) {
	a := c.a
	if d, ok := a.Program.(Durable); ok {
		d.Fall()
	}
	if p, ok := a.Program.(Stored); ok && o.Down == ariadne.PowerLost {
		c.lose(p)
	}
	a.down, a.timer, a.spared = true, ariadne.Never, false
	c.out.Down, c.out.Back = o.Down, ariadne.EndOf(a.clock, o.For, a.Grid)
	if o.Down.Off() {
		a.said, a.limits = nil, nil
		a.boots++
		clear(a.seqs)
		a.clock = ariadne.EndOf(a.clock, max(o.For, 0), a.Grid)
	}
}

// content is over all that there is of the node besides its times.
func (a *Automaton) content() ariadne.Digest {
	return sha256.Sum256(fmt.Appendf(nil, "%+v %v %v %d", a.Program, a.seqs, a.down, a.boots))
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
)

// CallName names them.
func CallName(nr int) string {
	return [...]string{"?", "send", "log", "timer", "exit", "try", "choose", "event"}[nr]
}

func (c *Ctx) call(nr int, result int64, what ...any) {
	if c.acted && len(c.a.Outages) > 0 && !c.a.spared && c.out.Down == ariadne.Up {
		var all []string
		for _, o := range c.a.Outages {
			all = append(all, o.Alternative())
		}
		if taken := c.course.At(1, CallName(nr), "", all); taken != "" {
			o, err := ariadne.ParseNodeFault(taken)
			if err != nil {
				panic(err)
			}
			if o.Down != ariadne.Paused {
				panic(o)
			}
			c.pause(o)
		}
	}
	c.acted = c.acted || nr == CallSend
	if !c.a.Instant { // it ends before the timer fires
		c.a.clock = max(c.a.clock, min(c.a.clock+Cost, c.a.timer-1))
	}
	h := sha256.Sum256(fmt.Append(nil, what...))
	c.calls = append(c.calls, ariadne.CallRecord{TID: 1, NR: nr, Result: result, Hash: binary.BigEndian.Uint64(h[:])})
}

// ID is the node's own.
func (c *Ctx) ID() ariadne.NodeID { return c.a.ID }

// Now is the node's clock.
func (c *Ctx) Now() ariadne.Time { return c.a.clock }

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

func (c *Ctx) send(p ariadne.Protocol, to ariadne.NodeID, text string) *ariadne.Message {
	c.call(CallSend, int64(len(text)), to, text)
	f := c.flow(p, to)
	c.a.seqs[f]++
	c.out.Messages = append(c.out.Messages, ariadne.Message{
		From: c.a.ID, To: to, Flow: f, Seq: c.a.seqs[f], Data: []byte(text), Sent: c.a.clock})
	return &c.out.Messages[len(c.out.Messages)-1]
}

// Log writes a line to standard output.
func (c *Ctx) Log(format string, args ...any) { c.log(1, fmt.Sprintf(format, args...)) }

func (c *Ctx) log(stream int, text string) {
	c.call(CallLog, int64(len(text)), stream, text)
	c.out.Logs = append(c.out.Logs, ariadne.LogLine{At: c.a.clock, Stream: stream, PID: 1, Text: text})
}

// SetTimer sets the node's only timer.
func (c *Ctx) SetTimer(after time.Duration) {
	c.a.timer = ariadne.Never
	c.call(CallTimer, 0, after)
	c.a.timer = c.a.clock.Add(max(after, 1))
}

// Try does something on an object that can fail, and returns "" or which of the errors it was; "" while
// the node is spared.
func (c *Ctx) Try(object string, errors ...string) string {
	if c.a.spared {
		c.call(CallTry, 0, object)
		return ""
	}
	alternatives := make([]string, len(errors))
	for i, e := range errors {
		alternatives[i] = "fail:" + e
	}
	_, failed, _ := strings.Cut(c.course.At(1, "try", object, alternatives), ":")
	c.call(CallTry, 0, object, failed)
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
	c.call(CallChoose, int64(chosen), n)
	return chosen
}

// Event tells of an event of the program's own.
func (c *Ctx) Event(text string) {
	c.call(CallEvent, int64(len(text)), text)
	f := ariadne.AppFlow(Addr(c.a.ID), c.a.boots)
	c.a.seqs[f]++
	c.out.Messages = append(c.out.Messages, ariadne.Message{
		From: c.a.ID, To: c.a.ID, Flow: f, Seq: c.a.seqs[f], Data: []byte(text), Sent: c.a.clock})
}

// Spare says whether faults may hit the node.
func (c *Ctx) Spare(on bool) { c.a.spared = on }

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
	c.call(CallExit, int64(status), status)
	c.out.Exits = append(c.out.Exits, ariadne.Exit{At: c.a.clock, Status: status})
	c.a.done = true
}

// End ends the node's command; what it has started runs on.
func (c *Ctx) End() {
	c.call(CallExit, 0, "command")
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
