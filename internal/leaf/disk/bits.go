package disk

import "math/bits"

// atomSet is a set of atoms. It begins with a word of an atom that is not durable: what is before
// has been let go.
type atomSet struct {
	from  int32 // a multiple of 64: none of the set is before
	words []uint64
}

func (b *atomSet) has(n int32) bool {
	at := (n - b.from) >> 6
	return n >= b.from && int(at) < len(b.words) && b.words[at]>>(n&63)&1 != 0
}

// add adds an atom, none before from.
func (b *atomSet) add(n int32) {
	at := int(n-b.from) >> 6
	for len(b.words) <= at {
		b.words = append(b.words, 0)
	}
	b.words[at] |= 1 << (n & 63)
}

// remove takes an atom away, if it is there.
func (b *atomSet) remove(n int32) {
	if b.has(n) {
		b.words[(n-b.from)>>6] &^= 1 << (n & 63)
	}
}

// subtract takes away what is in another set.
func (b *atomSet) subtract(c *atomSet) {
	shift := int(c.from-b.from) >> 6
	for i, w := range c.words {
		if at := i + shift; at >= 0 && at < len(b.words) {
			b.words[at] &^= w
		}
	}
}

// intersect leaves what is in another set, which begins at the same place.
func (b *atomSet) intersect(c *atomSet) {
	for i := range b.words {
		if i < len(c.words) {
			b.words[i] &= c.words[i]
		} else {
			b.words[i] = 0
		}
	}
}

// keepLast leaves the last atoms, so many.
func (b *atomSet) keepLast(most int) {
	for i := len(b.words) - 1; i >= 0; i-- {
		w := b.words[i]
		for extra := bits.OnesCount64(w) - most; extra > 0; extra-- {
			w &= w - 1
		}
		b.words[i] = w
		most -= bits.OnesCount64(w)
	}
}

// unite adds what is in another set, which begins no earlier and ends no later.
func (b *atomSet) unite(c *atomSet) {
	shift := int(c.from-b.from) >> 6
	for i, w := range c.words {
		b.words[i+shift] |= w
	}
}

func (b *atomSet) clone() atomSet {
	return atomSet{b.from, append(make([]uint64, 0, len(b.words)+1), b.words...)}
}

// empty returns an empty set that begins at the same place and is as long.
func (b *atomSet) empty() atomSet { return atomSet{b.from, make([]uint64, len(b.words))} }

// trim lets go of words at the beginning that hold nothing.
func (b *atomSet) trim() {
	for len(b.words) > 0 && b.words[0] == 0 {
		b.from, b.words = b.from+64, b.words[1:]
	}
}

// trimTo lets go of what is before an atom.
func (b *atomSet) trimTo(from int32) {
	if skip := min(int(from-b.from)>>6, len(b.words)); skip > 0 {
		b.words = b.words[skip:]
	}
	b.from = from
}

// next is the first atom of the set from n on, or none.
func (b *atomSet) next(n int32) int32 {
	n = max(n, b.from)
	at := int(n-b.from) >> 6
	if at >= len(b.words) {
		return none
	}
	for w := b.words[at] >> (n & 63) << (n & 63); ; w = b.words[at] {
		if w != 0 {
			return b.from + int32(at)<<6 + int32(bits.TrailingZeros64(w))
		}
		if at++; at == len(b.words) {
			return none
		}
	}
}

// all yields the atoms of the set, in order.
func (b *atomSet) all(yield func(int32) bool) {
	for i, w := range b.words {
		for ; w != 0; w &= w - 1 {
			if !yield(b.from + int32(i)<<6 + int32(bits.TrailingZeros64(w))) {
				return
			}
		}
	}
}

// list are the atoms of the set, in order.
func (b *atomSet) list() (all []int32) {
	for n := range b.all {
		all = append(all, n)
	}
	return all
}

// len is how many they are.
func (b *atomSet) len() (n int) {
	for _, w := range b.words {
		n += bits.OnesCount64(w)
	}
	return n
}
