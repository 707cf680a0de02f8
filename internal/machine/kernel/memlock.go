package kernel

import "slices"

// MemLocks are the parts of a process's memory that it has locked (mlock(2)). Nothing of a node is
// ever swapped out: they are counted and shown. Children have none, nor has another program.
type MemLocks struct {
	future bool // what is mapped beside before, too (MCL_FUTURE)
	before []MemRange
	ranges []MemRange
}

// MemRange is memory from Start up to End.
type MemRange struct{ Start, End uint64 }

var memLocks = NewSlot[*Process, MemLocks]()

func init() {
	Register("", Hooks{Execs: func(t *Thread) {
		if m := memLocks.Peek(t.Proc); m != nil {
			*m = MemLocks{}
		}
	}})
}

// MemLocks returns those of p.
func (p *Process) MemLocks() *MemLocks { return memLocks.Of(p) }

// LocksMemory reports whether p has locked memory, or locks what it will map.
func (p *Process) LocksMemory() bool {
	m := memLocks.Peek(p)
	return m != nil && (m.future || len(m.ranges) > 0)
}

// Future reports whether what is mapped from now on is locked.
func (m *MemLocks) Future() bool { return m.future }

// Unmap forgets a range: what is mapped there later is new.
func (m *MemLocks) Unmap(r MemRange) {
	m.ranges, m.before = withoutRange(m.ranges, r), withoutRange(m.before, r)
}

// First is the first address of r that is locked.
func (m *MemLocks) First(r MemRange) (addr uint64, ok bool) {
	for _, x := range m.withFuture(r) {
		if from := max(x.Start, r.Start); from < min(x.End, r.End) && (!ok || from < addr) {
			addr, ok = from, true
		}
	}
	return addr, ok
}

// Lock adds a range, Unlock takes one away.
func (m *MemLocks) Lock(r MemRange) { m.ranges = append(withoutRange(m.ranges, r), r) }

func (m *MemLocks) Unlock(r MemRange) {
	m.ranges = withoutRange(m.ranges, r)
	if m.future {
		m.before = append(m.before, r)
	}
}

// withoutRange is list without r.
func withoutRange(list []MemRange, r MemRange) (rest []MemRange) {
	for _, x := range list {
		for _, part := range []MemRange{{x.Start, min(x.End, r.Start)}, {max(x.Start, r.End), x.End}} {
			if part.Start < part.End {
				rest = append(rest, part)
			}
		}
	}
	return rest
}

// SetFuture says whether what is mapped from now on is locked: what is mapped now is not.
func (m *MemLocks) SetFuture(future bool, mapped []MemRange) { m.future, m.before = future, mapped }

// LockedBytes is how many bytes of r are locked.
func (m *MemLocks) LockedBytes(r MemRange) (n uint64) {
	for _, x := range m.withFuture(r) {
		if from, to := max(x.Start, r.Start), min(x.End, r.End); from < to {
			n += to - from
		}
	}
	return n
}

// withFuture are the ranges, and what of r was mapped later.
func (m *MemLocks) withFuture(r MemRange) []MemRange {
	if !m.future {
		return m.ranges
	}
	later := []MemRange{r}
	for _, x := range m.before {
		later = withoutRange(later, x)
	}
	all := MemLocks{ranges: m.ranges}
	for _, x := range later {
		all.Lock(x)
	}
	return all.ranges
}

// Keep forgets what is not in any of the mappings.
func (m *MemLocks) Keep(mapped []MemRange) {
	var kept []MemRange
	for _, r := range mapped {
		for _, x := range m.withFuture(r) {
			if from, to := max(x.Start, r.Start), min(x.End, r.End); from < to {
				kept = append(kept, MemRange{from, to})
			}
		}
	}
	m.ranges = slices.Clip(kept)
}
