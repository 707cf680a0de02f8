// Command kv is a server of a few lines on hashicorp/raft, and a client.
//
//	kv serve ID   node ID of n1, n2, n3
//	kv client     writes values by whichever node leads, and takes the vote from n3 meanwhile
//
// The client fails when nothing could be written for much longer than the network is parted and
// an election takes.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

const (
	raftPort   = ":7000"
	clientPort = ":8000"
	demote     = "demote n3"
	requests   = 20               // one each second, the fifth of them takes the vote from n3
	patience   = 2 * time.Second  // of the client with a request to one node
	longest    = 25 * time.Second // that a request may take at all nodes
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

func (v *values) Apply(l *raft.Log) any                { *v = append(*v, string(l.Data)); return nil }
func (v *values) Snapshot() (raft.FSMSnapshot, error)  { return nil, errors.New("no snapshots") }
func (v *values) Restore(snapshot io.ReadCloser) error { return errors.New("no snapshots") }

func serve(id string) error {
	config := raft.DefaultConfig()
	config.LocalID = raft.ServerID(id)
	config.CommitTimeout = time.Second // fewer messages between writes
	config.Logger = hclog.New(&hclog.LoggerOptions{Name: "raft", Level: hclog.Info, Output: os.Stderr})
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
		members.Servers = append(members.Servers,
			raft.Server{ID: raft.ServerID(n), Address: raft.ServerAddress(n + raftPort)})
	}
	if err := raft.BootstrapCluster(config, store, store, snapshots, transport, members); err != nil {
		return err
	}
	r, err := raft.NewRaft(config, &values{}, store, store, snapshots, transport)
	if err != nil {
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
		go answer(r, conn)
	}
}

// answer writes the value on the line that it is sent, or takes the vote from n3.
func answer(r *raft.Raft, conn net.Conn) {
	defer conn.Close()
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return
	}
	var done raft.Future
	if line = strings.TrimSpace(line); line == demote {
		done = r.DemoteVoter("n3", 0, 0)
	} else {
		done = r.Apply([]byte(line), 0)
	}
	if err := done.Error(); err != nil {
		fmt.Fprintln(conn, err)
		return
	}
	fmt.Fprintln(conn, "ok")
}

// client asks one node after the other, until one has done what it asks.
func client() error {
	for i := 1; i <= requests; i++ {
		request := fmt.Sprint(i)
		if i == 5 {
			request = demote
		}
		for n, began := 0, time.Now(); ; n = (n + 1) % len(nodes) {
			said, err := ask(nodes[n], request)
			if err == nil && said == "ok" {
				fmt.Printf("%s: done by %s\n", request, nodes[n])
				break
			}
			if time.Since(began) > longest {
				return fmt.Errorf("%s: no node has done it for %v", request, longest)
			}
			time.Sleep(200 * time.Millisecond)
		}
		time.Sleep(time.Second)
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
