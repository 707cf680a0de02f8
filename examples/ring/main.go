// Command ring is the ring of Chord (Stoica et al., Transactions on Networking 2003), without
// fingers.
//
//	ring -name n2 -id 20 -bootstrap n1 -wait 100ms
//
// Nodes stand on a circle of ids, each with a predecessor and a successor. The bootstrap node is
// its own at first. Any other asks it for the place of its id, which the nodes pass on along the
// ring, and tells its successor of itself. From time to time each node asks its successor for that
// one's predecessor, which may stand between, and tells its successor of itself. A node that hears
// of another one takes it for its predecessor or successor, or both, if it stands nearer than the
// one that it has. Nodes do not leave; one that starts again goes on in its place, which it keeps
// in a file. Each node has the keys from its predecessor's id on, up to its own.
//
// A node writes "ring pred=ID self=ID succ=ID" when it has joined, and whenever one of these
// changes.
//
// Read next: node.go.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"time"
)

// ref is a node and its place.
type ref struct {
	Name string
	ID   int
}

// message is a datagram.
//
//	find    tell Node, which wants to join, where it stands
//	place   it stands between Pred and Succ
//	ask     who is your predecessor?
//	pred    it is Pred
//	notify  Node is there
type message struct {
	Kind             string
	Node, Pred, Succ ref
}

const (
	port     = ":7000"
	tickTime = 500 * time.Millisecond
)

var bugs = []string{"half-update", "untold", "hasty", "same-id"}

func main() {
	name := flag.String("name", "n1", "this node's name, which others resolve")
	id := flag.Int("id", 10, "its place on the ring")
	bootstrap := flag.String("bootstrap", "n1", "the node that others ask")
	wait := flag.Duration("wait", 100*time.Millisecond, "time from the start until the node wants to join")
	file := flag.String("file", "place", "the file that keeps its place over a crash")
	bug := flag.String("bug", "", "plant a bug: "+strings.Join(bugs, ", "))
	flag.Parse()
	if *bug != "" && !slices.Contains(bugs, *bug) {
		fail(fmt.Errorf("no such bug: %s", *bug))
	}
	conn, err := net.ListenPacket("udp", *name+port)
	if err != nil {
		fail(err)
	}
	n := &node{conn: conn, me: ref{*name, *id}, bootstrap: *bootstrap, file: *file, bug: *bug,
		peers: map[string]net.Addr{}}
	n.run(*wait)
}

// send sends m, which may be lost like any datagram.
func (n *node) send(to string, m message) {
	data, err := json.Marshal(m)
	if err != nil {
		fail(err)
	}
	if n.peers[to] == nil {
		addr, err := net.ResolveUDPAddr("udp", to+port)
		if err != nil {
			fail(err)
		}
		n.peers[to] = addr
	}
	n.conn.WriteTo(data, n.peers[to])
}

// receive returns the next message, or false when none has come until then.
func (n *node) receive(until time.Time) (message, bool) {
	n.conn.SetReadDeadline(until)
	packet := make([]byte, 1<<16)
	k, _, err := n.conn.ReadFrom(packet)
	if err != nil {
		return message{}, false
	}
	var m message
	return m, json.Unmarshal(packet[:k], &m) == nil
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "ring:", err)
	os.Exit(1)
}
