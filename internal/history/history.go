// Package history says whether clients have seen what a single copy of the data could have shown them:
// linearizability, by porcupine.
//
// Read next: internal/expose/past.go, where the operations come from.
package history

import (
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"ariadne/internal/expose"

	"github.com/anishathalye/porcupine"
)

// Property says that what clients see is linearizable.
type Property struct {
	Name string
	Line int // of the spec
	Register
}

// Register is the data that operations are about: one register for each key, or a single one.
type Register struct {
	Initial string // what it holds at first
}

// words are what clients may call operations.
var words = map[string][]string{"read": {"read", "get"}, "write": {"write", "set", "put"}, "cas": {"cas"}}

// operation is one of a client's, with what came of it.
type operation struct {
	expose.Event
	what     string // read, write or cas
	result   string
	from, to int // when it began and ended, by the number of the event
	pending  bool
}

// Broken says why no order of the operations explains what came of them, or "". Unknown: nobody knows
// within the time. Names are the nodes'. An operation whose end is not known may have happened at any later time or never.
func (r *Register) Broken(events []expose.Event, names []string, limit time.Duration) (why string, unknown bool, err error) {
	keys := map[string][]operation{}
	all, err := paired(events)
	if err != nil {
		return "", false, err
	}
	for _, o := range all {
		keys[o.Key] = append(keys[o.Key], o)
	}
	order := make([]string, 0, len(keys))
	for k := range keys {
		order = append(order, k)
	}
	slices.Sort(order)
	for _, k := range order {
		switch porcupine.CheckOperationsTimeout(r.model(), operations(keys[k], len(events)), limit) {
		case porcupine.Illegal:
			return describe(k, r.shortest(keys[k], len(events), limit), names), false, nil
		case porcupine.Unknown:
			unknown = true
		}
	}
	return "", unknown, nil
}

// paired joins beginnings and ends. Those that have failed are not there.
func paired(events []expose.Event) (all []operation, err error) {
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
			if o.what = called(e.Op); o.what == "" {
				return nil, fmt.Errorf("%q is none of the operations of a register", e.Op)
			}
			all = append(all, o)
			last[c] = len(all)
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
		if !failed[i] && !(o.pending && o.what == "read") {
			all[n] = o
			n++
		}
	}
	return all[:n], nil
}

// called is read, write or cas, or "".
func called(op string) string {
	for what, all := range words {
		if slices.Contains(all, op) {
			return what
		}
	}
	return ""
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

// shortest is what there was of the operations, so many events long, when they could first not be explained.
func (r *Register) shortest(all []operation, events int, limit time.Duration) []operation {
	n := sort.Search(events, func(n int) bool {
		return porcupine.CheckOperationsTimeout(r.model(), operations(until(all, n), n), limit) == porcupine.Illegal
	})
	return until(all, n)
}

// until is what there was of operations after n events.
func until(all []operation, n int) (some []operation) {
	for _, o := range all {
		if o.pending = o.pending || o.to >= n; o.from < n && !(o.pending && o.what == "read") {
			some = append(some, o)
		}
	}
	return some
}

// model is a register: its state is a text. A compare-and-set has two words for its value: what must be there, and what
// is then. What it found otherwise is a failure, and had no effect.
func (r *Register) model() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return r.Initial },
		Step: func(state, input, _ any) (bool, any) {
			o := input.(operation)
			switch o.what {
			case "read":
				return o.result == state.(string), state
			case "cas":
				if from, to, ok := strings.Cut(o.Value, " "); ok && from == state.(string) {
					return true, to
				}
				return o.pending, state
			}
			return true, o.Value
		},
	}
}

// mostOperations is how many of them a message has.
const mostOperations = 12

// describe says what the clients have seen.
func describe(key string, all []operation, names []string) string {
	var texts []string
	for _, o := range all {
		who := names[o.Node]
		if o.Client != "" {
			who += "/" + o.Client
		}
		text := strings.TrimSpace(fmt.Sprint(who, " ", o.Op, " ", o.Value))
		switch {
		case o.pending:
			text += fmt.Sprintf(" (%d-)", o.from+1)
		case o.what == "read":
			text += fmt.Sprintf(" -> %q", o.result)
		}
		if !o.pending {
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
	return fmt.Sprintf("no order of the %d operations%s explains them, from which event to which: %s", len(all), of, strings.Join(texts, ", "))
}
