package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"
)

//go:embed template.yaml
var template []byte

func (a *app) initCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "init [FILE]",
		Short: "Write a commented spec to begin with",
		Long: `Writes a spec that runs as it is, with each field explained, to FILE (default:
ariadne.yaml). A file that exists stays as it is.`,
		Example: `  ariadne init && ariadne run ariadne.yaml`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return exactly("FILE")(cmd, args)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			path := "ariadne.yaml"
			if len(args) == 1 {
				path = args[0]
			}
			if err := writeNew(path, newSpec(time.Now())); err != nil {
				return err
			}
			fmt.Fprintf(a.out, "wrote %s; next: ariadne run %s\n", path, path)
			return nil
		},
	}
}

// newSpec is the spec to begin with. Its nodes' clocks begin on the day it is written:
// what is made for it on that day, such as certificates, is valid.
func newSpec(now time.Time) []byte {
	return bytes.Replace(template, []byte("DATE      "), []byte(now.UTC().Format(time.DateOnly)), 1)
}

// writeNew writes a file that must not exist yet.
func writeNew(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists already: name another file, or remove it", path)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
