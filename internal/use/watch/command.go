package watch

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// Command runs a command for each finding: one after the other, so that a slow command does not
// hold up the watch.
type Command struct {
	text   string
	limit  time.Duration
	queue  chan Finding
	done   chan struct{}
	onFail func(string)
	left   int
}

const (
	commandsWaiting = 100             // findings that wait for the command at most
	commandLimit    = 1 * time.Minute // how long it may take
)

// NewCommand returns a runner of a command of a shell. onFail is called when it fails, takes longer
// than a minute, or when it is so slow that findings are left out.
func NewCommand(text string, onFail func(string)) *Command {
	c := &Command{text: text, limit: commandLimit, queue: make(chan Finding, commandsWaiting),
		done:   make(chan struct{}),
		onFail: onFail}
	go func() {
		defer close(c.done)
		for f := range c.queue {
			if err := c.run(&f); err != nil {
				c.onFail(fmt.Sprintf("--on-violation for %q: %v", f.Property, err))
			}
		}
	}()
	return c
}

// Run has the command run for a finding. It does not wait for that.
func (c *Command) Run(f Finding) {
	select {
	case c.queue <- f:
	default:
		if c.left++; c.left == 1 {
			c.onFail(fmt.Sprintf("--on-violation is slower than violations come: it is not run for all of them (%d wait)", commandsWaiting))
		}
	}
}

// Close waits until the command has run for all findings.
func (c *Command) Close() {
	close(c.queue)
	<-c.done
}

// run runs the command once: the finding is its input in JSON.
func (c *Command) run(f *Finding) error {
	text, err := json.Marshal(f)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", c.text)
	cmd.Env = append(os.Environ(), "ARIADNE_PROPERTY="+f.Property, "ARIADNE_MESSAGE="+f.Message, "ARIADNE_KIND="+f.Kind)
	cmd.Stdin = bytes.NewReader(append(text, '\n'))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return fmt.Errorf("it took more than %v and was ended", c.limit)
	}
	if first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n"); err != nil && first != "" {
		return fmt.Errorf("%w: %s", err, first)
	}
	return err
}
