// Command repdb is a replicated log with elections and messages like those of Berkeley DB's
// replication, as MODIST's paper describes them (NSDI 2009, section 4.2).
//
//	repdb replica -id 1 -group n1,n2,n3 -state state.json
//	repdb client -group n1,n2,n3 -writes 3
//
// A replica that hears no master calls an election. Each replica sends the length of its log to
// all. A replica that has heard of a majority votes for the longest log, once in an election. A
// replica with the votes of a majority is master, and tells all. The others ask it for the records
// that they have missed. A former master that hears of it says that there were two, and gives up;
// then the new one gives up, too, as it cannot know that it is the latest. A master sends each
// record as a page, then as a log record. Between these a replica is in recovery, in which it
// cannot be master. It ends when the log record comes, or with the next election. A record is done
// when a majority has it.
//
// Nodes write these lines:
//
//	master gen=2    until "no longer master"
//	writes w3       the client's, until "done w3"
//
// Read next: replica.go, vote.go.
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

// entry is a record of the log. Gen is the generation of the master that made it.
type entry struct {
	Gen   int
	Value string
}

// message is what goes between nodes, a datagram each.
//
//	vote1      in election Gen the sender has Size records, the last one of generation Last
//	vote2      it votes for the receiver
//	newmaster  the sender is master, by election Gen
//	alive      the same, from time to time
//	dupmaster  the sender was master, and has heard of another one
//	updatereq  what is in your log?
//	page       record Size of the log is about to come
//	log        Log is the log
//	ack        the sender has Size records of it
//	write      to all replicas, by a client: Value
//	done       Value is in the log of a majority
type message struct {
	Kind, From string
	Gen        int     `json:",omitzero"`
	Last       int     `json:",omitzero"`
	Size       int     `json:",omitzero"`
	Electable  bool    `json:",omitzero"`
	Log        []entry `json:",omitzero"`
	Value      string  `json:",omitzero"`
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

var bugs = []string{"late-request", "recovery"}

func main() {
	if len(os.Args) < 2 {
		fail(fmt.Errorf("usage: repdb replica|client [flags]"))
	}
	flags := flag.NewFlagSet(os.Args[1], flag.ExitOnError)
	id := flags.Int("id", 1, "number of this replica, from 1")
	group := flags.String("group", "n1,n2,n3", "names of the replicas")
	state := flags.String("state", "state.json", "the replica's file")
	writes := flags.Int("writes", 3, "values that the client writes")
	bug := flags.String("bug", "", "plant a bug: "+strings.Join(bugs, " or "))
	flags.Parse(os.Args[2:])
	if *bug != "" && !slices.Contains(bugs, *bug) {
		fail(fmt.Errorf("no such bug: %s", *bug))
	}
	members := strings.Split(*group, ",")
	var err error
	switch os.Args[1] {
	case "replica":
		err = serve(members, *id-1, *state, *bug)
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
	fmt.Fprintln(os.Stderr, "repdb:", err)
	os.Exit(1)
}
