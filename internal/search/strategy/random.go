package strategy

import "ariadne"

// Random is a random walk. Some walks choose freely at each step; others mostly
// follow the natural schedule and deviate now and then, because in long
// executions many a bug needs a system that has got somewhere first.
type Random struct {
	state uint64
	// calm is how rarely it deviates: at one step of 2^calm it chooses freely.
	calm int
}

// calms is the number of different tempers; walks take them in turn.
const calms = 6

// NewRandom returns walk number index of a seed.
func NewRandom(seed uint64, index int) *Random {
	r := &Random{state: seed}
	r.state = r.next() + uint64(index)
	r.calm = (index - 1) % calms
	return r
}

// Next implements Strategy.
func (r *Random) Next(_, enabled []ariadne.Action) (ariadne.Action, bool) {
	if r.next()>>(64-calms) >= 1<<(calms-r.calm) {
		return enabled[0], true
	}
	return enabled[r.next()%uint64(len(enabled))], true
}

// next is SplitMix64.
func (r *Random) next() uint64 {
	r.state += 0x9e3779b97f4a7c15
	z := r.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}
