package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/ariadne-mc/ariadne/internal/record/report"
)

// output is standard output. The first error of writing stays: what was to be said was
// not, and that is no success.
type output struct {
	io.Writer
	failed func() // is told of the first error, once
	err    error
}

func (o *output) Write(b []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.Writer.Write(b)
	if err != nil {
		o.err = err
		o.failed()
	}
	return n, err
}

// Unwrap returns what is written to.
func (o *output) Unwrap() io.Writer { return o.Writer }

// messages is standard error. On a terminal, a message that is wider than the terminal is wrapped
// between words. In a file or a pipe it stays one line, so that it can be searched for.
type messages struct {
	io.Writer
	style report.Style
}

// toTerminal has messages wrapped if w is a terminal.
func toTerminal(w io.Writer) io.Writer { return &messages{w, style(w)} }

func (m *messages) Write(b []byte) (int, error) {
	// Progress moves the cursor, or ends in no line: it is as wide as whoever made it wants.
	text, whole := strings.CutSuffix(string(b), "\n")
	if m.style.Width == 0 || !whole || strings.ContainsAny(text, "\r\x1b") {
		return m.Writer.Write(b)
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = m.style.Wrap(line)
	}
	if _, err := io.WriteString(m.Writer, strings.Join(lines, "\n")+"\n"); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Unwrap returns what is written to.
func (m *messages) Unwrap() io.Writer { return m.Writer }

// gracefully returns a context that ends at the first signal that asks Ariadne to end, and
// when nobody reads any more what it prints: it then stops and keeps what it has. The
// second signal kills, as always.
func gracefully() (context.Context, context.CancelFunc) {
	asks := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // by nohup
		asks = append(asks, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), asks...)
	context.AfterFunc(ctx, stop)
	// Writing to a closed pipe is an error like others. The signal is caught and not
	// ignored, because programs would inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return ctx, stop
}
