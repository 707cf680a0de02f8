package live

import (
	"fmt"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/property"

	_ "github.com/ariadne-mc/ariadne/internal/testing/draws"

	"pgregory.net/rapid"
)

// truth is an execution as it was: states follow each other, and each has the time from which on it
// was there.
type truth struct {
	nodes   int
	states  []string
	from    []ariadne.Time
	changes []trueChange
	moves   []move
	end     ariadne.Time
	polls   bool // a node exposes one tuple at most, so that it can be told by reads of it
	// times are those of the events that records without polls tell of
	times map[recordID]ariadne.Time
}

// recordID names a record.
type recordID struct {
	node ariadne.NodeID
	seq  uint64
}

// trueChange is an event at a node.
type trueChange struct {
	node int
	at   ariadne.Time
	Record
}

// move is a step of a message: it is sent, or read. to is how far in the stream.
type move struct {
	node   int
	at     ariadne.Time
	stream Stream
	sent   bool
	to     uint32
}

// drawTruth draws an execution, in which nodes also say something if says is true.
func drawTruth(t *rapid.T, says bool) *truth {
	x := &truth{nodes: rapid.IntRange(2, 4).Draw(t, "nodes"), polls: true, times: map[recordID]ariadne.Time{}}
	sets, up := make([]*expose.Set, x.nodes), make([]bool, x.nodes)
	now := ariadne.Time(0)
	sent, read := map[[2]int]uint32{}, map[[2]int]uint32{}
	begin := ^uint32(0) - 5 // positions wrap around
	add := func(node int, r Record) {
		switch r.Kind {
		case Show:
			sets[node] = sets[node].After(r.Changes)
		case Up:
			up[node] = true
		case Down:
			sets[node], up[node] = sets[node].Staying(), false
		}
		x.changes = append(x.changes, trueChange{node, now, r})
		x.states, x.from = append(x.states, text(&expose.Snapshot{Sets: sets, Up: up})), append(x.from, now)
	}
	for i := range x.nodes {
		now++
		add(i, Record{Kind: Up})
	}
	for range rapid.IntRange(1, 80).Draw(t, "steps") {
		now += ariadne.Time(rapid.IntRange(1, 30).Draw(t, "passes"))
		node := rapid.IntRange(0, x.nodes-1).Draw(t, "node")
		other := rapid.IntRange(0, x.nodes-1).Draw(t, "other")
		between := [2]int{node, other}
		whats := []string{"show", "end", "down", "send", "send", "read", "read"}
		if says {
			whats = append(whats, "say")
		}
		switch rapid.SampledFrom(whats).Draw(t, "what") {
		case "say":
			if up[node] {
				add(node, Record{Kind: Show, Changes: []expose.Change{{Tuple: expose.Tuple{Name: "said", Stays: true,
					Values: []string{rapid.SampledFrom([]string{"a", "b"}).Draw(t, "word")}}}}})
			}
		case "show":
			if up[node] {
				term := rapid.SampledFrom([]string{"1", "2", "3"}).Draw(t, "term")
				add(node, Record{Kind: Show, Changes: []expose.Change{{Tuple: expose.Tuple{Name: "leader",
					Values: []string{term}, Fields: []string{"term"}}}}})
			}
		case "end":
			if up[node] {
				add(node, Record{Kind: Show, Changes: []expose.Change{{Tuple: expose.Tuple{Name: "leader"}, Ends: true,
					All: true}}})
			}
		case "down":
			add(node, Record{Kind: map[bool]Kind{true: Down, false: Up}[up[node]]})
		case "send":
			if node != other {
				sent[between] += uint32(rapid.IntRange(1, 3).Draw(t, "bytes"))
				x.moves = append(x.moves, move{node, now, streamOf(node, other), true, begin + sent[between]})
			}
		case "read":
			if got := sent[[2]int{other, node}]; got > read[[2]int{other, node}] {
				read[[2]int{other, node}] = got
				x.moves = append(x.moves, move{node, now, streamOf(other, node), false, begin + got})
			}
		}
	}
	x.end = now + 100
	return x
}

func streamOf(from, to int) Stream {
	at := func(a, b int) netip.AddrPort {
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(a)}), uint16(1000+b))
	}
	return Stream{From: at(from, to), To: at(to, from)}
}

// positions are those of a node at a time.
func (x *truth) positions(node int, at ariadne.Time) *Positions {
	p := &Positions{Sent: map[Stream]uint32{}, Got: map[Stream]uint32{}}
	for o := range x.nodes {
		p.Sent[streamOf(node, o)], p.Got[streamOf(o, node)] = ^uint32(0)-5, ^uint32(0)-5
	}
	for _, m := range x.moves {
		if m.node == node && m.at <= at {
			if m.sent {
				p.Sent[m.stream] = m.to
			} else {
				p.Got[m.stream] = m.to
			}
		}
	}
	return p
}

// text says a snapshot in words.
func text(s *expose.Snapshot) string {
	var b strings.Builder
	for i, set := range s.Sets {
		fmt.Fprintf(&b, "n%d %v", i+1, s.Up[i])
		for _, t := range set.Tuples() {
			b.WriteString(" " + t.String())
		}
		b.WriteString("; ")
	}
	return b.String()
}

// told are the records of an agent of each node. Agents look at their nodes at times of their own,
// by clocks that are wrong by up to half of clockError; exact ones see each event when it happens.
// Some lose events, and say of which names behind what they have seen. The values of some nodes are
// read now and then, so often that none of them comes and goes between
// two reads.
func (x *truth) told(t *rapid.T, exact bool, clockError int) (all []Record) {
	for node := range x.nodes {
		skew := ariadne.Time(0)
		if clockError > 0 {
			skew = ariadne.Time(rapid.IntRange(0, clockError).Draw(t, "skew"))
		}
		seq := uint64(0)
		tell := func(r Record) {
			seq++
			r.Node, r.Seq, r.After, r.At, r.Read = ariadne.NodeID(node), seq, r.After+skew, r.At+skew, r.Read+skew
			if r.Polled != 0 {
				r.Polled += skew
			}
			all = append(all, r)
		}
		checked, next := ariadne.Time(0), 0
		var own []trueChange
		for _, c := range x.changes {
			if c.node == node {
				own = append(own, c)
			}
		}
		if exact {
			for _, c := range own {
				c.After, c.At = c.at, c.at
				tell(c.Record)
			}
			tell(Record{Kind: Beat, At: x.end + 1000})
			continue
		}
		if x.polls && rapid.IntRange(0, 2).Draw(t, "polls") == 0 {
			x.polled(t, node, own, tell)
			continue
		}
		loses := rapid.IntRange(0, 2).Draw(t, "loses") == 0
		calls := rapid.IntRange(0, 2).Draw(t, "calls") == 0 // whose times are known
		for at := ariadne.Time(0); at < x.end; {
			at += ariadne.Time(rapid.IntRange(1, 40).Draw(t, "look"))
			lost := map[string]bool{}
			tellLost := func() {
				if len(lost) > 0 {
					names := slices.Sorted(maps.Keys(lost))
					tell(Record{Kind: Lost, After: checked, At: at, Names: names, Text: "lost"})
					clear(lost)
				}
			}
			for ; next < len(own) && own[next].at <= at; next++ {
				r := own[next].Record
				if loses && r.Kind == Show && rapid.IntRange(0, 3).Draw(t, "lost") == 0 {
					lost[r.Changes[0].Name] = true
					continue
				}
				if r.Kind != Show {
					tellLost()
				}
				r.After, r.At = checked, at
				if calls && r.Kind == Show {
					r.Channel, r.After, r.At = Functions, own[next].at, own[next].at
				}
				if rapid.Bool().Draw(t, "knows each message") {
					r.Positions = &Positions{Sent: x.positions(node, r.At).Sent, Got: x.positions(node, r.After).Got}
				}
				x.times[recordID{ariadne.NodeID(node), seq + 1}] = own[next].at
				tell(r)
			}
			tellLost()
			tell(x.beat(t, node, at))
			checked = at
		}
		tell(Record{Kind: Beat, At: x.end + 1000})
	}
	return all
}

// isSaid reports whether a change is of what a node says, which is seen at each look.
func (c *trueChange) isSaid() bool { return c.Changes[0].Name == "said" }

// beat is a record of a node at a time.
func (x *truth) beat(t *rapid.T, node int, at ariadne.Time) Record {
	r := Record{Kind: Beat, After: at, At: at}
	if rapid.Bool().Draw(t, "reads positions") {
		late := at + ariadne.Time(rapid.IntRange(0, 2).Draw(t, "late"))
		r.Positions, r.Read = x.positions(node, late), late
	}
	return r
}

// polled tells of a node whose own changes are these, and whose value is read now and then. Whether
// it runs is seen at each look.
func (x *truth) polled(t *rapid.T, node int, own []trueChange, tell func(Record)) {
	valueAt := func(at ariadne.Time) (set *expose.Set) {
		for _, c := range own {
			switch {
			case c.at > at:
			case c.Kind == Show && c.isSaid():
			case c.Kind == Show:
				set = set.After(c.Changes)
			default:
				set = nil
			}
		}
		return set
	}
	show := func(set *expose.Set, after, at ariadne.Time) {
		c := expose.Change{Tuple: expose.Tuple{Name: "leader"}, Ends: true, All: true}
		if set != nil {
			c = expose.Change{Tuple: set.Tuples()[0]}
		}
		tell(Record{Kind: Show, Channel: Polls, After: after, At: at, Changes: []expose.Change{c}})
	}
	var checked, began, read ariadne.Time // of the last look, and of the last read
	var value *expose.Set
	up, next := false, 0
	for at := ariadne.Time(0); at < x.end; {
		at += ariadne.Time(rapid.IntRange(1, 40).Draw(t, "look"))
		polls, changes := rapid.IntRange(0, 3).Draw(t, "reads") == 0, 0
		for _, c := range own {
			if c.at <= read || c.at > at || c.Kind != Show || c.isSaid() {
				continue
			}
			if changes++; changes == 2 { // it is read before that
				at, polls = c.at-1, true
				break
			}
		}
		found := false
		for ; next < len(own) && own[next].at <= at; next++ {
			switch own[next].Kind {
			case Show:
				if r := own[next].Record; own[next].isSaid() {
					r.After, r.At = checked, at
					tell(r)
				}
			case Down:
				tell(Record{Kind: Down, After: checked, At: at})
				up, found, value = false, false, nil
			case Up:
				tell(Record{Kind: Up, After: checked, At: at})
				up, found, began = true, true, checked
			}
		}
		begins := max(checked, at-ariadne.Time(rapid.IntRange(0, 2).Draw(t, "takes")))
		switch {
		case !up:
			begins, read = at, at
		case found || polls && changes > 1:
			begins, read = at, at
		case polls:
			read = ariadne.Time(rapid.IntRange(int(begins), int(at)).Draw(t, "is read"))
		default:
			begins = began
		}
		if now := valueAt(read); up && now.Hash() != value.Hash() {
			show(now, began, at)
			value = now
		}
		began = begins
		r := x.beat(t, node, at)
		r.Polled = began
		tell(r)
		checked = at
	}
	if now := valueAt(checked); up && now.Hash() != value.Hash() {
		show(now, began, checked)
	}
	tell(Record{Kind: Beat, At: x.end + 1000})
}

// leaders are properties that read values of each node.
func leaders(nodes int) *judge.Properties {
	c := judge.Config{Path: "spec.yaml",
		Sources: expose.Sources{{Name: "leader", Line: regexp.MustCompile(`leads (?P<term>\d)`)},
			{Name: "said", Line: regexp.MustCompile(`says (\w)`), Stays: true}},
		Predicates: []property.Predicate{{Name: "one", Expr: "one(leader) and len(said) >= 0 and len(up) >= 0"}}}
	for i := range nodes {
		c.Nodes = append(c.Nodes, fmt.Sprintf("n%d", i+1))
	}
	p, err := judge.NewProperties(c)
	if err != nil {
		panic(err)
	}
	return p
}

// judged are the snapshots that a verifier judges of records, in words, and the verifier.
func judged(t *rapid.T, x *truth, records []Record, c Config) (all []string, v *Verifier) {
	c.OnJudged = func(_ Stamp, s *expose.Snapshot) { all = append(all, text(s)) }
	v = NewVerifier(c, leaders(x.nodes))
	for _, r := range records {
		if err := v.Take(r); err != nil {
			t.Fatal(err)
		}
	}
	return all, v
}

// shuffled are records in another order, some of them twice.
func shuffled(t *rapid.T, all []Record) []Record {
	return rapid.Permutation(append(slices.Clone(all), all[:len(all)/3]...)).Draw(t, "arrives")
}

// TestExactRecords: where agents see each event when it happens, exactly the states that there were
// are judged, in their order, however records arrive. Only states before all nodes are known are
// not.
func TestExactRecords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := drawTruth(t, true)
		all, v := judged(t, x, shuffled(t, x.told(t, true, 0)), Config{})
		if want := x.states; !slices.Equal(all, want) {
			t.Fatalf("judged\n%s\nbut there were\n%s", strings.Join(all, "\n"), strings.Join(want, "\n"))
		}
		if v.Undecided+v.Unknown+v.Brief > 0 || v.Judged != v.Events || len(v.Doubts()) > 0 {
			t.Fatalf("%+v %q", v.Counts, v.Doubts())
		}
	})
}

// TestOnlyTrueStates: whatever agents see, and whatever their clocks show, each state that is
// judged was one of the system, in this order; and the verdict does not depend on how records
// arrive.
func TestOnlyTrueStates(t *testing.T) {
	decided, undecided, compared := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		x := drawTruth(t, true)
		clockError := rapid.SampledFrom([]int{0, 10, 50, 200}).Draw(t, "clock error")
		c := Config{ClockError: time.Duration(clockError), Polled: []string{"leader"}}
		records := x.told(t, false, clockError)
		all, v := judged(t, x, records, c)
		if again, w := judged(t, x, shuffled(t, records), c); !slices.Equal(all, again) ||
			v.Judged != w.Judged || v.Undecided != w.Undecided {
			t.Fatalf("judged\n%s\n%+v\nand in another order\n%s\n%+v", strings.Join(all, "\n"), v.Counts,
				strings.Join(again, "\n"), w.Counts)
		}
		next := 0
		for _, s := range all {
			at := slices.Index(x.states[next:], s)
			if at < 0 {
				t.Fatalf("judged\n%s\nwhich is not, from there on, among\n%s", s, strings.Join(x.states[next:], "\n"))
			}
			next += at
		}
		others := slices.DeleteFunc(v.Doubts(), func(d string) bool { return strings.Contains(d, ": lost: ") })
		if v.Inverted > 0 && clockError == 0 || len(others) > 0 {
			t.Fatalf("%+v %q", v.Counts, v.Doubts())
		}
		decided, undecided, compared = decided+v.Judged, undecided+v.Undecided, compared+v.Compared
	})
	if decided == 0 || undecided == 0 || compared == 0 {
		t.Errorf("%d states were decided, %d were not, %d positions compared: the test tries too little", decided,
			undecided, compared)
	}
}

// TestPositionsDecide: of two events whose times overlap, messages tell which was first.
func TestPositionsDecide(t *testing.T) {
	change := func(node int, seq uint64, after, at ariadne.Time, ends bool) Record {
		return Record{Node: ariadne.NodeID(node), Seq: seq, Kind: Show, After: after, At: at,
			Changes: []expose.Change{{Tuple: expose.Tuple{Name: "leader", Values: []string{"1"}}, Ends: ends,
				All: ends}}}
	}
	at := func(node int, seq uint64, at ariadne.Time, sent, got uint32) Record {
		return Record{Node: ariadne.NodeID(node), Seq: seq, Kind: Beat, After: at, At: at, Read: at,
			Positions: &Positions{
				Sent: map[Stream]uint32{streamOf(node, 1-node): sent},
				Got:  map[Stream]uint32{streamOf(1-node, node): got}}}
	}
	bound := func(r Record, sent, got uint32) Record {
		r.Positions = at(int(r.Node), 0, 0, sent, got).Positions
		return r
	}
	for _, c := range []struct {
		name              string
		sent              uint32 // what n1 had written when its positions were read
		own               uint32 // what it had written when its event was over, if that is known
		got               uint32 // what n2 had read of n1's stream before its event
		counted           bool   // n1's agent counts bytes, and n2's has sequence numbers
		judged, undecided int
	}{
		{"n2 has read what n1 sent after its event", 10, 0, 20, false, 5, 0},
		{"n2 has read nothing of it", 10, 0, 10, false, 4, 1},
		{"n1's positions come too late for that", 20, 0, 20, false, 4, 1},
		{"n1 knows them of each message", 20, 10, 20, false, 5, 0},
		{"the agents count in different ways", 10, 0, 20, true, 4, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := NewVerifier(Config{ClockError: 100}, leaders(2))
			ends := change(0, 4, 1300, 1310, true)
			if c.own > 0 {
				ends = bound(ends, c.own, 5)
			}
			look := at(0, 5, 1312, c.sent, 5)
			look.Positions.Counted = c.counted
			for _, r := range []Record{
				{Node: 0, Seq: 1, Kind: Up, After: 0, At: 0}, {Node: 1, Seq: 1, Kind: Up, After: 500, At: 500},
				change(0, 2, 1000, 1000, false), at(0, 3, 1000, 5, 5),
				ends, look,
				at(1, 2, 1330, 5, c.got), change(1, 3, 1340, 1345, false),
				{Node: 0, Seq: 6, Kind: Beat, At: 9000}, {Node: 1, Seq: 4, Kind: Beat, At: 9000},
			} {
				if err := v.Take(r); err != nil {
					t.Fatal(err)
				}
			}
			if v.Judged != c.judged || v.Undecided != c.undecided {
				t.Errorf("%+v, want %d judged and %d undecided", v.Counts, c.judged, c.undecided)
			}
		})
	}
}

// TestGoals: what must become true within a time is found to be late when it certainly is. Where a
// moment could not be judged, it is a doubt, and only if it may have been late.
func TestGoals(t *testing.T) {
	p, err := judge.NewProperties(judge.Config{Path: "spec.yaml", Nodes: []string{"n1", "n2"},
		Sources: expose.Sources{{Name: "waits", Line: regexp.MustCompile("waits")},
			{Name: "x", Line: regexp.MustCompile("x")}},
		Goals: []property.Goal{{Name: "done", Expr: "not waits and len(x) >= 0", Within: 2 * time.Second}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		ends      ariadne.Time // when n1 waits no longer; 0: never
		undecided bool         // a moment in between
		found     int
		doubts    int
	}{
		{name: "in time", ends: 2 * second},
		{name: "never", found: 1},
		{name: "late", ends: 5 * second, found: 1},
		{name: "in time, and a moment is open", ends: 2 * second, undecided: true},
		{name: "perhaps late", ends: 7 * second / 2, undecided: true, doubts: 1},
		{name: "late, and a moment is open", ends: 6 * second, undecided: true, found: 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := NewVerifier(Config{}, p)
			seq := [2]uint64{}
			take := func(node int, kind Kind, name string, ends bool, after, at ariadne.Time) {
				seq[node]++
				r := Record{Node: ariadne.NodeID(node), Seq: seq[node], Kind: kind, After: after, At: at}
				if name != "" {
					r.Changes = []expose.Change{{Tuple: expose.Tuple{Name: name}, Ends: ends, All: ends}}
				}
				if err := v.Take(r); err != nil {
					t.Fatal(err)
				}
			}
			take(0, Up, "", false, 1, 1)
			take(1, Up, "", false, 2, 2)
			take(0, Show, "waits", false, second, second)
			if c.undecided {
				take(0, Show, "x", false, 2*second, 2*second+10)
				take(1, Show, "x", false, 2*second, 2*second+10)
			}
			for at := ariadne.Time(0); at < 10*second; at += second / 2 {
				if c.ends > 0 && at == c.ends+second/2 {
					take(0, Show, "waits", true, c.ends+100, c.ends+100)
				}
				take(0, Beat, "", false, at, at)
				take(1, Beat, "", false, at, at)
			}
			if found := v.Found(); len(found) != c.found || len(v.Doubts()) != c.doubts {
				t.Errorf("%+v %q, want %d and %d", found, v.Doubts(), c.found, c.doubts)
			}
		})
	}
}

// TestUpExposesNothing: a program that begins exposes nothing yet, also where nobody has seen the
// end of the one before it, because the agent has ended with that. A state between two events of a
// node at one time is not judged.
func TestUpExposesNothing(t *testing.T) {
	show := func(node int, seq uint64, at ariadne.Time) Record {
		return Record{Node: ariadne.NodeID(node), Seq: seq, Kind: Show, After: at, At: at,
			Changes: []expose.Change{{Tuple: expose.Tuple{Name: "leader", Values: []string{"1"},
				Fields: []string{"term"}}}}}
	}
	for _, groups := range []bool{false, true} {
		p := leaders(2)
		if groups {
			p = keyed(2)["one"]
		}
		v := NewVerifier(Config{}, p)
		for _, r := range []Record{
			{Node: 0, Seq: 1, Kind: Up, After: 0, At: 0}, {Node: 1, Seq: 1, Kind: Up, After: 5, At: 5},
			show(0, 2, 10),
			// Another agent takes over from that of n1, and finds another program.
			{Node: 0, Seq: 3, Kind: Lost, After: 10, At: 20, Text: "another agent took over",
				Names: []string{"leader"}},
			{Node: 0, Seq: 4, Kind: Up, After: 20, At: 20},
			show(1, 2, 30), show(1, 3, 30),
			{Node: 0, Seq: 5, Kind: Beat, At: 9000}, {Node: 1, Seq: 4, Kind: Beat, At: 9000},
		} {
			if err := v.Take(r); err != nil {
				t.Fatal(err)
			}
		}
		if found := v.Found(); len(found) > 0 || v.Judged < 4 || v.Brief != 1 {
			t.Errorf("groups %v: %+v %+v", groups, v.Counts, found)
		}
	}
}

// TestCountsMissing: what was lost for one reason is one line, with the sum of what was counted,
// also behind a checkpoint. Of clocks that are wrong only the first message is told.
func TestCountsMissing(t *testing.T) {
	v := NewVerifier(Config{}, leaders(2))
	for i := range 6 {
		if i == 3 {
			state, err := v.Save()
			if err != nil {
				t.Fatal(err)
			}
			v = NewVerifier(Config{}, leaders(2))
			if err := v.Restore(state); err != nil {
				t.Fatal(err)
			}
		}
		at := ariadne.Time(10 * i)
		r := Record{Node: ariadne.NodeID(i % 2), Seq: uint64(i/2 + 1), Kind: Lost, After: at, At: at,
			Text: "too fast", Names: []string{"leader"}}
		if i%2 == 0 {
			r.Missing = uint64(i + 1)
		}
		if err := v.Take(r); err != nil {
			t.Fatal(err)
		}
		v.doubtOnce(fmt.Sprintf("by %d", i), "clocks differ")
	}
	if err := v.Take(Record{Node: 0, Seq: 4, Kind: Beat, At: 9000}); err != nil {
		t.Fatal(err)
	}
	if err := v.Take(Record{Node: 1, Seq: 4, Kind: Beat, At: 9000}); err != nil {
		t.Fatal(err)
	}
	const unknown = "too fast: what it exposes as leader is unknown from then on, until it exposes it again"
	want := []string{"clocks differ (first by 0) (6 times)", "node n1: " + unknown + " (9 missing)",
		"node n2: " + unknown + " (3 times)"}
	if is := v.Doubts(); !slices.Equal(is, want) {
		t.Errorf("%q, want %q", is, want)
	}
}
