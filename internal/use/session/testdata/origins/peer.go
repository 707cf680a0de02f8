// Peer answers each datagram: it writes a line and a file before. With an argument it asks one.
package main

import (
	"fmt"
	"net"
	"os"
)

func main() {
	if len(os.Args) > 1 {
		ask(os.Args[1])
		return
	}
	c, err := net.ListenPacket("udp", ":9000")
	check(err)
	b := make([]byte, 100)
	for {
		n, from, err := c.ReadFrom(b)
		check(err)
		say(string(b[:n]))
		keep(b[:n])
		answer(c, from)
	}
}

func say(what string) {
	fmt.Println("asked", what)
}

//go:noinline
func keep(b []byte) {
	check(os.WriteFile("asked", b, 0o600))
}

//go:noinline
func answer(c net.PacketConn, to net.Addr) {
	_, err := c.WriteTo([]byte("yes"), to)
	check(err)
}

//go:noinline
func ask(name string) {
	c, err := net.Dial("udp", name+":9000")
	check(err)
	_, err = c.Write([]byte("well"))
	check(err)
	_, err = c.Read(make([]byte, 100))
	check(err)
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
