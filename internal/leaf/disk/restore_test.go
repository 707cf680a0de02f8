package disk_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne"
	. "github.com/ariadne-mc/ariadne/internal/leaf/disk"
	"github.com/ariadne-mc/ariadne/internal/leaf/disk/disktest"

	"pgregory.net/rapid"
)

// drawLog draws a log of small operations of which a model makes few pieces.
func drawLog(t *rapid.T, m Model, pieces int) (ops []*Op) {
	f, next := disktest.NewFS(), uint64(disktest.Root+1)
	for range rapid.IntRange(1, 10).Draw(t, "operations") {
		g, was := f.Clone(), next
		op, ok := workload(t, g, &next, strings.HasSuffix(m.String(), ":512"))
		more := disktest.Pieces(m, &op)
		if !ok || more > pieces {
			next = was
			continue
		}
		pieces -= more
		f = g
		ops = append(ops, &op)
	}
	return ops
}

// TestRestored: what has parts of operations more than an image is one that the model allows as
// well, has these parts, and lacks nothing that the image had. An image is found again by what it
// lacks.
func TestRestored(t *testing.T) {
	for _, m := range []Model{Prefix, Ordered, Any, parsed(t, "any:512")} {
		t.Run(m.String(), func(t *testing.T) {
			restored := 0
			rapid.Check(t, func(t *rapid.T) {
				ops := drawLog(t, m, 11)
				var l *Log
				w := NewWalk(m, Choice{Limit: 1})
				for _, op := range ops {
					l = l.Append(*op)
					w.Skip(op)
				}
				all := m.Images(l, Choice{Limit: 1 << 20})
				if len(all.Lost) == 0 {
					return
				}
				allowed := map[ariadne.Digest]bool{}
				for _, d := range all.Digests() {
					allowed[d] = true
				}
				n := rapid.IntRange(0, len(all.Lost)-1).Draw(t, "image")
				missing := all.Missing(n)
				again := w.Lacking(missing)
				if got := again.Missing(0); !slices.Equal(got, missing) ||
					again.Image(0).Digest != all.Image(n).Digest {
					t.Fatalf("lacking %v: %v is missing", missing, got)
				}
				if len(missing) == 0 {
					return
				}
				back := rapid.SliceOfNDistinct(rapid.SampledFrom(missing), 1, len(missing), rapid.ID).Draw(t,
					"restored")
				less := again.Restored(0, back)
				if !allowed[less.Image(0).Digest] {
					t.Fatalf("image without %v, with %v restored: the model does not allow what lacks %v", missing, back, less.Missing(0))
				}
				for _, p := range less.Missing(0) {
					if slices.Contains(back, p) || !slices.Contains(missing, p) {
						t.Fatalf("image without %v, with %v restored: %v is missing", missing, back, p)
					}
				}
				restored++
			})
			if restored == 0 {
				t.Error("nothing was restored")
			}
		})
	}
}

// TestStrongerOfALoss: likewise of one loss of power, and a list that is known to be whole is what
// it is alone.
func TestStrongerOfALoss(t *testing.T) {
	cut, whole := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		ops := drawLog(t, Any, 20)
		l := &Log{}
		for _, op := range ops {
			l = l.Append(*op)
		}
		c := Choice{Limit: rapid.IntRange(1, 6).Draw(t, "limit")}
		var before []ariadne.Digest
		for _, m := range []Model{Prefix, Ordered, Any} {
			every := m.Images(l, Choice{Limit: 1 << 20}).Digests()
			own := m.Images(l, Choice{Limit: c.Limit, Alone: true}).Digests()
			i := m.Images(l, c)
			got := i.Digests()
			for _, d := range before {
				if !slices.Contains(got, d) {
					t.Fatalf("%v does not form what a stronger model forms", m)
				}
			}
			seen := map[ariadne.Digest]bool{}
			for n, d := range got {
				if seen[d] || !slices.Contains(every, d) || i.Without(i.Lost[n]).Digest != d {
					t.Fatalf("%v: image %d comes twice, is not allowed, or is not what lacks %v", m, n, i.Lost[n])
				}
				seen[d] = true
			}
			if len(every) < c.Limit {
				whole++
				if !slices.Equal(got, own) || !slices.Equal(got, every) {
					t.Fatalf("%v: all %d images fit, in another order", m, len(every))
				}
			} else if len(got) > len(own) {
				cut++
			}
			before = got
		}
	})
	if cut == 0 || whole == 0 {
		t.Errorf("%d lists were longer, %d were whole", cut, whole)
	}
}

// TestStronger: however few images are wanted, a weaker model forms all that stronger ones form.
func TestStronger(t *testing.T) {
	for _, models := range [][]Model{{Prefix, Ordered, Any}, {parsed(t, "ordered:512"), parsed(t, "any:512")}} {
		bound, alone := 0, 0
		rapid.Check(t, func(t *rapid.T) {
			ops := drawLog(t, models[len(models)-1], 30)
			limit := rapid.IntRange(1, 4).Draw(t, "limit")
			var walks []*Walk
			formed := make([]map[ariadne.Digest]bool, len(models))
			for k, m := range models {
				walks, formed[k] = append(walks, NewWalk(m, Choice{Limit: limit})), map[ariadne.Digest]bool{}
			}
			for n, op := range ops {
				for k, w := range walks {
					i := w.Add(op)
					for _, d := range i.Digests() {
						formed[k][d] = true
					}
					if i.Legal > float64(i.Subsets) {
						bound++
					}
				}
				again := rapid.IntRange(0, 9).Draw(t, "again") == 0
				for k := range walks {
					if again { // as behind a mark
						for _, d := range walks[k].Again().Digests() {
							formed[k][d] = true
						}
					}
					for d := range formed[max(k-1, 0)] {
						if !formed[k][d] {
							t.Fatalf("operation %d: %v forms an image that %v does not", n, models[k-1], models[k])
						}
					}
				}
			}
			alone += len(formed[len(models)-1]) - len(formed[0])
		})
		if bound == 0 || alone == 0 {
			t.Errorf("%v: %d points were bound, and the weakest model had %d images of its own", models, bound, alone)
		}
	}
}
