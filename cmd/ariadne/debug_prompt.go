package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/ariadne-mc/ariadne/internal/use/debug"
)

// prompt executes lines as they come. An error is shown, and the next line may follow.
func prompt(r io.Reader, w io.Writer, d *debug.Debugger) error {
	fmt.Fprintf(w, "%s\nhelp lists the commands; quit ends.\n", d.Position())
	lines := bufio.NewScanner(r)
	for {
		fmt.Fprintf(w, "(step %d) ", d.Step())
		if !lines.Scan() {
			fmt.Fprintln(w)
			return lines.Err()
		}
		text, err := d.Execute(lines.Text())
		switch {
		case errors.Is(err, debug.ErrQuit):
			return nil
		case err != nil:
			fmt.Fprintf(w, "%v\n", err)
		default:
			io.WriteString(w, text)
		}
	}
}
