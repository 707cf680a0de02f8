package history

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ariadne"
	"ariadne/internal/expose"

	"pgregory.net/rapid"
)

// parse reads a history: "0 write x 1" begins an operation of node 0, "0 ok", "0 ok 1" and "0 fail" end it.
func parse(lines ...string) (all []expose.Event) {
	for _, l := range lines {
		w := strings.Fields(l)
		e := expose.Event{Node: ariadne.NodeID(w[0][0] - '0')}
		switch w[1] {
		case "ok":
			e.Kind, e.Value = expose.Returned, strings.Join(w[2:], " ")
		case "fail":
			e.Kind = expose.Failed
		default:
			e.Op, e.Key, e.Value = w[1], w[2], strings.Join(w[3:], " ")
		}
		all = append(all, e)
	}
	return all
}

func TestBroken(t *testing.T) {
	names := []string{"a", "b", "c"}
	for _, c := range []struct {
		history string
		want    string // "" : linearizable
	}{
		{"", ""},
		{"0 write x 1;0 ok;1 read x;1 ok 1", ""},
		{"0 write x 1;0 ok;1 read x;1 ok", `no order of the 2 operations on x explains them, from which event to which: a write 1 (1-2), b read -> "" (3-4)`},
		{"0 write x 1;1 read x;1 ok;0 ok", ""}, // at the same time
		{"0 write x 1;1 read x;1 ok 1;1 read x;1 ok;0 ok", `no order of the 3 operations on x explains them, from which event to which: a write 1 (1-), b read -> "1" (2-3), b read -> "" (4-5)`},
		{"0 write x 1;0 fail;1 read x;1 ok 1", `no order of the 1 operations on x explains them, from which event to which: b read -> "1" (3-4)`},
		{"0 write x 1;1 read x;1 ok;1 read x;1 ok 1", ""}, // no answer: it happened later
		{"0 write x 1;0 write x 2;0 ok;1 read x;1 ok 1", ""},
		{"0 write x 1;0 write x 2;0 ok;1 read x;1 ok 2;1 read x;1 ok 1;1 read x;1 ok 2", `no order of the 5 operations on x explains them, from which event to which: a write 1 (1-), a write 2 (2-3), b read -> "2" (4-5), b read -> "1" (6-7), b read -> "2" (8-9)`},
		{"0 write x 1;0 ok;1 read y;1 ok;1 read x;1 ok 1", ""}, // keys
		{"0 write x 1;0 ok;0 cas x 1 2;0 ok;1 read x;1 ok 2", ""},
		{"0 write x 1;0 ok;0 cas x 3 2;0 ok", `no order of the 2 operations on x explains them, from which event to which: a write 1 (1-2), a cas 3 2 (3-4)`},
		{"0 cas x 1 2;1 write x 1;1 ok;1 read x;1 ok 2", ""},
		{"1 ok 5;0 read x;0 ok", ""}, // an end of nothing
	} {
		var lines []string
		if c.history != "" {
			lines = strings.Split(c.history, ";")
		}
		got, unknown, err := (&Register{}).Broken(parse(lines...), names, time.Minute)
		if got != c.want || unknown || err != nil {
			t.Errorf("%s: %q, %v, %v, want %q", c.history, got, unknown, err, c.want)
		}
	}
	if _, _, err := (&Register{}).Broken(parse("0 delete x"), names, time.Minute); err == nil || !strings.Contains(err.Error(), `"delete" is none of`) {
		t.Error(err)
	}
	if got, _, _ := (&Register{Initial: "7"}).Broken(parse("0 read x", "0 ok 7"), names, time.Minute); got != "" {
		t.Error(got)
	}
}

// TestBruteForce: on small histories the answer is that of trying all orders.
func TestBruteForce(t *testing.T) {
	broken := 0
	rapid.Check(t, func(t *rapid.T) {
		var lines []string
		busy := map[int]bool{}
		for range rapid.IntRange(1, 12).Draw(t, "events") {
			c := rapid.IntRange(0, 2).Draw(t, "client")
			v := func() int { return rapid.IntRange(0, 2).Draw(t, "value") }
			what := rapid.IntRange(0, 9).Draw(t, "what")
			switch {
			case busy[c] && what == 0:
				lines = append(lines, fmt.Sprint(c, " fail"))
				busy[c] = false
			case busy[c] && what > 1:
				lines = append(lines, fmt.Sprint(c, " ok ", v()))
				busy[c] = false
			case what < 5:
				lines = append(lines, fmt.Sprint(c, " read x"))
				busy[c] = true
			case what < 8:
				lines = append(lines, fmt.Sprint(c, " write x ", v()))
				busy[c] = true
			default:
				lines = append(lines, fmt.Sprint(c, " cas x ", v(), " ", v()))
				busy[c] = true
			}
		}
		r := &Register{Initial: "0"}
		events := parse(lines...)
		got, unknown, err := r.Broken(events, []string{"a", "b", "c"}, time.Minute)
		if unknown || err != nil {
			t.Fatal(unknown, err)
		}
		ops, _ := paired(events)
		if want := !linear(ops, "0"); (got != "") != want {
			t.Fatalf("%q: %q, want broken %v", lines, got, want)
		}
		if got != "" {
			broken++
		}
	})
	if broken == 0 {
		t.Error("none was broken")
	}
}

// linear tries all orders.
func linear(ops []operation, value string) bool {
	done := !slices.ContainsFunc(ops, func(o operation) bool { return !o.pending })
	if done {
		return true
	}
	for i, o := range ops {
		if slices.ContainsFunc(ops, func(p operation) bool { return !p.pending && p.to < o.from }) {
			continue // that one comes first
		}
		rest := slices.Delete(slices.Clone(ops), i, i+1)
		next, ok := value, true
		switch o.what {
		case "read":
			ok = o.result == value
		case "write":
			next = o.Value
		case "cas":
			if from, to, _ := strings.Cut(o.Value, " "); from == value {
				next = to
			} else {
				ok = o.pending
			}
		}
		if ok && linear(rest, next) {
			return true
		}
	}
	return false
}
