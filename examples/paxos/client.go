package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

const patience = 2 * time.Second // then the client asks again

// check proposes values, if there are any, and waits until each node has said
// what was chosen. All must have said the same.
//
// Each node is given the values in another order, so that two leaders would
// not choose the same by chance.
func check(listen string, nodes, values []string, apart bool, tries int) error {
	conn, err := net.ListenPacket("udp", listen+clientPort)
	if err != nil {
		return err
	}
	said := map[string]string{} // by number of the node
	for i := 1; len(said) < len(nodes); i++ {
		if err := propose(conn, nodes, values, apart); err != nil {
			return err
		}
		if len(values) > 0 && i != tries {
			if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
				return err
			}
		} else {
			conn.SetReadDeadline(time.Time{})
		}
		if err := hear(conn, said, len(nodes)); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
	}
	for i := range nodes {
		if id := strconv.Itoa(i + 1); said[id] != said["1"] {
			return fmt.Errorf("violation: node 1 has chosen %s, node %s %s", said["1"], id, said[id])
		}
	}
	for _, v := range strings.Fields(said["1"]) {
		if len(values) > 0 && !slices.Contains(values, v) {
			return fmt.Errorf("violation: nobody has proposed %s", v)
		}
	}
	fmt.Printf("every node has chosen %s\n", said["1"])
	return nil
}

// propose sends the values to each node: all in one packet, or apart.
func propose(conn net.PacketConn, nodes, values []string, apart bool) error {
	for i, node := range nodes {
		if len(values) == 0 {
			break
		}
		addr, err := net.ResolveUDPAddr("udp", node+clientPort)
		if err != nil {
			return err
		}
		k := i % len(values)
		packets := slices.Concat(values[k:], values[:k])
		if !apart {
			packets = []string{strings.Join(packets, " ")}
		}
		for _, p := range packets {
			if _, err := conn.WriteTo([]byte(p), addr); err != nil {
				return err
			}
		}
	}
	return nil
}

// hear collects reports until all nodes have said something, or nothing comes.
func hear(conn net.PacketConn, said map[string]string, nodes int) error {
	packet := make([]byte, 1<<16)
	for len(said) < nodes {
		n, _, err := conn.ReadFrom(packet)
		if err != nil {
			return err
		}
		node, chosen, _ := strings.Cut(string(packet[:n]), " ")
		said[node] = chosen
	}
	return nil
}
