package main

import (
	"fmt"
	"io"

	"github.com/ariadne-mc/ariadne/internal/machine/sys"

	"github.com/spf13/cobra"
)

func (a *app) syscallsCommand() *cobra.Command {
	var level string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "syscalls",
		Short: "Print how each system call is treated",
		Long: `Prints the support table:

  full     emulated, with Linux's semantics
  partial  emulated; the note says what falls short
  passed   run by Linux: it touches nothing but the caller itself
  refused  fails, and is counted in the report; the note says why`,
		Example: `  ariadne syscalls --level partial`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			rows, err := callsOf(level)
			if err != nil {
				return err
			}
			if asJSON {
				return newEncoder(a.out).Encode(rows)
			}
			for _, r := range rows {
				fmt.Fprintf(a.out, "%4d  %-24s %-8s %s\n", r.NR, r.Name, r.Level, r.Note)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&level, "level", "", "only calls of this `level`: full, partial, passed or refused")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the table as one JSON array")
	return cmd
}

// callRow is one line of the table.
type callRow struct {
	NR       int    `json:"nr"`
	Name     string `json:"name"`
	Level    string `json:"level"`
	Note     string `json:"note,omitempty"`
	Harmless bool   `json:"harmless,omitempty"`
}

var levelNames = map[sys.Level]string{sys.Full: "full", sys.Partial: "partial", sys.Passed: "passed",
	sys.Refused: "refused"}

// callsOf returns the rows of a level, or all.
func callsOf(level string) ([]callRow, error) {
	rows := []callRow{}
	known := level == ""
	for _, name := range levelNames {
		known = known || name == level
	}
	if !known {
		return nil, usageError{fmt.Errorf("unknown level %q: full, partial, passed or refused", level)}
	}
	for _, r := range sys.Table {
		if r.Name == "" || level != "" && levelNames[r.Level] != level {
			continue
		}
		rows = append(rows, callRow{r.NR, r.Name, levelNames[r.Level], r.Note, r.Harmless})
	}
	return rows, nil
}

// writeCallsMarkdown writes docs/reference/syscalls.md.
func writeCallsMarkdown(w io.Writer) {
	rows, _ := callsOf("") // all levels are known
	counts := map[string]int{}
	for _, r := range rows {
		counts[r.Level]++
	}
	fmt.Fprintf(w, "# System calls\n\nThis page says of each system call of Linux how far Ariadne emulates it.\n"+
		"%s Of %d calls, %d are full, %d partial, %d passed and %d refused.\n"+
		"`ariadne syscalls --help` explains the levels, and [limits.md](../internals/limits.md) their effect on programs.\n\n"+
		"| number | call | level | note |\n| ---: | --- | --- | --- |\n",
		generated, len(rows), counts["full"], counts["partial"], counts["passed"], counts["refused"])
	for _, r := range rows {
		note := r.Note
		if r.Level == "refused" && r.Harmless {
			note += " (harmless: programs handle it)"
		}
		fmt.Fprintf(w, "| %d | %s | %s | %s |\n", r.NR, r.Name, r.Level, note)
	}
}
