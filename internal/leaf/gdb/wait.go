package gdb

import (
	"io"
	"sync"
	"time"
)

// between is the time between two signs of life. gdb gives up after two seconds (remotetimeout).
const between = 500 * time.Millisecond

// Wait keeps gdb waiting for its first answer. It writes the confirmation of a packet to gdb from
// time to time. gdb skips one that it does not need, and its timeout starts again. stop ends this,
// and may be called several times. Nothing is written after stop has returned.
func Wait(w io.Writer) (stop func()) { return wait(w, between) }

func wait(w io.Writer, between time.Duration) (stop func()) {
	done, ended := make(chan bool), make(chan bool)
	go func() {
		defer close(ended)
		t := time.NewTicker(between)
		defer t.Stop()
		for {
			select {
			case <-done:
				return
			case <-t.C:
				if _, err := io.WriteString(w, "+"); err != nil {
					return // gdb has left; the next read ends, too
				}
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(done)
		<-ended
	})
}
