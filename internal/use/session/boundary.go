package session

import (
	"sort"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/system"
)

// Boundary is a time at which a node does something else with a message that can arrive next.
type Boundary struct {
	Node    string       `json:"node"`
	Message string       `json:"message"` // the stable name of its delivery
	Arrives ariadne.Time `json:"arrives_ns"`
	// Before is the last time at which the node does what it does when the message arrives, and
	// After the next one at which it does something else, at most 1 ms later.
	Before ariadne.Time `json:"before_ns"`
	After  ariadne.Time `json:"after_ns"`
	// Was and Is are what only comes before and after.
	Was []string `json:"was,omitempty"`
	Is  []string `json:"is,omitempty"`
	// Silent: nothing differs before and after, but what the node does when the datagram comes
	// once more.
	Silent bool `json:"silent,omitempty"`
	// Read is where the node reads the clock and decides by it, the innermost function first.
	// Empty: that is not known. It is read number Number of those of the step.
	Read   []ariadne.CodeLine `json:"read,omitempty"`
	Number int                `json:"number,omitempty"`
	Reads  int                `json:"reads"`
	// Branch is where the node decides; nil: that is not known.
	Branch *Branch `json:"branch,omitempty"`
}

// kind tells boundaries of different kinds apart.
func (b *Boundary) kind() string {
	all := append([]string{b.Node}, b.Was...)
	return space.Masked(strings.Join(append(append(all, ""), b.Is...), "\n"))
}

// Boundaries are the times at which nodes do something else with messages that can arrive next, if
// these arrive later by at most a window. known are kinds of which no place in the code is wanted;
// those that are found are added.
func (s *Session) Boundaries(window time.Duration, known map[string]int) (all []Boundary, probing space.Probing,
	err error) {
	err = s.do("try messages at other times", func() error {
		f := s.path.Last()
		for i := range f.Enabled {
			e := &f.Enabled[i]
			if a := e.Action(); a.Kind != ariadne.ActDeliver || a.Vary != "" || s.cancelled() {
				continue
			}
			found, tried, err := s.path.Space().Boundaries(&f.State, e, window)
			if err != nil {
				return system.AsBug(err)
			}
			probing.Add(tried)
			for j := range found {
				b := Boundary{Node: s.system.Spec.Nodes[e.Node].Name, Message: s.name(e.Action()), Arrives: e.At,
					Before: found[j].Before, After: found[j].After, Was: found[j].Was, Is: found[j].Is,
					Silent: found[j].Silent}
				known[b.kind()]++
				if known[b.kind()] == 1 {
					if err := s.locate(&found[j], &b); err != nil {
						return system.AsBug(err)
					}
					all = append(all, b)
				}
			}
		}
		return nil
	})
	return all, probing, err
}

// locate finds the read of the clock by which a node decides: the last one such that, if it and all
// later ones see the time after the boundary, the node does what it does then.
func (s *Session) locate(at *space.Boundary, b *Boundary) error {
	if b.Silent { // the step itself does not tell
		return nil
	}
	in := at.InputAt(at.Before)
	out, reads, ok, err := s.executor.ClockReads(at.From, in, 0, 0)
	if err != nil || !ok || !at.DoesBefore(&out) {
		return err
	}
	b.Reads = len(reads)
	late := func(k int) bool { // from read k on
		if err != nil {
			return false
		}
		out, _, ok, failed := s.executor.ClockReads(at.From, in, k, at.After-at.Before)
		err = failed
		return err == nil && ok && at.DoesAfter(&out)
	}
	if len(reads) == 0 || !late(1) {
		return err
	}
	k := sort.Search(len(reads)-1, func(i int) bool { return !late(i + 2) }) + 1
	if err != nil {
		return err
	}
	b.Read, b.Number = reads[k-1], k
	b.Branch, err = s.findBranch(at, k, at.After-at.Before)
	return err
}
