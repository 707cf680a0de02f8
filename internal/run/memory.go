package run

import "golang.org/x/sys/unix"

// shares are how a search in memory divides the memory that it may use, in bytes.
type shares struct {
	memo        int64 // transitions
	checkpoints int64 // frozen nodes, of all executors
	seen        int64 // states from which searches have gone on
	counted     int64 // what is counted as seen
	paths       int64 // paths that are to be tried
	heap        int64 // Ariadne's own, of all kinds
}

// share divides so many bytes; 0: half of what the machine has. Garbage, living
// nodes, pages of the store, programs and what is small get what is left.
func share(bytes int64) shares {
	if bytes == 0 {
		bytes = machineMemory() / 2
	}
	part := func(percent int64) int64 { return bytes / 100 * percent }
	return shares{memo: part(11), checkpoints: part(27), seen: part(7), counted: part(7), paths: part(4), heap: part(40)}
}

// machineMemory is what the machine has, or a modest guess.
func machineMemory() int64 {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 4 << 30
	}
	return int64(info.Totalram) * int64(info.Unit)
}
