package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
	boltdb "github.com/hashicorp/raft-boltdb/v2"
)

// patience bounds how long a request waits inside raft.
const patience = 2 * time.Second

type server struct {
	raft     *raft.Raft
	store    *store
	earlyAck bool
	// caughtUp is the last term in which this node, as leader, had applied
	// all that earlier leaders committed.
	caughtUp atomic.Uint64
}

// serve runs the node id until it fails.
func serve(id string, peers []string, dir string, earlyAck bool) error {
	s := &server{store: newStore(), earlyAck: earlyAck}
	if err := s.startRaft(id, peers, dir); err != nil {
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
		go s.talk(conn)
	}
}

func (s *server) startRaft(id string, peers []string, dir string) error {
	logger := hclog.New(&hclog.LoggerOptions{Name: "raft", Level: hclog.Info, DisableTime: true, Output: os.Stderr})
	config := raft.DefaultConfig()
	config.LocalID = raft.ServerID(id)
	config.Logger = logger

	transport, err := raft.NewTCPTransportWithLogger(id+raftPort, nil, 3, patience, logger)
	if err != nil {
		return err
	}
	var log raft.LogStore
	var votes raft.StableStore
	var snapshots raft.SnapshotStore
	if dir == "" {
		memory := raft.NewInmemStore()
		log, votes, snapshots = memory, memory, raft.NewInmemSnapshotStore()
	} else {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		disk, err := boltdb.NewBoltStore(filepath.Join(dir, "raft.db"))
		if err != nil {
			return err
		}
		log, votes = disk, disk
		if snapshots, err = raft.NewFileSnapshotStoreWithLogger(dir, 1, logger); err != nil {
			return err
		}
	}

	// Every node starts from the same static configuration.
	old, err := raft.HasExistingState(log, votes, snapshots)
	if err != nil {
		return err
	}
	if !old {
		var members raft.Configuration
		for _, p := range peers {
			members.Servers = append(members.Servers,
				raft.Server{ID: raft.ServerID(p), Address: raft.ServerAddress(p + raftPort)})
		}
		if err := raft.BootstrapCluster(config, log, votes, snapshots, transport, members); err != nil {
			return err
		}
	}
	s.raft, err = raft.NewRaft(config, s.store, log, votes, snapshots, transport)
	return err
}

// talk answers the requests of one connection.
func (s *server) talk(conn net.Conn) {
	defer conn.Close()
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		fmt.Fprintln(conn, s.answer(lines.Text()))
	}
}

func (s *server) answer(line string) string {
	var c command
	if n, _ := fmt.Sscanf(line, "set %s %d %s %s", &c.Client, &c.Seq, &c.Key, &c.Value); n == 4 {
		return s.set(c)
	}
	if n, _ := fmt.Sscanf(line, "get %s", &c.Key); n == 1 {
		return s.get(c.Key)
	}
	if n, _ := fmt.Sscanf(line, "peek %s", &c.Key); n == 1 {
		return "ok " + s.store.get(c.Key)
	}
	return "error unknown request"
}

// set answers ok when the command is committed and applied.
func (s *server) set(c command) string {
	if s.raft.State() != raft.Leader {
		return s.moved()
	}
	data, err := json.Marshal(c)
	if err != nil {
		return "error " + err.Error()
	}
	future := s.raft.Apply(data, patience)
	if s.earlyAck {
		// The planted bug: nobody waits for the future, so this only says
		// that raft has taken the command, not that a majority has it.
		return "ok"
	}
	if err := future.Error(); err != nil {
		return "error " + err.Error()
	}
	return "ok"
}

// get reads from this node's store, after making sure that the store is not
// old: this node has applied all that earlier terms committed, and a majority
// still takes it for the leader of the same term.
func (s *server) get(key string) string {
	term := s.raft.CurrentTerm()
	if s.raft.State() != raft.Leader {
		return s.moved()
	}
	if s.caughtUp.Load() != term {
		if err := s.raft.Barrier(patience).Error(); err != nil {
			return "error " + err.Error()
		}
		s.caughtUp.Store(term)
	}
	if err := s.raft.VerifyLeader().Error(); err != nil {
		return "error " + err.Error()
	}
	if s.raft.CurrentTerm() != term {
		return "error the term has changed"
	}
	return "ok " + s.store.get(key)
}

func (s *server) moved() string {
	if _, leader := s.raft.LeaderWithID(); leader != "" {
		return "moved " + string(leader)
	}
	return "error no leader"
}
