//go:build linux

package stack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk/block"

	"golang.org/x/sys/unix"
)

// Worker is a process in which stacks are mounted, one at a time.
type Worker struct {
	server *server
	config *Config
	cmd    *exec.Cmd
	in     *os.File // steps
	enc    *json.Encoder
	dec    *json.Decoder
	out    *os.File // results
	said   *tail
	ended  chan struct{} // closed when its process is no more
	served chan error    // the end of its FUSE server
	// slack is how much longer than the limits of its commands steps may take.
	slack  time.Duration
	closed bool
}

// Descriptors of a worker.
const (
	fuseFd = 3 + iota
	stepsFd
	resultsFd
)

// workerName is the name of a worker in lists of processes, by which the process knows that it is
// one.
const workerName = "ariadne-disk-worker"

// setup is what a worker is told first.
type setup struct {
	Config Config
	Temp   string // an empty directory
}

// Start starts a worker. temp is an empty directory of its own. flushes: Recorders log the flushes
// of its devices. Without, the kernel does not send them, and devices are faster.
func Start(c *Config, temp string, flushes bool) (*Worker, error) {
	dev, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("/dev/fuse: %w", err)
	}
	steps, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, results, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	w := &Worker{server: newServer(flushes), config: c, in: in, enc: json.NewEncoder(in),
		dec: json.NewDecoder(out), out: out,
		said: new(tail), ended: make(chan struct{}), served: make(chan error, 1), slack: time.Minute}
	fuse := os.NewFile(uintptr(dev), "/dev/fuse")
	w.cmd = &exec.Cmd{Path: "/proc/self/exe", Args: []string{workerName}, Env: os.Environ(), Stderr: w.said,
		ExtraFiles: []*os.File{fuse, steps, results},
		SysProcAttr: &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNS | unix.CLONE_NEWPID, Setsid: true,
			Pdeathsig: syscall.SIGKILL}}
	err = w.start()
	steps.Close()
	results.Close()
	if err != nil {
		fuse.Close()
		in.Close()
		out.Close()
		return nil, fmt.Errorf("a process with namespaces of its own: %w", err)
	}
	own, err := unix.FcntlInt(fuse.Fd(), unix.F_DUPFD_CLOEXEC, 0) // the server closes it
	fuse.Close()
	if err != nil {
		w.Close()
		return nil, err
	}
	// it has mounted the server
	if _, err := w.exchange(context.Background(), setup{*c, temp}, w.slack); err != nil {
		unix.Close(own)
		w.served <- err
		w.Close()
		return nil, err
	}
	go func() { w.served <- w.server.serve(own) }()
	if _, err := w.exchange(context.Background(), []Step{}, w.slack); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// start starts the process. The kernel kills it when the thread ends that has started it, so that
// thread waits for its end.
func (w *Worker) start() error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := w.cmd.Start()
		started <- err
		if err == nil {
			w.cmd.Wait() // how it ends is told by what it has said
			close(w.ended)
		}
	}()
	return <-started
}

// Close ends the worker, with everything that it has mounted and started. It may be called twice.
func (w *Worker) Close() {
	if w.closed {
		return
	}
	w.closed = true
	w.in.Close() // it unmounts what is mounted, and ends
	select {
	case <-w.ended:
	case <-time.After(5 * time.Second):
		w.cmd.Process.Kill()
		select {
		case <-w.ended:
		// in a call that does not return; it ends with this process
		case <-time.After(10 * time.Second):
		}
	}
	w.out.Close()
	select {
	case <-w.served:
	case <-time.After(5 * time.Second): // nobody has mounted it
	}
}

// Hear has a function take the lines that programs in the stack write to /dev/ariadne. It returns
// the answer, or why a line is wrong.
func (w *Worker) Hear(hear func(line string) (answer, why string)) { w.server.setHear(hear) }

// Serve serves disks as the devices of a stack, in order, and returns the nodes of those devices
// that are no part of others. to logs requests to the disks, unless it is nil. lost: the power was
// lost, so devices that fail with it are missing. So are those of the numbers dropped.
func (w *Worker) Serve(disks []*block.Disk, to *Recorder, lost bool, dropped ...int) (nodes []uint64) {
	parts := map[string]part{}
	for i := range w.config.Components {
		if c := &w.config.Components[i]; c.Size > 0 {
			n := len(parts)
			parts[c.Name] = part{disk: disks[n], device: n, lies: c.Lies}
		}
	}
	for _, c := range w.config.attached() {
		var of []part
		for _, name := range c.On {
			of = append(of, parts[name])
		}
		if c.Join == "" {
			of = []part{parts[c.Name]}
		}
		d := newServed(c, of, to)
		for i := range d.parts {
			p := &d.parts[i]
			p.missing = slices.Contains(dropped, p.device) || lost && c.Fails != "" && c.On[i] == c.Fails
		}
		nodes = append(nodes, w.server.add(d))
	}
	return nodes
}

// Drop serves disks no more.
func (w *Worker) Drop(nodes []uint64) {
	for _, n := range nodes {
		w.server.remove(n)
	}
}

// Mark logs a line in a Recorder.
func (r *Recorder) Mark(text string) { r.add(block.Op{Kind: block.Mark, Text: text}) }

// Do does steps, one after the other, until one fails. From then on only those with Always are
// done. The error is of the worker itself: it is of no use any more.
func (w *Worker) Do(ctx context.Context, steps []Step, limit time.Duration) ([]Result, error) {
	return w.exchange(ctx, steps, limit+w.slack)
}

// exchange sends a value, and waits for its results.
func (w *Worker) exchange(ctx context.Context, value any, limit time.Duration) (results []Result, err error) {
	if err := w.enc.Encode(value); err != nil {
		return nil, w.failed(err)
	}
	done := make(chan error, 1)
	go func() { done <- w.dec.Decode(&results) }()
	select {
	case err = <-done:
	case <-ctx.Done():
		err = ctx.Err()
	case <-time.After(limit):
		w.cmd.Process.Kill()
		return nil, &HangError{limit}
	}
	if err != nil {
		w.cmd.Process.Kill()
		return nil, w.failed(err)
	}
	if n := len(results); n > 0 && results[n-1].Failed == lost {
		return nil, errors.New(results[n-1].Output)
	}
	return results, nil
}

// HangError is that a worker does not answer: a call of the kernel's does not return. It is of no
// use any more.
type HangError struct {
	Limit time.Duration
}

func (e *HangError) Error() string {
	return fmt.Sprintf("the stack hangs: a step has not ended within %v", e.Limit)
}

// lost is the failure of a worker that cannot go on.
const lost = "lost"

// failed is an error of the worker, with what it has said.
func (w *Worker) failed(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, unix.EPIPE) {
		select {
		case <-w.ended:
		case <-time.After(time.Second):
		}
		err = errors.New("it ended early")
	}
	if said := strings.TrimSpace(w.said.String()); said != "" {
		err = fmt.Errorf("%w: %s", err, said)
	}
	return fmt.Errorf("the process that mounts the stack: %w", err)
}

// tail is the end of what somebody writes.
type tail struct {
	mu sync.Mutex
	b  []byte
}

// mostTail is how much a tail keeps, in bytes.
const mostTail = 4096

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, b...)
	t.b = t.b[max(len(t.b)-mostTail, 0):]
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.b)
}

// IsWorker reports whether this process is a worker: then its main function calls Work.
func IsWorker() bool { return len(os.Args) == 1 && os.Args[0] == workerName }

// Work is the main function of a worker. It does not return.
func Work() {
	unix.CloseOnExec(fuseFd)
	unix.CloseOnExec(stepsFd)
	unix.CloseOnExec(resultsFd)
	dec, enc := json.NewDecoder(os.NewFile(stepsFd, "steps")), json.NewEncoder(os.NewFile(resultsFd, "results"))
	var s setup
	if err := dec.Decode(&s); err != nil {
		os.Exit(1)
	}
	m := &mounts{Config: &s.Config, temp: s.Temp}
	// the server begins in between
	for _, prepare := range []func() error{m.mountServer, m.prepare} {
		if err := prepare(); err != nil {
			enc.Encode([]Result{{Failed: lost, Output: "a mount namespace: " + err.Error()}})
			os.Exit(1)
		}
		enc.Encode([]Result{})
	}
	var none []Step
	dec.Decode(&none)
	for {
		var steps []Step
		if err := dec.Decode(&steps); err != nil {
			m.unmount(false)
			os.Exit(0)
		}
		if err := enc.Encode(m.do(steps)); err != nil {
			m.unmount(false)
			os.Exit(0)
		}
	}
}
