// Command kv is a server of a few lines on hashicorp/raft, and a client.
//
//	kv serve ID   node ID of n1, n2, n3; n3 has no vote
//	kv client     writes five values by whichever node leads
//
// The client fails when it sees that a node leads although it has not heard from the other
// one that has a vote for ten times as long as it may lead without.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

const (
	raftPort   = ":7000"
	clientPort = ":8000"
	lease      = 500 * time.Millisecond // how long a leader leads without a majority
	patience   = 2 * time.Second        // of the client with a request
)

var nodes = []string{"n1", "n2", "n3"}

func main() {
	err := errors.New("usage: kv serve ID | kv client")
	switch {
	case len(os.Args) == 3 && os.Args[1] == "serve":
		err = serve(os.Args[2])
	case len(os.Args) == 2 && os.Args[1] == "client":
		err = client()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "kv:", err)
		os.Exit(1)
	}
}

// values is the state machine: what was written.
type values []string

func (v *values) Apply(l *raft.Log) interface{}        { *v = append(*v, string(l.Data)); return nil }
func (v *values) Snapshot() (raft.FSMSnapshot, error)  { return nil, errors.New("no snapshots") }
func (v *values) Restore(snapshot io.ReadCloser) error { return errors.New("no snapshots") }

// server is one node.
type server struct {
	raft *raft.Raft
	// alone is for how long it has led without hearing from the other node that has a vote.
	alone atomic.Int64
}

var noContact = regexp.MustCompile(`Failed to contact (\S+) in (\S+)`)

// Write takes the log of raft, which alone tells of contacts, and passes on what is no detail.
func (s *server) Write(line []byte) (int, error) {
	if m := noContact.FindSubmatch(line); m != nil && string(m[1]) != "n3" {
		if d, err := time.ParseDuration(string(m[2])); err == nil {
			s.alone.Store(max(s.alone.Load(), int64(d)))
		}
	}
	if strings.Contains(string(line), "[DEBUG]") {
		return len(line), nil
	}
	return os.Stderr.Write(line)
}

func serve(id string) error {
	config := raft.DefaultConfig()
	config.LocalID = raft.ServerID(id)
	config.CommitTimeout = time.Second // fewer messages between writes
	config.LeaderLeaseTimeout = lease
	s := &server{}
	config.Logger = hclog.New(&hclog.LoggerOptions{Name: "raft", Level: hclog.Debug, Output: s})
	address, err := net.ResolveTCPAddr("tcp", id+raftPort)
	if err != nil {
		return err
	}
	transport, err := raft.NewTCPTransport(address.String(), nil, 3, time.Second, os.Stderr)
	if err != nil {
		return err
	}
	store, snapshots := raft.NewInmemStore(), raft.NewInmemSnapshotStore()
	var members raft.Configuration
	for _, n := range nodes {
		suffrage := raft.Voter
		if n == "n3" {
			suffrage = raft.Nonvoter
		}
		members.Servers = append(members.Servers,
			raft.Server{Suffrage: suffrage, ID: raft.ServerID(n), Address: raft.ServerAddress(n + raftPort)})
	}
	if err := raft.BootstrapCluster(config, store, store, snapshots, transport, members); err != nil {
		return err
	}
	if s.raft, err = raft.NewRaft(config, &values{}, store, store, snapshots, transport); err != nil {
		return err
	}
	l, err := net.Listen("tcp", id+clientPort)
	if err != nil {
		return err
	}
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		go s.answer(conn)
	}
}

// answer tells the status, or writes the value on the line that it is sent.
func (s *server) answer(conn net.Conn) {
	defer conn.Close()
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return
	}
	if line = strings.TrimSpace(line); line == "status" {
		fmt.Fprintln(conn, time.Duration(s.alone.Load()))
		return
	}
	if err := s.raft.Apply([]byte(line), 0).Error(); err != nil {
		fmt.Fprintln(conn, err)
		return
	}
	fmt.Fprintln(conn, "ok")
}

// client asks one node after the other, until one has written the value.
func client() error {
	for value := 1; value <= 5; value++ {
		for n := 0; ; n = (n + 1) % len(nodes) {
			said, err := ask(nodes[n], fmt.Sprint(value))
			if err == nil && said == "ok" {
				fmt.Println("wrote", value, "by", nodes[n])
				break
			}
			if err := look(nodes[n]); err != nil {
				return err
			}
			time.Sleep(200 * time.Millisecond)
		}
		time.Sleep(500 * time.Millisecond)
	}
	return nil
}

// look asks a node how long it has led alone.
func look(node string) error {
	said, err := ask(node, "status")
	if err != nil {
		return nil // not there
	}
	if alone, err := time.ParseDuration(said); err == nil && alone > 10*lease {
		return fmt.Errorf("%s has led for %v without the other node that has a vote", node, alone)
	}
	return nil
}

// ask sends a line to a node and returns the one that it answers.
func ask(node, line string) (string, error) {
	conn, err := net.DialTimeout("tcp", node+clientPort, patience)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(patience))
	if _, err := fmt.Fprintln(conn, line); err != nil {
		return "", err
	}
	said, err := bufio.NewReader(conn).ReadString('\n')
	return strings.TrimSpace(said), err
}
