package main

import (
	"github.com/ariadne-mc/ariadne/internal/system/spec"

	"github.com/spf13/cobra"
)

// outputFlags are those of every command that executes something.
type outputFlags struct {
	out         string
	json, quiet bool
	verbose     bool
}

// addVerbose adds the flag for the numbers of a search.
func (o *outputFlags) addVerbose(cmd *cobra.Command) {
	cmd.Flags().BoolVarP(&o.verbose, "verbose", "v", false, "print numbers about the search after the summary")
}

func (o *outputFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.out, "out", "", "write to this `directory` (default: ariadne-runs/NAME-N)")
	f.BoolVar(&o.json, "json", false, "print one JSON object per event and line")
	f.BoolVar(&o.quiet, "quiet", false, "print only the outcome")
}

// seedFlag is a seed in the place of the spec's.
type seedFlag struct {
	cmd  *cobra.Command
	seed uint64
}

func (s *seedFlag) add(cmd *cobra.Command) {
	s.cmd = cmd
	cmd.Flags().Uint64Var(&s.seed, "seed", 0, "this `seed` instead of the spec's")
}

func (s *seedFlag) apply(to *spec.Spec) {
	if s.cmd.Flags().Changed("seed") {
		to.Seed = s.seed
	}
}
