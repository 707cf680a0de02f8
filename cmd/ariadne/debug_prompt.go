package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/use/debug"
)

// prompt executes lines as they come. An error is shown, and the next line may follow. The end of
// ctx ends it, also while it waits for a line.
func prompt(ctx context.Context, r io.Reader, w io.Writer, d *debug.Debugger) error {
	fmt.Fprintf(w, "%s\nhelp lists the commands; quit ends.\n", d.Position())
	next := reader(r)
	for {
		fmt.Fprintf(w, "(step %d) ", d.Step())
		line, err := next(ctx)
		if err != nil {
			fmt.Fprintln(w)
			if err == io.EOF {
				return nil
			}
			return err
		}
		text, err := d.Execute(line)
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

// reader returns a function that waits for the next line of r. A read cannot be given up, so
// another goroutine does it.
func reader(r io.Reader) func(context.Context) (string, error) {
	type answer struct {
		line string
		err  error
	}
	asked, answers := make(chan bool), make(chan answer, 1)
	go func() {
		lines := bufio.NewScanner(r)
		for range asked {
			if lines.Scan() {
				answers <- answer{lines.Text(), nil}
			} else {
				answers <- answer{"", cmp.Or(lines.Err(), io.EOF)}
			}
		}
	}()
	return func(ctx context.Context) (string, error) {
		asked <- true
		select {
		case a := <-answers:
			return a.line, a.err
		case <-ctx.Done():
			return "", ariadne.ErrInterrupted
		}
	}
}
