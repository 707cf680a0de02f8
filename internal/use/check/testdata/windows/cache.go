// A cache over TCP, whose entries expire after 2 s.
//
//	cache server planted  uses an entry that has just been removed
//	cache server fixed    says that there is none
//	cache client          puts an entry, and gets it twice
package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"strings"
	"time"
)

type entry struct {
	value string
	until time.Time
}

func serve(c net.Conn, fixed bool) {
	entries := map[string]*entry{}
	in := bufio.NewScanner(c)
	for in.Scan() {
		words := strings.Fields(in.Text())
		switch words[0] {
		case "put":
			entries[words[1]] = &entry{words[2], time.Now().Add(2 * time.Second)}
			fmt.Fprintln(c, "ok")
		case "get":
			if e := entries[words[1]]; e != nil && time.Now().After(e.until) {
				delete(entries, words[1])
			}
			e := entries[words[1]]
			if e == nil && fixed {
				fmt.Fprintln(c, "none")
				continue
			}
			fmt.Fprintln(c, "value", e.value)
		}
	}
}

func main() {
	if os.Args[1] == "server" {
		l, err := net.Listen("tcp", ":7000")
		if err != nil {
			panic(err)
		}
		for {
			c, err := l.Accept()
			if err != nil {
				panic(err)
			}
			go serve(c, os.Args[2] == "fixed")
		}
	}
	c, err := net.Dial("tcp", "10.0.0.1:7000")
	if err != nil {
		panic(err)
	}
	in := bufio.NewScanner(c)
	for _, line := range []string{"put a 1", "get a", "get a"} {
		fmt.Fprintln(c, line)
		if in.Scan() {
			fmt.Println(in.Text())
		}
	}
}
