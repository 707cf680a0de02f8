// Command kv is a key-value server of a few lines on dragonboat, modelled on its example
// helloworld: one shard of three replicas at n1, n2 and n3, its log in Pebble. It speaks HTTP:
// PUT /KEY writes, GET /KEY reads, both linearizable.
//
//	kv ID    ID of 1, 2, 3
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/lni/dragonboat/v4"
	"github.com/lni/dragonboat/v4/config"
	"github.com/lni/dragonboat/v4/statemachine"
)

const (
	shard    = 1
	patience = 5 * time.Second // with one request
)

var members = map[uint64]dragonboat.Target{1: "n1:63001", 2: "n2:63001", 3: "n3:63001"}

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: kv ID")
	}
	id, err := strconv.ParseUint(os.Args[1], 10, 64)
	if err != nil || members[id] == "" {
		log.Fatalf("no member %s", os.Args[1])
	}
	host, err := dragonboat.NewNodeHost(config.NodeHostConfig{
		WALDir:         "data",
		NodeHostDir:    "data",
		RTTMillisecond: 50,
		RaftAddress:    members[id],
	})
	if err != nil {
		log.Fatal(err)
	}
	err = host.StartReplica(members, false, newStore, config.Config{
		ReplicaID:          id,
		ShardID:            shard,
		ElectionRTT:        10,
		HeartbeatRTT:       1,
		CheckQuorum:        true,
		SnapshotEntries:    10,
		CompactionOverhead: 5,
	})
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe(":8000", &server{host}))
}

type server struct{ host *dragonboat.NodeHost }

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	key := r.URL.Path[1:]
	switch r.Method {
	case http.MethodPut:
		value, err := io.ReadAll(r.Body)
		if err == nil {
			var command []byte
			if command, err = json.Marshal([2]string{key, string(value)}); err == nil {
				_, err = s.host.SyncPropose(ctx, s.host.GetNoOPSession(shard), command)
			}
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
	case http.MethodGet:
		value, err := s.host.SyncRead(ctx, shard, key)
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, value)
	default:
		http.Error(w, "PUT or GET", http.StatusMethodNotAllowed)
	}
}

// store is the state machine.
type store struct {
	mu     sync.Mutex
	values map[string]string
}

func newStore(shard, replica uint64) statemachine.IStateMachine {
	return &store{values: map[string]string{}}
}

func (s *store) Update(e statemachine.Entry) (statemachine.Result, error) {
	var pair [2]string
	if err := json.Unmarshal(e.Cmd, &pair); err != nil {
		return statemachine.Result{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.values[pair[0]] = pair[1]
	return statemachine.Result{}, nil
}

func (s *store) Lookup(key any) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.values[key.(string)], nil
}

func (s *store) SaveSnapshot(w io.Writer, _ statemachine.ISnapshotFileCollection, _ <-chan struct{}) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return json.NewEncoder(w).Encode(s.values)
}

func (s *store) RecoverFromSnapshot(r io.Reader, _ []statemachine.SnapshotFile, _ <-chan struct{}) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return json.NewDecoder(r).Decode(&s.values)
}

func (s *store) Close() error { return nil }
