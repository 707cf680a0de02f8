package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/ariadne-mc/ariadne/internal/record/graph"
	"github.com/ariadne-mc/ariadne/internal/use/explain"

	"github.com/spf13/cobra"
)

func (a *app) graphCommand() *cobra.Command {
	var path, out, beside string
	o := explain.Options{System: a.system()}
	cmd := &cobra.Command{
		Use:   "graph TRACE",
		Short: "Draw a trace as a page, an image or a log for ShiViz",
		Long: `Replays a trace and writes a page that shows it: nodes across, steps down, messages as arrows
with what they carry. Faults, late and lost messages are marked. A click on a step shows what
happened in it, and which steps could have led to it (its causal past).

The page is one file. It makes no request, and shows the same in any browser without a server.

A name that ends in .svg gets the same as an image, for documents. One that ends in .shiviz gets a
log with vector clocks, which ShiViz reads without settings.`,
		Example: `  ariadne graph ariadne-runs/raftkv-1/violation-1/shrunk/trace.txt -o graph.html
  ariadne graph ariadne-runs/raftkv-1/violation-1/shrunk/trace.txt -o graph.svg`,
		Args: exactly("TRACE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			write, ok := pictureFormats[filepath.Ext(out)]
			if !ok {
				return usageError{fmt.Errorf("-o %s: the name must end in .html, .svg or .shiviz, by what is to be written", out)}
			}
			if beside != "" && filepath.Ext(out) != ".html" {
				return usageError{fmt.Errorf("-o %s: two traces beside each other are a page, whose name ends in .html", out)}
			}
			s, err := a.tracedSpec(args[0], path)
			if err != nil {
				return err
			}
			if err := enoughTasks(); err != nil {
				return err
			}
			var p *graph.Picture
			if beside == "" {
				p, err = explain.Draw(cmd.Context(), s, args[0], o)
			} else {
				var other *graph.Picture
				p, other, err = explain.DrawBeside(cmd.Context(), s, args[0], beside, o)
				write = func(p *graph.Picture, w io.Writer) error { return p.WriteBeside(w, other) }
			}
			if err != nil {
				return err
			}
			if err := writePicture(out, p, write); err != nil {
				return err
			}
			fmt.Fprintf(a.out, "%s: %s, %s\n", out, plural(len(p.Steps), "step"), plural(len(p.Messages), "message"))
			return nil
		},
	}
	f := cmd.Flags()
	f.StringVarP(&out, "out", "o", "graph.html", "write to this `file`: .html, .svg or .shiviz")
	f.StringVar(&beside, "beside", "", "draw this other `trace` of the system beside, and mark where both part")
	f.StringVar(&o.Decoder, "decode", "", "ask the function decode(message) of this `script` in Starlark what messages carry")
	f.StringVar(&path, "spec", "", "read the spec from this `file` instead of the one that the trace names")
	f.BoolVar(&o.Force, "force", false, "draw even if spec or programs have changed")
	return cmd
}

// pictureFormats are how a picture is written, by the ending of the file's name.
var pictureFormats = map[string]func(*graph.Picture, io.Writer) error{
	".html":   (*graph.Picture).Write,
	".svg":    (*graph.Picture).WriteSVG,
	".shiviz": (*graph.Picture).WriteShiViz,
}

// writePicture writes a picture to a file, all of it or nothing.
func writePicture(path string, p *graph.Picture, write func(*graph.Picture, io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".graph-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	if err := write(p, f); err != nil {
		f.Close()
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
