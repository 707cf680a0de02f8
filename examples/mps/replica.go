package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
)

const (
	tickTime  = 500 * time.Millisecond
	leaseTime = 800 * time.Millisecond
	// staggerTime is how much longer a replica waits for a primary than the one before it in the
	// group
	staggerTime = 800 * time.Millisecond
	prepareTime = time.Second
)

const (
	stable    = "stable"
	learning  = "learning"
	preparing = "preparing"
	primary   = "primary"
)

type replica struct {
	*endpoint
	*disk
	group     []string
	id        int // in group
	bug       string
	start     time.Time
	state     string
	committed int           // decrees at the beginning of log
	lease     time.Duration // until then there is a primary, as far as this replica knows
	wanted    []string      // by clients
	client    string

	query    int      // a learning replica's question
	told     []string // who has answered it
	ballot   int      // of a replica that is preparing or primary: its own
	since    time.Duration
	promises []string
	presumed bool             // with a planted bug: who has not promised in time is dead to it
	best     []vote           // what the promises say, by decree: the vote of the highest ballot
	accepted map[int][]string // by decree that is not committed: who has accepted it at ballot
}

func serve(group []string, id int, path, bug string) error {
	e, err := listen(group[id])
	if err != nil {
		return err
	}
	d, err := openDisk(path)
	if err != nil {
		return err
	}
	r := &replica{endpoint: e, disk: d, group: group, id: id, bug: bug, start: time.Now(), state: "nothing",
		lease: leaseTime}
	r.become(stable)
	// Not all tick at once.
	for next := r.start.Add(rand.N(tickTime)); ; {
		if m, ok := r.receive(next); ok {
			r.hear(m)
		} else if !time.Now().Before(next) {
			r.tick()
			next = next.Add(tickTime)
		}
	}
}

func (r *replica) now() time.Duration { return time.Since(r.start) }

func (r *replica) quorum(who []string) bool { return len(who) > len(r.group)/2 }

func (r *replica) become(state string) {
	fmt.Printf("state %s after %s\n", state, r.state)
	r.state = state
}

func (r *replica) sendAll(m message) {
	for _, peer := range r.group {
		if peer != r.name {
			r.send(peer, m)
		}
	}
}

// tick is what a replica does from time to time.
func (r *replica) tick() {
	switch r.state {
	case stable:
		if r.now() >= r.lease+time.Duration(r.id)*staggerTime {
			r.learn()
		}
	case learning:
		r.sendAll(message{Kind: "query", Query: r.query})
	case preparing:
		if r.now() < r.since+prepareTime {
			return
		}
		if r.bug != "presumed-dead" {
			r.learn()
			return
		}
		// The planted bug: it goes on asking those that have promised. Who has not is dead.
		r.presumed = true
		for _, peer := range r.promises[1:] {
			r.send(peer, message{Kind: "prepare", Ballot: r.ballot, Decree: len(r.log)})
		}
	case primary:
		for decree := r.committed + 1; decree <= len(r.log); decree++ {
			r.propose(decree)
		}
		r.sendAll(message{Kind: "alive", Ballot: r.ballot, Committed: r.committed})
	}
}

func (r *replica) hear(m message) {
	if r.presumed && r.state == preparing && slices.Contains(r.group, m.From) && !slices.Contains(r.promises, m.From) {
		return
	}
	switch m.Kind {
	case "query":
		r.send(m.From, message{Kind: "status", Query: m.Query, Votes: r.log[:r.committed]})
	case "status":
		r.learnFrom(m)
	case "prepare":
		r.promiseTo(m)
	case "promise":
		r.promisedBy(m)
	case "refused":
		if (r.state == preparing || r.state == primary) && (m.Ballot > r.ballot || r.bug == "decree-first") {
			r.promise(m.Ballot)
			r.lease = r.now() + leaseTime // somebody else is at it
			r.learn()
		}
	case "accept", "alive":
		r.follow(m)
	case "accepted":
		if acks, ok := r.accepted[m.Decree]; ok && r.state == primary && m.Ballot == r.ballot &&
			!slices.Contains(acks, m.From) {
			r.accepted[m.Decree] = append(acks, m.From)
			r.commit()
		}
	case "write":
		r.client = m.From
		if i := slices.IndexFunc(r.log[:r.committed], func(v vote) bool { return v.Value == m.Value }); i >= 0 {
			r.send(r.client, message{Kind: "done", Value: m.Value})
		} else if !slices.Contains(r.wanted, m.Value) {
			r.wanted = append(r.wanted, m.Value)
			r.serveWanted()
		}
	}
}

// learn begins to learn what was committed.
func (r *replica) learn() {
	r.become(learning)
	r.query++
	r.told = []string{r.name}
	r.sendAll(message{Kind: "query", Query: r.query})
}

// learnFrom takes what somebody has committed. A replica that a quorum has told is up to date.
func (r *replica) learnFrom(m message) {
	// What nobody waits for any more is no news. The planted bug looks at it all the same.
	if (r.state != learning || m.Query != r.query) && r.bug != "late-status" {
		return
	}
	for i, v := range m.Votes {
		if i >= r.committed {
			r.accept(i+1, v)
			r.commitTo(i + 1)
		}
	}
	if !slices.Contains(r.told, m.From) {
		r.told = append(r.told, m.From)
	}
	if !r.quorum(r.told) {
		return
	}
	if r.now() >= r.lease {
		r.prepare()
	} else {
		r.become(stable)
	}
}

// prepare asks for promises, at a ballot that nobody has used.
func (r *replica) prepare() {
	r.become(preparing)
	r.ballot = (r.promised/len(r.group)+1)*len(r.group) + r.id
	r.promise(r.ballot)
	r.since, r.promises, r.best, r.presumed = r.now(), []string{r.name}, slices.Clone(r.log), false
	r.sendAll(message{Kind: "prepare", Ballot: r.ballot, Decree: len(r.log)})
}

func (r *replica) promiseTo(m message) {
	if r.bug == "decree-first" && m.Ballot > r.promised && m.Decree < len(r.log) {
		// The planted bug: who has accepted less is not up to date, and is to learn more. But what
		// was accepted at a lower ballot, and maybe not committed, is not what anybody learns.
		r.lease = r.now() + leaseTime
		r.send(m.From, message{Kind: "refused", Ballot: r.promised})
		return
	}
	if m.Ballot < r.promised {
		if r.bug != "presumed-dead" { // in which the primary is to tell of itself
			r.send(m.From, message{Kind: "refused", Ballot: r.promised})
		}
		return
	}
	r.promise(m.Ballot)
	r.stepDown()
	r.send(m.From, message{Kind: "promise", Ballot: m.Ballot, Votes: r.log, Committed: r.committed})
}

// stepDown gives way to a higher ballot.
func (r *replica) stepDown() {
	if (r.state == preparing || r.state == primary) && r.ballot < r.promised {
		r.become(stable)
	}
	r.lease = r.now() + leaseTime
}

func (r *replica) promisedBy(m message) {
	if r.state != preparing || m.Ballot != r.ballot || slices.Contains(r.promises, m.From) {
		return
	}
	r.promises = append(r.promises, m.From)
	for i, v := range m.Votes {
		if i < m.Committed {
			v.Ballot = r.ballot // above all others
		}
		if i >= len(r.best) {
			r.best = append(r.best, v)
		} else if i >= r.committed && r.best[i].Ballot < v.Ballot {
			r.best[i] = v
		}
	}
	if r.quorum(r.promises) {
		r.become(primary)
		r.accepted = map[int][]string{}
		for decree := r.committed + 1; decree <= len(r.best); decree++ {
			r.open(decree, r.best[decree-1].Value)
		}
		r.serveWanted()
	}
}

// serveWanted proposes what clients want and nobody has proposed yet.
func (r *replica) serveWanted() {
	for _, w := range r.wanted {
		if r.state == primary && !slices.ContainsFunc(r.log, func(v vote) bool { return v.Value == w }) {
			r.open(len(r.log)+1, w)
		}
	}
}

// open begins to propose a value as a decree.
func (r *replica) open(decree int, value string) {
	r.accept(decree, vote{r.ballot, value})
	r.accepted[decree] = []string{r.name}
	r.propose(decree)
}

func (r *replica) propose(decree int) {
	for _, peer := range r.group {
		if !slices.Contains(r.accepted[decree], peer) {
			r.send(peer,
				message{Kind: "accept", Ballot: r.ballot, Decree: decree, Value: r.log[decree-1].Value,
					Committed: r.committed})
		}
	}
}

// follow handles what a primary says.
func (r *replica) follow(m message) {
	if m.Ballot < r.promised {
		r.send(m.From, message{Kind: "refused", Ballot: r.promised})
		return
	}
	r.promise(m.Ballot)
	r.stepDown()
	// A decree beyond the next one has to wait; it is proposed again.
	if m.Kind == "accept" && m.Decree > r.committed && m.Decree <= len(r.log)+1 {
		r.accept(m.Decree, vote{m.Ballot, m.Value})
	}
	if m.Kind == "accept" && m.Decree <= len(r.log) {
		r.send(m.From, message{Kind: "accepted", Ballot: m.Ballot, Decree: m.Decree})
	}
	for r.committed < m.Committed {
		if r.committed == len(r.log) || r.log[r.committed].Ballot != m.Ballot {
			if r.state == stable {
				r.learn()
			}
			return
		}
		r.commitTo(r.committed + 1)
	}
}

// commit commits what a quorum has accepted, in order.
func (r *replica) commit() {
	for r.quorum(r.accepted[r.committed+1]) {
		r.commitTo(r.committed + 1)
	}
}

// commitTo commits the decrees of the log up to the given one.
func (r *replica) commitTo(decree int) {
	for r.committed < decree {
		value := r.log[r.committed].Value
		r.committed++
		fmt.Printf("committed %d %s\n", r.committed, value)
		if r.client != "" {
			r.send(r.client, message{Kind: "done", Value: value})
		}
	}
}
