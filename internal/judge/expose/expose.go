// Package expose has what programs show of their state. It is the user who says what
// that is, by rules.
//
// It is not the node's state: two nodes that show the same may go on differently.
//
// Invariant: what a node shows is a function of its own history.
//
// Read next: internal/explore/space/equality.go, which tells states apart by it;
// internal/explore/coverage, which counts it.
package expose

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// Rule says one thing of what a node shows: the last text that Line matched in a line of the
// node's, or that its groups did; or, when Line is nil, what the node exposes now by a name.
type Rule struct {
	Line        *regexp.Regexp
	Name, Field string // of tuples; Field "": all of their values
}

// exposedPrefix begins the text of a rule that is about tuples.
const exposedPrefix = "exposed:"

// ParseRule reads a regular expression on lines, or "exposed:NAME" or "exposed:NAME.FIELD".
func ParseRule(text string) (r Rule, err error) {
	of, ok := strings.CutPrefix(text, exposedPrefix)
	if !ok {
		r.Line, err = regexp.Compile(text)
		return r, err
	}
	r.Name, r.Field, ok = strings.Cut(of, ".")
	if !ariadne.IsExposable(r.Name) || ok && !ariadne.IsExposable(r.Field) {
		return r, fmt.Errorf("%q is neither exposed:NAME nor exposed:NAME.FIELD", text)
	}
	return r, nil
}

func (r Rule) String() string {
	switch {
	case r.Line != nil:
		return r.Line.String()
	case r.Field != "":
		return exposedPrefix + r.Name + "." + r.Field
	}
	return exposedPrefix + r.Name
}

// Rules say what a node shows.
type Rules []Rule

// Tuples reports whether some rule is about tuples.
func (r Rules) Tuples() bool {
	return slices.ContainsFunc(r, func(r Rule) bool { return r.Line == nil })
}

// Of is what of the tuples that a node exposes the rule is about, in words.
func (r Rule) Of(exposed *Set) string {
	var all []string
	for _, t := range exposed.Named(r.Name) {
		if r.Field == "" {
			all = append(all, t.String())
		} else if i := slices.Index(t.Fields, r.Field); i >= 0 {
			all = append(all, t.Values[i])
		}
	}
	return strings.Join(all, " ")
}

// State is what a node has shown so far. The zero value is that of a node that has shown
// nothing. It is a value: adding to a copy leaves the original as it is.
type State struct {
	texts []uint64 // by rule, a hash of what it found last, or 0; nil: nothing
	hash  hash.Hash
	polls uint64 // how often it has asked in vain since something has come
}

// Hash stands for what the rules have found.
func (s *State) Hash() hash.Hash { return s.hash }

// Fingerprint stands for all that the node shows: what the rules have found, and how often
// it has asked in vain. A node that polls shows nothing while it does, and gives up in the end,
// which is a deadlock if it is a client: that must not look like a cycle.
func (s *State) Fingerprint() hash.Hash { return s.hash.Plus(hash.Of(s.polls, 0, 1)) }

// Add enters what a node has done with an input of a kind, and what it exposes after that. It
// reports whether a rule matched a line, or the node exposes something else than before of what one
// is about.
func (s *State) Add(rules Rules, in ariadne.InputKind, out *ariadne.Output, exposed *Set) (found bool) {
	if out.Polling == "" || in != ariadne.Fire {
		s.polls = 0
	}
	if out.Polling != "" {
		s.polls++
	}
	set := func(k int, text uint64) {
		if !found {
			texts := make([]uint64, len(rules)) // copies share the old ones
			copy(texts, s.texts)
			s.texts, found = texts, true
		}
		s.texts[k] = text
	}
	for k, r := range rules {
		if r.Line == nil {
			was := uint64(0)
			if s.texts != nil {
				was = s.texts[k]
			}
			if now := r.find(exposed); now != was {
				set(k, now)
			}
			continue
		}
		for l := range out.Lines() {
			if text, ok := match(r.Line, l.Text); ok {
				set(k, text)
			}
		}
	}
	if found {
		s.rehash()
	}
	return found
}

// AddMade enters what is made of what all nodes expose (internal/judge/stage). of stands for that
// by its name; not ok: it is not made. It reports whether it is something else than before of what
// a rule is about.
func (s *State) AddMade(rules Rules, of func(name string) (h hash.Hash, ok bool)) (found bool) {
	for k, r := range rules {
		if r.Line != nil {
			continue
		}
		now, ok := of(r.Name)
		was := uint64(0)
		if s.texts != nil {
			was = s.texts[k]
		}
		if !ok || now.Hi == was {
			continue
		}
		if !found {
			texts := make([]uint64, len(rules)) // copies share the old ones
			copy(texts, s.texts)
			s.texts, found = texts, true
		}
		s.texts[k] = now.Hi
	}
	if found {
		s.rehash()
	}
	return found
}

func (s *State) rehash() {
	s.hash = hash.Of(0, 0, 0)
	for i, text := range s.texts {
		s.hash = s.hash.Plus(hash.Of(text, uint64(i), 0))
	}
}

// find is a hash of what of a node's tuples a rule is about; 0: there is none.
func (r Rule) find(exposed *Set) uint64 {
	all := exposed.Named(r.Name)
	if len(all) == 0 {
		return 0
	}
	h := fnv(nil)
	for _, t := range all {
		h = h.add(t.Key)
		for i, v := range t.Values {
			if r.Field == "" || i < len(t.Fields) && t.Fields[i] == r.Field {
				h = h.add(v)
			}
		}
	}
	return uint64(h)
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
	return uint64(fnv(found)), true
}

// sum is FNV-1a over texts.
type sum uint64

func fnv(texts []string) sum {
	h := sum(0xcbf29ce484222325)
	for _, s := range texts {
		h = h.add(s)
	}
	return h
}

func (h sum) add(s string) sum {
	for i := range len(s) {
		h = (h ^ sum(s[i])) * 0x100000001b3
	}
	return (h ^ 0x100) * 0x100000001b3
}
