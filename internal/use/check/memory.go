package check

import "github.com/ariadne-mc/ariadne/internal/leaf/host"

// shares are how a search divides the memory that it may use, in bytes.
type shares struct {
	all         int64
	memo        int64 // transitions
	checkpoints int64 // frozen nodes, of all executors
	seen        int64 // states from which searches have gone on
	counted     int64 // what is counted as seen
	paths       int64 // paths that are to be tried
}

// divideMemory divides so many bytes; 0: host.Budget. Garbage, living nodes, pages of the store,
// programs and what is small get what is left.
func divideMemory(bytes int64) shares {
	bytes = host.Budget(bytes)
	part := func(percent int64) int64 { return bytes / 100 * percent }
	return shares{all: bytes, memo: part(11), checkpoints: part(27), seen: part(7), counted: part(7), paths: part(4)}
}

// Heap is how much of so many bytes (Search.Memory) is for Ariadne's own heap, garbage
// included: what Go's runtime should be told, by whom the process belongs to.
func Heap(bytes int64) int64 { return host.Budget(bytes) / 100 * 40 }
