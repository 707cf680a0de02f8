//go:build linux

package node

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/machine/tracee"
	"github.com/ariadne-mc/ariadne/internal/system/machines"
	"github.com/ariadne-mc/ariadne/internal/system/spec"

	"pgregory.net/rapid"
)

// scheduler is our threads in a few lines: each is a list of calls and of what it does between
// them, and at most so many times another one than that whose turn it is goes first.
type scheduler struct {
	calls [][]string // by thread; the first is main
	seen  map[string]bool
	// memory: letters are written there and not by calls
	memory bool
}

// futex is a lock or a semaphore as the C library has it.
type futex struct {
	value   int   // of a lock 0: free, 1: taken, 2: and perhaps others wait for it
	known   int   // how many wait for a semaphore, or are about to
	waiting []int // threads
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
	// what threads have in memory between calls, by thread where it is theirs
	lock, semaphore futex
	phase           []int // how far each is in a function
	read            []int // what each has read of the number
	number          int
}

func (s turns) copy() turns {
	s.at, s.ready, s.ended = slices.Clone(s.at), slices.Clone(s.ready), slices.Clone(s.ended)
	s.phase, s.read = slices.Clone(s.phase), slices.Clone(s.read)
	s.lock.waiting, s.semaphore.waiting = slices.Clone(s.lock.waiting), slices.Clone(s.semaphore.waiting)
	return s
}

// between reports whether what a thread does is no place, and does it then.
func (s *turns) between(t int, what string) bool {
	switch what {
	case "r":
		s.read[t] = s.number
	case "w":
		s.number = s.read[t] + 1
	case "a", "b", "x", "y":
		s.written += what
	default:
		return false
	}
	return true
}

// enter has t go on in a function of the lock or the semaphore, from a place on. It says whether t
// has come to its end, or waits; otherwise t stands at the next place.
func (s *turns) enter(t int, function string) (ended, waits bool) {
	const (
		begins = iota
		asks   // is about to make the call by which it waits
		woken
		wakes // is about to make the call by which it wakes another
		made
	)
	f := &s.lock
	if function == "P" || function == "V" {
		f = &s.semaphore
	}
	at := s.phase[t]
	s.phase[t] = begins
	if at == made {
		return true, false
	}
	if at == wakes {
		if len(f.waiting) == 0 {
			return true, false
		}
		s.phase[t] = made
		s.wake(f.waiting[0])
		f.waiting = f.waiting[1:]
		return false, false
	}
	switch function {
	case "T":
		s.written += string("+-"[min(f.value, 1)])
		if f.value == 0 {
			f.value = 1
		}
		return true, false
	case "L":
		switch {
		case at == asks && f.value == 2:
			s.phase[t] = woken
			f.waiting = append(f.waiting, t)
			return false, true
		case f.value == 0:
			f.value = 1 + min(at, 1)
			return true, false
		}
		f.value = 2
		s.phase[t] = asks
	case "P":
		switch {
		case at == asks && f.value == 0:
			s.phase[t] = woken
			f.waiting = append(f.waiting, t)
			return false, true
		case f.value > 0:
			f.value--
			if at != begins {
				f.known--
			}
			return true, false
		}
		if at == begins {
			f.known++
		}
		s.phase[t] = asks
	case "U":
		before := f.value
		f.value = 0
		if before < 2 {
			return true, false
		}
		s.phase[t] = wakes
	case "V":
		f.value++
		if f.known == 0 {
			return true, false
		}
		s.phase[t] = wakes
	}
	return false, false
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
		if s.number > 0 {
			s.written += strconv.Itoa(s.number)
		}
		if !s.ended[0] {
			s.written = "" // nobody has printed it
		}
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
	case strings.Contains("LUTPV", call):
		ended, waits := s.enter(t, call)
		if waits {
			x.next(s, left)
			return
		}
		if !ended {
			x.choose(s, t, left)
			return
		}
		if call == "T" && strings.HasSuffix(s.written, "-") { // it leaves out what it would do
			s.at[t] += slices.Index(x.calls[t][s.at[t]:], "U")
		}
	default:
		s.written += call
	}
	s.at[t]++
	for s.at[t] < len(x.calls[t]) && x.memory && s.between(t, x.calls[t][s.at[t]]) {
		s.at[t]++
	}
	x.choose(s, t, left)
}

// orders are the texts that threads write, each a letter at a time, with so many late. With memory
// they do what locks.c does.
func orders(texts []string, late int, memory bool) map[string]bool {
	x := &scheduler{calls: [][]string{nil}, seen: map[string]bool{}, memory: memory}
	each := func() []int { return make([]int, len(texts)+1) }
	s := turns{ready: []int{0}, ended: make([]bool, len(texts)+1), at: []int{0}, phase: each(), read: each()}
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
	program := buildThreads(t, "order")
	for _, c := range []struct {
		texts []string
		most  int
		whole bool // so many are enough for all orders
	}{
		{[]string{"ab", "xy"}, 2, false},
		{[]string{"a", "x"}, 1, true},
		{[]string{"ab", "xyz"}, 1, false},
	} {
		seen, steps := compareOrders(t, program, c.texts, c.most, false)
		all := interleavings(c.texts, "", map[string]bool{})
		if maps.Equal(seen, all) != c.whole {
			t.Errorf("%v, %d late: %d orders of %d", c.texts, c.most, len(seen), len(all))
		}
		t.Logf("%v: %d orders of %d in %d steps", c.texts, len(seen), len(all), steps)
	}
}

// TestFreeLocks: threads that only take locks, most of them free, come to what a scheduler comes to
// that knows what the C library has in memory.
func TestFreeLocks(t *testing.T) {
	program := buildThreads(t, "locks")
	for _, c := range []struct {
		texts []string
		most  int
		seen  []string // among others
	}{
		{[]string{"LrULwU", "LrULwU"}, 2, []string{"1", "2"}}, // a lost update
		{[]string{"LrwU", "LrwU"}, 2, []string{"2"}},
		{[]string{"LaULbU", "LxULyU"}, 1, []string{"abxy", "axyb"}},
		{[]string{"LabU", "TxyU"}, 2, []string{"ab+xy", "ab-", "+xyab"}},
		{[]string{"VaPb", "PxVy"}, 1, []string{"axyb"}},
		{[]string{"LPaU", "LVxU"}, 2, []string{"", "xa"}}, // a deadlock
		{[]string{"LrULwU", "LrULwU", "LrULwU"}, 1, []string{"1", "2", "3"}},
	} {
		seen, steps := compareOrders(t, program, c.texts, c.most, true)
		for _, want := range c.seen {
			if !seen[want] {
				t.Errorf("%v: no %q", c.texts, want)
			}
		}
		t.Logf("%v: %d ends in %d steps", c.texts, len(seen), steps)
	}
}

// TestRandomLocks: so do threads whose programs are drawn.
func TestRandomLocks(t *testing.T) {
	program := buildThreads(t, "locks")
	pieces := func(t *rapid.T, name, letter string) (text string) {
		between := rapid.SampledFrom([]string{letter, letter, "r", "w", "rw"})
		for range rapid.IntRange(1, 2).Draw(t, name) {
			around := rapid.SampledFrom([]string{"LU", "LU", "TU", "V ", "P "}).Draw(t, "functions")
			text += around[:1] + between.Draw(t, "inside") + strings.TrimSpace(around[1:]) + between.Draw(t, "behind")
		}
		return text
	}
	programs := rapid.Custom(func(t *rapid.T) []string {
		return []string{pieces(t, "a", "a"), pieces(t, "b", "x")}
	})
	draws, most := 10, 1
	if os.Getenv("ARIADNE_LONG") != "" {
		draws, most = 60, 2
	}
	several := 0
	for draw := range draws {
		texts := programs.Example(draw)
		seen, steps := compareOrders(t, program, texts, most, true)
		if len(seen) > 1 {
			several++
		}
		t.Logf("%v: %d ends in %d steps", texts, len(seen), steps)
	}
	if several == 0 {
		t.Error("each program came to one end only")
	}
}

// buildThreads builds a program of testdata/threads, and returns the directory that it lies in.
func buildThreads(t *testing.T, name string) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), name)
	if out, err := exec.Command("cc", "-O1", "-Wall", "-static", "-pthread", "-o", program,
		"testdata/threads/"+name+".c").CombinedOutput(); err != nil {
		t.Skipf("cc: %v\n%s", err, out)
	}
	runtime.LockOSThread()
	if err := tracee.Pin(0); err != nil {
		t.Fatal(err)
	}
	return program
}

// compareOrders has the program's threads do texts in all ways with up to so many late, and
// compares with the scheduler. It returns what was seen with the most.
func compareOrders(t *testing.T, program string, texts []string, most int, memory bool) (seen map[string]bool,
	steps int) {
	t.Helper()
	s := &spec.Spec{Dir: filepath.Dir(program), Limits: spec.Limits{Divergence: 10 * time.Second, Calls: 1_000_000},
		Nodes: []spec.Node{{Name: "n1", CPUs: 1,
			Commands: []spec.Command{{Args: append([]string{"/spec/" + filepath.Base(program)}, texts...)}}}}}
	s.Faults[world.Preempt] = 1
	var vary func(v ariadne.Variation, left int)
	vary = func(v ariadne.Variation, left int) {
		n := Start(Config{Pages: followInTests, Machine: machines.Of(s, 0, 1)})
		out, err := n.Apply(ariadne.Input{Kind: ariadne.Start, Vary: v})
		if err != nil {
			t.Fatal(err)
		}
		if err := n.Close(); err != nil {
			t.Error(err)
		}
		ended := len(out.Exits) == 1 && out.Exits[0].Status == 0
		if out.Variation() != v || !ended && (!memory || len(out.Exits)+len(lines(&out)) > 0) {
			t.Fatalf("varied by %s and not by %s: %v %v", out.Variation(), v, lines(&out), out.Exits)
		}
		seen[strings.Join(lines(&out), " ")] = true
		if steps++; left > 0 {
			for _, c := range out.More() {
				vary(v.And(c), left-1)
			}
		}
	}
	for late := 0; late <= most; late++ {
		seen = map[string]bool{}
		vary("", late)
		if want := orders(texts, late, memory); !maps.Equal(seen, want) {
			t.Errorf("%v, %d late: %q, want %q", texts, late, slices.Sorted(maps.Keys(seen)),
				slices.Sorted(maps.Keys(want)))
		}
	}
	return seen, steps
}
