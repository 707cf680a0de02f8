// Package stage makes tuples of tuples, as the predicates of D3S do (Liu and others, NSDI 2008,
// sections 2.3 to 2.5): a graph of functions, each of which reads what nodes expose and what other
// stages make of it. The result of a stage is one more list of tuples, beside those that nodes
// expose.
//
// It knows neither the properties that read these tuples nor the language of the functions.
//
// Invariant: the result of a stage is a function of the tuples that it reads. With a key, the
// result for a key is a function of the tuples of this key alone. So results are remembered by
// these tuples, and do not depend on the path to a snapshot. That also holds for a stage that
// computes by what has changed: it begins with the result for other tuples, and comes to the same
// result as from these alone.
//
// Read next: graph.go; then internal/judge/stages.go, where the functions are Starlark.
package stage

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// Stage makes tuples of a name of those of others.
type Stage struct {
	Name string
	Of   []string // names of what nodes expose, or of stages
	// Key are the fields by which tuples are told apart: the stage's functions are called for each
	// value of these, with the tuples that have it. nil: they are called once, with all.
	Key []string
	// Execute and Change are the names of functions: what makes its tuples of those that it reads,
	// and, unless "", what makes them of those that it has made of others, and of how these differ.
	Execute, Change string
	Line            int // of the spec
}

// Tuple is one that a node exposes, or a stage makes.
type Tuple struct {
	Node string // or ""
	expose.Tuple
	View any // what who reads it has made of it, for the next time
	hash hash.Hash
}

func (t *Tuple) String() string {
	if t.Node == "" {
		return t.Tuple.String()
	}
	return t.Node + " " + t.Tuple.String()
}

// OwnFields are names of what tuples have beside the fields of their sources.
var OwnFields = []string{"node", "key", "value"}

// Field is the text of a field, or of the node, the key or the last value; not ok: there is none of
// this name.
func (t *Tuple) Field(name string) (text string, ok bool) {
	if i := slices.Index(t.Fields, name); i >= 0 && name != "" {
		return t.Values[i], true
	}
	switch name {
	case "node":
		return t.Node, true
	case "key":
		return t.Key, true
	case "value":
		if n := len(t.Values); n > 0 {
			return t.Values[n-1], true
		}
	}
	return "", false
}

// named gives the tuple its hash.
func (t *Tuple) named() {
	var b []byte
	for _, texts := range [][]string{{t.Node, t.Name, t.Key}, t.Values, t.Fields} {
		b = binary.AppendUvarint(b, uint64(len(texts)))
		for _, s := range texts {
			b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
		}
	}
	t.hash = hash.OfText(string(b))
}

func compare(a, b *Tuple) int {
	return cmp.Or(strings.Compare(a.Node, b.Node), strings.Compare(a.Key, b.Key), slices.Compare(a.Values, b.Values),
		slices.Compare(a.Fields, b.Fields))
}

// list is some tuples in order.
type list struct {
	tuples []*Tuple
	hash   hash.Hash
}

func listOf(tuples []*Tuple) *list {
	l := &list{tuples: tuples, hash: hash.Of(uint64(len(tuples)), 0, 41)}
	for i := range tuples {
		l.hash = l.hash.Plus(tuples[i].hash)
	}
	return l
}

// diff is what b has that a has not, and the other way round.
func diff(a, b []*Tuple) (added, removed []*Tuple) {
	had := map[hash.Hash]int{}
	for i := range a {
		had[a[i].hash]++
	}
	for i := range b {
		if had[b[i].hash] > 0 {
			had[b[i].hash]--
		} else {
			added = append(added, b[i])
		}
	}
	for i := range a {
		if had[a[i].hash] > 0 {
			had[a[i].hash]--
			removed = append(removed, a[i])
		}
	}
	return added, removed
}
