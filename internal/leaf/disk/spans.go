package disk

import "slices"

// span is a stretch of a file, or of anything that is counted, and the last atom on it.
type span struct {
	lo, hi int64
	atom   int32
}

// spans are stretches that do not overlap, in order.
type spans []span

// within are the places in the list of the first stretch that reaches beyond lo and of the first
// one behind it that begins at hi or later.
func (s spans) within(lo, hi int64) (from, to int) {
	from = search(s, func(s span) bool { return s.hi > lo })
	return from, from + search(s[from:], func(s span) bool { return s.lo >= hi })
}

// search is the place in a list of the first element that is so, as all behind it are, or the
// list's length.
func search[T any](list []T, is func(T) bool) int {
	i, _ := slices.BinarySearchFunc(list, true, func(e T, _ bool) int {
		if is(e) {
			return 0
		}
		return -1
	})
	return i
}

// set makes an atom the last on a stretch.
func (s *spans) set(lo, hi int64, atom int32) { s.replace(lo, hi, span{lo, hi, atom}) }

// clear makes a stretch one on which there is none.
func (s *spans) clear(lo, hi int64) { s.replace(lo, hi) }

func (s *spans) replace(lo, hi int64, with ...span) {
	if lo >= hi {
		return
	}
	from, to := s.within(lo, hi)
	if from < to {
		if first := (*s)[from]; first.lo < lo {
			with = slices.Insert(with, 0, span{first.lo, lo, first.atom})
		}
		if last := (*s)[to-1]; last.hi > hi {
			with = append(with, span{hi, last.hi, last.atom})
		}
	}
	*s = slices.Replace(*s, from, to, with...)
}
