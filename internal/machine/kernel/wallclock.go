package kernel

import "github.com/ariadne-mc/ariadne"

// NTP is what adjtimex(2) keeps of the real-time clock. It does not steer it: the clock of a
// node has no error that could be corrected.
type NTP struct {
	Offset, Freq, MaxError, EstError, Constant int64
	Adjust                                     int64 // what adjtime(3) asked for, µs
	Status                                     int32 // STA_*
	Tick                                       int64 // µs between ticks; 0: Tick
	TAI                                        int32 // s ahead of UTC
	West, DST                                  int32 // struct timezone
}

// SetReal sets CLOCK_REALTIME to a time in ns since the epoch. Waits for a time of that clock
// follow the new time. Waits for a duration do not change.
func (n *Node) SetReal(at int64) {
	by := ariadne.Time(at - n.RealNow())
	n.RealBase += int64(by)
	for _, pid := range n.PIDs() {
		for _, t := range n.Procs[pid].Threads {
			w := &t.Wait
			if !w.HasDeadline || !w.Real {
				continue
			}
			w.Deadline = RealComes(w.Deadline, by)
			if w.timer != nil {
				n.StopTimer(w.timer)
				w.timer = n.AddTimer(w.Deadline, t)
			}
		}
	}
	for i := range hooks {
		if h := hooks[i].RealSet; h != nil {
			h(n, by)
		}
	}
}

// RealComes is when a time of CLOCK_REALTIME comes that was to come at the node's time at, once
// that clock has been set forward by so much.
func RealComes(at, by ariadne.Time) ariadne.Time {
	if s := at - by; by > 0 || s >= at {
		return s
	}
	return ariadne.Never
}
