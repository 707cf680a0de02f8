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
func check(listen string, nodes, values []string) error {
	conn, err := net.ListenPacket("udp", listen+clientPort)
	if err != nil {
		return err
	}
	said := map[string]string{} // by number of the node
	for len(said) < len(nodes) {
		if err := propose(conn, nodes, values); err != nil {
			return err
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

func propose(conn net.PacketConn, nodes, values []string) error {
	if len(values) == 0 {
		return nil
	}
	for i, node := range nodes {
		addr, err := net.ResolveUDPAddr("udp", node+clientPort)
		if err != nil {
			return err
		}
		k := i % len(values)
		order := slices.Concat(values[k:], values[:k])
		if _, err := conn.WriteTo([]byte(strings.Join(order, " ")), addr); err != nil {
			return err
		}
	}
	return conn.SetReadDeadline(time.Now().Add(patience))
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
