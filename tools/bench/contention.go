package main

import "fmt"

// crowds are how many workers take remembered steps at the same time. Each has a thread of its own,
// also where there are fewer processors.
var crowds = []int{1, 2, 16, 64}

// measureContention measures what a remembered step costs when many workers share what is
// remembered, the known states and the counts: processor time, and the time that all workers wait
// for locks, over the steps.
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
				for _, what := range []string{"cpu", "lock"} {
					ns, ok := m[what+"-ns/step"]
					if !ok {
						return fmt.Errorf("%s: no %s-ns/step of %d workers: %v", search, what, workers, m)
					}
					name := fmt.Sprintf("crowd_%s_ns.%s.%d", what, search, workers)
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
