package strategy

import (
	"container/heap"
	"slices"
)

// queue is the order in which prefixes, named by their places in a tree, are to be
// explored: those with the least priority first, and of these those that were put
// first.
type queue interface {
	put(place int32, priority float64)
	// first is the place of what comes next, or nowhere.
	first() int32
	// priority is that of what comes next. There is something.
	priority() float64
	// take appends to batch what one of so many workers is to explore next, in its
	// order. There is something.
	take(batch []int32, workers int) []int32
	// bytes is about what one of many prefixes takes.
	bytes() int64
}

// levels is a queue for priorities that are small whole numbers.
type levels struct{ places [][]int32 }

func (l *levels) put(place int32, priority float64) {
	i := int(priority)
	for len(l.places) <= i {
		l.places = append(l.places, nil)
	}
	l.places[i] = append(l.places[i], place)
}

func (l *levels) first() int32 {
	if i := l.lowest(); i >= 0 {
		return l.places[i][0]
	}
	return nowhere
}

func (l *levels) priority() float64 { return float64(l.lowest()) }

// take gives one of several workers so much of the lowest level that neighbours, which
// begin alike, mostly go to the same one, where the way to them is not far.
func (l *levels) take(batch []int32, workers int) []int32 {
	i := l.lowest()
	n := 1
	if workers > 1 {
		n = min(max(len(l.places[i])/(2*workers), 1), 1024)
	}
	batch = append(batch, l.places[i][:n]...)
	l.places[i] = l.places[i][n:]
	return batch
}

func (l *levels) lowest() int {
	return slices.IndexFunc(l.places, func(p []int32) bool { return len(p) > 0 })
}

// bytes: a level that has grown is up to twice as large as what is in it.
func (*levels) bytes() int64 { return 2 * 4 }

// priorityQueue is a queue for any priorities. It gives one prefix at a time: what
// comes of it may have to be explored before all others.
type priorityQueue struct {
	heap prefixHeap
	puts int
}

func (q *priorityQueue) put(place int32, priority float64) {
	q.puts++
	heap.Push(&q.heap, queued{priority, q.puts, place})
}

func (q *priorityQueue) first() int32 {
	if len(q.heap) == 0 {
		return nowhere
	}
	return q.heap[0].place
}

func (q *priorityQueue) priority() float64 { return q.heap[0].priority }

func (q *priorityQueue) take(batch []int32, _ int) []int32 {
	return append(batch, heap.Pop(&q.heap).(queued).place)
}

// bytes: the heap is moved when it grows.
func (*priorityQueue) bytes() int64 { return 2 * 24 }

// queued is a prefix that is to be tried.
type queued struct {
	priority float64
	number   int // among all
	place    int32
}

// prefixHeap has what comes next on top (container/heap).
type prefixHeap []queued

func (h prefixHeap) Len() int { return len(h) }
func (h prefixHeap) Less(i, j int) bool {
	return h[i].priority < h[j].priority || h[i].priority == h[j].priority && h[i].number < h[j].number
}
func (h prefixHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *prefixHeap) Push(x any)   { *h = append(*h, x.(queued)) }
func (h *prefixHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
