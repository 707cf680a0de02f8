package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"
)

// A lease and a tick are shorter than the grace: by the time that a secondary asks to be primary,
// the primary has given up.
const (
	tickTime  = 500 * time.Millisecond
	leaseTime = 1500 * time.Millisecond
	graceTime = 3 * time.Second
)

type entry struct{ update, client string }

// replica is one copy of the data, which is the list of updates.
type replica struct {
	*endpoint
	start     time.Time
	config    configuration
	proposed  time.Duration // when the configuration after config was first proposed; 0: not yet
	heard     time.Duration // a secondary's: when the last beacon came, or config
	log       []entry       // by serial number, from 1
	committed int           // updates at the beginning of log

	// A primary's. The lease is what secondaries have promised, each until leaseTime after the
	// time in alive.
	acts  bool
	since time.Duration // when config came
	alive map[string]time.Duration
	// the prepared list: serial numbers that may not be committed yet, and who has prepared them
	prepared map[int][]string
	unlisted bool // plants a bug: a new primary does not enter in it what it found
}

func serveReplica(e *endpoint, first configuration, unlisted bool) error {
	// What was in memory is gone: the group goes on without a replica that was down.
	if _, err := os.Stat("started"); err == nil {
		e.leave()
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := os.WriteFile("started", nil, 0o644); err != nil {
		return err
	}
	r := &replica{endpoint: e, start: time.Now(), unlisted: unlisted}
	r.adopt(first)
	for next := r.start.Add(tickTime); r.config.has(r.name); {
		if m, ok := r.receive(next); ok {
			r.hear(m)
		} else if !time.Now().Before(next) {
			r.tick()
			next = next.Add(tickTime)
		}
	}
	e.leave()
	return nil
}

// leave is what a replica does that is out of its group: nothing, for ever.
func (e *endpoint) leave() {
	fmt.Println("out of the group")
	for {
		e.receive(time.Time{})
	}
}

func (r *replica) now() time.Duration { return time.Since(r.start) }

func (r *replica) leads() bool { return r.config.Primary == r.name }

// adopt takes a newer configuration. Its primary has a lease from when it first proposed it, since
// no secondary can have heard of it earlier; and it completes what others may have committed.
func (r *replica) adopt(c configuration) {
	if c.Version <= r.config.Version {
		return
	}
	granted, led := r.proposed, r.leads()
	if granted == 0 { // the first configuration, which nobody proposed
		granted = -leaseTime
	}
	r.config, r.proposed, r.heard, r.since = c, 0, r.now(), r.now()
	r.alive, r.prepared = map[string]time.Duration{}, map[int][]string{}
	if r.leads() {
		for _, s := range c.Secondaries {
			r.alive[s] = granted
		}
		for serial := r.committed + 1; serial <= len(r.log); serial++ {
			if led || !r.unlisted {
				r.prepared[serial] = nil
			}
			r.prepare(serial)
		}
	}
	r.judge()
	r.commit()
}

// judge finds out whether the lease holds.
func (r *replica) judge() {
	acts := r.leads()
	for _, s := range r.config.Secondaries {
		acts = acts && r.now() < r.alive[s]+leaseTime
	}
	if acts != r.acts {
		r.acts = acts
		if acts {
			fmt.Printf("primary of configuration %d\n", r.config.Version)
		} else {
			fmt.Println("no longer primary")
		}
	}
}

// tick is what a replica does from time to time.
func (r *replica) tick() {
	r.judge()
	if !r.leads() {
		if r.now() >= r.heard+graceTime {
			r.propose(r.config.without(r.config.Primary, r.name))
		}
		return
	}
	for _, s := range r.config.Secondaries {
		if r.now() >= max(r.alive[s], r.since)+leaseTime {
			r.propose(r.config.without(s, r.name))
			break
		}
	}
	for _, s := range r.config.Secondaries {
		r.send(s, message{Kind: "beacon", Config: r.config, Sent: r.now(), Committed: r.committed})
	}
	for serial := range len(r.log) + 1 {
		if _, listed := r.prepared[serial]; listed {
			r.prepare(serial)
		}
	}
}

func (r *replica) propose(c configuration) {
	if r.proposed == 0 {
		r.proposed = r.now()
	}
	r.send("master", message{Kind: "propose", Config: c})
}

// prepare asks the secondaries that have not done so yet.
func (r *replica) prepare(serial int) {
	e := r.log[serial-1]
	for _, s := range r.config.Secondaries {
		if !slices.Contains(r.prepared[serial], s) {
			r.send(s,
				message{Kind: "prepare", Config: r.config, Serial: serial, Update: e.update, Committed: r.committed})
		}
	}
}

func (r *replica) hear(m message) {
	switch m.Kind {
	case "config":
		r.adopt(m.Config)
	case "beacon", "prepare":
		r.adopt(m.Config)
		if m.Config.Version == r.config.Version && !r.leads() {
			r.follow(m)
		}
	case "alive":
		if m.Config.Version == r.config.Version && r.leads() {
			r.alive[m.From] = max(r.alive[m.From], m.Sent)
			r.judge()
		}
	case "prepared":
		if acks, listed := r.prepared[m.Serial]; listed && m.Config.Version == r.config.Version &&
			!slices.Contains(acks, m.From) {
			r.prepared[m.Serial] = append(acks, m.From)
			r.commit()
		}
	case "write":
		r.judge()
		if r.acts {
			r.update(m)
		}
	}
}

// follow handles what the primary says.
func (r *replica) follow(m message) {
	if m.Kind == "beacon" {
		r.heard = r.now()
		r.send(m.From, message{Kind: "alive", Config: r.config, Sent: m.Sent})
	} else if m.Serial <= len(r.log)+1 {
		// What follows an update that is another one here never was the primary's.
		if m.Serial == len(r.log)+1 || r.log[m.Serial-1].update != m.Update {
			r.log = append(r.log[:m.Serial-1], entry{update: m.Update})
		}
		r.send(m.From, message{Kind: "prepared", Config: r.config, Serial: m.Serial})
	}
	r.commitTo(m.Committed)
}

// update begins an update for a client, or tells it that it is done.
func (r *replica) update(m message) {
	i := slices.IndexFunc(r.log, func(e entry) bool { return e.update == m.Update })
	switch {
	case i < 0:
		r.log = append(r.log, entry{m.Update, m.From})
		r.prepared[len(r.log)] = nil
		r.prepare(len(r.log))
		r.commit()
	case i < r.committed:
		r.send(m.From, message{Kind: "done", Update: m.Update})
	default:
		r.log[i].client = m.From
	}
}

// commit commits what all secondaries have prepared, in order.
func (r *replica) commit() {
	for r.leads() {
		acks, listed := r.prepared[r.committed+1]
		if !listed || len(acks) < len(r.config.Secondaries) {
			return
		}
		delete(r.prepared, r.committed+1)
		r.commitTo(r.committed + 1)
	}
}

func (r *replica) commitTo(serial int) {
	for r.committed < min(serial, len(r.log)) {
		e := r.log[r.committed]
		r.committed++
		fmt.Printf("committed %d %s\n", r.committed, e.update)
		if e.client != "" {
			r.send(e.client, message{Kind: "done", Update: e.update})
		}
	}
}
