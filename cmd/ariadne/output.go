package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
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
