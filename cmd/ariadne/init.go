package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
)

// short is the spec that init writes.
//
//go:embed short.yaml
var short []byte

// template is the spec that init --full writes, with a comment on every field.
//
//go:embed template.yaml
var template []byte

func (a *app) initCommand() *cobra.Command {
	full := false
	cmd := &cobra.Command{
		Use:   "init [FILE]",
		Short: "Write a short spec to begin with",
		Long: `Writes a short spec that runs as it is to FILE (default: ariadne.yaml). With --full, the spec
explains every field. The command does not overwrite a file.`,
		Example: `  ariadne init && ariadne run ariadne.yaml
  ariadne init --full all-fields.yaml`,
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
			text := short
			if full {
				text = template
			}
			if err := writeNew(path, newSpec(text, path, time.Now())); err != nil {
				return err
			}
			fmt.Fprintf(a.out, "wrote %s; next: ariadne run %s\n", path, path)
			return nil
		},
	}
	cmd.Flags().BoolVar(&full, "full", false, "write every field of a spec, with its explanation")
	return cmd
}

// newSpec is a spec to begin with, for the file that it is written to. Its nodes' clocks begin on
// the day it is written: what is made for it on that day, such as certificates, is valid.
func newSpec(text []byte, path string, now time.Time) []byte {
	text = bytes.ReplaceAll(text, []byte("FILE"), []byte(filepath.Base(path)))
	return bytes.Replace(text, []byte("DATE      "), []byte(now.UTC().Format(time.DateOnly)), 1)
}

// writeNew writes a file that must not exist yet.
func writeNew(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists already: name another file, or remove it", path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: there is no directory %s: make it, or name a file elsewhere", path, filepath.Dir(path))
	}
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
