//go:build linux

package bolt_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/memo/bolt"
)

// TestDamagedStore: a store is a cache: whatever happens to its file, what is looked up is right,
// and the next memo with that file has it as good as new.
func TestDamagedStore(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "good")
	const all = 400
	m, err := memo.Open(system(), memo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	right, _ := walk(t, m, all)
	// open executes what is missing, compares all, and returns how much was executed.
	open := func(path string, messages int) (executed int, damaged string) {
		t.Helper()
		m, err := memo.Open(system(), memo.Options{Store: bolt.At(path), Key: ariadne.Digest{1}, File: digestOf})
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Depend([]ariadne.File{{Path: "/a"}, {Path: "/spec/b", Use: ariadne.FileList}}); err != nil {
			t.Fatal(err)
		}
		did, executed := walk(t, m, messages)
		if !slices.Equal(did, right[:messages]) {
			t.Fatal("the nodes did something else")
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		return executed, m.Damaged()
	}
	if n, d := open(good, all); n != all || d != "" {
		t.Fatalf("%d executed, %s", n, d)
	}
	if n, d := open(good, all); n != 0 || d != "" {
		t.Fatalf("as it was: %d executed, %s", n, d)
	}
	data, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	damage := func(name string, bad []byte) {
		t.Helper()
		path := filepath.Join(dir, "bad")
		if err := os.WriteFile(path, bad, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, d := open(path, 40); d != "" {
			found++
			t.Logf("%s: %s", name, d)
		}
		open(path, 40)
		if n, d := open(path, 40); n != 0 || d != "" {
			t.Fatalf("%s: after two checks %d are executed again, %s", name, n, d)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	times := 60
	if os.Getenv("ARIADNE_LONG") != "" {
		times = 5000
	}
	for range times {
		bad := append([]byte(nil), data...)
		switch page := os.Getpagesize(); r.IntN(6) {
		case 0: // anywhere
			for range 1 + r.IntN(3) {
				bad[r.IntN(len(bad))] ^= 1 << r.IntN(8)
			}
		case 1: // where the structure is
			for range 1 + r.IntN(3) {
				bad[r.IntN(len(bad)/page)*page+r.IntN(200)] ^= 1 << r.IntN(8)
			}
		case 2:
			bad = bad[:r.IntN(len(bad))]
		case 3: // pages that never came to the disk
			at := r.IntN(len(bad) / page)
			clear(bad[at*page : (at+1)*page])
		case 4: // or to another place
			copy(bad[r.IntN(len(bad)/page)*page:], data[r.IntN(len(bad)/page)*page:][:page])
		case 5:
			for i := range bad[:r.IntN(len(bad))] {
				bad[i] = byte(r.Uint32())
			}
		}
		damage("random", bad)
	}
	damage("another file", []byte("this is no store, and it is long enough not to be the beginning of one"))
	damage("an empty file", nil)
	if found < times/3 {
		t.Errorf("of %d damaged files %d were noticed", times, found)
	}
}
