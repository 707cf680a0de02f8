package debuginfo

import (
	"bytes"
	"debug/elf"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// cProgram has what descriptions of functions and variables are made of: structures, pointers,
// arrays, unions, enumerations, bit fields, numbers of all kinds, and functions that were copied
// into others.
const cProgram = `
enum color { red, green };
union either { int number; double real; };
struct peer { char name[8]; struct peer *next; unsigned flags : 3; enum color color; };
union either both;
struct server { long term; struct peer peers[2]; struct peer *first; float load; _Bool leader; };
struct server server = { 7, { { "a" }, { "b" } }, &server.peers[0], 0.5f, 1 };
static inline long twice(long n) { return 2 * n; }
__attribute__((noinline)) long elect(struct server *s, long term, double weight) { s->term = twice(term) + (long)weight; return s->term; }
__attribute__((noinline)) struct peer *last(struct server *s) { return elect(s, s->term, s->load) ? s->peers[1].next : 0; }
`

// wanted are queries of all kinds for cProgram.
var wanted = []Query{
	{Function: "elect", Values: []string{"s.term", "term", "weight", "s.first.name", "s.peers"}},
	{Function: "elect", Values: []string{"result", "old(s.term)", "s.leader"}, Returns: true},
	{Function: "last", Values: []string{"result.color", "s.load"}, Returns: true},
	{Function: "twice", Values: []string{"n"}},
	{Variable: "server", Values: []string{"term", "peers", "first.color"}},
	{Variable: "server"},
}

// compiled is cProgram as a compiler makes it, with the newest form of debug information and an
// older one, with and without optimization.
func compiled(tb testing.TB) (files [][]byte) {
	tb.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		tb.Skip("needs a C compiler")
	}
	dir := tb.TempDir()
	source := filepath.Join(dir, "a.c")
	if err := os.WriteFile(source, []byte(cProgram), 0o600); err != nil {
		tb.Fatal(err)
	}
	for _, flags := range [][]string{{"-gdwarf-5", "-O0"}, {"-gdwarf-5", "-O2"}, {"-gdwarf-4", "-O1"}} {
		out := filepath.Join(dir, "a.so")
		args := append(flags, "-shared", "-nostdlib", "-fPIC", "-o", out, source)
		if text, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
			tb.Fatalf("%v: %s", err, text)
		}
		data, err := os.ReadFile(out)
		if err != nil {
			tb.Fatal(err)
		}
		files = append(files, data)
	}
	return files
}

// memory is a machine whose memory is the loaded file, and whose registers all point into it.
type memory []byte

func (m memory) Register(n int) uint64          { return uint64(64 * n) }
func (m memory) Vectors() ([16][16]byte, error) { return [16][16]byte{}, nil }
func (m memory) Read(b []byte, addr uint64) error {
	if addr > uint64(len(m)) || uint64(len(m))-addr < uint64(len(b)) {
		return errors.New("no memory")
	}
	copy(b, m[addr:])
	return nil
}

// readAll finds the sites of all queries in a file, and reads what is wanted there.
func readAll(data []byte) (sites []Site, err error) {
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	if sites, err = Sites(f, wanted); err != nil {
		return nil, err
	}
	m := memory(data)
	for i := range sites {
		switch s := &sites[i]; s.Kind {
		case Rests:
			s.Rest(m, 0)
		case Returns:
			s.Return(m, s.Keep(m, 0))
			s.FrameBehind(m)
		default:
			s.Read(m, 0)
			s.Keep(m, 0)
			s.FrameAt(m)
		}
	}
	return sites, nil
}

// TestSitesOfC: what a compiler makes is understood.
func TestSitesOfC(t *testing.T) {
	for i, data := range compiled(t) {
		sites, err := readAll(data)
		if err != nil {
			t.Errorf("program %d: %v", i, err)
			continue
		}
		kinds := map[Kind]int{}
		for _, s := range sites {
			kinds[s.Kind]++
		}
		if kinds[Begins] == 0 || kinds[Returns]+kinds[Leaves] == 0 || kinds[Rests] != 2 {
			t.Errorf("program %d: sites by kind %v", i, kinds)
		}
	}
}

// TestDamaged changes a few bytes of real programs, the same each time: nothing panics.
func TestDamaged(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	damaged := 0
	for _, program := range compiled(t) {
		for range 1000 {
			data := bytes.Clone(program)
			for range 1 + r.IntN(20) {
				data[r.IntN(len(data))] = byte(r.IntN(256))
			}
			if _, err := readAll(data); err != nil {
				damaged++
			}
		}
	}
	if damaged == 0 {
		t.Error("no change made a program that is refused")
	}
}

// FuzzSites changes bytes of real programs: whatever is in a file, it is an error or understood.
func FuzzSites(f *testing.F) {
	for _, data := range compiled(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) { readAll(data) })
}
