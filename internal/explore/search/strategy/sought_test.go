package strategy

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/judge/expose"
)

// TestSoughtSubsequence: the rows are those of the longest common subsequence, as
// compared with all subsequences.
func TestSoughtSubsequence(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	draw := func(n int) (all []uint64) {
		for range n {
			all = append(all, r.Uint64N(4))
		}
		return all
	}
	for range 2000 {
		sought := draw(1 + r.IntN(8))
		row := make([]uint32, len(sought)+1)
		var path []uint64
		for range r.IntN(8) {
			c := r.Uint64N(4)
			path = append(path, c)
			before := slices.Clone(row)
			next := lengthen(row, sought, c)
			if !slices.Equal(before, row) {
				t.Fatal("the row before a change was changed")
			}
			row = next
		}
		want := 0
		for set := range 1 << len(sought) { // subsequences of what is sought
			n, at := 0, 0
			for j, c := range sought {
				if set>>j&1 == 0 {
					continue
				}
				for at < len(path) && path[at] != c {
					at++
				}
				if at == len(path) {
					n = -1
					break
				}
				n, at = n+1, at+1
			}
			want = max(want, n)
		}
		if got := int(row[len(sought)]); got != want {
			t.Fatalf("%v sought, %v shown: %d, want %d", sought, path, got, want)
		}
	}
}

// TestSoughtMany: the numbers of changes have no bound that a long history reaches.
func TestSoughtMany(t *testing.T) {
	const many = 1000
	s := NewSought(make([]SoughtChange, many))
	row := make([]uint32, many+1)
	for range many {
		row = lengthen(row, s.masked, s.masked[0])
	}
	if row[many] != many {
		t.Errorf("%d of %d", row[many], many)
	}
	// A path that was often gone on from is worth less than a new one, however much both show.
	s.score = 2 * many
	w := &Novelty{Features: &Features{}, Sought: s}
	far, near, tried := &beginning{score: 2*many - 1}, &beginning{score: 2 * many}, &beginning{score: 2 * many, used: 9}
	if w.expectedGain(near) <= w.expectedGain(far) || w.expectedGain(tried) >= w.expectedGain(far) {
		t.Errorf("worth %v, %v and %v", w.expectedGain(far), w.expectedGain(near), w.expectedGain(tried))
	}
}

// TestSoughtChanges: numbers do not matter, all else does.
func TestSoughtChanges(t *testing.T) {
	leads := func(name string, values ...string) *SoughtChange {
		return &SoughtChange{Node: 1, Change: expose.Change{Tuple: expose.Tuple{Name: name, Values: values}}}
	}
	one, other := leads("leader", "n1", "17"), leads("leader", "n1", "4")
	if one.hash(masked) != other.hash(masked) || one.hash(exact) == other.hash(exact) {
		t.Error("two changes that differ only in numbers are told apart, or are exactly the same")
	}
	ends := leads("leader")
	ends.Ends = true
	all := leads("leader")
	all.Ends, all.All = true, true
	elsewhere := leads("leader")
	elsewhere.Node = 2
	different := []*SoughtChange{leads("leader"), leads("follower"), leads("leader", "a"), leads("leader", "a", "a"),
		ends,
		all, elsewhere, {Node: 1, Up: true}, {Node: 1, Down: true}}
	seen := map[uint64]int{}
	for i, c := range different {
		if at, ok := seen[c.hash(masked)]; ok {
			t.Errorf("%+v and %+v are the same", different[at], c)
		}
		seen[c.hash(masked)] = i
	}
}
