//go:build linux

package node

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/machine/tracee"
	"github.com/ariadne-mc/ariadne/internal/system/machines"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// goroutines are those of golocks.go, each with what it has left to do, and what they share.
type goroutines struct {
	rest    [4]string
	read    [4]int
	locked  bool
	readers int
	writes  bool
	sent    bool
	number  int
	written string
}

// isPlace reports whether others may go first before a letter.
func isPlace(letter byte) bool { return strings.IndexByte("LUTRSWXsg", letter) >= 0 }

// step has a goroutine go on to its next place. not ok: it waits.
func (g goroutines) step(i int) (next goroutines, ok bool) {
	for first := true; g.rest[i] != ""; first = false {
		letter := g.rest[i][0]
		if isPlace(letter) && !first {
			break
		}
		switch letter {
		case 'L':
			ok, g.locked = !g.locked, true
		case 'U':
			ok, g.locked = true, false
		case 'T':
			ok = true
			if g.locked {
				g.written += "-"
				_, g.rest[i], _ = strings.Cut(g.rest[i], "U")
				continue
			}
			g.written += "+"
			g.locked = true
		case 'R':
			ok = !g.writes
			g.readers++
		case 'S':
			ok = true
			g.readers--
		case 'W':
			ok, g.writes = !g.writes && g.readers == 0, true
		case 'X':
			ok, g.writes = true, false
		case 's':
			ok, g.sent = !g.sent, true
		case 'g':
			ok, g.sent = g.sent, false
		case 'r':
			ok, g.read[i] = true, g.number
		case 'w':
			ok, g.number = true, g.read[i]+1
		default:
			ok = true
			g.written += string(letter)
		}
		if !ok {
			return g, false
		}
		g.rest[i] = g.rest[i][1:]
	}
	return g, true
}

// ends adds what goroutines come to in any order.
func (g goroutines) ends(known map[goroutines]bool, all map[string]bool) {
	if known[g] {
		return
	}
	known[g] = true
	goes := false
	for i := range g.rest {
		if g.rest[i] == "" {
			continue
		}
		if next, ok := g.step(i); ok {
			goes = true
			next.ends(known, all)
		}
	}
	if goes {
		return
	}
	if g.rest != [4]string{} {
		all["deadlock"] = true
	} else if g.number > 0 {
		all[g.written+strconv.Itoa(g.number)] = true
	} else {
		all[g.written] = true
	}
}

// TestGoLocks: goroutines that only take locks, most of them free, come to ends that are possible
// and to no others when threads are late at lock functions. One or two late threads are enough for
// most of the ends.
func TestGoLocks(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(dir, "golocks"),
		"testdata/threads/golocks.go").CombinedOutput(); err != nil {
		t.Skipf("go: %v\n%s", err, out)
	}
	runtime.LockOSThread()
	if err := tracee.Pin(0); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		texts []string
		late  int
		seen  []string // among others
		long  bool
	}{
		{[]string{"LrULwU", "LrULwU"}, 1, []string{"1", "2"}, false}, // a lost update
		{[]string{"LrwU", "LrwU"}, 1, []string{"2"}, false},
		{[]string{"RrSWwX", "RrSWwX"}, 1, []string{"1", "2"}, false},
		{[]string{"srgswg", "srgswg"}, 1, []string{"1", "2"}, false},
		{[]string{"LrULwU", "LrULwU", "LrULwU"}, 1, []string{"1", "2", "3"}, false},
		{[]string{"LaULbU", "LxULyU"}, 1, []string{"abxy"}, false},
		{[]string{"LaULbU", "LxULyU"}, 2, []string{"abxy", "axyb", "xaby", "xayb", "xyab"}, true},
		{[]string{"LabU", "TxyU"}, 2, []string{"+xyab", "ab+xy", "ab-"}, true},
	} {
		if c.long && os.Getenv("ARIADNE_LONG") == "" {
			continue
		}
		possible := map[string]bool{}
		var g goroutines
		copy(g.rest[:], c.texts)
		g.ends(map[goroutines]bool{}, possible)
		seen, steps := goEnds(t, dir, c.texts, c.late)
		for end := range seen {
			if !possible[end] {
				t.Errorf("%v: %q, which is not possible", c.texts, end)
			}
		}
		for _, want := range c.seen {
			if !seen[want] {
				t.Errorf("%v: no %q", c.texts, want)
			}
		}
		t.Logf("%v, %d late: %d ends of %d in %d steps", c.texts, c.late, len(seen), len(possible), steps)
	}
}

// goEnds are the ends to which goroutines come with up to so many threads that are late at lock
// functions.
func goEnds(t *testing.T, dir string, texts []string, late int) (seen map[string]bool, steps int) {
	t.Helper()
	s := &spec.Spec{Dir: dir, Limits: spec.Limits{Divergence: 10 * time.Second, Calls: 1_000_000},
		Nodes: []spec.Node{{Name: "n1", CPUs: len(texts) + 1,
			Commands: []spec.Command{{Args: append([]string{"/spec/golocks"}, texts...)}}}}}
	s.Faults[world.Preempt] = 1
	seen = map[string]bool{}
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
		if out.Variation() != v || len(out.Exits) != 1 || out.Exits[0].Status != 0 {
			t.Fatalf("varied by %s and not by %s: %v %v", out.Variation(), v, lines(&out), out.Exits)
		}
		seen[strings.Join(lines(&out), " ")] = true
		steps++
		for _, c := range out.More() {
			if left > 0 && ariadne.AtFunction(c.Place) {
				vary(v.And(c), left-1)
			}
		}
	}
	vary("", late)
	return seen, steps
}
