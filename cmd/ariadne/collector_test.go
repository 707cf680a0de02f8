package main

import "testing"

// TestGrowth: with its garbage a small heap is never larger than smallHeap before it is collected.
func TestGrowth(t *testing.T) {
	for live := uint64(0); live < 4*smallHeap; live += 1 << 20 {
		g := growth(live)
		if g < defaultGOGC || g > mostGOGC {
			t.Fatalf("%d MiB alive: %d percent", live>>20, g)
		}
		if most := live + live*uint64(g)/100; most > smallHeap && g > defaultGOGC {
			t.Errorf("%d MiB alive: %d MiB before they are collected, %d percent", live>>20, most>>20, g)
		}
	}
	if g := growth(4 << 20); g != mostGOGC {
		t.Errorf("4 MiB alive: %d percent", g)
	}
}
