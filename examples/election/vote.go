package main

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// election is the one that is going on, of generation Gen.
type election struct {
	open  bool
	began time.Duration
	said  []message // vote1 of each, this replica's first
	voted bool
	votes []string // for this replica
}

// elect takes part in an election that is newer than all before.
func (r *replica) elect(gen int) {
	r.stepDown()
	r.Gen = gen
	r.save()
	if r.bug != "recovery" {
		r.recovering = false // nobody will send that log record any more
	}
	r.leader, r.synced = "", false
	mine := message{Kind: "vote1", From: r.name, Gen: gen, Size: len(r.Log), Electable: !r.recovering}
	if mine.Size > 0 {
		mine.Last = r.Log[mine.Size-1].Gen
	}
	r.election = election{open: true, began: r.now(), said: []message{mine}}
	r.sendAll(mine)
}

// vote1 handles what another replica has. A majority is enough to vote.
func (r *replica) vote1(m message) {
	if m.Gen > r.Gen {
		r.elect(m.Gen)
	}
	if m.Gen != r.Gen || !r.open || slices.ContainsFunc(r.said, func(s message) bool { return s.From == m.From }) {
		return
	}
	r.said = append(r.said, m)
	if r.voted || len(r.said) <= len(r.group)/2 {
		return
	}
	var best message
	for _, s := range r.said {
		if s.Electable && (best.From == "" || more(s, best)) {
			best = s
		}
	}
	// Whoever has less than this replica would lose what this one has acknowledged.
	if best.From == "" || more(r.said[0], best) {
		return
	}
	r.voted = true
	vote := message{Kind: "vote2", From: r.name, Gen: r.Gen}
	if best.From == r.name {
		r.vote2(vote)
	} else {
		r.send(best.From, vote)
	}
}

// more says whether a should rather be master than b. Names decide between equals.
func more(a, b message) bool {
	return cmp.Or(cmp.Compare(a.Last, b.Last), cmp.Compare(a.Size, b.Size), cmp.Compare(b.From, a.From)) > 0
}

// vote2 counts a vote.
func (r *replica) vote2(m message) {
	if m.Gen != r.Gen || !r.open || slices.Contains(r.votes, m.From) {
		return
	}
	r.votes = append(r.votes, m.From)
	if len(r.votes) > len(r.group)/2 {
		r.open, r.leader, r.synced, r.acks = false, r.name, true, map[string]int{}
		fmt.Printf("master gen=%d\n", r.Gen)
		r.sendAll(message{Kind: "newmaster", Gen: r.Gen})
	}
}
