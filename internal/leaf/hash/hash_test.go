package hash

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSame: hashes are the same on every machine and in every version, for they decide ties.
func TestSame(t *testing.T) {
	if got, want := Of(1, 2, 3), (Hash{0xddd8caf965e0a488, 0x1e3fe0137e8436c2}); got != want {
		t.Errorf("Of(1, 2, 3) is %#x", got)
	}
	if got, want := OfText("ariadne"), (Hash{0xef72d51f426d7daf, 0x7552f1c733185d2}); got != want {
		t.Errorf("OfText is %#x", got)
	}
}

// TestDistinct: numbers that differ in a single place, and pairs in another order, have other
// hashes.
func TestDistinct(t *testing.T) {
	seen := map[Hash][3]uint64{}
	enter := func(h Hash, of [3]uint64) {
		if old, ok := seen[h]; ok && old != of {
			t.Errorf("%v and %v have the hash %#x", old, of, h)
		}
		seen[h] = of
	}
	for a := range uint64(12) {
		for b := range uint64(12) {
			for c := range uint64(12) {
				enter(Of(a, b, c), [3]uint64{a, b, c})
			}
		}
	}
	for bit := range 64 {
		enter(Of(1<<bit, 0, 0), [3]uint64{1 << bit, 0, 0})
		enter(Of(0, 1<<bit, 0), [3]uint64{0, 1 << bit, 0})
		enter(Of(0, 0, 1<<bit), [3]uint64{0, 0, 1 << bit})
	}
	if a, b := OfText("a"), OfText("b"); a.Plus(b) == b.Plus(a) {
		t.Error("a pair and its reverse have one hash")
	}
}

// TestSums: what was added can be taken out again in any order.
func TestSums(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var parts []Hash
	var sum Hash
	for range 100 {
		h := Hash{r.Uint64(), r.Uint64()}
		parts = append(parts, h)
		sum.Add(h)
	}
	r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	for _, h := range parts[1:] {
		sum.Sub(h)
	}
	if sum != parts[0] {
		t.Errorf("%#x is left, not %#x", sum, parts[0])
	}
}

func TestLess(t *testing.T) {
	all := []Hash{{0, 0}, {0, 1}, {0, 1 << 63}, {1, 0}, {1 << 63, 0}, {1 << 63, 5}}
	for i, a := range all {
		for j, b := range all {
			if a.Less(b) != (i < j) {
				t.Errorf("%v less than %v: %v", a, b, a.Less(b))
			}
		}
	}
	if !slices.IsSortedFunc(all, func(a, b Hash) int {
		if a.Less(b) {
			return -1
		}
		return 1
	}) {
		t.Error("not sorted")
	}
}
