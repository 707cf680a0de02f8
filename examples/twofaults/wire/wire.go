// Package wire has what the programs in Go here share: words in datagrams, and files that are
// replaced as a whole.
package wire

import (
	"fmt"
	"net"
	"os"
	"strings"
	"time"
)

// Node is a node that says and hears words. Each datagram begins with its sender's name.
type Node struct {
	Me    string
	conn  *net.UDPConn
	peers map[string]*net.UDPAddr
}

// Open opens the node's port.
func Open(me string) *Node {
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{Port: 7000})
	if err != nil {
		Fail("%v", err)
	}
	return &Node{Me: me, conn: conn, peers: map[string]*net.UDPAddr{}}
}

// Say sends words to a node.
func (n *Node) Say(to, format string, args ...any) {
	if n.peers[to] == nil {
		a, err := net.ResolveUDPAddr("udp4", to+":7000")
		if err != nil {
			Fail("no node %s: %v", to, err)
		}
		n.peers[to] = a
	}
	n.conn.WriteToUDP([]byte(n.Me+" "+fmt.Sprintf(format, args...)), n.peers[to])
}

// Hear returns a sender and its words, or nil when none have come by a time.
func (n *Node) Hear(until time.Time) []string {
	b := make([]byte, 4096)
	n.conn.SetReadDeadline(until)
	k, _, err := n.conn.ReadFromUDP(b)
	if err != nil {
		return nil
	}
	return strings.Fields(string(b[:k]))
}

// Save replaces a file durably.
func Save(name, text string) {
	f, err := os.Create(name + ".new")
	if err == nil {
		_, err = f.WriteString(text)
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = f.Close()
	}
	if err == nil {
		err = os.Rename(name+".new", name)
	}
	if err != nil {
		Fail("save: %v", err)
	}
}

// Load returns the lines of a file, none when there is no file.
func Load(name string) []string {
	b, err := os.ReadFile(name)
	if err != nil && !os.IsNotExist(err) {
		Fail("load: %v", err)
	}
	return strings.FieldsFunc(string(b), func(r rune) bool { return r == '\n' })
}

// Fail says what is wrong and ends the program.
func Fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(1)
}
