package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/ariadne-mc/ariadne/internal/use/debug"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
)

func (a *app) dlvCommand() *cobra.Command {
	pid, listen := 0, ""
	at := nodeAt{Options: debug.Options{System: a.system()}}
	cmd := &cobra.Command{
		Use:   "dlv TRACE [-- FLAG...]",
		Short: "Let Delve, or an editor, follow a Go node from a step on",
		Long: `Replays a trace up to a step, and starts Delve (dlv) on the node's process there. Delve shows
goroutines and variables, and has breakpoints, next, step and stepout. With rev before it, each of
these commands goes back. Delve can change nothing. Flags after -- are Delve's.

With --listen Delve waits for an editor: VS Code ("request": "attach", "mode": "remote") or GoLand
("Go Remote").`,
		Example: `  ariadne dlv trace.txt --node n2 --step 41
  ariadne dlv trace.txt --node n2 --step 41 --listen 127.0.0.1:2345`,
		Args: func(cmd *cobra.Command, args []string) error {
			if n := cmd.ArgsLenAtDash(); n >= 0 {
				args = args[:n]
			}
			return exactly("TRACE")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			dlv, err := exec.LookPath("dlv")
			if err != nil {
				return usageError{errors.New("dlv: Delve is not installed: go install github.com/go-delve/delve/cmd/dlv@latest, and have its directory in PATH")}
			}
			flags := args[1:]
			if listen != "" {
				flags = append([]string{"--headless", "--listen", listen, "--api-version", "2", "--accept-multiclient"},
					flags...)
			}
			return at.visit(cmd.Context(), a, args[0], func(d *debug.Debugger, node string) error {
				program, err := d.Program(node, pid)
				if err != nil {
					return err
				}
				return serveDelve(cmd.Context(), dlv, flags, program, func(c net.Conn) error {
					return d.ServeGDB(c, c, debug.Delve, node, pid)
				})
			})
		},
	}
	at.register(cmd.Flags())
	cmd.Flags().IntVar(&pid, "pid", 0, "show the process of this `number`, as the node sees it; may be left out if there is only one")
	cmd.Flags().StringVar(&listen, "listen", "", "have Delve wait for an editor at this `address`, as in 127.0.0.1:2345")
	return cmd
}

// recorder stands in PATH in the place of rr, which Delve starts to have a recording replayed: it
// says where the replay is, and lives as long as the pipe beside it is held open.
const recorder = `#!/bin/sh
if [ "$1" = --version ]; then
	echo 'rr version 5.8.0'
	exit
fi
cat <<'END' >&2
Launch debugger with
  'gdb' '-ex' 'target extended-remote %s' %s
END
read -r line <"$0.held"
`

// serveDelve runs Delve, and has serve answer it. program is that of the process.
func serveDelve(ctx context.Context, dlv string, flags []string, program string,
	serve func(net.Conn) error) (err error) {
	dir, err := os.MkdirTemp("", "ariadne-dlv")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	rr := filepath.Join(dir, "rr")
	if err := os.WriteFile(rr, fmt.Appendf(nil, recorder, listener.Addr(), quoted(program)), 0o755); err != nil {
		return err
	}
	if err := unix.Mkfifo(rr+".held", 0o600); err != nil {
		return err
	}
	held, err := os.OpenFile(rr+".held", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer held.Close()

	c := exec.CommandContext(ctx, dlv, append([]string{"replay"}, append(flags, dir)...)...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	c.Env = append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	if isTerminal(os.Stdin) { // Ctrl-C is for Delve alone
		c.SysProcAttr.Foreground, c.SysProcAttr.Ctty = true, int(os.Stdin.Fd())
		signal.Ignore(syscall.SIGTTOU) // by which a process is told that it has no terminal
		group := unix.Getpgrp()
		defer func() { unix.IoctlSetPointerInt(int(os.Stdin.Fd()), unix.TIOCSPGRP, group) }()
	}
	if err := permitRecordings(c, dir); err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() {
		ended <- c.Wait()
		listener.Close()
	}()
	if conn, err := listener.Accept(); err == nil {
		served := serve(conn)
		conn.Close()
		if served != nil {
			c.Process.Signal(syscall.SIGTERM)
			return errors.Join(served, <-ended)
		}
	} else if !errors.Is(err, net.ErrClosed) {
		return err
	}
	if err := <-ended; err != nil && ctx.Err() == nil { // an interrupt is how a waiting Delve ends
		return fmt.Errorf("dlv: %w", err)
	}
	return nil
}

// quoted is a word of a command line, as Delve reads it.
func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// paranoia says what ordinary users may ask of the processor's counters. With more than 1 Delve
// takes no recording, since rr needs them. Ariadne does not.
const paranoia = "/proc/sys/kernel/perf_event_paranoid"

// permitRecordings has a command see a setting with which Delve takes a recording. Where it may not
// make a mount namespace for that, Delve says what it needs.
func permitRecordings(c *exec.Cmd, dir string) error {
	b, err := os.ReadFile(paranoia)
	if n, _ := strconv.Atoi(strings.TrimSpace(string(b))); err != nil || n <= 1 {
		return nil
	}
	lower := filepath.Join(dir, "paranoia")
	if err := os.WriteFile(lower, []byte("1\n"), 0o644); err != nil {
		return err
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		return err
	}
	const script = `{ mount --make-rprivate / && mount --bind "$0" ` + paranoia + `; } 2>/dev/null; exec "$@"`
	c.Args = append([]string{"sh", "-c", script, lower, c.Path}, c.Args[1:]...)
	c.Path = sh
	c.SysProcAttr.Cloneflags = unix.CLONE_NEWNS
	if uid := os.Geteuid(); uid != 0 {
		c.SysProcAttr.Cloneflags |= unix.CLONE_NEWUSER
		c.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: uid, Size: 1}}
		c.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}}
	}
	return nil
}
