package gdb

import (
	"io"
	"testing"
	"time"
)

// TestWait: gdb gets confirmations until its target is ready, and nothing then.
func TestWait(t *testing.T) {
	r, w := io.Pipe()
	stop := wait(w, time.Millisecond)
	var got [3]byte
	if _, err := io.ReadFull(r, got[:]); err != nil || string(got[:]) != "+++" {
		t.Errorf("gdb read %q, %v", got[:], err)
	}
	go io.Copy(io.Discard, r)
	stop()
	stop()
	r.Close()
	if _, err := w.Write([]byte("x")); err != io.ErrClosedPipe {
		t.Errorf("a write behind the end: %v", err)
	}
}

// TestWaitForOneWhoLeft: gdb may be gone before its target is ready.
func TestWaitForOneWhoLeft(t *testing.T) {
	r, w := io.Pipe()
	r.Close()
	stop := wait(w, time.Millisecond)
	time.Sleep(5 * time.Millisecond)
	stop()
}
