// Package child starts commands that end when we do, for the programs that drive the
// finished binary and measure it.
package child

import (
	"context"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"
)

// UntilAsked returns a context that ends when somebody asks us to end, or when who has
// started us is gone.
func UntilAsked() (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	ctx, cancel := context.WithCancel(ctx)
	parent := os.Getppid()
	go func() {
		for range time.Tick(time.Second) {
			if os.Getppid() != parent {
				cancel()
			}
		}
	}()
	return ctx, func() { cancel(); stop() }
}

// Command is a command that ends, with all that it has started, when we do: each has a
// process group of its own, which is killed when the context ends. Should we be killed,
// Linux kills the command.
func Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}
