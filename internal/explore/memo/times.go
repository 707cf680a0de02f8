package memo

import (
	"math"
	"math/bits"
	"time"
)

// Times counts durations by their length, to tell medians: eight classes for each
// doubling, from a microsecond to a second.
type Times [timesClasses]int32

const (
	perDoubling  = 8
	timesClasses = 20 * perDoubling
)

func (t *Times) enter(d time.Duration) { t[class(d)]++ }

// class is the number of perDoubling-ths of doublings from a microsecond to d.
func class(d time.Duration) int {
	us := uint64(max(d, 0)) / 1000
	if us == 0 {
		return 0
	}
	n := bits.Len64(us) - 1
	part := float64(d) / 1000 / float64(uint64(1)<<n)
	return min(n*perDoubling+int(math.Log2(part)*perDoubling), timesClasses-1)
}

func (t *Times) add(o *Times) {
	for i := range t {
		t[i] += o[i]
	}
}

// Count is the number of durations.
func (t *Times) Count() int {
	n := 0
	for _, c := range t {
		n += int(c)
	}
	return n
}

// Median is the middle of the durations, within a twentieth; 0 when there are none.
func (t *Times) Median() time.Duration {
	left := (t.Count() + 1) / 2
	if left == 0 {
		return 0
	}
	i := 0
	for ; left > int(t[i]); i++ {
		left -= int(t[i])
	}
	return time.Duration(1000 * math.Exp2((float64(i)+0.5)/perDoubling))
}
