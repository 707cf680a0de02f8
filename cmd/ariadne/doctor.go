package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system/doctor"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/use/run"

	"github.com/spf13/cobra"
)

func (a *app) doctorCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check whether this machine can run Ariadne",
		Long: `Checks what Ariadne needs of the machine and its kernel, and runs a small program at last.
Prints a line for each check, and says how to fix each problem. Exit status 3: there is a
problem.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			facts := doctor.Look()
			facts.Program = a.tryProgram(cmd.Context())
			checks := doctor.Judge(facts)
			for _, c := range checks {
				if !c.OK {
					a.status = record.Inconclusive.ExitStatus()
				}
			}
			if asJSON {
				return newEncoder(a.out).Encode(checks)
			}
			sty := style(a.out)
			for _, c := range checks {
				if c.OK {
					fmt.Fprintf(a.out, "ok       %-18s  %s\n", c.Name, c.Detail)
					continue
				}
				fmt.Fprintf(a.out, "%s  %-18s  %s\n%29s to fix: %s\n", sty.Warn("problem"), c.Name, c.Detail, "",
					c.Mend)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the checks as one JSON array")
	return cmd
}

// tryProgram runs a system of one small program.
func (a *app) tryProgram(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "ariadne-doctor-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "doctor.yaml")
	if err := os.WriteFile(path, []byte("nodes: [{command: echo well | cat, client: true}]\n"), 0o644); err != nil {
		return err
	}
	s, err := spec.Read(path)
	if err != nil {
		return err
	}
	said := ""
	if err := enoughTasks(); err != nil {
		return err
	}
	r, err := run.Run(ctx, s, run.Options{Out: filepath.Join(dir, "run"), System: a.system(),
		OnStep: func(s ariadne.Step) {
			for _, l := range s.Output.Logs {
				said += l.Text
			}
		}})
	switch {
	case err != nil:
		return err
	case r.Outcome != record.Nothing:
		return fmt.Errorf("%v: %s", r.Outcome, strings.Join(append(r.Doubts, r.Bugs...), "; "))
	case said != "well":
		return fmt.Errorf("the program wrote %q instead of well", said)
	}
	return nil
}
