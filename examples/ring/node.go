package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"time"
)

type node struct {
	conn       net.PacketConn
	peers      map[string]net.Addr
	me         ref
	bootstrap  string
	pred, succ ref // zero: it has not joined
	file       string
	bug        string // planted, or ""
}

// half plants a bug: who is told of a node that precedes it does not look whether that is its
// successor, too, and the other way round.
func (n *node) half() bool { return n.bug == "half-update" }

func (n *node) joined() bool { return n.succ != ref{} }

func (n *node) run(wait time.Duration) {
	next := time.Now().Add(wait)
	kept, err := os.ReadFile(n.file)
	switch {
	// which plants a bug: it asks for a place as if it had none
	case err == nil && n.bug != "same-id":
		var place [2]ref
		if err := json.Unmarshal(kept, &place); err != nil {
			fail(err)
		}
		n.pred, n.succ = place[0], place[1]
		n.show()
	case n.me.Name == n.bootstrap:
		n.pred, n.succ = n.me, n.me
		n.changed()
	}
	for {
		if m, ok := n.receive(next); ok {
			n.hear(m)
		} else if !time.Now().Before(next) {
			n.tick()
			next = time.Now().Add(tickTime)
		}
	}
}

func (n *node) tick() {
	if !n.joined() {
		n.send(n.bootstrap, message{Kind: "find", Node: n.me})
	} else if n.succ != n.me {
		n.send(n.succ.Name, message{Kind: "ask", Node: n.me})
	}
}

// changed writes down where the node stands.
func (n *node) changed() {
	place, err := json.Marshal([2]ref{n.pred, n.succ})
	if err == nil {
		err = os.WriteFile(n.file+".new", place, 0o644)
	}
	if err == nil {
		err = os.Rename(n.file+".new", n.file)
	}
	if err != nil {
		fail(err)
	}
	n.show()
}

func (n *node) show() { fmt.Printf("ring pred=%d self=%d succ=%d\n", n.pred.ID, n.me.ID, n.succ.ID) }

// between says whether x comes behind a and before b. Where a and b are one, all others do.
func between(a, x, b int) bool {
	if a < b {
		return a < x && x < b
	}
	return x != a && x != b && (a < x || x < b)
}

func (n *node) hear(m message) {
	switch m.Kind {
	case "find":
		switch {
		case !n.joined(): // who asks will ask again
		case m.Node == n.me || m.Node == n.succ: // it has joined meanwhile
		case between(n.me.ID, m.Node.ID, n.succ.ID):
			next := n.succ
			// which plants a bug: that the node is there is taken for granted before it is
			if n.bug == "hasty" {
				n.learn(m.Node, true, true)
				n.send(next.Name, message{Kind: "notify", Node: m.Node})
			}
			n.send(m.Node.Name, message{Kind: "place", Pred: n.me, Succ: next})
		default:
			n.send(n.succ.Name, m)
		}
	case "place":
		if !n.joined() {
			n.pred, n.succ = m.Pred, m.Succ
			n.changed()
			n.send(n.succ.Name, message{Kind: "notify", Node: n.me})
		}
	case "ask":
		if n.joined() {
			n.send(m.Node.Name, message{Kind: "pred", Pred: n.pred})
		}
	case "pred":
		n.learn(m.Pred, !n.half(), true)
		// which plants a bug: a successor that was not the node's before is not told of it
		if n.bug != "untold" {
			n.send(n.succ.Name, message{Kind: "notify", Node: n.me})
		}
	case "notify":
		n.learn(m.Node, true, !n.half())
	}
}

// learn takes a node for predecessor or successor, where it may be that, if it stands nearer than
// the one there is.
func (n *node) learn(x ref, mayPrecede, maySucceed bool) {
	before := *n
	if n.joined() && mayPrecede && between(n.pred.ID, x.ID, n.me.ID) {
		n.pred = x
	}
	if n.joined() && maySucceed && between(n.me.ID, x.ID, n.succ.ID) {
		n.succ = x
	}
	if n.pred != before.pred || n.succ != before.succ {
		n.changed()
	}
}
