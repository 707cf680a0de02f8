// Command mps is a replicated state machine on multi-Paxos, with the states that MPS has in
// MODIST's paper (NSDI 2009, section 4.3).
//
//	mps replica -id 1 -group n1,n2,n3 -log log
//	mps client -group n1,n2,n3 -writes 3
//
// A replica is stable while it hears of a primary. When it hears that decrees were committed that
// it does not know, or of no primary for leaseTime, it is learning: it asks the others for what was
// committed. When a quorum has told it, it is stable again, or, if there is still no primary,
// preparing: it asks for promises to accept nothing of an older ballot, and with those of a quorum
// it is primary. A primary proposes again what may have been accepted, then what clients want. A
// decree is committed once a quorum has accepted it at one ballot. A replica writes promises and
// accepted decrees to disk before it sends them.
//
// Nodes write these lines:
//
//	state learning after stable
//	committed 3 w3                 decree and value
//	writes w3                      the client's, until "done w3"
//
// Read next: replica.go, disk.go, client.go.
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

// vote is a value with the ballot at which it was accepted; 0: it is known to be committed.
type vote struct {
	Ballot int
	Value  string
}

// message is what goes between nodes, a datagram each. Ballots are the sender's.
//
//	query     what is committed? Query is repeated in the answer
//	status    Votes are the committed decrees, from 1
//	prepare   promise to accept nothing below Ballot; Decree is the last one that the sender has accepted
//	promise   done; Votes is all that was accepted, Committed of which are known to be
//	refused   not done: Ballot, which is higher, is promised
//	accept    accept Value as Decree
//	accepted  done
//	alive     the primary is there, and has committed Committed
//	write     to all replicas, by a client: Value
//	done      Value is committed
type message struct {
	Kind, From string
	Ballot     int    `json:",omitzero"`
	Query      int    `json:",omitzero"`
	Decree     int    `json:",omitzero"`
	Value      string `json:",omitzero"`
	Votes      []vote `json:",omitzero"`
	Committed  int    `json:",omitzero"`
}

// endpoint is a node's socket.
type endpoint struct {
	name  string
	conn  net.PacketConn
	peers map[string]net.Addr
}

const port = ":7000"

func listen(name string) (*endpoint, error) {
	conn, err := net.ListenPacket("udp", name+port)
	return &endpoint{name, conn, map[string]net.Addr{}}, err
}

// send sends m, which may be lost like any datagram.
func (e *endpoint) send(to string, m message) {
	m.From = e.name
	data, err := json.Marshal(m)
	if err != nil {
		fail(err)
	}
	if e.peers[to] == nil {
		addr, err := net.ResolveUDPAddr("udp", to+port)
		if err != nil {
			fail(err)
		}
		e.peers[to] = addr
	}
	e.conn.WriteTo(data, e.peers[to])
}

// receive returns the next message, or false when none has come until then.
func (e *endpoint) receive(until time.Time) (message, bool) {
	e.conn.SetReadDeadline(until)
	packet := make([]byte, 1<<16)
	n, _, err := e.conn.ReadFrom(packet)
	if err != nil {
		return message{}, false
	}
	var m message
	return m, json.Unmarshal(packet[:n], &m) == nil
}

var bugs = []string{"late-status", "decree-first", "presumed-dead"}

func main() {
	if len(os.Args) < 2 {
		fail(fmt.Errorf("usage: mps replica|client [flags]"))
	}
	flags := flag.NewFlagSet(os.Args[1], flag.ExitOnError)
	id := flags.Int("id", 1, "number of this replica, from 1")
	group := flags.String("group", "n1,n2,n3", "names of the replicas")
	log := flags.String("log", "log", "the replica's file")
	writes := flags.Int("writes", 3, "values that the client wants to have committed")
	bug := flags.String("bug", "", "plant a bug: "+strings.Join(bugs, ", "))
	flags.Parse(os.Args[2:])
	if *bug != "" && !slices.Contains(bugs, *bug) {
		fail(fmt.Errorf("no such bug: %s", *bug))
	}
	members := strings.Split(*group, ",")
	var err error
	switch os.Args[1] {
	case "replica":
		err = serve(members, *id-1, *log, *bug)
	case "client":
		err = write(members, *writes)
	default:
		err = fmt.Errorf("no such command: %s", os.Args[1])
	}
	if err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "mps:", err)
	os.Exit(1)
}
