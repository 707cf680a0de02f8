package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// The live heap is mostly small, and most objects die after a step. With Go's own setting, the
// collector takes a sixth of the processor time. So it works less often as long as that costs
// little memory.
const (
	smallHeap   = 160 << 20 // bytes, garbage included, that are never much
	mostGOGC    = 400       // percent that a small heap may grow before it is collected
	defaultGOGC = 100
)

// growth is how many percent a heap may grow before it is collected, of which so many bytes are
// alive.
func growth(live uint64) int {
	return max(defaultGOGC, min(mostGOGC, int(smallHeap*100/max(live, 1))-100))
}

// tuneCollector sets how often the collector works after each time that it has, unless the
// user says it.
func tuneCollector() {
	if os.Getenv("GOGC") != "" {
		return
	}
	now := mostGOGC
	debug.SetGCPercent(now)
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	var collected func(*[16]byte)
	collected = func(*[16]byte) {
		metrics.Read(live)
		if next := growth(live[0].Value.Uint64()); next != now {
			now = next
			debug.SetGCPercent(now)
		}
		runtime.SetFinalizer(new([16]byte), collected)
	}
	runtime.SetFinalizer(new([16]byte), collected)
}
