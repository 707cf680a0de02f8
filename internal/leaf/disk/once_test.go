package disk

import (
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne"
)

// TestFormedOnce: a list that the limit cuts off is formed once, behind those of stronger models.
func TestFormedOnce(t *testing.T) {
	var ops []Op
	for n := range uint64(80) {
		ops = append(ops, write(3+n, 0, strings.Repeat("n", 4096), strings.Repeat("o", 4096), 4096))
	}
	l := logOf(ops...)
	c := Choice{Limit: 8}
	p := newPlan(Any)
	for _, op := range l.Ops() {
		p.add(op)
	}
	i := Any.Images(l, c)
	looks := i.plan.view
	p.images(c, map[ariadne.Digest]bool{}, false, Ordered.Images(l, c).kept)
	if len(i.Lost) <= 8 || looks != p.view {
		t.Errorf("%d images by %d states, want %d", len(i.Lost), looks, p.view)
	}
}
