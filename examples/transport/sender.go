package main

import (
	"fmt"
	"net"
	"time"
)

const (
	again   = time.Second // then what is not acknowledged is sent again
	retries = 1           // of a SYN; then another connection is opened
	spacing = 4000        // between the first sequence numbers of connections
)

// transmit sends messages, each when the one before it is acknowledged.
func transmit(conn net.PacketConn, to string, messages int) error {
	peer, err := net.ResolveUDPAddr("udp", to+port)
	if err != nil {
		return err
	}
	// Connections of an earlier process of this node have smaller ids.
	id, first := int(time.Now().UnixNano()), 2001
	seq, syn := first, true
	open := func() {
		id, first = id+1, first+spacing
		seq, syn = first, true
	}
	for i := range messages {
		data := fmt.Sprintf("hello-%d", i+1)
		fmt.Printf("inflight %d\n", seq)
		for tries := 0; ; tries++ {
			if syn && tries > retries {
				fmt.Printf("gave up %d\n", seq)
				open()
				fmt.Printf("inflight %d\n", seq)
				tries = 0
			}
			p := packet{Syn: syn, Seq: seq, Data: data}
			if syn {
				p.ID = id
			}
			send(conn, peer, p)
			if acknowledged(conn, seq) {
				break
			}
		}
		fmt.Printf("acknowledged %d\n", seq)
		seq, syn = seq+1, false
	}
	return nil
}

// acknowledged waits for the acknowledgement of seq, as long as it makes sense before seq is sent
// again.
func acknowledged(conn net.PacketConn, seq int) bool {
	for until := time.Now().Add(again); ; {
		p, _, ok := receive(conn, until)
		if ok && p.Ack && p.Seq == seq {
			return true
		}
		if !ok && !time.Now().Before(until) {
			return false
		}
	}
}
