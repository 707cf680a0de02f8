package native

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// keeperName is what the process is called that starts a program outside namespaces, and ends it
// with all that it has started. It lives until the descriptor is closed from which it takes orders,
// so it also outlives a watch that SIGKILL ends.
const keeperName = "ariadne-keeper"

// Running is a program that was started, with all that it has started.
type Running struct {
	cmd    *exec.Cmd
	orders *os.File // of its keeper; nil: it is a machine, which ends with its first process
}

// End ends the program and all that it has started, and waits for that.
func (r *Running) End() {
	if r.orders != nil {
		_ = r.orders.Close() // it is open
	} else {
		_ = unix.Kill(-r.cmd.Process.Pid, unix.SIGKILL) // all may have ended
	}
	_ = r.cmd.Wait() // how it ended is no finding
}

// keep starts a program under a keeper. started is called while the program has not begun.
func keep(p Program, out *os.File, started func(pid int) error) (*Running, error) {
	if p.Dir != "" {
		if _, err := os.Stat(p.Dir); err != nil {
			return nil, fmt.Errorf("working directory: %w", err)
		}
	}
	text, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	from, orders, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer from.Close()
	answers, to, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, orders.Close())
	}
	defer answers.Close()
	defer to.Close()
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{keeperName}
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = out, out, []*os.File{from, to}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(err, orders.Close())
	}
	r := &Running{cmd, orders}
	to.Close() // so that a keeper that has ended gives no answer
	var a answer
	if _, err = orders.Write(append(text, '\n')); err == nil {
		err = json.NewDecoder(answers).Decode(&a)
	}
	if err != nil {
		err = fmt.Errorf("%s did not begin: %w", p.Args[0], err)
	} else if a.Error != "" {
		err = errors.New(a.Error)
	}
	if err == nil {
		err = started(a.PID)
	}
	if err == nil {
		_, err = orders.Write([]byte("begin\n"))
	}
	if err != nil {
		r.End()
		return nil, err
	}
	return r, nil
}

// answer is what a keeper says of the program that it has started.
type answer struct {
	PID   int
	Error string
}

// runKeeper starts the program that it is told, and ends all when its orders end.
func runKeeper() error {
	runtime.LockOSThread() // for ptrace and PR_SET_PDEATHSIG
	orders := bufio.NewReader(os.NewFile(3, "orders"))
	answers := os.NewFile(4, "answers")
	syscall.CloseOnExec(3)
	syscall.CloseOnExec(4)
	// A process whose parent has ended becomes a child of the keeper, which so finds all.
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("subreaper: %w", err)
	}
	text, err := orders.ReadBytes('\n')
	if err != nil {
		return err
	}
	var p Program
	if err := json.Unmarshal(text, &p); err != nil {
		return err
	}
	pid, err := startStopped(p)
	a := answer{PID: pid}
	if err != nil {
		a.Error = err.Error()
	}
	if err := errors.Join(json.NewEncoder(answers).Encode(a), answers.Close()); err != nil || a.Error != "" {
		return err
	}
	if _, err := orders.ReadBytes('\n'); err == nil {
		if err := syscall.PtraceDetach(pid); err != nil {
			return err
		}
	}
	var ending sync.WaitGroup
	ending.Go(func() {
		_, _ = io.Copy(io.Discard, orders) // an error is the end, too
		endDescendants()
	})
	for {
		_, err := syscall.Wait4(-1, nil, 0, nil)
		if errors.Is(err, syscall.ECHILD) {
			break // nothing is left that could start more
		}
	}
	ending.Wait()
	return nil
}

// startStopped starts a program, which waits at its first instruction.
func startStopped(p Program) (pid int, err error) {
	cmd := command(p, os.Stdout)
	cmd.SysProcAttr.Ptrace = true
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(cmd.Process.Pid, &status, 0, nil); err != nil || !status.Stopped() {
		return 0, fmt.Errorf("%s did not begin: %w", p.Args[0], errors.Join(err, cmd.Process.Kill()))
	}
	return cmd.Process.Pid, nil
}

// endDescendants ends all descendants of this process, also those that they start meanwhile.
func endDescendants() {
	for {
		all := Descendants(os.Getpid())[1:]
		if len(all) == 0 {
			return
		}
		for _, pid := range all {
			_ = unix.Kill(pid, unix.SIGKILL) // it may have ended
		}
		time.Sleep(time.Millisecond) // until they are reaped
	}
}
