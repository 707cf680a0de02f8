package watch

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/use/watch/stream"
)

// TestCheckpoint: a checkpoint is the same after it was kept, and one of another build, spec, turn
// or part, or a damaged one, is refused.
func TestCheckpoint(t *testing.T) {
	own := identity{Format: checkpointFormat, Build: build(), Spec: "sum", Turn: 1, Part: "1 0"}
	c := checkpoint{Identity: own, Read: 7, Reader: []byte("{}"), Verifier: []byte("[]"), Findings: 3,
		Unseen: []string{"x"}}
	text, err := c.encode()
	if err != nil {
		t.Fatal(err)
	}
	is, err := decodeCheckpoint(text, own)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := is.encode(); err != nil || !bytes.Equal(again, text) || own.Build == "" {
		t.Errorf("%+v is decoded as %+v %v", c, is, err)
	}
	for why, f := range map[string]func(*identity){
		"another build of ariadne has written it": func(o *identity) { o.Build += "x" },
		"another build of ariadne":                func(o *identity) { o.Format++ },
		"of another spec":                         func(o *identity) { o.Spec = "other" },
		"not of part":                             func(o *identity) { o.Part = "1 1" },
		"of turn 1, not":                          func(o *identity) { o.Turn = 2 },
	} {
		other := own
		f(&other)
		if _, err := decodeCheckpoint(text, other); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%+v: %v, want %q", other, err, why)
		}
	}
	for _, wrong := range [][]byte{nil, []byte("x"), text[:len(text)/2]} {
		if _, err := decodeCheckpoint(wrong, own); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("%x: %v", wrong, err)
		}
	}
}

// TestForeignCheckpoint: where a checkpoint is another one's, a message says so, and the log is
// judged from its beginning.
func TestForeignCheckpoint(t *testing.T) {
	s := specOf(t, sharedSpec)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	foreign := checkpoint{Identity: identity{Format: checkpointFormat, Build: build(), Part: "0 0"}, Read: 1}
	text, err := foreign.encode()
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var said []string
	var ended <-chan error
	r, err := Watch(ctx, s, Options{Shared: Shared{Listen: "127.0.0.1:0"},
		OnFinding: func(f Finding) {
			if f.Property == "p1" {
				cancel()
			}
		},
		OnWait: func(text string) {
			mu.Lock()
			defer mu.Unlock()
			said = append(said, text)
		},
		OnLog: func(at, name string) {
			c, err := stream.Connect(ctx, at, name, stream.TLS{}, nil)
			if err == nil {
				defer c.Close()
				if err = c.Create(ctx); err == nil {
					err = c.SetCheckpoint(ctx, "0 0", text)
				}
			}
			if err != nil {
				t.Error(err)
			}
			ended = agents(ctx, s, at)
		}})
	if err != nil {
		t.Fatal(err)
	}
	for range s.Nodes {
		if err := <-ended; err != nil {
			t.Errorf("an agent: %v", err)
		}
	}
	const want = "p1: its checkpoint is not used, and the log is read from the beginning: it is of another spec"
	if !slices.Contains(said, want) {
		t.Errorf("%q, want %q", said, want)
	}
	if r.Outcome != record.Violated || r.Restored != 0 || r.Properties[0].Findings != 1 {
		t.Errorf("%v, %d restored, %+v", r.Outcome, r.Restored, r.Properties[0])
	}
}
