package main

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
)

const (
	tries = 100                    // of one request
	pause = 100 * time.Millisecond // between two tries
)

// client sends one request at a time to the node that it takes for the leader.
type client struct {
	peers  []string
	leader string
	conn   net.Conn
	lines  *bufio.Reader
}

// check writes the values 1, 2, ... to one key and reads each back. There is
// one writer, so a read must give exactly the last acknowledged value. At the
// end every node's own copy must come to hold it.
func check(peers []string, writes int) error {
	c := &client{peers: peers, leader: peers[0]}
	for i := 1; i <= writes; i++ {
		want := fmt.Sprint(i)
		if _, err := c.ask(fmt.Sprintf("set c %d x %s", i, want)); err != nil {
			return err
		}
		writer := c.leader
		got, err := c.ask("get x")
		if err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("%s acknowledged x=%s, then %s answered x=%s", writer, want, c.leader, got)
		}
		fmt.Printf("wrote and read x=%s at %s\n", want, c.leader)
	}
	for _, p := range peers {
		if err := converges(peers, p, fmt.Sprint(writes)); err != nil {
			return err
		}
	}
	fmt.Println("every node has the last value")
	return nil
}

// converges waits until the node's own copy of x is want.
func converges(peers []string, node, want string) error {
	got := ""
	for range tries {
		c := &client{peers: peers, leader: node}
		var err error
		if got, err = c.once("peek x"); err == nil && got == want {
			c.close()
			return nil
		}
		c.close()
		time.Sleep(pause)
	}
	return fmt.Errorf("%s never came to hold x=%s, it has x=%s", node, want, got)
}

// ask sends a request until it is answered, following the leader.
func (c *client) ask(request string) (string, error) {
	var err error
	for i := range tries {
		var answer string
		if answer, err = c.once(request); err == nil {
			return answer, nil
		}
		c.close()
		var m moved
		if errors.As(err, &m) {
			c.leader = string(m)
		} else {
			c.leader = c.peers[i%len(c.peers)]
		}
		time.Sleep(pause)
	}
	return "", fmt.Errorf("%q: gave up after %d tries: %w", request, tries, err)
}

// moved is the answer of a node that names another one as leader.
type moved string

func (m moved) Error() string { return "moved to " + string(m) }

func (c *client) once(request string) (string, error) {
	if c.conn == nil {
		conn, err := net.DialTimeout("tcp", c.leader+clientPort, patience)
		if err != nil {
			return "", err
		}
		c.conn, c.lines = conn, bufio.NewReader(conn)
	}
	c.conn.SetDeadline(time.Now().Add(2 * patience))
	if _, err := fmt.Fprintln(c.conn, request); err != nil {
		return "", err
	}
	line, err := c.lines.ReadString('\n')
	if err != nil {
		return "", err
	}
	word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	switch word {
	case "ok":
		return rest, nil
	case "moved":
		return "", moved(rest)
	}
	return "", errors.New(rest)
}

func (c *client) close() {
	if c.conn != nil {
		c.conn.Close()
		c.conn = nil
	}
}
