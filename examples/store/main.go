// Server is a node of a small store over HTTP, with a bug: it acknowledges a write before it has
// sent the write to its peers.
package main

import (
	"bytes"
	"flag"
	"io"
	"log"
	"net/http"
	"strings"
	"sync"
	"time"
)

type server struct {
	id    string
	peers []string // all nodes, this one among them

	mu     sync.Mutex
	values map[string]string // by path
}

func main() {
	id := flag.String("id", "n1", "this node's `name`")
	peers := flag.String("peers", "n1", "all `nodes`, separated by commas")
	flag.Parse()
	s := &server{id: *id, peers: strings.Split(*peers, ","), values: map[string]string{}}
	log.Fatal(http.ListenAndServe(":8080", s))
}

// ServeHTTP stores the body of a POST under the path, and answers a GET with what is stored there.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet {
		s.mu.Lock()
		defer s.mu.Unlock()
		io.WriteString(w, s.values[r.URL.Path])
		return
	}
	value, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	s.values[r.URL.Path] = string(value)
	s.mu.Unlock()
	if r.Header.Get("From") == "" { // from a client
		go s.replicate(r.URL.Path, value) // the bug: the client's answer does not wait for it
	}
}

// replicate sends a write to each other node until that has stored it.
func (s *server) replicate(path string, value []byte) {
	for _, peer := range s.peers {
		for peer != s.id && !s.send(peer, path, value) {
			time.Sleep(100 * time.Millisecond)
		}
	}
}

func (s *server) send(peer, path string, value []byte) bool {
	r, err := http.NewRequest(http.MethodPost, "http://"+peer+":8080"+path, bytes.NewReader(value))
	if err != nil {
		log.Fatal(err)
	}
	r.Header.Set("From", s.id)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}
