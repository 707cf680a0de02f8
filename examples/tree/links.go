package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strings"
)

const port = ":7000"

// link is a connection between parent and child, which the parent makes.
type link struct {
	conn net.Conn
	peer string // its name; of a link that somebody else has made, once that has said so
	up   bool   // a link of one's own: it is made
}

func (l *link) say(line string) { fmt.Fprintln(l.conn, line) }

// event is a line from another node, or the end of a link.
type event struct {
	line string // "": the link could not be made, or has ended
	link *link  // nil: a datagram
}

// links are what a node hears from others: datagrams, and lines on links.
type links struct {
	name   string
	udp    net.PacketConn
	events chan event
}

func openLinks(name string) (*links, error) {
	config := net.ListenConfig{KeepAlive: -1}
	listener, err := config.Listen(context.Background(), "tcp", name+port)
	if err != nil {
		return nil, err
	}
	udp, err := net.ListenPacket("udp", name+port)
	if err != nil {
		return nil, err
	}
	l := &links{name, udp, make(chan event)}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				fail(err)
			}
			go l.read(&link{conn: conn})
		}
	}()
	go func() {
		packet := make([]byte, 1<<16)
		for {
			n, _, err := udp.ReadFrom(packet)
			if err != nil {
				fail(err)
			}
			l.events <- event{line: string(packet[:n])}
		}
	}()
	return l, nil
}

// send sends a datagram, which may be lost.
func (l *links) send(to, line string) {
	if addr, err := net.ResolveUDPAddr("udp", to+port); err == nil {
		l.udp.WriteTo([]byte(line), addr)
	}
}

// connect makes a link to a node, says something on it, and reads what comes.
func (l *links) connect(to, line string) *link {
	k := &link{peer: to}
	go func() {
		dialer := net.Dialer{KeepAlive: -1} // as connections are, unless somebody asks for more
		conn, err := dialer.Dial("tcp", to+port)
		if err != nil {
			l.events <- event{link: k}
			return
		}
		k.conn = conn
		k.say(line)
		l.events <- event{"connected", k}
		l.read(k)
	}()
	return k
}

func (l *links) read(k *link) {
	for lines := bufio.NewScanner(k.conn); lines.Scan(); {
		l.events <- event{strings.TrimSpace(lines.Text()), k}
	}
	k.conn.Close()
	l.events <- event{link: k}
}
