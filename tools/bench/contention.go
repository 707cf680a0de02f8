package main

import "fmt"

// crowds are how many workers take remembered steps at the same time. Each has a thread of its own,
// also where there are fewer processors.
var crowds = []int{1, 2, 16, 64}

// measureContention measures what a remembered step costs when many workers share what is
// remembered, the known states and the counts: the time, and the time that all workers together
// wait for locks, over the steps of all.
func (b *bench) measureContention() error {
	for _, search := range []string{"walks", "depth-first"} {
		times := map[string][]float64{}
		for range b.repeat {
			lines, err := b.goBenchmark("./internal/explore/search", "BenchmarkCrowd/^"+search+"$", "1s")
			if err != nil {
				return err
			}
			for _, workers := range crowds {
				m := lines[fmt.Sprintf("BenchmarkCrowd/%s/%d", search, workers)]
				for what, unit := range map[string]string{"crowd_ns": "ns/step", "crowd_lock_ns": "lock-ns/step"} {
					ns, ok := m[unit]
					if !ok {
						return fmt.Errorf("%s: no %s of %d workers: %v", search, unit, workers, m)
					}
					name := fmt.Sprintf("%s.%s.%d", what, search, workers)
					times[name] = append(times[name], ns)
				}
			}
		}
		for name, ns := range times {
			b.keep(name, "ns", ns)
		}
	}
	return nil
}
