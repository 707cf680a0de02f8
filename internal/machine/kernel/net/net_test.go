package net

import (
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/kerneltest"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/tcp"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/udp"

	"golang.org/x/sys/unix"
)

// TestDeliver: a message reaches the socket of its protocol, and no other one with the same port.
func TestDeliver(t *testing.T) {
	nodes := kerneltest.Network(2)
	by := []*kernel.Thread{kerneltest.Caller(nodes[0]), kerneltest.Caller(nodes[1])}
	address := kerneltest.Sockaddr("10.0.0.2", 7000)

	u := udp.New(nodes[1], unix.AF_INET)
	l := tcp.New(nodes[1], unix.AF_INET)
	for _, e := range []kernel.Errno{u.Bind(by[1], address), l.Bind(by[1], address), l.Listen(by[1], 8)} {
		if e != 0 {
			t.Fatal(e)
		}
	}
	for _, proto := range []ariadne.Protocol{ariadne.TCP, ariadne.UDP} {
		if all := Sockets(nodes[1], proto, unix.AF_INET); len(all) != 1 {
			t.Errorf("%v: %d sockets", proto, len(all))
		}
	}
	c := tcp.New(nodes[0], unix.AF_INET)
	if e := c.Connect(by[0], address); e != unix.EINPROGRESS && e != 0 {
		t.Fatal(e)
	}
	Flush(nodes[0])
	if len(nodes[0].Out) != 1 || nodes[0].Out[0].Flow.Proto != ariadne.TCP {
		t.Fatalf("sent: %v", nodes[0].Out)
	}
	Deliver(nodes[1], &nodes[0].Out[0])
	Flush(nodes[1])
	if u.Ready()&kernel.In != 0 {
		t.Error("a SYN has reached the UDP socket")
	}
	if len(nodes[1].Out) != 1 || nodes[1].Out[0].To != 0 {
		t.Fatalf("answered: %v", nodes[1].Out)
	}
	Deliver(nodes[0], &nodes[1].Out[0])
	if c.Ready()&kernel.Out == 0 {
		t.Error("the SYN-ACK has not reached the connection")
	}
}
