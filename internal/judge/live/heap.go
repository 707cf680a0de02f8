package live

// heap has the least of its values at the top.
type heap[T any] struct {
	all  []T
	less func(a, b T) bool
}

func (h *heap[T]) push(v T) {
	h.all = append(h.all, v)
	for i := len(h.all) - 1; i > 0; {
		above := (i - 1) / 2
		if !h.less(h.all[i], h.all[above]) {
			return
		}
		h.all[i], h.all[above] = h.all[above], h.all[i]
		i = above
	}
}

// pop removes the value at the top.
func (h *heap[T]) pop() {
	n := len(h.all) - 1
	h.all[0] = h.all[n]
	clear(h.all[n:])
	h.all = h.all[:n]
	for i := 0; ; {
		least := i
		for _, k := range [2]int{2*i + 1, 2*i + 2} {
			if k < n && h.less(h.all[k], h.all[least]) {
				least = k
			}
		}
		if least == i {
			return
		}
		h.all[i], h.all[least] = h.all[least], h.all[i]
		i = least
	}
}

// drop removes values from the top as long as they are over.
func (h *heap[T]) drop(over func(T) bool) {
	for len(h.all) > 0 && over(h.all[0]) {
		h.pop()
	}
}

// walk calls visit with the value at a place, and with those below each for which it returns true.
// No value is less than one that it is below of.
func (h *heap[T]) walk(place int, visit func(T) bool) {
	if place < len(h.all) && visit(h.all[place]) {
		h.walk(2*place+1, visit)
		h.walk(2*place+2, visit)
	}
}
