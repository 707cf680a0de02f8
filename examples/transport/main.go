// Command transport delivers messages reliably and in order over UDP, as MaceTransport does in
// MaceMC's paper (NSDI 2007, section 5), and has a sender and a receiver that use it.
//
//	transport receiver -name r
//	transport sender -name s -to r -messages 3
//
// A connection is opened by its first message, which has the SYN flag and a sequence number to
// begin with; there is no handshake. Messages are acknowledged one by one, and sent again until
// they are. Only the first of a connection is under way before it is acknowledged. When it is not,
// for some time, the sender gives the connection up, and opens another one for what is left. A SYN
// has an identifier that grows from connection to connection, so that a receiver knows an old one
// that comes late.
//
// Nodes write these lines:
//
//	inflight 6001     until "acknowledged 6001" or "gave up 6001": the sender has not heard that it arrived
//	delivered hello-1
//
// Read next: sender.go, receiver.go.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"time"
)

// packet is a datagram.
type packet struct {
	Ack  bool `json:",omitzero"`
	Syn  bool `json:",omitzero"`
	ID   int  `json:",omitzero"` // of a SYN: of the connection
	Seq  int
	Data string `json:",omitzero"`
}

const port = ":7000"

func send(conn net.PacketConn, to net.Addr, p packet) {
	data, err := json.Marshal(p)
	if err != nil {
		fail(err)
	}
	conn.WriteTo(data, to)
}

// receive returns the next packet and its sender, or false when none has come until then.
func receive(conn net.PacketConn, until time.Time) (p packet, from net.Addr, ok bool) {
	conn.SetReadDeadline(until)
	buffer := make([]byte, 1<<16)
	n, from, err := conn.ReadFrom(buffer)
	return p, from, err == nil && json.Unmarshal(buffer[:n], &p) == nil
}

func main() {
	if len(os.Args) < 2 {
		fail(fmt.Errorf("usage: transport receiver|sender [flags]"))
	}
	flags := flag.NewFlagSet(os.Args[1], flag.ExitOnError)
	name := flags.String("name", "r", "this node's name, which others resolve")
	to := flags.String("to", "r", "who is to have the messages")
	messages := flags.Int("messages", 3, "how many")
	bug := flags.String("bug", "", "plant a bug: stale-syn")
	flags.Parse(os.Args[2:])
	if *bug != "" && *bug != "stale-syn" {
		fail(fmt.Errorf("no such bug: %s", *bug))
	}
	conn, err := net.ListenPacket("udp", *name+port)
	if err != nil {
		fail(err)
	}
	switch os.Args[1] {
	case "receiver":
		deliver(conn, *bug != "")
	case "sender":
		err = transmit(conn, *to, *messages)
	default:
		err = fmt.Errorf("no such command: %s", os.Args[1])
	}
	if err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "transport:", err)
	os.Exit(1)
}
