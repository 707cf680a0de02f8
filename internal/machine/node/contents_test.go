//go:build linux

package node

import (
	"runtime"
	"testing"
)

// TestShare: pages with the same content are one, and pages that nobody holds are forgotten.
func TestShare(t *testing.T) {
	var c contents
	room := c.space(2)
	share := func(b byte) (*page, bool) {
		room[1][0] = b
		return c.share((*page)(room[1]))
	}
	one, fresh := share(1)
	if !fresh || one[0] != 1 {
		t.Errorf("the first page with a content: %d, fresh %v", one[0], fresh)
	}
	two, fresh := share(2)
	if !fresh || two[0] != 2 || one[0] != 1 {
		t.Errorf("a page with another content: %d, fresh %v; the first one has %d", two[0], fresh, one[0])
	}
	if again, fresh := share(1); fresh || again != one {
		t.Errorf("a content that is known: fresh %v, the same page %v", fresh, again == one)
	}
	for i := range 4 * leastKnown {
		room[0][0], room[0][1] = byte(i), byte(i>>8)
		c.share((*page)(room[0]))
		if i%leastKnown == 0 {
			runtime.GC()
		}
	}
	if len(c.known) > 3*leastKnown {
		t.Errorf("%d pages are known after all but two were dropped", len(c.known))
	}
	if again, fresh := share(2); fresh || again != two {
		t.Errorf("after pages were forgotten, a page that is held: fresh %v, the same page %v", fresh, again == two)
	}
	runtime.KeepAlive(one)
}
