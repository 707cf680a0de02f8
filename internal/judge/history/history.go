// Package history says whether clients have seen what a single copy of the data could have shown
// them: linearizability, by porcupine, sequential consistency, or that no read misses what was
// acknowledged.
//
// Read next: data.go, which data there are; internal/judge/expose/past.go, where the operations
// come from.
package history

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne/internal/judge/expose"

	"github.com/anishathalye/porcupine"
)

// Claim is that clients see what could come of one copy of some data.
type Claim struct {
	Name    string
	Line    int    // of the spec
	Of      string // of Names, or what the user calls a model
	Initial string // what there is at first
	Level   Level
}

// Level says how much of what clients see must be explained at once.
type Level uint8

// The levels.
const (
	Linearizable Level = iota // all of it, and each operation happens between its beginning and its end
	Sequential                // all of it, and each client's operations happen in their order
	// Durable: each read by itself, with all operations that change something, whatever came of
	// these. An operation that was acknowledged has happened when a later one begins: acknowledged
	// writes survive.
	Durable
)

// Levels are their names.
var Levels = []string{"linearizable", "sequential", "durable"}

// Property is a claim that can be judged.
type Property struct {
	Claim
	data  *Data
	first string // state
}

// operation is one of a client's, with what came of it.
type operation struct {
	expose.Event
	what     string // as Data calls it
	result   string
	from, to int // when it began and ended, by the number of the event
	pending  bool
	ignored  bool // what came of it
}

// isOpen reports whether the end of the operation is not known, or does not count.
func (o *operation) isOpen() bool { return o.pending || o.ignored }

// Broken says why no order of the operations explains what came of them, or "". Unknown: nobody
// knows within the time. Names are the nodes'. An operation whose end is not known may have
// happened at any later time or never.
func (p *Property) Broken(events []expose.Event, names []string, limit time.Duration) (why string, unknown bool,
	err error) {
	key, bad, unknown, err := p.unordered(events, limit)
	if bad == nil {
		return "", unknown, err
	}
	return p.describe(key, bad, names), false, nil
}

// unordered finds the operations of a key that no order explains; nil: there are none.
func (p *Property) unordered(events []expose.Event, limit time.Duration) (key string, bad []operation, unknown bool,
	err error) {
	keys := map[string][]operation{}
	all, err := p.paired(events)
	if err != nil {
		return "", nil, false, err
	}
	for _, o := range all {
		if o.Op != staleRead || p.Level == Sequential {
			keys[o.Key] = append(keys[o.Key], o)
		}
	}
	order := make([]string, 0, len(keys))
	for k := range keys {
		order = append(order, k)
	}
	slices.Sort(order)
	for _, k := range order {
		bad, late := levels[p.Level](p, keys[k], len(events), limit)
		if bad != nil {
			return k, bad, false, nil
		}
		unknown = unknown || late
	}
	return "", nil, unknown, nil
}

// Operation is one of a client, for people.
type Operation struct {
	Client string `json:"client"` // its node, and its own name behind a slash where it has one
	Text   string `json:"text"`   // what it does, and what came of it, as in "read x -> "5""
	// From and To are the numbers of the events with which it began and ended, from 1. To is 0
	// where its end is not known.
	From int `json:"from"`
	To   int `json:"to,omitempty"`
}

// Unordered are the operations that no order explains, of the first key that has such; nil: there
// are none, or nobody knows within the time.
func (p *Property) Unordered(events []expose.Event, names []string, limit time.Duration) ([]Operation, error) {
	_, bad, _, err := p.unordered(events, limit)
	var all []Operation
	for i := range bad {
		o := &bad[i]
		op := Operation{Client: o.client(names), Text: p.words(o), From: o.from + 1}
		if !o.pending {
			op.To = o.to + 1
		}
		all = append(all, op)
	}
	return all, err
}

// client is who made the operation, in words.
func (o *operation) client(names []string) string {
	if o.Client != "" {
		return names[o.Node] + "/" + o.Client
	}
	return names[o.Node]
}

// words are what an operation does, and what came of it.
func (p *Property) words(o *operation) string {
	text := strings.TrimSpace(o.Op + " " + o.Value)
	if !o.isOpen() && (o.result != "" || slices.Contains(p.data.reads, o.what)) {
		text += fmt.Sprintf(" -> %q", o.result)
	}
	return text
}

// levels find operations, of one key, that nothing explains, by Level; nil: there are none. Events
// is how many there are of all keys. Unknown: nobody knows within the time.
var levels = [...]func(p *Property, all []operation, events int, limit time.Duration) (bad []operation, unknown bool){
	Linearizable: (*Property).linearizable, Sequential: (*Property).sequential, Durable: (*Property).durable,
}

func (p *Property) linearizable(all []operation, events int, limit time.Duration) (bad []operation, unknown bool) {
	switch porcupine.CheckOperationsTimeout(p.model(), operations(all, events), limit) {
	case porcupine.Illegal:
		return p.shortest(all, events, limit), false
	case porcupine.Unknown:
		return nil, true
	}
	return nil, false
}

// paired joins beginnings and ends. Those that have failed are not there.
func (p *Property) paired(events []expose.Event) (all []operation, err error) {
	type client struct {
		node int
		name string
	}
	last := map[client]int{} // index of what is under way, plus 1
	failed := map[int]bool{}
	for at, e := range events {
		c := client{int(e.Node), e.Client}
		i := last[c] - 1
		switch {
		case e.Kind == expose.Invoked:
			o := operation{Event: e, from: at, pending: true}
			if o.what = p.data.called(e.Op); o.what == "" {
				return nil, fmt.Errorf("%q is not an operation of a %s: these are %s", e.Op, p.data.Name, p.data.Doc)
			} else if p.data.check != nil {
				if err := p.data.check(&o); err != nil {
					return nil, err
				}
			}
			all = append(all, o)
			last[c] = len(all)
			continue
		case e.Kind == expose.Gone:
			for c := range last {
				if c.node == int(e.Node) && (e.Client == "" || e.Client == c.name) {
					last[c] = 0
				}
			}
			continue
		case i < 0:
			continue // an end of what nobody has begun: another line that looks like one
		case e.Kind == expose.Failed:
			failed[i] = true
		default:
			all[i].pending, all[i].to, all[i].result = false, at, e.Value
		}
		last[c] = 0
	}
	n := 0
	for i, o := range all {
		if !failed[i] && !p.data.drops(&o) {
			all[n] = o
			n++
		}
	}
	return all[:n], nil
}

// operations are what porcupine looks at; end is later than all.
func operations(all []operation, end int) (ops []porcupine.Operation) {
	for i, o := range all {
		to := int64(o.to)
		if o.pending {
			to = int64(end)
		}
		ops = append(ops, porcupine.Operation{ClientId: i, Input: o, Output: o, Call: int64(o.from), Return: to})
	}
	return ops
}

// shortest is what there was of the operations, so many events long, when they could first not be
// explained.
func (p *Property) shortest(all []operation, events int, limit time.Duration) []operation {
	n := sort.Search(events, func(n int) bool {
		return porcupine.CheckOperationsTimeout(p.model(), operations(p.until(all, n), n), limit) == porcupine.Illegal
	})
	return p.until(all, n)
}

// until is what there was of operations after n events.
func (p *Property) until(all []operation, n int) (some []operation) {
	for _, o := range all {
		if o.pending = o.pending || o.to >= n; o.from < n && !p.data.drops(&o) {
			some = append(some, o)
		}
	}
	return some
}

// model is the data, for porcupine.
func (p *Property) model() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return p.first },
		Step: func(state, input, _ any) (bool, any) {
			o := input.(operation)
			next, ok := p.data.step(state.(string), &o)
			if !ok && o.pending {
				return true, state // it never happens
			}
			return ok, next
		},
	}
}

// mostOperations is how many of them a message has.
const mostOperations = 12

// describe says what the clients have seen.
func (p *Property) describe(key string, all []operation, names []string) string {
	var texts []string
	for i := range all {
		o := &all[i]
		text := o.client(names) + " " + p.words(o)
		if o.pending {
			text += fmt.Sprintf(" (%d-)", o.from+1)
		} else {
			text += fmt.Sprintf(" (%d-%d)", o.from+1, o.to+1)
		}
		texts = append(texts, text)
	}
	if n := len(texts) - mostOperations; n > 0 {
		texts = append([]string{fmt.Sprintf("%d earlier ones", n)}, texts[n:]...)
	}
	of := ""
	if key != "" {
		of = " on " + key
	}
	order := [...]string{Linearizable: "order", Sequential: "order that keeps each client's",
		Durable: "order in which acknowledged operations are not lost"}[p.Level]
	s := "s"
	if len(all) == 1 {
		s = ""
	}
	what := "them"
	if p.Level == Durable {
		what = "the last one"
	}
	return fmt.Sprintf("no %s of the %d operation%s%s explains %s, from which event to which: %s", order, len(all), s, of, what, strings.Join(texts, ", "))
}
