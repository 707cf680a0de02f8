package history

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	_ "github.com/ariadne-mc/ariadne/internal/testing/draws"

	"pgregory.net/rapid"
)

// parse reads a history: "0 write x 1" begins an operation of node 0, "0 ok", "0 ok 1" and "0 fail"
// end it.
func parse(lines ...string) (all []expose.Event) {
	for _, l := range lines {
		w := strings.Fields(l)
		e := expose.Event{Node: ariadne.NodeID(w[0][0] - '0')}
		switch w[1] {
		case "ok":
			e.Kind, e.Value = expose.Returned, strings.Join(w[2:], " ")
		case "fail":
			e.Kind = expose.Failed
		case "gone":
			e.Kind = expose.Gone
		default:
			e.Op, e.Key, e.Value = w[1], w[2], strings.Join(w[3:], " ")
		}
		all = append(all, e)
	}
	return all
}

func TestBroken(t *testing.T) {
	names := []string{"a", "b", "c"}
	register := property(t, Claim{Of: "register"})
	for _, c := range []struct {
		history string
		want    string // "" : linearizable
	}{
		{"", ""},
		{"0 write x 1;0 ok;1 read x;1 ok 1", ""},
		{"0 write x 1;0 ok;1 read x;1 ok", `no order of the 2 operations on x explains them, from which event to which: a write 1 (1-2), b read -> "" (3-4)`},
		{"0 write x 1;1 read x;1 ok;0 ok", ""}, // at the same time
		{"0 write x 1;1 read x;1 ok 1;1 read x;1 ok;0 ok", `no order of the 3 operations on x explains them, from which event to which: a write 1 (1-), b read -> "1" (2-3), b read -> "" (4-5)`},
		{"0 write x 1;0 fail;1 read x;1 ok 1", `no order of the 1 operation on x explains them, from which event to which: b read -> "1" (3-4)`},
		{"0 write x 1;1 read x;1 ok;1 read x;1 ok 1", ""}, // no answer: it happened later
		{"0 write x 1;0 write x 2;0 ok;1 read x;1 ok 1", ""},
		{"0 write x 1;0 write x 2;0 ok;1 read x;1 ok 2;1 read x;1 ok 1;1 read x;1 ok 2", `no order of the 5 operations on x explains them, from which event to which: a write 1 (1-), a write 2 (2-3), b read -> "2" (4-5), b read -> "1" (6-7), b read -> "2" (8-9)`},
		{"0 write x 1;0 ok;1 read y;1 ok;1 read x;1 ok 1", ""}, // keys
		{"0 write x 1;0 ok;0 cas x 1 2;0 ok;1 read x;1 ok 2", ""},
		{"0 write x 1;0 ok;0 cas x 3 2;0 ok", `no order of the 2 operations on x explains them, from which event to which: a write 1 (1-2), a cas 3 2 (3-4)`},
		{"0 cas x 1 2;1 write x 1;1 ok;1 read x;1 ok 2", ""},
		{"1 ok 5;0 read x;0 ok", ""}, // an end of nothing
		{"0 write x 1;0 gone;0 ok;1 read x;1 ok", ""},
	} {
		var lines []string
		if c.history != "" {
			lines = strings.Split(c.history, ";")
		}
		got, unknown, err := register.Broken(parse(lines...), names, time.Minute)
		if got != c.want || unknown || err != nil {
			t.Errorf("%s: %q, %v, %v, want %q", c.history, got, unknown, err, c.want)
		}
	}
	if _, _, err := register.Broken(parse("0 remove x"), names, time.Minute); err == nil ||
		!strings.Contains(err.Error(), `"remove" is not an operation`) {
		t.Error(err)
	}
	if got, _, _ := property(t, Claim{Of: "register", Initial: "7"}).Broken(parse("0 read x", "0 ok 7"), names,
		time.Minute); got != "" {
		t.Error(got)
	}
}

// property makes one of a claim.
func property(t testing.TB, c Claim) *Property {
	p, err := Named(c.Of).New(c)
	if err != nil {
		t.Fatal(err)
	}
	return &p
}

// TestData: what operations make of each kind of data, and what they can have seen.
func TestData(t *testing.T) {
	for _, c := range []struct {
		of, initial, history string
		explained            bool
	}{
		{"counter", "", "0 add x 2;0 ok;0 incr x;0 ok 3;1 read x;1 ok 3", true},
		{"counter", "5", "0 add x -1;0 ok;1 read x;1 ok 5", false},
		{"counter", "", "0 add x 2;1 read x;1 ok 2;1 read x;1 ok 0", false},
		{"counter", "", "0 incr x;0 ok 1;1 incr x;1 ok 1", false}, // a lost update
		{"set", "", "0 add x a;0 ok;0 add x b;0 ok;1 read x;1 ok [b, a]", true},
		{"set", "b a", "1 read x;1 ok a b b;0 remove x b;0 ok;0 contains x b;0 ok false", true},
		{"set", "", "0 add x a;0 ok;0 add x b;0 ok;1 read x;1 ok b", false}, // a lost element
		{"set", "", "0 add x a;1 contains x a;1 ok true;1 has x a;1 ok false", false},
		{"list", "", "0 append x a;0 ok;1 append x b;1 ok;1 read x;1 ok [a,b]", true},
		{"list", "", "0 append x a;0 ok;1 append x b;1 ok;1 read x;1 ok b a", false},
		{"queue", "", "0 enqueue x a;0 ok;0 push x b;0 ok;1 dequeue x;1 ok a;1 pop x;1 ok b;1 pop x;1 ok", true},
		// the other one has it
		{"queue", "", "0 enqueue x a;0 ok;0 dequeue x;1 dequeue x;1 ok", true},
		{"queue", "", "0 enqueue x a;0 ok;1 dequeue x;1 ok a;0 dequeue x;0 ok a", false},
		{"queue", "z", "0 enqueue x a;0 ok;1 dequeue x;1 ok a", false},
		{"bank", "a=5 b=5", "0 transfer x a b 3;0 ok;1 read x;1 ok {b=8 a=2}", true},
		{"bank", "a=5", "0 transfer x a b 5;1 read x;1 ok b=5", true},
		{"bank", "a=5 b=5", "0 transfer x a b 3;1 read x;1 ok a=2 b=5", false},
		{"bank", "a=5 b=5", "0 transfer x a b 6;0 ok", false},
	} {
		p := property(t, Claim{Of: c.of, Initial: c.initial})
		why, unknown, err := p.Broken(parse(strings.Split(c.history, ";")...), []string{"a", "b"}, time.Minute)
		if unknown || err != nil || (why == "") != c.explained {
			t.Errorf("%s: %s: %q, %v, %v, want explained %v", c.of, c.history, why, unknown, err, c.explained)
		}
	}
	for _, c := range []struct{ of, initial, line, want string }{
		{"counter", "", "0 add x many", `"many" is not a whole number`},
		{"set", "", "0 add x a b", `add "a b": an element is one word`},
		{"bank", "", "0 transfer x a b", `write it as in "a b 5"`},
		{"queue", "", "0 read x", `"read" is not an operation of a queue`},
	} {
		if _, _, err := property(t, Claim{Of: c.of}).Broken(parse(c.line), []string{"a"}, time.Minute); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.line, err, c.want)
		}
	}
	for _, of := range []string{"counter", "bank"} {
		if _, err := Named(of).New(Claim{Of: of, Initial: "x"}); err == nil {
			t.Errorf("a %s may hold x at first", of)
		}
	}
}

// TestSequential: each client's operations in their order are enough.
func TestSequential(t *testing.T) {
	for _, c := range []struct {
		history   string
		explained bool
	}{
		{"0 write x 1;0 ok;1 read x;1 ok;1 read x;1 ok 1", true}, // the first read is old
		{"0 write x 1;0 ok;1 read x;1 ok 1;1 read x;1 ok", false},
		{"0 write x 1;0 ok;0 read x;0 ok", false}, // its own
		{"0 read x;0 ok 1;1 write x 1;1 ok", true},
		{"0 write x 1;1 read x;1 ok 1", true},
		// the first came late
		{"0 write x 1;0 write x 2;0 ok;1 read x;1 ok 2;1 read x;1 ok 1", true},
		{"0 write x 1;0 ok;1 write x 2;1 ok;0 read x;0 ok 2;1 read x;1 ok 1", false},
	} {
		p := property(t, Claim{Of: "register", Level: Sequential})
		why, unknown, err := p.Broken(parse(strings.Split(c.history, ";")...), []string{"a", "b"}, time.Minute)
		if unknown || err != nil || (why == "") != c.explained {
			t.Errorf("%s: %q, %v, %v, want explained %v", c.history, why, unknown, err, c.explained)
		}
	}
}

// TestDurable: each read sees what was acknowledged before it began, or what came later.
func TestDurable(t *testing.T) {
	for _, c := range []struct {
		of, history, want string // "": it does
	}{
		{"register", "0 write x 1;0 ok;1 read x;1 ok 1;1 read x;1 ok", `no order in which acknowledged operations are not lost of the 2 operations on x explains the last one, from which event to which: a write 1 (1-2), b read -> "" (5-6)`},
		// which came first nobody knows
		{"register", "0 write x 1;1 write x 2;0 ok;1 ok;1 read x;1 ok 1;1 read x;1 ok 2;1 read x;1 ok 1", ""},
		// no answer
		{"register", "0 write x 1;0 ok;0 write x 2;1 read x;1 ok 1;1 read x;1 ok 2;1 read x;1 ok 1", ""},
		{"register", "0 write x 1;0 ok;0 write x 2;0 ok;1 read x;1 ok 1", `no order in which acknowledged operations are not lost of the 3 operations on x explains the last one, from which event to which: a write 1 (1-2), a write 2 (3-4), b read -> "1" (5-6)`},
		{"register", "0 write x 1;0 fail;1 read x;1 ok", ""},
		{"counter", "0 add x;0 ok 7;0 add x;0 ok;1 read x;1 ok 2", ""},
		{"counter", "0 add x;0 ok;0 add x;1 read x;1 ok", `no order in which acknowledged operations are not lost of the 3 operations on x explains the last one, from which event to which: a add (1-2), a add (3-), b read -> "" (4-5)`},
		{"set", "0 add x 1;0 ok;0 add x 2;0 ok;1 contains x 1;1 ok true;1 read x;1 ok 2 1", ""},
		{"set", "0 add x 1;0 ok;0 add x 2;0 ok;1 read x;1 ok 2", `no order in which acknowledged operations are not lost of the 3 operations on x explains the last one, from which event to which: a add 1 (1-2), a add 2 (3-4), b read -> "2" (5-6)`},
		{"list", "0 append x 1;1 append x 2;0 ok;1 ok;1 read x;1 ok 2 1", ""},
		// what the cas needs came behind the read
		{"register", "0 cas x 1 2;1 read x;1 ok;1 write x 1;1 ok;0 ok", ""},
		{"register", "0 cas x 1 2;1 read x;0 ok;1 ok", `no order in which acknowledged operations are not lost of the 2 operations on x explains the last one, from which event to which: a cas 1 2 (1-3), b read -> "" (2-4)`},
	} {
		p := property(t, Claim{Of: c.of, Level: Durable})
		why, unknown, err := p.Broken(parse(strings.Split(c.history, ";")...), []string{"a", "b"}, time.Minute)
		if unknown || err != nil || why != c.want {
			t.Errorf("%s: %s: %q, %v, %v, want %q", c.of, c.history, why, unknown, err, c.want)
		}
	}
	if _, err := Named("queue").New(Claim{Of: "queue", Level: Durable}); err == nil {
		t.Error("a queue has reads")
	}
}

// drawn are operations of each kind of data as clients may call them, and what may come of them; %d
// is a number.
var drawn = map[string]struct{ ops, results []string }{
	"register": {[]string{"read x", "read x", "write x %d", "cas x %d %d", "del x"}, []string{"%d"}},
	"counter":  {[]string{"read x", "add x %d", "incr x"}, []string{"%d", ""}},
	"set": {[]string{"read x", "add x %d", "remove x %d", "contains x %d"},
		[]string{"%d", "", "true", "false", "%d %d"}},
	"list":  {[]string{"read x", "append x %d"}, []string{"%d", "", "%d %d"}},
	"queue": {[]string{"enqueue x %d", "dequeue x"}, []string{"%d", "%d", ""}},
	"bank": {[]string{"read x", "transfer x a b %d", "transfer x b a %d"},
		[]string{"a=2 b=2", "a=1 b=3", "a=3 b=1", "b=4"}},
}

// TestBruteForce: on small histories the answer is that of trying all orders.
func TestBruteForce(t *testing.T) {
	broken := map[string]int{}
	judged := func(t *rapid.T) {
		c := Claim{Of: rapid.SampledFrom(Names()).Draw(t, "of")}
		if c.Of == "register" || c.Of == "counter" {
			c.Initial = "0"
		} else if c.Of == "bank" {
			c.Initial = "a=2 b=2"
		}
		fill := func(from []string) string {
			text := rapid.SampledFrom(from).Draw(t, "text")
			for strings.Contains(text, "%d") {
				text = strings.Replace(text, "%d", fmt.Sprint(rapid.IntRange(0, 2).Draw(t, "value")), 1)
			}
			return text
		}
		var lines []string
		busy := map[int]bool{}
		for range rapid.IntRange(1, 12).Draw(t, "events") {
			client := rapid.IntRange(0, 2).Draw(t, "client")
			what := rapid.IntRange(0, 9).Draw(t, "what")
			switch {
			case busy[client] && what == 0:
				lines = append(lines, fmt.Sprint(client, " fail"))
				busy[client] = false
			case busy[client] && what > 1:
				lines = append(lines, fmt.Sprint(client, " ok ", fill(drawn[c.Of].results)))
				busy[client] = false
			default:
				lines = append(lines, fmt.Sprint(client, " ", fill(drawn[c.Of].ops)))
				busy[client] = true
			}
		}
		linearizable := false
		for level := range Levels {
			if c.Level = Level(level); c.Level == Durable && Named(c.Of).reads == nil {
				continue
			}
			p, err := Named(c.Of).New(c)
			if err != nil {
				t.Fatal(err)
			}
			got, unknown, err := p.Broken(parse(lines...), []string{"a", "b", "c"}, time.Minute)
			if unknown || err != nil {
				t.Fatal(unknown, err)
			}
			ops, _ := p.paired(parse(lines...))
			if want := !p.explained(ops); (got != "") != want {
				t.Fatalf("%+v: %q: %q, want broken %v", c, lines, got, want)
			}
			if c.Level == Linearizable {
				linearizable = got == ""
			} else if linearizable && got != "" {
				t.Fatalf("%+v: %q: linearizable, but %q", c, lines, got)
			}
			if got != "" {
				broken[c.Of+" "+Levels[level]]++
			}
		}
	}
	for range 20 {
		rapid.Check(t, judged)
	}
	if len(broken) < len(Kinds)*len(Levels)-1 {
		t.Errorf("of some kinds none was broken: %v", broken)
	}
}

// explained: they are in some order, or each read is.
func (p *Property) explained(ops []operation) bool {
	if p.Level != Durable {
		return p.ordered(ops, p.first)
	}
	reads := func(o operation) bool { return slices.Contains(p.data.reads, o.what) }
	for _, r := range ops {
		if !reads(r) {
			continue
		}
		var some []operation
		for _, o := range ops {
			if o.ignored = !reads(o) && o.from < r.to; o.ignored || o.from == r.from {
				o.pending = o.pending || o.to > r.to
				some = append(some, o)
			}
		}
		if !p.ordered(some, p.first) {
			return false
		}
	}
	return true
}

// ordered tries all orders.
func (p *Property) ordered(ops []operation, state string) bool {
	if !slices.ContainsFunc(ops, func(o operation) bool { return !o.pending }) {
		return true
	}
	for i, o := range ops {
		if slices.ContainsFunc(ops, func(q operation) bool {
			return !q.pending && q.to < o.from && (p.Level != Sequential || q.Node == o.Node)
		}) {
			continue // that one comes first
		}
		rest := slices.Delete(slices.Clone(ops), i, i+1)
		if next, ok := p.data.step(state, &o); ok && p.ordered(rest, next) {
			return true
		}
	}
	return false
}
