package main

import (
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

//go:embed testdata/choose.c
var chooseSource []byte

// measureChoose measures how many answers to what a program asks are tried in a second, by one
// worker: each is an execution of the step with one answer more.
func (b *bench) measureChoose() error {
	const answers = 4 * 4 * 4 * 4 * 4
	source, spec := filepath.Join(b.dir, "choose.c"), filepath.Join(b.dir, "choose.yaml")
	if err := errors.Join(os.WriteFile(source, chooseSource, 0o644),
		os.WriteFile(spec, []byte("nodes: [{command: ./choose, client: true}]\n"), 0o644)); err != nil {
		return err
	}
	if out, err := b.command("gcc", "-O2", "-o", filepath.Join(b.dir, "choose"), source).CombinedOutput(); err != nil {
		b.missing = append(b.missing, fmt.Sprintf("choose_per_s: gcc: %v %s", err, out))
		return nil
	}
	rates, err := b.repeated(func() (float64, error) {
		r, err := b.cold("check", spec, "--strategy", "depth-first", "--jobs", "1")
		if err != nil {
			return 0, err
		}
		if c := r.Coverage; !c.Exhausted || c.Paths != answers {
			return 0, fmt.Errorf("%d answers of %d were tried", c.Paths, answers)
		}
		return float64(r.Coverage.Executed) / r.RealTime.Seconds(), nil
	})
	if err == nil {
		b.keep("choose_per_s", "1/s", rates)
	}
	return err
}
