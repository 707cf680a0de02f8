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

func (t *Times) enter(d time.Duration) { t[class(float64(d)/1000)]++ }

// class is the number of perDoubling-ths of doublings from 1 to v.
func class(v float64) int {
	if v < 1 {
		return 0
	}
	n := bits.Len64(uint64(v)) - 1
	part := v / float64(uint64(1)<<n)
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
func (t *Times) Median() time.Duration { return time.Duration(1000 * t.median()) }

// median is that of what was classified; 0: nothing was.
func (t *Times) median() float64 {
	left := (t.Count() + 1) / 2
	if left == 0 {
		return 0
	}
	i := 0
	for ; left > int(t[i]); i++ {
		left -= int(t[i])
	}
	return math.Exp2((float64(i) + 0.5) / perDoubling)
}

// Sizes counts sizes likewise, from a kilobyte to a gigabyte.
type Sizes Times

func (s *Sizes) enter(bytes int64) { s[class(float64(bytes)/1024)]++ }

func (s *Sizes) add(o *Sizes) { (*Times)(s).add((*Times)(o)) }

// Median is the middle of the sizes, in kilobytes, within a twentieth; 0 when there are none.
func (s *Sizes) Median() float64 { return (*Times)(s).median() }
