// Command kv is a key-value server of a few lines on hashicorp/raft, and a client.
//
//	kv serve ID TIMEOUT   node ID of n1, n2; TIMEOUT: without a leader for so long, it asks for votes
//	kv client             writes five values by either node, some time apart
//
// The client fails when it sees that n1 cannot become leader
// although nothing hinders it: n1 asks n2 again and again, and n2, whose leader is n1
// all the while, refuses. How long messages take does not matter to that.
package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

const (
	raftPort   = ":7000"
	clientPort = ":8000"
	// lease is how long a leader goes on without hearing from a majority.
	lease = 250 * time.Millisecond
	// patience with a request to another node is longer than any TIMEOUT of a node
	// that asks for votes: what was refused was refused by an answer.
	patience = 10 * time.Second
)

var nodes = []string{"n1", "n2"}

func main() {
	err := errors.New("usage: kv serve ID TIMEOUT | kv client")
	switch {
	case len(os.Args) == 4 && os.Args[1] == "serve":
		err = serve(os.Args[2], os.Args[3])
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

func (v *values) Apply(l *raft.Log) any                { *v = append(*v, string(l.Data)); return nil }
func (v *values) Snapshot() (raft.FSMSnapshot, error)  { return nil, errors.New("no snapshots") }
func (v *values) Restore(snapshot io.ReadCloser) error { return errors.New("no snapshots") }

// server is one node.
type server struct {
	raft *raft.Raft
	// Leaders that this node has had, and pre-votes that it was refused.
	leaders, refused atomic.Int64
}

// Write takes the log of raft, which alone tells of pre-votes, and passes on what is
// no detail.
func (s *server) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("pre-vote denied")) {
		s.refused.Add(1)
	}
	if bytes.Contains(line, []byte("[DEBUG]")) {
		return len(line), nil
	}
	return os.Stderr.Write(line)
}

func serve(id, timeout string) error {
	t, err := time.ParseDuration(timeout)
	if err != nil {
		return err
	}
	s := &server{}
	config := raft.DefaultConfig()
	config.LocalID = raft.ServerID(id)
	config.HeartbeatTimeout, config.ElectionTimeout, config.LeaderLeaseTimeout = t, t, lease
	config.CommitTimeout = time.Second // fewer messages between writes
	config.Logger = hclog.New(&hclog.LoggerOptions{Name: "raft", Level: hclog.Debug, DisableTime: true, Output: s})
	transport, err := raft.NewTCPTransportWithLogger(id+raftPort, nil, 3, patience, config.Logger)
	if err != nil {
		return err
	}
	store, snapshots := raft.NewInmemStore(), raft.NewInmemSnapshotStore()
	var members raft.Configuration
	for _, n := range nodes {
		members.Servers = append(members.Servers,
			raft.Server{ID: raft.ServerID(n), Address: raft.ServerAddress(n + raftPort)})
	}
	if err := raft.BootstrapCluster(config, store, store, snapshots, transport, members); err != nil {
		return err
	}
	if s.raft, err = raft.NewRaft(config, &values{}, store, store, snapshots, transport); err != nil {
		return err
	}
	s.raft.RegisterObserver(raft.NewObserver(nil, false, func(o *raft.Observation) bool {
		if _, ok := o.Data.(raft.LeaderObservation); ok {
			s.leaders.Add(1)
		}
		return false
	}))
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
		_, leader := s.raft.LeaderWithID()
		fmt.Fprintf(conn, "%d %d %s\n", s.refused.Load(), s.leaders.Load(), leader)
		return
	}
	if err := s.raft.Apply([]byte(line), time.Minute).Error(); err != nil {
		fmt.Fprintln(conn, err)
		return
	}
	fmt.Fprintln(conn, "ok")
}

// client asks one node after the other, until one has written the value.
func client() error {
	for value := range 5 {
		for n := 0; ; n = 1 - n {
			said, err := ask(nodes[n], fmt.Sprint(value))
			if err == nil && said == "ok" {
				fmt.Println("wrote", value, "by", nodes[n])
				break
			}
			if err := checkElection(); err != nil {
				return err
			}
		}
		time.Sleep(500 * time.Millisecond)
	}
	return nil
}

// status is what a node tells of itself.
type status struct {
	refused, leaders int
	leader           string
}

func statusOf(node string) (s status, err error) {
	said, err := ask(node, "status")
	if err == nil {
		fmt.Sscan(said, &s.refused, &s.leaders, &s.leader)
	}
	return s, err
}

// checkElection watches an election for some time.
func checkElection() error {
	before, err := statusOf("n2")
	if err != nil {
		return nil // not started yet
	}
	first, err := statusOf("n1")
	if err != nil {
		return nil
	}
	time.Sleep(5 * time.Second)
	second, err := statusOf("n1")
	if err != nil {
		return nil
	}
	after, err := statusOf("n2")
	if err != nil {
		return nil
	}
	// A refusal counts when it comes before n1 asks again. So of two at least one was
	// asked for after the first look at n2, and answered before the second.
	if n := second.refused - first.refused; n >= 2 && before == after && before.leader == "n1" {
		return fmt.Errorf("n1 has asked for votes %d times; n2, whose leader is n1, refused", n)
	}
	return nil
}

// ask sends a line to a node and returns the one that it answers.
func ask(node, line string) (string, error) {
	conn, err := net.Dial("tcp", node+clientPort)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	if _, err := fmt.Fprintln(conn, line); err != nil {
		return "", err
	}
	said, err := bufio.NewReader(conn).ReadString('\n')
	return strings.TrimSpace(said), err
}
