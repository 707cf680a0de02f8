package main

import (
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"time"
)

// config is what the flags say.
type config struct {
	id          int
	nodes       []string
	dir         string
	decrees     int
	election    time.Duration
	retries     int
	lead        bool // from the start
	propose     bool // with values of its own
	mute        bool
	client, bug string
}

// bugs that can be planted: an acceptor that makes promises and forgets them, a
// proposer that takes the value of the last promise instead of the one that was
// accepted at the highest ballot.
var bugs = []string{"forget-promise", "last-promise"}

const (
	initializing = "initializing"
	learning     = "learning"
	primary      = "primary"
	secondary    = "secondary"
)

// node is proposer and learner, with its acceptor. One goroutine owns it.
type node struct {
	config
	*acceptor
	*links
	state  string
	shown  string      // the last line about the state
	timer  *time.Timer // nil: no elections
	chosen []string    // by slot, from 1; "": not known
	client net.Addr    // who wants to know of them, or nil

	// The proposer's.
	ballot   ballot       // its own, or the one that it follows
	commands []string     // values to propose where the slot is free
	best     []vote       // of what the promises said, by slot: the highest ballot
	voters   map[int]bool // who has promised (learning) or accepted in slot open (primary)
	open     int          // the slot that is being decided; 0: none
	value    string       // the one proposed for it
}

func serve(c config) error {
	n := &node{config: c, state: initializing, chosen: make([]string, c.decrees+1), best: make([]vote, c.decrees+1)}
	var err error
	if n.acceptor, err = openAcceptor(c.dir, c.decrees); err != nil {
		return err
	}
	n.forgets = c.bug == "forget-promise"
	if n.links, err = openLinks(c.id, c.nodes); err != nil {
		return err
	}
	if c.client != "" {
		if n.client, err = net.ResolveUDPAddr("udp", c.client+clientPort); err != nil {
			return err
		}
	}
	n.start()
	n.run()
	return nil
}

func (n *node) start() {
	if n.election > 0 {
		n.timer = time.NewTimer(time.Hour)
	}
	n.show()
	if n.promised != (ballot{}) { // it was here before, and others went on
		n.state = learning
		n.send(message{kind: "ask", slot: 1})
	}
	if n.propose {
		for i := range n.decrees {
			n.commands = append(n.commands, fmt.Sprintf("n%d-%d", n.id, i+1))
		}
	}
	if n.lead {
		n.campaign()
	}
	n.arm()
}

func (n *node) run() {
	var alarm <-chan time.Time
	if n.timer != nil {
		alarm = n.timer.C
	}
	for {
		select {
		case e := <-n.events:
			if e.conn == nil {
				n.hearClient(e)
			} else if err := n.hear(e); err != nil {
				fmt.Printf("ignored: %v\n", err)
			}
		case <-alarm:
			n.timeout()
		}
		n.show()
	}
}

// arm sets the timer again: a primary's to speak up, the others' to do without
// it. A node that knows all decrees needs neither.
func (n *node) arm() {
	switch {
	case n.timer == nil:
	case n.decree() == n.decrees:
		n.timer.Stop()
	case n.state == primary:
		n.timer.Reset(n.election / 3)
	default:
		n.timer.Reset(n.election + rand.N(n.election))
	}
}

func (n *node) timeout() {
	if n.state != primary {
		n.campaign()
	} else if n.open != 0 { // again, as something may have been lost
		n.send(message{"accept", n.ballot, n.open, n.value})
	} else {
		n.send(message{kind: "alive", ballot: n.ballot})
	}
	n.arm()
}

// hear handles a message of another node.
func (n *node) hear(e event) error {
	m, err := parse(e.line)
	if err != nil {
		return err
	}
	if m.slot < 0 || m.slot > n.decrees {
		return fmt.Errorf("there is no slot %d", m.slot)
	}
	switch m.kind {
	case "prepare":
		n.tellChosen(e.conn, m.slot)
		if n.promise(m.ballot) {
			n.follow(m.ballot)
			answer(e.conn, message{"promise", m.ballot, m.slot, formatVotes(n.votes, n.decree()+1)})
		} else {
			answer(e.conn, message{kind: "refused", ballot: n.promised})
		}
	case "accept":
		if n.accept(m.ballot, m.slot, m.value) {
			n.follow(m.ballot)
			answer(e.conn, message{kind: "accepted", ballot: m.ballot, slot: m.slot})
		} else {
			answer(e.conn, message{kind: "refused", ballot: n.promised})
		}
	case "promise":
		return n.promisedBy(e.node, m)
	case "accepted":
		n.acceptedBy(e.node, m)
	case "refused":
		n.refused(m.ballot)
	case "learn":
		n.learn(m.slot, m.value)
		if n.decree() < m.slot { // some between were missed
			answer(e.conn, message{kind: "ask", slot: n.decree() + 1})
		}
	case "ask":
		n.tellChosen(e.conn, m.slot)
	case "alive":
		n.follow(m.ballot)
	default:
		return fmt.Errorf("unknown message %q", e.line)
	}
	return nil
}

// answer says something on the connection on which the question came. If that
// breaks, whoever asked asks again.
func answer(conn net.Conn, m message) { fmt.Fprintln(conn, m) }

// follow gives way to a proposer.
func (n *node) follow(b ballot) {
	if b.less(n.ballot) || b.node == n.id {
		return
	}
	n.ballot, n.state, n.open = b, secondary, 0
	n.arm()
}

// campaign begins phase 1, for all slots that are open. Its own acceptor is
// the first to promise.
func (n *node) campaign() {
	n.ballot = ballot{max(n.promised.round, n.ballot.round) + 1, n.id}
	n.state, n.open = learning, 0
	n.voters = map[int]bool{}
	n.best = make([]vote, n.decrees+1)
	n.promise(n.ballot)
	n.send(message{kind: "prepare", ballot: n.ballot, slot: n.decree() + 1})
	n.promisedBy(n.id, message{ballot: n.ballot, value: formatVotes(n.votes, n.decree()+1)})
}

// promisedBy counts a promise. A majority makes this node the primary.
func (n *node) promisedBy(node int, m message) error {
	if n.state != learning || m.ballot != n.ballot {
		return nil
	}
	votes, err := parseVotes(m.value)
	if err != nil {
		return err
	}
	for slot, v := range votes {
		if slot < 1 || slot > n.decrees {
			return fmt.Errorf("there is no slot %d", slot)
		}
		// What has been chosen is among the votes of any majority, with the
		// highest ballot; the planted bug takes what it hears last.
		if n.best[slot].ballot.less(v.ballot) || n.bug == "last-promise" {
			n.best[slot] = v
		}
	}
	if n.majority(node) {
		n.state = primary
		fmt.Printf("leader ballot=%s\n", n.ballot)
		n.decide()
	}
	return nil
}

// decide begins phase 2 for the first slot that is open, when there is a value
// for it. One slot at a time: so no slot has votes before those below are
// chosen, and a new primary finds no holes.
func (n *node) decide() {
	slot := n.decree() + 1
	if n.state != primary || n.open == slot || slot > n.decrees {
		return
	}
	value := n.best[slot].value
	if value == "" {
		value = n.command()
	}
	if value == "" {
		n.arm()
		return
	}
	n.open, n.value, n.voters = slot, value, map[int]bool{}
	n.accept(n.ballot, slot, value)
	n.send(message{"accept", n.ballot, slot, value})
	n.arm()
	n.acceptedBy(n.id, message{ballot: n.ballot, slot: slot})
}

// command is a value that nobody has proposed yet, as far as this node knows.
func (n *node) command() string {
	for _, c := range n.commands {
		if !slices.Contains(n.chosen, c) && !slices.ContainsFunc(n.best, func(v vote) bool { return v.value == c }) {
			return c
		}
	}
	return ""
}

// acceptedBy counts an acceptance. A majority chooses the value.
func (n *node) acceptedBy(node int, m message) {
	if n.state == primary && m.ballot == n.ballot && m.slot == n.open && n.majority(node) {
		n.send(message{"learn", n.ballot, n.open, n.value})
		n.learn(n.open, n.value)
	}
}

// majority counts a voter and reports whether there are enough.
func (n *node) majority(node int) bool {
	n.voters[node] = true
	return len(n.voters) > len(n.config.nodes)/2
}

// refused gives way, or tries again while it may.
func (n *node) refused(promised ballot) {
	if !n.ballot.less(promised) {
		return
	}
	n.follow(promised)
	if n.lead && n.retries > 0 {
		n.retries--
		n.campaign()
	}
}

// learn enters a value that has been chosen.
func (n *node) learn(slot int, value string) {
	if old := n.chosen[slot]; old != "" {
		if old != value {
			fail(1, "violation: slot %d was chosen as %s and as %s", slot, old, value)
		}
		return
	}
	n.chosen[slot] = value
	if n.open == slot {
		n.open = 0
	}
	fmt.Printf("chosen slot=%d value=%s\n", slot, value)
	if n.decree() == n.decrees {
		n.report()
		n.arm()
	}
	n.decide()
}

// decree is the last slot up to which all values are known.
func (n *node) decree() int {
	if i := slices.Index(n.chosen[1:], ""); i >= 0 {
		return i
	}
	return n.decrees
}

func (n *node) tellChosen(conn net.Conn, from int) {
	for slot := max(from, 1); slot <= n.decrees; slot++ {
		if value := n.chosen[slot]; value != "" {
			answer(conn, message{kind: "learn", slot: slot, value: value})
		}
	}
}

// hearClient handles "VALUE ...", values that a client proposes. All nodes hear
// of them, so that whoever leads can.
func (n *node) hearClient(e event) {
	n.client = e.client
	for _, v := range strings.Fields(e.line) {
		if !slices.Contains(n.commands, v) {
			n.commands = append(n.commands, v)
		}
	}
	if n.decree() == n.decrees {
		n.report()
	}
	n.decide()
}

// report tells the client "ID VALUE ...", all that was chosen.
func (n *node) report() {
	if n.client != nil && !n.mute {
		n.udp.WriteTo(fmt.Appendf(nil, "%d %s", n.id, strings.Join(n.chosen[1:], " ")), n.client)
	}
}

// show writes the node's state when it is not the one last shown.
func (n *node) show() {
	line := fmt.Sprintf("state=%s ballot=%s decree=%d", n.state, n.ballot, n.decree())
	if line != n.shown {
		n.shown = line
		fmt.Println(line)
	}
}
