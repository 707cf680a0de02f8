package main

import "fmt"

// measureDPOR measures how many complete paths DPOR takes for each partial-order
// trace of spaces that it exhausts: 1 is optimal.
func (b *bench) measureDPOR() error {
	const spec = "examples/paxos/paxos-tiny.yaml"
	if !b.fetch(spec) {
		return nil
	}
	r, err := b.cold("check", spec, "--strategy", "dpor")
	if err != nil {
		return err
	}
	if c := r.Coverage; !c.Exhausted || c.Traces == 0 {
		return fmt.Errorf("DPOR has not exhausted %s: %d traces", spec, c.Traces)
	}
	b.keep("dpor_paths_per_trace", "", []float64{float64(r.Coverage.Paths) / float64(r.Coverage.Traces)})
	return nil
}
