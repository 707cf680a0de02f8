package memo_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"ariadne"
	"ariadne/internal/memo"
	"ariadne/internal/memo/memotest"
)

// A store is a cache: whatever happens to its file, what is looked up is right, and the
// next memo with that file has it as good as new.
func TestDamagedStore(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "good")
	var inputs []int
	for i := range 400 {
		inputs = append(inputs, i)
	}
	file := func(f ariadne.File) (ariadne.Digest, error) {
		return ariadne.Digest{byte(f.Use), byte(len(f.Path))}, nil
	}
	// open executes what is missing, compares all, and returns how much was executed.
	open := func(path string, inputs []int) (executed int, damaged string) {
		t.Helper()
		m, err := memo.Open(system(chaos), memo.Options{Path: path, Key: ariadne.Digest{1}, File: file})
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Depend([]ariadne.File{{Path: "/a"}, {Path: "/spec/b", Use: ariadne.FileList}}); err != nil {
			t.Fatal(err)
		}
		b := &bench{t: t, memo: m, machines: &memotest.Machines{Programs: chaos}}
		b.executor = memo.NewExecutor(m, b.machines.Boot(), memo.Limits{})
		for i, l := range b.walk(inputs...) {
			if i > 0 && l.Did != digests(t)[i-1] {
				t.Fatalf("state %d: digest %v", i, l.Did)
			}
		}
		b.close()
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		return b.executor.Counts().Executed, m.Damaged()
	}
	if n, d := open(good, inputs); n != len(inputs) || d != "" {
		t.Fatalf("%d executed, %s", n, d)
	}
	if n, d := open(good, inputs); n != 0 || d != "" {
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
		if _, d := open(path, inputs[:40]); d != "" {
			found++
			t.Logf("%s: %s", name, d)
		}
		open(path, inputs[:40])
		if n, d := open(path, inputs[:40]); n != 0 || d != "" {
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

// digests of a walk over the inputs 0, 1, 2 ...
var digests = func() func(t *testing.T) []ariadne.Digest {
	var all []ariadne.Digest
	return func(t *testing.T) []ariadne.Digest {
		if all == nil {
			b := newBench(t, memo.Options{}, memo.Limits{})
			var inputs []int
			for i := range 400 {
				inputs = append(inputs, i)
			}
			for _, l := range b.walk(inputs...)[1:] {
				all = append(all, l.Did)
			}
		}
		return all
	}
}()
