// Command pb is primary-backup replication with a configuration manager, as in PacificA (Lin et
// al., MSR-TR-2008-25): a master that keeps who belongs to the group, replicas, and a client.
//
//	pb master -log master.log
//	pb replica -name n2 -group n1,n2,n3
//	pb client -group n1,n2,n3 -writes 3
//
// A primary gives each update a serial number, has all secondaries prepare it, and commits in the
// order of the numbers. Replicas find out by themselves who has failed. A primary acts only while
// each secondary has answered a beacon that it sent in the last leaseTime; a secondary that hears
// no beacon for graceTime, which is longer, asks the master for a configuration that it leads. The
// master takes the first proposal that follows what it has. So there is one primary at a time, with
// all that was committed. A replica that was down does not come back to its group.
//
// Nodes write these lines:
//
//	primary of configuration 2    until "no longer primary"
//	committed 3 w3                serial number and update
//	writes w3                     the client's, until "done w3"
//
// Read next: master.go, replica.go, client.go.
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

// configuration says who belongs to the group.
type configuration struct {
	Version     int
	Primary     string
	Secondaries []string
}

func (c configuration) has(name string) bool {
	return c.Primary == name || slices.Contains(c.Secondaries, name)
}

// without is the next configuration, led by primary and without gone.
func (c configuration) without(gone, primary string) configuration {
	next := configuration{Version: c.Version + 1, Primary: primary}
	for _, m := range append([]string{c.Primary}, c.Secondaries...) {
		if m != gone && m != primary {
			next.Secondaries = append(next.Secondaries, m)
		}
	}
	return next
}

// message is what goes between nodes, a datagram each.
//
//	propose   to the master: Config is to be the configuration
//	config    Config is the configuration
//	beacon    to a secondary: Config holds, and Committed; Sent is when, by the primary's clock
//	alive     the answer, with the same Sent
//	prepare   to a secondary: Update has the number Serial
//	prepared  done
//	write     to all replicas, by a client: Update
//	done      Update is committed
type message struct {
	Kind, From string
	Config     configuration
	Sent       time.Duration `json:",omitzero"`
	Serial     int           `json:",omitzero"`
	Update     string        `json:",omitzero"`
	Committed  int           `json:",omitzero"`
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

var bugs = []string{"", "late-log", "unlisted"}

func main() {
	if len(os.Args) < 2 {
		fail(fmt.Errorf("usage: pb master|replica|client [flags]"))
	}
	flags := flag.NewFlagSet(os.Args[1], flag.ExitOnError)
	name := flags.String("name", os.Args[1], "this node's name, which others resolve")
	group := flags.String("group", "n1,n2,n3", "names of the replicas; the first is primary at first")
	log := flags.String("log", "master.log", "the master's file")
	writes := flags.Int("writes", 3, "updates that the client makes")
	bug := flags.String("bug", "", "plant a bug: late-log or unlisted")
	flags.Parse(os.Args[2:])
	if !slices.Contains(bugs, *bug) {
		fail(fmt.Errorf("no such bug: %s", *bug))
	}
	e, err := listen(*name)
	if err != nil {
		fail(err)
	}
	members := strings.Split(*group, ",")
	first := configuration{1, members[0], members[1:]}
	switch os.Args[1] {
	case "master":
		err = serveMaster(e, *log, first, *bug == "late-log")
	case "replica":
		err = serveReplica(e, first, *bug == "unlisted")
	case "client":
		err = write(e, members, *writes)
	default:
		err = fmt.Errorf("no such command: %s", os.Args[1])
	}
	if err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "pb:", err)
	os.Exit(1)
}
