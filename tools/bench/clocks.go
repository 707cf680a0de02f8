package main

import (
	"fmt"
	"path/filepath"
)

// measureClocks measures what it costs that the default search tries messages at other times: how
// many transitions it executes, over those that are not at other times. In the same run it
// measures how many of the latter it makes in a second, over how many a search makes that tries no
// other times.
func (b *bench) measureClocks() error {
	for _, s := range returning[:3] {
		if !b.fetch(s.spec) {
			continue
		}
		var costs, rates []float64
		for range b.repeat {
			with, err := b.probing(s.spec)
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			without, err := b.probing(s.spec, "--probe-clocks=none")
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			costs = append(costs, with.all/(with.all-with.tries))
			rates = append(rates, (with.all-with.tries)/with.seconds/(without.all/without.seconds))
		}
		b.keep("probing_cost."+s.name, "", costs)
		b.keep("probing_rate."+s.name, "", rates)
	}
	return nil
}

// probed is what a search has executed: transitions, and of these at most so many at other times.
type probed struct{ all, tries, seconds float64 }

// probing executes a default search with one worker. A time that was tried may be remembered, so
// fewer may have been executed.
func (b *bench) probing(spec string, flags ...string) (p probed, err error) {
	flags = append([]string{"--strategy", "default", "--time", b.budget.String(), "--jobs", "1", "--keep-going", "--fresh"}, flags...)
	r, err := b.ariadne.Cold(b.ctx, filepath.Join(b.dir, "run"), "check", spec, flags...)
	if err != nil {
		return p, err
	}
	c := r.Coverage
	if c == nil || c.Executed == 0 {
		return p, fmt.Errorf("%s: no transition was made in %v", spec, b.budget)
	}
	p = probed{all: float64(c.Executed), seconds: r.RealTime.Seconds()}
	if c.Probing != nil {
		p.tries = float64(c.Probing.Tries)
	}
	return p, nil
}
