// Package expose has what programs show of their state. It is the user who says what
// that is, by rules; so far all of them look at the lines that a node writes.
//
// It is not the node's state: two nodes that show the same may go on differently.
//
// Invariant: what a node shows is a function of its own history.
//
// Read next: internal/space/equality.go, which tells states apart by it;
// internal/coverage, which counts it.
package expose

import (
	"regexp"

	"ariadne"
	"ariadne/internal/world"
)

// Rules say what a node shows: for each, the last text that it matched in a line of the
// node's, or that its groups did.
type Rules []*regexp.Regexp

// State is what a node has shown so far. The zero value is that of a node that has shown
// nothing. It is a value: adding to a copy leaves the original as it is.
type State struct {
	texts []uint64 // by rule, a hash of what it found last, or 0; nil: nothing
	hash  world.Hash
	polls uint64 // how often it has asked in vain since something has come
}

// Hash stands for what the rules have found.
func (s *State) Hash() world.Hash { return s.hash }

// Fingerprint stands for all that the node shows: what the rules have found, and how often
// it has asked in vain. A node that polls shows nothing while it does, and gives up in the end,
// which is a deadlock if it is a client: that must not look like a cycle.
func (s *State) Fingerprint() world.Hash { return s.hash.Plus(world.HashOf(s.polls, 0, 1)) }

// Add enters what a node has done with an input of a kind, and reports whether a rule
// matched a line.
func (s *State) Add(rules Rules, in ariadne.InputKind, out *ariadne.Output) (found bool) {
	if out.Polling == "" || in != ariadne.Fire {
		s.polls = 0
	}
	if out.Polling != "" {
		s.polls++
	}
	for i := range out.Logs {
		for k, r := range rules {
			text, ok := match(r, out.Logs[i].Text)
			if !ok {
				continue
			}
			if !found {
				texts := make([]uint64, len(rules)) // copies share the old ones
				copy(texts, s.texts)
				s.texts, found = texts, true
			}
			s.texts[k] = text
		}
	}
	if found {
		s.hash = world.HashOf(0, 0, 0)
		for i, text := range s.texts {
			s.hash = s.hash.Plus(world.HashOf(text, uint64(i), 0))
		}
	}
	return found
}

// match is a hash of what a rule finds in a line: its groups, or all of the match
// when it has none.
func match(r *regexp.Regexp, line string) (uint64, bool) {
	found := r.FindStringSubmatch(line)
	if found == nil {
		return 0, false
	}
	if len(found) > 1 {
		found = found[1:]
	}
	h := uint64(0xcbf29ce484222325) // FNV-1a
	for _, s := range found {
		for i := range len(s) {
			h = (h ^ uint64(s[i])) * 0x100000001b3
		}
		h = (h ^ 0x100) * 0x100000001b3
	}
	return h, true
}
