// Command counter is a counter on one machine that two others add to, and says by the Antithesis
// SDK what must hold of it.
//
//	counter serve [racy]
//	counter add SERVER
//
// An adder reads the counter and writes one more, if nobody else has written meanwhile. A racy
// server does not look at that.
package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/antithesishq/antithesis-sdk-go/assert"
)

func main() {
	var err error
	switch os.Args[1] {
	case "serve":
		err = serve(len(os.Args) > 2)
	case "add":
		err = add(os.Args[2])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "counter:", err)
		os.Exit(1)
	}
}

// serve answers "get" with the value, and "put OLD NEW" with ok or no.
func serve(racy bool) error {
	l, err := net.Listen("tcp", ":9000")
	if err != nil {
		return err
	}
	value, puts := 0, 0
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		var from, to int
		line, _ := bufio.NewReader(c).ReadString('\n')
		if n, _ := fmt.Sscanf(line, "put %d %d", &from, &to); n < 2 {
			fmt.Fprintln(c, value)
			c.Close()
			continue
		}
		late := from != value
		if !late || racy {
			value = to
			puts++
			fmt.Fprintln(c, "ok")
		} else {
			fmt.Fprintln(c, "no")
		}
		c.Close()
		assert.Always(value == puts, "the counter counts what was added", map[string]any{"value": value, "puts": puts})
		assert.Sometimes(late, "somebody is late", nil)
	}
}

// add adds one.
func add(server string) error {
	for {
		value, err := ask(server, "get")
		if err != nil {
			return err
		}
		var n int
		fmt.Sscan(value, &n)
		answer, err := ask(server, fmt.Sprintf("put %d %d", n, n+1))
		if err != nil || answer == "ok" {
			return err
		}
		assert.Reachable("an adder tries again", nil)
	}
}

func ask(server, request string) (string, error) {
	c, err := net.Dial("tcp", server+":9000")
	if err != nil {
		return "", err
	}
	defer c.Close()
	fmt.Fprintln(c, request)
	line, err := bufio.NewReader(c).ReadString('\n')
	return strings.TrimSpace(line), err
}
