// Command kv is a server of a few lines on hashicorp/raft, and a client.
//
//	kv serve ID   node ID of n1, n2, n3, n4
//	kv client     writes values by whichever node leads, and removes n4
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
	remove     = "remove n4"
	requests   = 3                // one each second, the last of them removes n4
	after      = 12 * time.Second // that the client stays
	patience   = 2 * time.Second  // of the client with a request to one node
	tries      = 100              // of a request
)

var nodes = []string{"n1", "n2", "n3", "n4"}

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

func (v *values) Apply(l *raft.Log) any {
	*v = append(*v, string(l.Data))
	return nil
}
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
	var all raft.Configuration
	for _, n := range nodes {
		a, err := net.ResolveTCPAddr("tcp", n+raftPort)
		if err != nil {
			return err
		}
		server := raft.Server{ID: raft.ServerID(n), Address: raft.ServerAddress(a.String())}
		all.Servers = append(all.Servers, server)
	}
	if err := raft.BootstrapCluster(config, store, store, snapshots, transport, all); err != nil {
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

// answer writes the value on the line that it is sent, or removes n4.
func answer(r *raft.Raft, conn net.Conn) {
	defer conn.Close()
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return
	}
	var done raft.Future
	if line = strings.TrimSpace(line); line == remove {
		done = r.RemoveServer("n4", 0, 0)
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
		if i == requests {
			request = remove
		}
		for n := 0; n < tries; n++ {
			node := nodes[n%len(nodes)]
			if said, err := ask(node, request); err == nil && said == "ok" {
				fmt.Printf("%s: done by %s\n", request, node)
				break
			}
			time.Sleep(200 * time.Millisecond)
		}
		time.Sleep(time.Second)
	}
	time.Sleep(after)
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
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(said), nil
}
