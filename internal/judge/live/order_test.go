package live

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"

	"pgregory.net/rapid"
)

// plainOrder is an order that looks at all events for each question.
type plainOrder struct {
	clockError      ariadne.Time
	pending, recent []*event // pending as they came
}

// before reports whether a has certainly happened before b.
func (o *plainOrder) before(a, b *event) bool {
	switch {
	case a.Node == b.Node && (a.Channel == b.Channel || a.Kind != Show || b.Kind != Show):
		return a.place < b.place
	case a.Node == b.Node:
		return a.At < b.After
	case a.At+o.clockError < b.After:
		return true
	}
	return heard(a, b)
}

func (o *plainOrder) divides() bool {
	for _, a := range o.recent {
		for _, b := range o.pending {
			if !o.before(a, b) || a.Node == b.Node && b.Kind == Lost && a.At > b.After {
				return false
			}
		}
	}
	return true
}

func (o *plainOrder) first() (first *event, inverted *inversion) {
	place, pending := 0, o.pending
	for k, e := range pending {
		if earlier(e, pending[place]) {
			place = k
		}
	}
	for range pending {
		e := pending[place]
		k := slices.IndexFunc(pending, func(f *event) bool {
			return f != e && (f.Node == e.Node && o.before(f, e) || f.Node != e.Node && heard(f, e))
		})
		if k < 0 {
			break
		}
		f := pending[k]
		if by := f.After - e.At; f.Node != e.Node && by > 0 &&
			(inverted == nil || by > inverted.sent.After-inverted.read.At) {
			inverted = &inversion{f, e}
		}
		place = k
	}
	return pending[place], inverted
}

func (o *plainOrder) begin(until ariadne.Time) ariadne.Time {
	for _, e := range o.pending {
		until = min(until, e.After)
	}
	return until
}

func (o *plainOrder) forget(begin ariadne.Time) {
	o.recent = slices.DeleteFunc(o.recent, func(e *event) bool { return e.At+o.clockError < begin })
}

// TestOrder: an order says the same of events, whatever they are, as one that looks at all of them.
// The events are drawn without regard to what agents can tell: also such as contradict each other.
func TestOrder(t *testing.T) {
	var moved, inversions, divided, not, heardOf, round int
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.IntRange(1, 4).Draw(t, "nodes")
		clockError := ariadne.Time(rapid.SampledFrom([]int{0, 3, 20}).Draw(t, "clock error"))
		plain, o := plainOrder{clockError: clockError}, newOrder(nodes, clockError)
		ahead := rapid.SampledFrom([]int{0, 4, 8}).Draw(t, "ahead")
		positioned := rapid.IntRange(0, 3).Draw(t, "positions")
		spread := rapid.SampledFrom([]int{2, 10, 60}).Draw(t, "spread")
		step := rapid.SampledFrom([]uint32{1, 1 << 28, 1 << 30}).Draw(t, "step")
		begin := ^uint32(0) - rapid.SampledFrom([]uint32{0, 5, 50}).Draw(t, "begin")
		kinds := rapid.SampledFrom([][]Kind{{Show}, {Show, Show, Show, Lost, Up, Down}}).Draw(t, "kinds")
		channels := rapid.IntRange(1, 3).Draw(t, "channels")
		places := make([]uint64, nodes)
		unsent := make([][]*event, nodes)
		now := 0
		positions := func(node int) *Positions {
			p := &Positions{Sent: map[Stream]uint32{}, Got: map[Stream]uint32{},
				Counted: rapid.IntRange(0, 9).Draw(t, "counted") == 0}
			at := func(ahead int) uint32 {
				return begin + step*uint32(max(0, now/8+ahead+rapid.IntRange(-2, 2).Draw(t, "position")))
			}
			for other := range nodes {
				if rapid.IntRange(0, 3).Draw(t, "sends") > 0 {
					p.Sent[streamOf(node, other)] = at(0)
				}
				if rapid.IntRange(0, 3).Draw(t, "gets") > 0 {
					p.Got[streamOf(other, node)] = at(ahead)
				}
			}
			return p
		}
		for range rapid.IntRange(1, 12).Draw(t, "rounds") {
			for range rapid.IntRange(0, 12).Draw(t, "events") {
				now += rapid.IntRange(0, 6).Draw(t, "passes")
				node := rapid.IntRange(0, nodes-1).Draw(t, "node")
				if known := unsent[node]; positioned > 0 && rapid.IntRange(0, 3).Draw(t, "know") == 0 {
					unsent[node] = nil
					o.know(known, positions(node))
				}
				after := now + rapid.IntRange(-spread, spread).Draw(t, "after")
				places[node]++
				e := &event{place: places[node], Record: &Record{Node: ariadne.NodeID(node),
					Kind:  rapid.SampledFrom(kinds).Draw(t, "kind"),
					After: ariadne.Time(after), At: ariadne.Time(after + rapid.IntRange(0, spread).Draw(t, "takes"))}}
				if e.Kind == Show {
					e.Channel = Channel(rapid.IntRange(0, channels-1).Draw(t, "channel"))
				}
				if positioned > 1 && rapid.Bool().Draw(t, "knows") {
					e.got = positions(node)
				}
				if positioned > 1 && rapid.Bool().Draw(t, "knows what it sent") {
					e.sent = positions(node)
				} else {
					unsent[node] = append(unsent[node], e)
				}
				plain.pending = append(plain.pending, e)
				o.add(e)
			}
			until := ariadne.Time(now + rapid.IntRange(-2*spread, spread).Draw(t, "until"))
			for len(plain.pending) > 0 {
				want, inverted := plain.first()
				got, by := o.first()
				if got != want || (by == nil) != (inverted == nil) || by != nil && *by != *inverted {
					t.Fatalf("first is %+v %v, want %+v %v", got.Record, by, want.Record, inverted)
				}
				if moved++; want == slices.MinFunc(plain.pending, func(a, b *event) int {
					if earlier(a, b) {
						return -1
					}
					return 1
				}) {
					moved--
				}
				if inverted != nil {
					inversions++
				}
				if len(o.path) > 2 && o.predecessor(got) != nil {
					round++
				}
				if got.At > until {
					break
				}
				k := slices.Index(plain.pending, want)
				plain.pending = slices.Delete(plain.pending, k, k+1)
				o.take(want)
				if o.waiting != len(plain.pending) {
					t.Fatalf("%d wait, want %d", o.waiting, len(plain.pending))
				}
				plain.recent = append(plain.recent, want)
				o.keep(want)
				for node := range nodes {
					if e := o.least(node); e != nil && !slices.Contains(plain.pending, e) {
						t.Fatalf("%+v waits no longer", e.Record)
					}
				}
				divides := plain.divides()
				if o.divides() != divides {
					t.Fatalf("divides is %v, want %v", !divides, divides)
				}
				if o.begin(until) != plain.begin(until) {
					t.Fatalf("begins at %d, want %d", o.begin(until), plain.begin(until))
				}
				if !divides {
					not++
				} else if divided++; slices.ContainsFunc(plain.recent, func(a *event) bool {
					return slices.ContainsFunc(plain.pending, func(b *event) bool {
						return a.Node != b.Node && a.At+clockError >= b.After
					})
				}) {
					heardOf++
				}
				o.forget(o.begin(until))
			}
			plain.forget(plain.begin(until))
			o.forget(o.begin(until))
			o.settle()
			if got := o.waitingEvents(); !slices.Equal(got, plain.pending) {
				t.Fatalf("%v wait, want %v", got, plain.pending)
			}
			if got := o.recentEvents(); len(got) != len(plain.recent) || slices.ContainsFunc(got, func(e *event) bool {
				return !slices.Contains(plain.recent, e)
			}) {
				t.Fatalf("%v are recent, want %v", got, plain.recent)
			}
		}
	})
	for what, n := range map[string]int{"moved": moved, "inversions": inversions, "divided": divided,
		"not divided": not, "divided by messages": heardOf, "rounds": round} {
		if t.Logf("%s: %d", what, n); n == 0 {
			t.Errorf("%s: none: the test tries too little", what)
		}
	}
}

// backlog has a verifier take so many calls of each of three nodes, whose times are known, before
// anything is judged. It returns how long it took.
func backlog(t testing.TB, calls int, wide bool, positions func(node, i int) *Positions) time.Duration {
	const nodes = 3
	v := NewVerifier(Config{ClockError: 10 * time.Millisecond}, keyed(nodes)["agree"])
	seq := [nodes]uint64{}
	var spent time.Duration
	take := func(node int, r Record) {
		seq[node]++
		r.Node, r.Seq = ariadne.NodeID(node), seq[node]
		begin := time.Now()
		if err := v.Take(r); err != nil {
			t.Fatal(err)
		}
		spent += time.Since(begin)
	}
	for node := range nodes {
		take(node, Record{Kind: Up})
	}
	at := ariadne.Time(0)
	for i := range calls {
		for node := range nodes {
			at += ariadne.Time(time.Second) / 3000
			key := strconv.Itoa(i % 8)
			r := Record{Kind: Show, Channel: Functions, After: at, At: at, Changes: []expose.Change{
				{Tuple: expose.Tuple{Name: "value", Key: key, Fields: []string{"k", "v"}, Values: []string{key, "1"}}}}}
			if wide {
				r.Channel, r.After, r.At = Lines, 1, ariadne.Time(calls)*second/1000
			}
			if positions != nil {
				r.Positions = positions(node, i)
			}
			take(node, r)
		}
	}
	for node := range nodes {
		take(node, Record{Kind: Beat, After: at + 2*second, At: at + 2*second})
	}
	if v.Events != nodes*(calls+1) {
		t.Fatalf("%+v", v.Counts)
	}
	return spent
}

// chained are positions in the streams of a node when each node has sent something to all others
// before each of its calls, and has read all that there was.
func chained(node, i int) *Positions {
	p := &Positions{Sent: map[Stream]uint32{}, Got: map[Stream]uint32{}}
	for other := range 3 {
		p.Sent[streamOf(node, other)] = uint32(i + 1)
		if p.Got[streamOf(other, node)] = uint32(i + 1); other < node {
			p.Got[streamOf(other, node)] = uint32(i + 2)
		}
	}
	return p
}

// backlogs are the kinds of what can wait.
var backlogs = map[string]func(t testing.TB, calls int) time.Duration{
	"exact":   func(t testing.TB, calls int) time.Duration { return backlog(t, calls, false, nil) },
	"wide":    func(t testing.TB, calls int) time.Duration { return backlog(t, calls, true, nil) },
	"chained": func(t testing.TB, calls int) time.Duration { return backlog(t, calls, false, chained) },
}

// TestBacklog: what waits is judged in about the same time for each event, whether there is little
// of it or much.
func TestBacklog(t *testing.T) {
	for name, of := range backlogs {
		least := 64.0
		for range 10 { // the machine may do other things
			if few := of(t, 750); few > 0 {
				least = min(least, float64(of(t, 3000))/float64(few))
			}
			if least < 8 {
				break
			}
		}
		if t.Logf("%s: %.1f", name, least); least >= 8 {
			t.Errorf("%s: 3000 calls of each node take %.1f times as long as 750", name, least)
		}
	}
}

// TestOrderIsBounded: however long a verifier runs, it keeps nothing of events that are over,
// whether positions of their nodes are known or not, and of which streams they are.
func TestOrderIsBounded(t *testing.T) {
	for _, positioned := range []bool{false, true} {
		v, seq := NewVerifier(Config{ClockError: 10}, keyed(2)["agree"]), [2]uint64{}
		take := func(node int, r Record) {
			seq[node]++
			r.Node, r.Seq, r.After = ariadne.NodeID(node), seq[node], r.At
			if err := v.Take(r); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 3000 {
			at := ariadne.Time(100 * i)
			r := Record{Kind: Show, At: at, Changes: []expose.Change{{Tuple: expose.Tuple{Name: "value", Key: "a",
				Fields: []string{"k", "v"}, Values: []string{"a", "1"}}}}}
			if positioned {
				r.Positions = &Positions{Sent: map[Stream]uint32{streamOf(i%2, i%256): 1}}
			}
			take(i%2, r)
			for node := range 2 {
				take(node, Record{Kind: Beat, At: at - 500})
			}
		}
		o, n := &v.order, 0
		count := func(more int) { n = max(n, more) }
		count(len(o.byAt.all))
		for i := range v.nodes {
			count(len(v.nodes[i].unsent))
			count(len(o.senders[i].streams))
			count(o.senders[i].total)
			for _, l := range o.lanes[i] {
				count(len(l.waiting))
				count(len(l.byAfter.all))
				count(len(l.recent.all))
			}
		}
		if n > 40 || v.Events < 2900 {
			t.Errorf("positions %v: %d are kept of %d events", positioned, n, v.Events)
		}
	}
}
