package strategy

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/judge/expose"
)

// TestSoughtSubsequence: the rows of progress are those of the longest common subsequence, as
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
		s := &Sought{changes: draw(1 + r.IntN(8))}
		row := make([]uint8, len(s.changes)+1)
		var path []uint64
		for range r.IntN(8) {
			step := draw(r.IntN(3))
			path = append(path, step...)
			before := slices.Clone(row)
			next := s.after(row, step)
			if !slices.Equal(before, row) {
				t.Fatal("the row before a step was changed")
			}
			row = next
		}
		want := 0
		for set := range 1 << len(s.changes) { // subsequences of what is sought
			n, at := 0, 0
			for j, c := range s.changes {
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
		if got := int(row[len(s.changes)]); got != want {
			t.Fatalf("%v sought, %v shown: %d, want %d", s.changes, path, got, want)
		}
	}
}

// TestSoughtChanges: numbers do not matter, all else does.
func TestSoughtChanges(t *testing.T) {
	leads := func(name string, values ...string) *SoughtChange {
		return &SoughtChange{Node: 1, Change: expose.Change{Tuple: expose.Tuple{Name: name, Values: values}}}
	}
	if leads("leader", "n1", "17").hash() != leads("leader", "n1", "4").hash() {
		t.Error("numbers matter")
	}
	ends := leads("leader")
	ends.Ends = true
	all := leads("leader")
	all.Ends, all.All = true, true
	other := leads("leader")
	other.Node = 2
	different := []*SoughtChange{leads("leader"), leads("follower"), leads("leader", "a"), leads("leader", "a", "a"),
		ends,
		all, other, {Node: 1, Up: true}, {Node: 1, Down: true}}
	seen := map[uint64]int{}
	for i, c := range different {
		if at, ok := seen[c.hash()]; ok {
			t.Errorf("%+v and %+v are the same", different[at], c)
		}
		seen[c.hash()] = i
	}
}
