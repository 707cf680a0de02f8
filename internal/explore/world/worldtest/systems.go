package worldtest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne"
)

// Idle does nothing; systems embed it for what they do not need.
type Idle struct{}

func (Idle) Start(*Ctx)                    {}
func (Idle) Receive(*Ctx, ariadne.Message) {}
func (Idle) Fire(*Ctx)                     {}

// Ping sends Count pings to Peer, each after the answer to the one before, and
// exits. Pong answers.
type Ping struct {
	Idle
	Peer  ariadne.NodeID
	Count int
}

func (p *Ping) Start(c *Ctx) { c.Send(p.Peer, "ping") }

func (p *Ping) Receive(c *Ctx, m ariadne.Message) {
	c.Log("got %s", m.Data)
	if p.Count--; p.Count == 0 {
		c.Exit(0)
		return
	}
	c.Send(p.Peer, "ping")
}

// Pong is the other end of Ping.
type Pong struct{ Idle }

func (Pong) Receive(c *Ctx, m ariadne.Message) { c.Send(m.From, "pong") }

// Register keeps a number for others, who read it and write it back.
type Register struct {
	Idle
	Value int
}

func (r *Register) Receive(c *Ctx, m ariadne.Message) {
	if n := 0; scan(m, "write %d", &n) {
		r.Value = n
	}
	c.Send(m.From, fmt.Sprintf("value %d", r.Value))
}

func scan(m ariadne.Message, format string, args ...any) bool {
	n, err := fmt.Sscanf(string(m.Data), format, args...)
	return err == nil && n == len(args)
}

// Adder adds 1 to the Register, without any lock: it reads, and writes what it
// read plus 1. It begins at After. The last of them expects to read Want at the end.
type Adder struct {
	After   time.Duration
	Want    int // 0: do not look
	waiting bool
	wrote   bool
}

func (a *Adder) Start(c *Ctx) { c.SetTimer(a.After) }

func (a *Adder) Fire(c *Ctx) { c.Send(0, "read") }

func (a *Adder) Receive(c *Ctx, m ariadne.Message) {
	n := 0
	scan(m, "value %d", &n)
	switch {
	case !a.wrote:
		a.wrote = true
		c.Send(0, fmt.Sprintf("write %d", n+1))
	case a.Want == 0:
		c.Exit(0)
	case !a.waiting:
		a.waiting = true
		c.SetTimer(time.Second)
	case n != a.Want:
		c.Panic("update lost: the register is %d, not %d", n, a.Want)
	default:
		c.Exit(0)
	}
}

// LostUpdate is a register and two adders who begin one after the other. On the
// natural schedule both updates are kept: the second adder begins when the first
// is long done. When a message of the first is delayed, one update is lost.
func LostUpdate() []Program {
	return []Program{
		&Register{},
		&Adder{After: 10 * time.Millisecond},
		&Adder{After: 100 * time.Millisecond, Want: 2},
	}
}

// Coordinator of a two-phase commit: it asks all others to prepare and commits
// when all have said yes. Its bug: it counts answers, not who gave them, and a
// participant that is asked twice answers twice.
type Coordinator struct {
	Idle
	Participants []ariadne.NodeID
	yes, acks    int
	decided      bool
}

func (k *Coordinator) Start(c *Ctx) {
	k.ask(c)
	c.SetTimer(50 * time.Millisecond)
}

func (k *Coordinator) ask(c *Ctx) {
	for _, p := range k.Participants {
		c.Send(p, "prepare")
	}
}

// Fire asks again those who have not answered; not knowing who, it asks all.
func (k *Coordinator) Fire(c *Ctx) {
	if !k.decided {
		k.ask(c)
	}
}

func (k *Coordinator) Receive(c *Ctx, m ariadne.Message) {
	switch {
	case strings.HasPrefix(string(m.Data), "no"):
		k.decide(c, "abort")
	case strings.HasPrefix(string(m.Data), "yes"):
		if k.yes++; k.yes == len(k.Participants) {
			k.decide(c, "commit")
		}
	default:
		if k.acks++; k.acks == len(k.Participants) {
			c.Exit(0)
		}
	}
}

func (k *Coordinator) decide(c *Ctx, what string) {
	if k.decided {
		return
	}
	k.decided = true
	c.StopTimer()
	c.Log("%s", what)
	for _, p := range k.Participants {
		c.Send(p, what)
	}
}

// Participant answers; one that has said no must never be told to commit.
type Participant struct {
	Idle
	Refuses bool
}

func (p *Participant) Receive(c *Ctx, m ariadne.Message) {
	switch string(m.Data) {
	case "prepare":
		if p.Refuses {
			c.Send(m.From, "no")
		} else {
			c.Send(m.From, "yes")
		}
	case "commit":
		if p.Refuses {
			c.Panic("told to commit what was refused")
			return
		}
		c.Send(m.From, "ack")
	case "abort":
		c.Send(m.From, "ack")
	}
}

// TwoPhaseCommit is a coordinator and two participants of which the second
// refuses. The planted bug shows when the refusal is delayed past the
// coordinator's timer and the first participant is asked, and answers, twice.
func TwoPhaseCommit() []Program {
	return []Program{
		&Coordinator{Participants: []ariadne.NodeID{1, 2}},
		&Participant{},
		&Participant{Refuses: true},
	}
}

// Race is a server and two writers that send to it at the same moment. It dies
// when the second comes first: a bug of message order alone, with no delay.
func Race() []Program {
	return []Program{&first{want: 1}, &shout{}, &shout{}}
}

type first struct {
	Idle
	want  ariadne.NodeID
	count int
}

func (f *first) Receive(c *Ctx, m ariadne.Message) {
	if f.count++; f.count == 1 && m.From != f.want {
		c.Panic("node %d came first", m.From)
		return
	}
	if f.count == 2 {
		c.Exit(0)
	}
}

type shout struct{ Idle }

func (shout) Start(c *Ctx) {
	c.Send(0, "here I am")
	c.Exit(0)
}

// Stuck is a client that waits for an answer that never comes.
func Stuck() []Program { return []Program{&Ping{Peer: 1, Count: 1}, &deaf{}} }

type deaf struct{ Idle }

// Chaos does with each input what a hash of all its inputs says: sends on
// connections and datagrams, sets timers, logs, exits. Peers are all other nodes.
type Chaos struct {
	Nodes int
	Seed  uint64
	Acts  int // inputs that it takes notice of; 0: 20
	Exits int // it exits at one input in so many; 0: 40
	// NoTimers: it sets none.
	NoTimers bool
	// Tries: what it does otherwise at one of five acts may fail, in two ways.
	Tries bool
	// Chooses: what it does otherwise at one of five acts depends on what it is told to choose.
	Chooses bool
	// Spares: it says at some inputs that from there on no fault is to hit it, and at others
	// that one may again.
	Spares bool
	// Events: it tells of events of its own now and then.
	Events bool
	// Syncs: it has something written to the disk now and then, which may take one of these times.
	Syncs []time.Duration
	// Limits: it says now and then how long it waits for answers.
	Limits bool
	// Readies: it is ready for others from some input on.
	Readies bool
	// Opens: the first message of each connection opens it.
	Opens bool
	// Forgets: after every second input, all that it knows of earlier ones is a bit.
	Forgets bool
	// Shows: it writes a line about its state at each input.
	Shows bool
	// Speaks: it writes a line at each input, of which the word depends on all inputs.
	Speaks bool
	// Kills: it has processes that may be killed one by one, others from time to time. Restart:
	// after that time one of them is run again; 0: none is. Within: one may be killed in the midst
	// of a step, too.
	Kills   bool
	Restart time.Duration
	Within  bool
	// Nets: what it sends on connections to these nodes may fail.
	Nets []ariadne.NodeID
	// Lingers: its command ends where it would exit, and what that has started goes on.
	Lingers bool
	state   uint64
	steps   int
	// Writes: it writes a bit now and then, which is left when it is taken down.
	Writes bool
	disk   uint64
}

// Fall implements Durable.
func (x *Chaos) Fall() { x.state, x.steps = x.disk, 0 }

func (x *Chaos) Start(c *Ctx) { x.act(c, "start") }
func (x *Chaos) Fire(c *Ctx)  { x.act(c, "fire") }

// Processes implements Multiple.
func (x *Chaos) Processes() []string {
	if !x.Kills {
		return nil
	}
	return [][]string{{}, {"a#1"}, {"a#1", "b#1"}, {"b#1"}}[x.state>>40%4]
}

// Kill implements Multiple.
func (x *Chaos) Kill(c *Ctx, process string) { x.act(c, process) }

// RunsAgain implements Multiple.
func (x *Chaos) RunsAgain(process string) time.Duration {
	if process == "a#1" {
		return x.Restart
	}
	return 0
}

// RunAgain implements Multiple.
func (x *Chaos) RunAgain(c *Ctx, process string) { x.act(c, "again "+process) }

// Works implements Multiple.
func (x *Chaos) Works() string {
	if x.Within {
		return [2]string{"a#1", "b#1"}[x.Seed%2]
	}
	return ""
}

// Jump implements Clocked.
func (x *Chaos) Jump(c *Ctx, by time.Duration) { x.act(c, by.String()) }

func (x *Chaos) Receive(c *Ctx, m ariadne.Message) {
	input := fmt.Sprint(m.From, m.Flow, m.Seq, string(m.Data))
	if m.Flow.Proto == ariadne.Expiry {
		input += fmt.Sprint(" ends ", m.Flags)
	}
	if m.Flags&ariadne.MID != 0 {
		input += " reset"
		c.Send(m.From, "reset")
	}
	x.act(c, input)
}

func (x *Chaos) act(c *Ctx, input string) {
	if x.Acts == 0 {
		x.Acts = 20
	}
	if x.Exits == 0 {
		x.Exits = 40
	}
	if x.steps++; x.steps > x.Acts {
		return
	}
	x.HashOf(fmt.Sprint(x.Seed, c.ID(), input))
	if x.Forgot() {
		x.state %= 2
	}
	if x.Shows {
		c.Log("shows %d", x.below(6))
	}
	if x.Speaks {
		c.Log("says %c", 'a'+rune(x.below(4)))
	}
	if x.Spares && x.below(2) == 0 {
		c.Spare(x.below(2) == 0)
	}
	if x.Readies && x.below(2) == 0 {
		c.Ready()
	}
	if x.Writes && x.below(6) == 0 {
		x.disk = x.state % 2
	}
	if x.Limits && x.below(2) == 0 {
		if to := ariadne.NodeID(x.below(x.Nodes)); to != c.ID() {
			c.Limit(to, time.Duration(x.below(3))*4*time.Millisecond, time.Duration(x.below(3))*3*time.Millisecond)
		}
	}
	for range x.below(4) {
		to := ariadne.NodeID(x.below(x.Nodes))
		switch x.below(5) {
		case 0, 1:
			switch text := fmt.Sprint("t", x.steps); {
			case to == c.ID():
			case slices.Contains(x.Nets, to):
				x.HashOf(c.TrySend(to, text, x.Opens))
			default:
				c.sendOn(to, text, x.Opens)
			}
		case 2:
			if to != c.ID() {
				c.SendDatagram(to, fmt.Sprint("u", x.steps))
			}
		case 3:
			if x.NoTimers {
				continue
			}
			c.SetTimer(time.Duration(x.below(5)) * time.Millisecond)
		case 4:
			if x.Syncs != nil && x.below(2) == 0 {
				c.Sync(fmt.Sprint("f", to), x.Syncs...)
				continue
			}
			if x.Chooses && (!x.Tries || x.below(2) == 0) {
				x.HashOf(fmt.Sprint(c.Choose(2 + x.below(2))))
				continue
			}
			if x.Tries {
				x.HashOf(c.Try(fmt.Sprint(to), "EIO", "ENOSPC"))
				continue
			}
			if x.Events && x.below(2) == 0 {
				c.Event(fmt.Sprint("e", x.steps))
				continue
			}
			c.Log("step %d at %v", x.steps, c.Now())
		}
	}
	if x.below(x.Exits) == 0 {
		if x.Lingers {
			c.End()
		} else {
			c.Exit(0)
		}
	}
}

// Forgot implements Forgetful.
func (x *Chaos) Forgot() bool { return x.Forgets && x.steps%2 == 0 && x.steps > 0 }

func (x *Chaos) HashOf(s string) {
	for _, b := range []byte(s) {
		x.state = (x.state ^ uint64(b)) * 0x100000001b3
	}
}

func (x *Chaos) below(n int) int {
	x.state += 0x9e3779b97f4a7c15
	z := x.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return int((z ^ z>>31) % uint64(n))
}
