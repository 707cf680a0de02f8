package main

import (
	"fmt"
	"net"
	"time"
)

// incoming is a connection from one sender.
type incoming struct {
	id   int
	last int // the last message in order
}

// deliver takes messages from all senders. stale plants a bug: it takes a SYN of another connection
// for a newer one, whenever it comes.
func deliver(conn net.PacketConn, stale bool) {
	connections := map[string]*incoming{} // by the sender's address
	for {
		p, from, ok := receive(conn, time.Time{})
		if !ok || p.Ack {
			continue
		}
		c := connections[from.String()]
		switch {
		case p.Syn && (c == nil || p.ID > c.id || stale && p.ID != c.id):
			c = &incoming{id: p.ID, last: p.Seq}
			connections[from.String()] = c
			fmt.Printf("delivered %s\n", p.Data)
		case c == nil || p.Syn && p.ID < c.id:
			continue
		case !p.Syn && p.Seq == c.last+1:
			c.last++
			fmt.Printf("delivered %s\n", p.Data)
		}
		// What came twice is acknowledged twice, what is out of order by what was in order.
		send(conn, from, packet{Ack: true, Seq: c.last})
	}
}
