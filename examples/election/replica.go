package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
)

const (
	tickTime = 500 * time.Millisecond
	// patient is how long a replica is without a master; the second of the group waits longer by
	// stagger
	patient     = 1500 * time.Millisecond
	stagger     = 700 * time.Millisecond
	electedTime = 2 * time.Second // an election ends by then
)

// state is what a replica keeps in its file.
type state struct {
	Gen int // of the last master that it has heard of, or election that it has taken part in
	Log []entry
}

type replica struct {
	*endpoint
	state
	path   string
	group  []string
	id     int // in group
	bug    string
	start  time.Time
	heard  time.Duration // when there was a master, or an election
	leader string        // of Gen; "": not known
	synced bool          // log is what leader has said
	// recovering: a page has come, and its log record has not.
	recovering bool
	election

	// A master's.
	acks   map[string]int // records that others have
	client string
}

func serve(group []string, id int, path, bug string) error {
	e, err := listen(group[id])
	if err != nil {
		return err
	}
	r := &replica{endpoint: e, path: path, group: group, id: id, bug: bug, start: time.Now()}
	if data, err := os.ReadFile(path); err == nil {
		if err := json.Unmarshal(data, &r.state); err != nil {
			return err
		}
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for next := r.start.Add(tickTime); ; {
		if m, ok := r.receive(next); ok {
			r.hear(m)
		} else if !time.Now().Before(next) {
			r.tick()
			next = next.Add(tickTime)
		}
	}
}

// save writes the state, before anybody is told of it.
func (r *replica) save() {
	data, err := json.Marshal(r.state)
	if err == nil {
		err = os.WriteFile(r.path+".new", data, 0o644)
	}
	if err == nil {
		err = os.Rename(r.path+".new", r.path)
	}
	if err != nil {
		fail(err)
	}
}

func (r *replica) now() time.Duration { return time.Since(r.start) }

func (r *replica) leads() bool { return r.leader == r.name }

func (r *replica) sendAll(m message) {
	for _, peer := range r.group {
		if peer != r.name {
			r.send(peer, m)
		}
	}
}

func (r *replica) tick() {
	switch {
	case r.leads():
		r.sendAll(message{Kind: "alive", Gen: r.Gen})
	case r.open && r.now() >= r.began+electedTime:
		r.elect(r.Gen + 1)
	case !r.open && r.now() >= r.heard+patient+time.Duration(r.id)*stagger:
		r.elect(r.Gen + 1)
	case r.leader != "" && !r.synced:
		r.send(r.leader, message{Kind: "updatereq", Gen: r.Gen})
	}
}

func (r *replica) hear(m message) {
	switch m.Kind {
	case "vote1":
		r.vote1(m)
	case "vote2":
		r.vote2(m)
	case "newmaster", "alive":
		r.follow(m)
	case "dupmaster":
		r.stepDown()
	case "updatereq":
		if r.leads() && m.Gen == r.Gen {
			r.send(m.From, message{Kind: "log", Gen: r.Gen, Log: r.Log})
		} else if !r.leads() && r.bug == "late-request" {
			fail(fmt.Errorf("panic: a replica that is no master was asked for updates"))
		}
	case "page":
		if m.Gen == r.Gen && !r.leads() && m.Size > len(r.Log) {
			r.recovering = true
		}
	case "log":
		r.take(m)
	case "ack":
		if r.leads() && m.Gen == r.Gen {
			r.acks[m.From] = max(r.acks[m.From], m.Size)
			r.commit()
		}
	case "write":
		if r.leads() {
			r.write(m)
		}
	}
}

// follow handles what a master says of itself.
func (r *replica) follow(m message) {
	switch {
	case m.Gen < r.Gen:
		if r.leads() {
			r.send(m.From, message{Kind: "newmaster", Gen: r.Gen})
		}
		return
	case m.Gen == r.Gen && r.leader == m.From:
		r.heard = r.now()
		return
	}
	if r.leads() {
		r.sendAll(message{Kind: "dupmaster"})
		r.stepDown()
	}
	r.Gen = m.Gen
	r.save()
	r.leader, r.synced, r.recovering, r.open, r.heard = m.From, false, false, false, r.now()
	r.send(m.From, message{Kind: "updatereq", Gen: r.Gen})
}

// stepDown ends being master.
func (r *replica) stepDown() {
	if r.leads() {
		fmt.Println("no longer master")
		r.leader, r.heard = "", r.now()
	}
}

// take makes the master's log this replica's. Of two that come out of order the longer one is
// newer.
func (r *replica) take(m message) {
	have := len(r.Log)
	if m.Gen != r.Gen || r.leader != m.From || have > len(m.Log) && r.Log[have-1].Gen == r.Gen {
		return
	}
	r.Log, r.synced, r.recovering = m.Log, true, false
	r.save()
	r.send(m.From, message{Kind: "ack", Gen: r.Gen, Size: len(r.Log)})
}

// write adds a record for a client, or tells it that there is one.
func (r *replica) write(m message) {
	r.client = m.From
	i := slices.IndexFunc(r.Log, func(e entry) bool { return e.Value == m.Value && e.Gen == r.Gen })
	if i < 0 { // one of an earlier master may be lost yet
		r.Log = append(r.Log, entry{r.Gen, m.Value})
		r.save()
	}
	for _, peer := range r.group {
		if peer != r.name && r.acks[peer] < len(r.Log) {
			r.send(peer, message{Kind: "page", Gen: r.Gen, Size: len(r.Log)})
		}
	}
	for _, peer := range r.group {
		if peer != r.name && r.acks[peer] < len(r.Log) {
			r.send(peer, message{Kind: "log", Gen: r.Gen, Log: r.Log})
		}
	}
	r.commit()
}

// commit tells the client of the last record of its own that a majority has.
func (r *replica) commit() {
	for size := len(r.Log); size > 0 && r.Log[size-1].Gen == r.Gen; size-- {
		have := 1
		for _, s := range r.acks {
			if s >= size {
				have++
			}
		}
		if have > len(r.group)/2 && r.client != "" {
			r.send(r.client, message{Kind: "done", Value: r.Log[size-1].Value})
			return
		}
	}
}
