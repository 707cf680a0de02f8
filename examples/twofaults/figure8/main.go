// Command figure8 is a log that is replicated by Raft on three nodes.
//
//	figure8 serve [careless] ME PEER...
//	figure8 client ME SERVER...
//
// A leader commits an entry of its own term when a majority has it, and with it all before
// it. A careless one also commits an entry of an earlier term when a majority has it (Raft,
// section 5.4.2 and figure 8): a node with an entry of a later term may still be elected and
// replace it.
//
// A client repeats a write until it is acknowledged. Each acknowledgement says how many of the
// client's writes are committed, which must be all of them.
package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"twofaults/wire"
)

const (
	beat   = 100 * time.Millisecond
	writes = 8
)

type entry struct {
	term  int
	value string // CLIENT/NUMBER
}

type server struct {
	*wire.Node
	careless bool
	peers    []string
	patience time.Duration // without a leader

	term int
	vote string
	log  []entry

	leads, asks bool // leader, candidate
	votes       map[string]bool
	match, next map[string]int
	commit      int
	due         time.Time // of the next election, or heartbeat of a leader
}

func main() {
	args := os.Args[1:]
	if args[0] == "client" {
		client(wire.Open(args[1]), args[2:])
	}
	careless := args[1] == "careless"
	if careless {
		args = args[1:]
	}
	me, _ := strconv.Atoi(args[1][1:])
	s := &server{Node: wire.Open(args[1]), careless: careless, peers: args[2:],
		patience: time.Duration(300+150*me) * time.Millisecond}
	s.load()
	s.due = time.Now().Add(s.patience)
	for {
		if w := s.Hear(s.due); w != nil {
			s.heard(w[0], w[1], w[2:])
		} else if s.leads {
			s.due = time.Now().Add(beat)
			s.replicate()
		} else {
			s.elect()
		}
	}
}

func (s *server) load() {
	for i, line := range wire.Load("state") {
		w := strings.Fields(line)
		n, _ := strconv.Atoi(w[0])
		if i == 0 {
			s.term, s.vote = n, w[1]
		} else {
			s.log = append(s.log, entry{n, w[1]})
		}
	}
}

func (s *server) save() {
	vote := s.vote
	if vote == "" {
		vote = "-"
	}
	text := fmt.Sprintf("%d %s\n", s.term, vote)
	for _, e := range s.log {
		text += fmt.Sprintf("%d %s\n", e.term, e.value)
	}
	wire.Save("state", text)
}

// termOf is the term of entry i, counted from 1.
func (s *server) termOf(i int) int {
	if i < 1 || i > len(s.log) {
		return 0
	}
	return s.log[i-1].term
}

func (s *server) elect() {
	s.term++
	s.vote, s.asks, s.votes = s.Me, true, map[string]bool{s.Me: true}
	s.due = time.Now().Add(s.patience)
	s.save()
	for _, p := range s.peers {
		s.Say(p, "elect %d %d %d", s.term, len(s.log), s.termOf(len(s.log)))
	}
}

func (s *server) follow(term int) {
	if term > s.term {
		s.term, s.vote = term, ""
		s.save()
	}
	if s.leads {
		s.due = time.Now().Add(s.patience)
	}
	s.leads, s.asks = false, false
}

func (s *server) heard(from, word string, w []string) {
	if word == "write" {
		s.write(w[0])
		return
	}
	n := make([]int, min(len(w), 4))
	for i := range n {
		n[i], _ = strconv.Atoi(w[i])
	}
	if n[0] > s.term {
		s.follow(n[0])
	}
	switch {
	case word == "elect":
		last := s.termOf(len(s.log))
		whole := n[2] > last || n[2] == last && n[1] >= len(s.log)
		if n[0] == s.term && whole && (s.vote == "" || s.vote == from) {
			s.vote = from
			s.due = time.Now().Add(s.patience)
			s.save()
			s.Say(from, "vote %d", s.term)
		}
	case word == "vote" && n[0] == s.term && s.asks:
		s.votes[from] = true
		if 2*len(s.votes) > len(s.peers)+1 {
			s.lead()
		}
	case word == "append" && n[0] < s.term:
		s.Say(from, "refused %d %d", s.term, 0)
	case word == "append":
		s.follow(n[0])
		s.due = time.Now().Add(s.patience)
		s.take(from, n[1], n[2], n[3], w[4:])
	case word == "appended" && n[0] == s.term && s.leads:
		s.match[from] = max(s.match[from], n[1])
		s.next[from] = s.match[from] + 1
		s.advance()
	case word == "refused" && n[0] == s.term && s.leads:
		s.next[from] = max(1, min(s.next[from]-1, n[1]+1))
		s.send(from)
	}
}

func (s *server) lead() {
	s.leads, s.asks = true, false
	s.match, s.next = map[string]int{}, map[string]int{}
	for _, p := range s.peers {
		s.next[p] = len(s.log) + 1
	}
	fmt.Printf("leads term %d\n", s.term)
	s.due = time.Now().Add(beat)
	s.replicate()
}

// write is what a client asks for. A leader does not append an entry of its own term again.
func (s *server) write(value string) {
	if !s.leads {
		return
	}
	for i, e := range s.log {
		if e.value == value && i < s.commit {
			s.acknowledge(i)
			return
		}
		if e.value == value && e.term == s.term {
			return
		}
	}
	s.log = append(s.log, entry{s.term, value})
	s.save()
	s.replicate()
}

func (s *server) replicate() {
	for _, p := range s.peers {
		s.send(p)
	}
}

// send sends a peer what it lacks, as far as is known.
func (s *server) send(p string) {
	prev := s.next[p] - 1
	text := ""
	for _, e := range s.log[prev:] {
		text += fmt.Sprintf(" %d:%s", e.term, e.value)
	}
	s.Say(p, "append %d %d %d %d%s", s.term, prev, s.termOf(prev), s.commit, text)
}

// take takes what a leader has sent, if it fits what is there.
func (s *server) take(from string, prev, prevTerm, commit int, entries []string) {
	if prev > len(s.log) || s.termOf(prev) != prevTerm {
		s.Say(from, "refused %d %d", s.term, min(prev-1, len(s.log)))
		return
	}
	changed := false
	for i, text := range entries {
		t, value, _ := strings.Cut(text, ":")
		term, _ := strconv.Atoi(t)
		at := prev + i + 1
		if at <= len(s.log) && s.termOf(at) == term {
			continue
		}
		s.log = append(s.log[:at-1:at-1], entry{term, value})
		changed = true
	}
	if changed {
		s.save()
	}
	last := prev + len(entries)
	s.Say(from, "appended %d %d", s.term, last)
	s.apply(min(commit, last))
}

// advance commits what a majority has.
func (s *server) advance() {
	for i := len(s.log); i > s.commit; i-- {
		have := 1
		for _, p := range s.peers {
			if s.match[p] >= i {
				have++
			}
		}
		if 2*have > len(s.peers)+1 && (s.termOf(i) == s.term || s.careless) {
			s.apply(i)
			return
		}
	}
}

func (s *server) apply(commit int) {
	for ; s.commit < commit; s.commit++ {
		fmt.Printf("applied %d %s\n", s.commit+1, s.log[s.commit].value)
		if s.leads {
			s.acknowledge(s.commit)
		}
	}
}

// acknowledge tells a client that its write is committed, and how many of its writes are.
func (s *server) acknowledge(i int) {
	who, number, _ := strings.Cut(s.log[i].value, "/")
	seen := map[string]bool{}
	for _, e := range s.log[:i+1] {
		if strings.HasPrefix(e.value, who+"/") {
			seen[e.value] = true
		}
	}
	s.Say(who, "wrote %s %d", number, len(seen))
}

func client(n *wire.Node, servers []string) {
	at := 0
	for i := 1; i <= writes; i++ {
		for done := false; !done; {
			n.Say(servers[at], "write %s/%d", n.Me, i)
			until := time.Now().Add(250 * time.Millisecond)
			for w := n.Hear(until); w != nil; w = n.Hear(until) {
				if w[2] != strconv.Itoa(i) {
					continue
				}
				if w[3] != w[2] {
					wire.Fail("%s writes were acknowledged, and %s has %s", w[2], w[0], w[3])
				}
				done = true
			}
			if !done {
				at = (at + 1) % len(servers)
			}
		}
	}
	fmt.Println("wrote all")
	os.Exit(0)
}
