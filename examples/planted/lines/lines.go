// Package lines has servers and clients that exchange lines over TCP.
package lines

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"time"
)

// Conn is one end of a connection. Any number of goroutines may write.
type Conn struct {
	net.Conn
	Name string // whatever the server calls it
	in   *bufio.Scanner
	mu   sync.Mutex
}

func newConn(c net.Conn) *Conn { return &Conn{Conn: c, in: bufio.NewScanner(c)} }

// Dial tries until there is a server.
func Dial(addr string) *Conn {
	for {
		if c, err := net.Dial("tcp", addr); err == nil {
			return newConn(c)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// Say writes a line.
func (c *Conn) Say(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintf(c, format+"\n", args...)
}

// Hear reads a line, as words; nil at the end.
func (c *Conn) Hear() []string {
	if !c.in.Scan() {
		return nil
	}
	return strings.Fields(c.in.Text())
}

// Ask writes a line and reads the answer.
func (c *Conn) Ask(format string, args ...any) []string {
	c.Say(format, args...)
	return c.Hear()
}

// Serve calls f, one call at a time, with each line of each connection.
func Serve(addr string, mu sync.Locker, f func(c *Conn, words []string)) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		Fail("%v", err)
	}
	for {
		c, err := l.Accept()
		if err != nil {
			Fail("%v", err)
		}
		go func() {
			for conn := newConn(c); ; {
				words := conn.Hear()
				if words == nil {
					return
				}
				mu.Lock()
				f(conn, words)
				mu.Unlock()
			}
		}()
	}
}

// Fail says what is wrong and ends the program.
func Fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(1)
}
