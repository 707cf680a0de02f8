package run

import host "ariadne/internal/machine"

// shares are how a search divides the memory that it may use, in bytes.
type shares struct {
	all         int64
	memo        int64 // transitions
	checkpoints int64 // frozen nodes, of all executors
	seen        int64 // states from which searches have gone on
	counted     int64 // what is counted as seen
	paths       int64 // paths that are to be tried
	heap        int64 // Ariadne's own, of all kinds
}

// share divides so many bytes; 0: half of what there is, and not more than is left. Garbage, living
// nodes, pages of the store, programs and what is small get what is left.
func share(bytes int64) shares {
	if bytes == 0 {
		bytes = machineMemory() / 2
		if left := host.Available(); left < bytes {
			bytes = left / 10 * 9
		}
	}
	part := func(percent int64) int64 { return bytes / 100 * percent }
	return shares{all: bytes, memo: part(11), checkpoints: part(27), seen: part(7), counted: part(7), paths: part(4), heap: part(40)}
}

// machineMemory is what the machine has, or its control groups leave, or a modest guess.
func machineMemory() int64 {
	if m := host.Memory(); m > 0 {
		return m
	}
	return 4 << 30
}
