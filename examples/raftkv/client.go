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
	tries = 300                    // of one request
	pause = 100 * time.Millisecond // between two tries
)

// client sends its requests to the node that it takes for the leader.
type client struct {
	peers  []string
	leader string
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
		if err := converges(p, fmt.Sprint(writes)); err != nil {
			return err
		}
	}
	fmt.Println("every node has the last value")
	return nil
}

// converges waits until the node's own copy of x is want.
func converges(node, want string) error {
	got := ""
	for range tries {
		var err error
		if got, err = send(node, "peek x"); err == nil && got == want {
			return nil
		}
		time.Sleep(pause)
	}
	return fmt.Errorf("%s never came to hold x=%s, it has x=%s", node, want, got)
}

// ask sends a request until it is answered, following the leader.
func (c *client) ask(request string) (string, error) {
	var err error
	for i := range tries {
		var answer string
		if answer, err = send(c.leader, request); err == nil {
			return answer, nil
		}
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

// send sends one request over a connection of its own.
func send(node, request string) (string, error) {
	conn, err := net.DialTimeout("tcp", node+clientPort, patience)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(2 * patience))
	if _, err := fmt.Fprintln(conn, request); err != nil {
		return "", err
	}
	line, err := bufio.NewReader(conn).ReadString('\n')
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
