package main

import (
	"bufio"
	"fmt"
	"net"
	"time"
)

const (
	redial  = 200 * time.Millisecond // pause after a refused connection
	backlog = 64                     // lines that may wait for a connection
)

// event is a line that arrived: from another node on a connection, or from the
// client.
type event struct {
	line string
	conn net.Conn // nil: from the client
	// node is the one that this node has connected to; 0 when the other end has
	// made the connection.
	node   int
	client net.Addr
}

// links are a node's connections. It makes one to each node that it has a
// request for, when it has the first, and keeps it: the answers come back on it.
type links struct {
	nodes  []string
	queues []chan message // by number of the node, from 1; nil: this node
	udp    net.PacketConn
	events chan event
}

func openLinks(id int, nodes []string) (*links, error) {
	l := &links{nodes: nodes, queues: make([]chan message, len(nodes)+1), events: make(chan event)}
	listener, err := net.Listen("tcp", nodes[id-1]+nodePort)
	if err != nil {
		return nil, err
	}
	if l.udp, err = net.ListenPacket("udp", nodes[id-1]+clientPort); err != nil {
		return nil, err
	}
	go l.welcome(listener)
	go l.hearClient()
	for node := range nodes {
		if node+1 != id {
			l.queues[node+1] = make(chan message, backlog)
			go l.talk(node + 1)
		}
	}
	return l, nil
}

// send sends a request to all other nodes. Messages that find no room are lost, as in networks.
func (l *links) send(m message) {
	for _, q := range l.queues {
		select {
		case q <- m:
		default:
		}
	}
}

// talk carries the requests to one node.
func (l *links) talk(node int) {
	var conn net.Conn
	for m := range l.queues[node] {
		for {
			if conn == nil {
				conn = l.dial(node)
			}
			if _, err := fmt.Fprintln(conn, m); err == nil {
				break
			}
			conn = nil
		}
	}
}

func (l *links) dial(node int) net.Conn {
	for {
		conn, err := net.Dial("tcp", l.nodes[node-1]+nodePort)
		if err == nil {
			go l.read(conn, node)
			return conn
		}
		time.Sleep(redial)
	}
}

func (l *links) welcome(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			fail(1, "%v", err)
		}
		go l.read(conn, 0)
	}
}

func (l *links) read(conn net.Conn, node int) {
	defer conn.Close()
	for lines := bufio.NewScanner(conn); lines.Scan(); {
		l.events <- event{line: lines.Text(), conn: conn, node: node}
	}
}

func (l *links) hearClient() {
	packet := make([]byte, 1<<16)
	for {
		n, client, err := l.udp.ReadFrom(packet)
		if err != nil {
			fail(1, "%v", err)
		}
		l.events <- event{line: string(packet[:n]), client: client}
	}
}
