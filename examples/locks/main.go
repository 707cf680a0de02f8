// Command locks is a lock service: locks that many may share or one has alone, with leases.
//
//	locks server
//	locks client -name c1 -mode shared
//
// A client asks again and again, for as long as it wants the lock and while it has it: each answer
// is a lease for leaseTime from when the client asked. The server lets others have the lock when it
// has not heard of a holder for expiry, which is longer. It keeps locks in memory alone. A server
// that starts again therefore takes holders at their word, and gives locks to others only when all
// leases that it may have granted before have ended.
//
// A client writes "holds NAME shared" or "holds NAME exclusive", and "no longer holds NAME".
//
// Read next: server.go, client.go.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"time"
)

const (
	tick      = 500 * time.Millisecond
	leaseTime = 2 * time.Second
	expiry    = 3 * time.Second
)

// message is a datagram.
//
//	acquire  Client wants Lock, or goes on holding it, since Request
//	granted  the answer, with the same Request and Sent
//	release  Client is done with Lock
//	released the answer
type message struct {
	Kind, Client, Lock string
	Mode               string `json:",omitempty"`
	// greater with each time that a client wants a lock, also after a crash
	Request int64
	Holds   bool          `json:",omitempty"` // it has a lease
	Sent    time.Duration `json:",omitempty"` // by the client's clock
}

const port = ":7000"

// send sends m, which may be lost like any datagram.
func send(conn net.PacketConn, to net.Addr, m message) {
	data, err := json.Marshal(m)
	if err != nil {
		fail(err)
	}
	conn.WriteTo(data, to)
}

// receive returns the next message and its sender, or false when none has come until then.
func receive(conn net.PacketConn, until time.Time) (m message, from net.Addr, ok bool) {
	conn.SetReadDeadline(until)
	packet := make([]byte, 1<<16)
	n, from, err := conn.ReadFrom(packet)
	return m, from, err == nil && json.Unmarshal(packet[:n], &m) == nil
}

func main() {
	if len(os.Args) < 2 {
		fail(fmt.Errorf("usage: locks server|client [flags]"))
	}
	flags := flag.NewFlagSet(os.Args[1], flag.ExitOnError)
	name := flags.String("name", "server", "this node's name")
	mode := flags.String("mode", "shared", "how the client wants the lock: shared or exclusive")
	lock := flags.String("lock", "a", "the lock that the client wants")
	times := flags.Int("times", 3, "how often it wants it")
	bug := flags.String("bug", "", "plant a bug: no-grace")
	flags.Parse(os.Args[2:])
	if *bug != "" && *bug != "no-grace" {
		fail(fmt.Errorf("no such bug: %s", *bug))
	}
	conn, err := net.ListenPacket("udp", *name+port)
	if err != nil {
		fail(err)
	}
	switch os.Args[1] {
	case "server":
		err = serve(conn, *bug == "no-grace")
	case "client":
		err = use(conn, *name, *lock, *mode, *times)
	default:
		err = fmt.Errorf("no such command: %s", os.Args[1])
	}
	if err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "locks:", err)
	os.Exit(1)
}
