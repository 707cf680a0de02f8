package main

import (
	"cmp"
	"fmt"
	"strings"
)

// ballot is a proposer's number. No two nodes have the same, and no node uses
// one twice. The zero ballot is below all.
type ballot struct{ round, node int }

func (b ballot) String() string { return fmt.Sprintf("%d.%d", b.round, b.node) }

func (b ballot) less(c ballot) bool {
	return cmp.Or(cmp.Compare(b.round, c.round), cmp.Compare(b.node, c.node)) < 0
}

// message is what nodes say to each other, and what an acceptor writes to disk:
// one line "KIND BALLOT SLOT VALUE".
//
//	prepare   promise not to accept below BALLOT, for all slots from SLOT on
//	promise   done; VALUE lists what was accepted in those slots
//	accept    accept VALUE in SLOT at BALLOT
//	accepted  done
//	refused   not done: BALLOT, which is higher, has been promised
//	learn     VALUE has been chosen in SLOT
//	ask       say what has been chosen from SLOT on
//	alive     the leader of BALLOT is there
type message struct {
	kind   string
	ballot ballot
	slot   int
	value  string // "" is written "-"
}

func (m message) String() string {
	return fmt.Sprintf("%s %s %d %s", m.kind, m.ballot, m.slot, cmp.Or(m.value, "-"))
}

func parse(line string) (message, error) {
	var m message
	_, err := fmt.Sscanf(line, "%s %d.%d %d %s", &m.kind, &m.ballot.round, &m.ballot.node, &m.slot, &m.value)
	if err != nil {
		return m, fmt.Errorf("bad message %q: %w", line, err)
	}
	if m.value == "-" {
		m.value = ""
	}
	return m, nil
}

// vote is a value with the ballot at which it was accepted.
type vote struct {
	ballot ballot
	value  string
}

// formatVotes writes the votes of the slots from the given one on as
// "SLOT:BALLOT:VALUE,...".
func formatVotes(votes []vote, from int) string {
	var texts []string
	for slot := from; slot < len(votes); slot++ {
		if v := votes[slot]; v.value != "" {
			texts = append(texts, fmt.Sprintf("%d:%s:%s", slot, v.ballot, v.value))
		}
	}
	return strings.Join(texts, ",")
}

// parseVotes is the inverse of formatVotes.
func parseVotes(text string) (map[int]vote, error) {
	votes := map[int]vote{}
	for _, t := range list(text) {
		var slot int
		var v vote
		if _, err := fmt.Sscanf(t, "%d:%d.%d:%s", &slot, &v.ballot.round, &v.ballot.node, &v.value); err != nil {
			return nil, fmt.Errorf("bad vote %q: %w", t, err)
		}
		votes[slot] = v
	}
	return votes, nil
}
