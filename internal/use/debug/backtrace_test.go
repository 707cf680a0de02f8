//go:build linux

package debug

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/leaf/inspect"
)

// TestBacktrace: stacks have the frames that the program tells of itself, with and without debug
// information, frame pointers and symbols.
func TestBacktrace(t *testing.T) {
	for _, c := range []struct {
		name  string
		build []string
		inner string // the function that each of its threads is in
	}{
		{"C", []string{"gcc", "-g", "-O2", "-fomit-frame-pointer", "-pthread", "-o", "OUT", "testdata/core/waits.c"},
			"inner (waits.c:"},
		{"C without debug information",
			[]string{"gcc", "-O1", "-pthread", "-rdynamic", "-s", "-o", "OUT", "testdata/core/waits.c"},
			"inner (waits)"},
		{"C, static", []string{"gcc", "-g", "-O1", "-static", "-pthread", "-o", "OUT", "testdata/core/waits.c"},
			"inner (waits.c:"},
		{"C++", []string{"g++", "-g", "-O2", "-pthread", "-o", "OUT", "testdata/core/waits.cc"},
			"app::Worker::inner (waits.cc:"},
		{"Rust", []string{"rustc", "-g", "-O", "-o", "OUT", "testdata/core/waits.rs"},
			"waits::Worker::inner (waits.rs:"},
		{"Go", []string{"go", "build", "-o", "OUT", "testdata/core/waits.go"}, "main.inner (waits.go:"},
		{"Go without debug information",
			[]string{"go", "build", "-ldflags=-s -w", "-o", "OUT", "testdata/core/waits.go"}, "main.inner (waits.go:"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, _ := waiting(t, c.build...)
			said := told(d)
			if len(said) != 2 {
				t.Fatalf("the program told of the threads %v", said)
			}
			var shown [][]string
			in := 0
			err := d.session.Visit(0, func(m inspect.Machine) error {
				v, err := m.Look()
				if err != nil {
					return err
				}
				p := &v.Processes[0]
				for _, th := range p.Threads {
					frames, err := d.session.Stack(m, p.PID, th.TID)
					if err != nil {
						return err
					}
					var addresses []string
					for i := range frames {
						if !frames[i].Inlined {
							addresses = append(addresses, fmt.Sprintf("%x", frames[i].PC))
						}
					}
					shown = append(shown, addresses)
					if strings.HasPrefix(d.inFunction(m, p, th.TID), ", in "+c.inner) {
						in++
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			text, err := d.Execute("backtrace n")
			if err != nil {
				t.Fatal(err)
			}
			for name, frames := range said {
				if !slices.ContainsFunc(shown, func(s []string) bool { return holds(s, frames) }) {
					t.Errorf("thread %s has the frames %v, and shown is\n%s", name, frames, text)
				}
			}
			if in != 2 {
				t.Errorf("%d threads are shown to be in %q...:\n%s", in, c.inner, text)
			}
		})
	}
}
