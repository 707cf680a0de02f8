package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/ariadne-mc/ariadne/tools/child"
)

// command says what is done now and returns the command that does it.
func (b *bench) command(name string, args ...string) *exec.Cmd {
	b.progress.now(strings.Join(append([]string{name}, args...), " "))
	return child.Command(b.ctx, name, args...)
}

// progress tells what is being measured: each command as it begins, and now and then
// that it still goes on. A command that begins soon after another one is not told.
type progress struct {
	began time.Time

	mu    sync.Mutex
	part  string
	next  []string // parts
	what  string
	since time.Time // when what began
	told  time.Time
}

// How often at least, and at most, there is a line.
const (
	tellAtLeast = 15 * time.Second
	tellAtMost  = 2 * time.Second
)

// start begins to tell, until the context ends.
func (p *progress) start(ctx context.Context) {
	p.began = time.Now()
	tick := time.NewTicker(time.Second)
	go func() {
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				p.mu.Lock()
				if time.Since(p.told) >= tellAtLeast {
					p.printLine()
				}
				p.mu.Unlock()
			}
		}
	}()
}

// begin says which part is measured now, and which come next.
func (p *progress) begin(part string, next []string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.part, p.next, p.what, p.since, p.told = part, next, "", time.Now(), time.Time{}
	p.printLine()
}

func (p *progress) now(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.what, p.since = what, time.Now()
	if time.Since(p.told) >= tellAtMost {
		p.printLine()
	}
}

// printLine prints a line. mu is held.
func (p *progress) printLine() {
	p.told = time.Now()
	line := fmt.Sprintf("%7s  %s", p.told.Sub(p.began).Round(time.Second), p.part)
	switch {
	case p.what != "":
		line += ": " + p.what
	case len(p.next) == 1:
		line += " (then " + p.next[0] + ")"
	case len(p.next) > 1:
		line += fmt.Sprintf(" (then %s and %d more)", p.next[0], len(p.next)-1)
	}
	if d := p.told.Sub(p.since).Round(time.Second); d > 0 {
		line += fmt.Sprintf(" (for %v)", d)
	}
	fmt.Fprintln(os.Stderr, line)
}
