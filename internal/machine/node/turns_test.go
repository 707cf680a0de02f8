//go:build linux

package node

import (
	"maps"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/machine/tracee"
	"github.com/ariadne-mc/ariadne/internal/system/machines"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// scheduler is our threads in a few lines: each is a list of calls, and at most so many times
// another one than that whose turn it is goes first.
type scheduler struct {
	calls [][]string // by thread; the first is main
	seen  map[string]bool
}

// turns is a state: how far each thread is, who is ready in which order, and of these how many,
// at the end, are late.
type turns struct {
	at      []int
	ready   []int
	late    int
	waits   int // for whose end the main thread waits; 0: for nobody
	ended   []bool
	written string
}

func (s turns) copy() turns {
	s.at, s.ready, s.ended = slices.Clone(s.at), slices.Clone(s.ready), slices.Clone(s.ended)
	return s
}

func (s *turns) wake(t int) { s.ready = slices.Insert(s.ready, len(s.ready)-s.late, t) }

func (s *turns) take(i int) int {
	if i >= len(s.ready)-s.late {
		s.late--
	}
	t := s.ready[i]
	s.ready = slices.Delete(s.ready, i, i+1)
	return t
}

// choose goes on where t would: with it, or with each of the others, and t is late.
func (x *scheduler) choose(s turns, t, left int) {
	x.run(s.copy(), t, left)
	for i := 0; i < len(s.ready) && left > 0; i++ {
		other := s.copy()
		other.ready, other.late = append(other.ready, t), other.late+1
		x.run(other, other.take(i), left-1)
	}
}

func (x *scheduler) next(s turns, left int) {
	if len(s.ready) == 0 {
		x.seen[s.written] = true
		return
	}
	t := s.take(0)
	x.choose(s, t, left)
}

// run has t make its next call, at whose entry it has stood, and go on to the one after it.
func (x *scheduler) run(s turns, t, left int) {
	if s.at[t] == len(x.calls[t]) {
		s.ended[t] = true
		if s.waits == t && t > 0 {
			s.waits = 0
			s.wake(0)
		}
		x.next(s, left)
		return
	}
	call := x.calls[t][s.at[t]]
	switch {
	case call == "create":
		n := slices.Index(s.at, -1)
		s.at[n] = 0
		s.wake(n)
	case strings.HasPrefix(call, "join"):
		if n := int(call[4] - '0'); !s.ended[n] {
			s.waits = n
			x.next(s, left)
			return
		}
	default:
		s.written += call
	}
	s.at[t]++
	x.choose(s, t, left)
}

// orders are the texts that threads write, each a letter at a time, with so many late.
func orders(texts []string, late int) map[string]bool {
	x := &scheduler{calls: [][]string{nil}, seen: map[string]bool{}}
	s := turns{ready: []int{0}, ended: make([]bool, len(texts)+1), at: []int{0}}
	for _, text := range texts {
		x.calls[0] = append(x.calls[0], "create")
		x.calls = append(x.calls, strings.Split(text, ""))
		s.at = append(s.at, -1)
	}
	for i := range texts {
		x.calls[0] = append(x.calls[0], "join"+string(rune('1'+i)))
	}
	x.next(s, late)
	return x.seen
}

// interleavings are all that there are of some texts.
func interleavings(texts []string, before string, all map[string]bool) map[string]bool {
	end := true
	for i, text := range texts {
		if text != "" {
			rest := slices.Clone(texts)
			rest[i] = text[1:]
			interleavings(rest, before+text[:1], all)
			end = false
		}
	}
	if end {
		all[before] = true
	}
	return all
}

// TestThreadOrders: what threads write comes in every order that so many late threads make
// possible, and in no other; with enough of them in every order that there is.
func TestThreadOrders(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("cc", "-O1", "-Wall", "-static", "-pthread", "-o", filepath.Join(dir, "order"), "testdata/threads/order.c").CombinedOutput(); err != nil {
		t.Skipf("cc: %v\n%s", err, out)
	}
	runtime.LockOSThread()
	if err := tracee.Pin(0); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		texts []string
		most  int
		whole bool // so many are enough for all orders
	}{
		{[]string{"ab", "xy"}, 2, false},
		{[]string{"a", "x"}, 1, true},
		{[]string{"ab", "xyz"}, 1, false},
	} {
		s := &spec.Spec{Dir: dir, Limits: spec.Limits{Divergence: 10 * time.Second, Calls: 1_000_000},
			Nodes: []spec.Node{{Name: "n1", CPUs: 1, Commands: []spec.Command{{Args: append([]string{"/spec/order"}, c.texts...)}}}}}
		s.Faults[world.Preempt] = 1
		var seen map[string]bool
		steps := 0
		var vary func(v ariadne.Variation, left int)
		vary = func(v ariadne.Variation, left int) {
			n := Start(Config{Machine: machines.Of(s, 0, 1)})
			out, err := n.Apply(ariadne.Input{Kind: ariadne.Start, Vary: v})
			if err != nil {
				t.Fatal(err)
			}
			if err := n.Close(); err != nil {
				t.Error(err)
			}
			if out.Variation() != v || len(out.Exits) != 1 || out.Exits[0].Status != 0 {
				t.Fatalf("varied by %s and not by %s: %v %v", out.Variation(), v, lines(&out), out.Exits)
			}
			seen[strings.Join(lines(&out), " ")] = true
			if steps++; left > 0 {
				for _, c := range out.More() {
					vary(v.And(c), left-1)
				}
			}
		}
		for late := 0; late <= c.most; late++ {
			seen = map[string]bool{}
			vary("", late)
			if want := orders(c.texts, late); !maps.Equal(seen, want) {
				t.Errorf("%v, %d late: %v, want %v", c.texts, late, slices.Sorted(maps.Keys(seen)), slices.Sorted(maps.Keys(want)))
			}
		}
		all := interleavings(c.texts, "", map[string]bool{})
		if maps.Equal(seen, all) != c.whole {
			t.Errorf("%v, %d late: %d orders of %d", c.texts, c.most, len(seen), len(all))
		}
		t.Logf("%v: %d orders of %d in %d steps", c.texts, len(seen), len(all), steps)
	}
}
