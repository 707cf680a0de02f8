package main

import "fmt"

// formings are logs whose images are formed, in two sizes: files that are created and renamed,
// synced or not, and pages of 4096 bytes that are written and synced.
var formings = []struct {
	log          string
	small, large int
}{
	{"names-synced", 100, 10000}, {"names", 100, 10000}, {"pages-synced", 5 << 8, 40 << 8},
}

// measureForming measures how long it takes to form an image and to look at it where there is no
// checker, and how many times as long it takes in a log that is much longer: 10,000 names and not
// 100, 40 MB and not 5. No more than 4 images are formed of each point. Both sizes are measured in
// one run, by processor time.
func (b *bench) measureForming() error {
	for _, f := range formings {
		var times, ratios []float64
		for range b.repeat {
			lines, err := b.goBenchmark("./internal/use/crash", fmt.Sprintf("BenchmarkForming/^%s$/^ordered$", f.log),
				"1x")
			if err != nil {
				return err
			}
			of := func(size int) float64 {
				return lines[fmt.Sprintf("BenchmarkForming/%s/ordered/%d", f.log, size)]["µs/image"]
			}
			if of(f.small) == 0 || of(f.large) == 0 {
				return fmt.Errorf("no images of %s were formed: %v", f.log, lines)
			}
			times, ratios = append(times, of(f.large)), append(ratios, of(f.large)/of(f.small))
		}
		b.keep("image_forming_us."+f.log, "µs", times)
		b.keep("image_forming_large_vs_small."+f.log, "", ratios)
	}
	return nil
}
