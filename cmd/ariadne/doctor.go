package main

import (
	"fmt"

	"ariadne/internal/doctor"
	"ariadne/internal/run"

	"github.com/spf13/cobra"
)

func (a *app) doctorCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what this machine allows, and how to mend the rest",
		Long: `Tries what Ariadne needs of the kernel, one line each, and says how to mend what is
missing. Exit status 3 when something is.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			checks := doctor.Judge(doctor.Look())
			for _, c := range checks {
				if !c.OK {
					a.status = run.Inconclusive.ExitStatus()
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
				fmt.Fprintf(a.out, "%s  %-18s  %s\n%29s to mend: %s\n", sty.Warn("problem"), c.Name, c.Detail, "", c.Mend)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the checks as one JSON array")
	return cmd
}
