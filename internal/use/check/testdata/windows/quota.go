// A server that lets a client do 2 requests in each second. Nobody is told when a second is over.
//
//	quota server planted  forgets that the request counts with which a new second begins. It panics
//	                      when it has allowed one too many
//	quota server fixed    counts it
//	quota client          asks 5 times
package main

import (
	"fmt"
	"net"
	"os"
	"time"
)

func main() {
	if os.Args[1] == "server" {
		server(os.Args[2] == "fixed")
	}
	client()
}

func server(fixed bool) {
	s, err := net.ListenPacket("udp", ":7000")
	if err != nil {
		panic(err)
	}
	began, count, allowed := time.Now(), 0, 0
	b := make([]byte, 100)
	for {
		_, from, err := s.ReadFrom(b)
		if err != nil {
			panic(err)
		}
		now := time.Now()
		count++
		if now.Sub(began) >= time.Second {
			began, count, allowed = now, 0, 0
			if fixed {
				count = 1
			}
		}
		answer := "no"
		if count <= 2 {
			answer = "yes"
			allowed++
		}
		if allowed > 2 {
			panic("one too many")
		}
		s.WriteTo([]byte(answer), from)
	}
}

func client() {
	c, err := net.Dial("udp", "10.0.0.1:7000")
	if err != nil {
		panic(err)
	}
	b := make([]byte, 100)
	for range 5 {
		c.Write([]byte("may I"))
		n, err := c.Read(b)
		if err != nil {
			panic(err)
		}
		fmt.Println(string(b[:n]))
	}
}
