//go:build linux

// Package watchdog looks from outside at the threads of a node that run and make no call. It is the
// one part of a node that goes by real time.
//
// It knows processes, and nothing of what is emulated. The node tells it which thread runs, that a
// call was made, and that a step begins or ends. It keeps its findings until it is asked.
//
// Read next: weigh.go (memory).
package watchdog

import (
	"bytes"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ariadne-mc/ariadne/internal/machine/tracee"

	"golang.org/x/sys/unix"
)

// Watchdog stops a thread that spins while others could run, and any that runs past the step's
// limit. It is the only place where the real machine's speed matters, and what it does is marked.
// It counts processor time of what runs, so that neither a busy machine nor Ariadne's own work
// looks like a program that hangs; and since it is Ariadne that makes calls slow, each call adds to
// the limit.
type Watchdog struct {
	limit time.Duration

	mu   sync.Mutex
	last *tracee.Process // that ran
	runs bool            // it runs now

	others atomic.Bool  // another thread could run instead
	beats  atomic.Int64 // stops so far
	steps  atomic.Int64 // steps begun
	calls  atomic.Int64 // of the step
	inStep atomic.Bool
	over   atomic.Bool // the step has used up its limit
	ended  atomic.Bool // nobody waits for the step any more
	asks   func() bool // whether somebody has ended it
	spun   atomic.Bool // a thread was preempted in this step
	done   chan struct{}

	memory  int64                  // that the node has
	held    gauge                  // when the node is to weigh its objects
	grown   atomic.Bool            // it is full
	swollen atomic.Pointer[string] // why a process that used too much was killed
}

const (
	tick = 50 * time.Millisecond
	// spinLimit without a call while others wait: a spin lock, not a long computation.
	// Where there was one, the next is not waited for as long.
	spinLimit = 2 * time.Second
	// wallFactor: a thread that makes no stop for so many times the step's limit of real time
	// hangs, although it uses no processor: it sleeps in a call that was not emulated. One that
	// waits for a processor does not.
	wallFactor = 20
	// PerCall is what each call of a step adds to its limit.
	PerCall = 50 * time.Microsecond
)

// Start returns a watchdog over steps that may use so much processor time, of processes that may
// use so much memory. interrupted reports whether somebody has ended the step under way.
func Start(limit time.Duration, memory int64, interrupted func() bool) *Watchdog {
	w := &Watchdog{limit: limit, memory: memory, asks: interrupted, done: make(chan struct{})}
	go w.watch()
	return w
}

// usage is what a watchdog has counted of one step.
type usage struct {
	step, beats int64
	pid         int
	cpu         time.Duration // clock of pid when last read
	used        time.Duration // by the step
	still       time.Duration // since the last stop
	stopped     time.Time     // when it was seen last to have stopped
}

func (w *Watchdog) watch() {
	t, m := time.NewTicker(tick), time.NewTicker(memoryTick)
	defer t.Stop()
	defer m.Stop()
	var u usage
	for {
		select {
		case <-w.done:
			return
		case now := <-t.C:
			w.look(&u, now)
		case <-m.C:
			w.weigh()
			if w.held.full(w.memory / growth) {
				w.grown.Store(true)
			}
		}
	}
}

func (w *Watchdog) look(u *usage, now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	step, beats, pid := w.steps.Load(), w.beats.Load(), 0
	cpu := time.Duration(0)
	if w.last != nil {
		pid = w.last.PID()
		cpu = cpuTime(pid)
	}
	switch {
	case !w.inStep.Load() || step != u.step:
		*u = usage{step: step, stopped: now}
	case pid == u.pid:
		u.used += cpu - u.cpu
		u.still += cpu - u.cpu
	}
	if beats != u.beats {
		u.still, u.stopped = 0, now
	}
	u.beats, u.pid, u.cpu = beats, pid, cpu
	limit := w.limit + time.Duration(w.calls.Load())*PerCall
	if w.limit > 0 && (u.used > limit || w.runs && now.Sub(u.stopped) > wallFactor*limit && !runnable(pid)) {
		w.over.Store(true)
	}
	if w.inStep.Load() && w.asks() {
		w.ended.Store(true)
	}
	if w.runs && (w.over.Load() || w.ended.Load() || u.still >= w.Patience() && w.others.Load()) {
		u.still = 0
		// The thread may have stopped since: it then stops once more, harmlessly.
		_ = w.last.Signal(unix.SIGSTOP)
	}
}

// cpuTime reads the processor time of a process (clock_getcpuclockid(3)); 0 when it is gone.
func cpuTime(pid int) time.Duration {
	var ts unix.Timespec
	if unix.ClockGettime(^int32(pid)<<3|2, &ts) != nil {
		return 0
	}
	return time.Duration(ts.Nano())
}

// runnable reports whether a thread of a process runs, or waits for a processor.
func runnable(pid int) bool {
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, t := range tasks {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/stat", pid, t.Name()))
		// 12 (a name) R ...
		if i := bytes.LastIndexByte(b, ')'); err == nil && i >= 0 && i+2 < len(b) && b[i+2] == 'R' {
			return true
		}
	}
	return false
}

// Begin says that a step begins.
func (w *Watchdog) Begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over.Store(false)
	w.ended.Store(false)
	w.spun.Store(false)
	w.calls.Store(0)
	w.steps.Add(1)
	w.inStep.Store(true)
}

// Patience is how long a thread may compute while others wait.
func (w *Watchdog) Patience() time.Duration {
	if w.spun.Load() {
		return tick
	}
	return spinLimit
}

// Hurry says that a thread was stopped that spun: the next in the step is not waited for as long.
func (w *Watchdog) Hurry() { w.spun.Store(true) }

// End says that the step ends.
func (w *Watchdog) End() { w.inStep.Store(false); w.Stopped() }

// Stop ends the watchdog.
func (w *Watchdog) Stop() { close(w.done) }

// Expired reports whether the step has used up its limit, or nobody waits for it any more.
func (w *Watchdog) Expired() bool { return w.over.Load() || w.ended.Load() }

// Called says that a call was made.
func (w *Watchdog) Called() { w.calls.Add(1) }

// Running says that a thread of p is about to run, and whether another could instead.
func (w *Watchdog) Running(p *tracee.Process, others bool) error {
	_, err := p.Open()
	w.others.Store(others)
	w.beats.Add(1)
	w.mu.Lock()
	w.last, w.runs = p, err == nil
	w.mu.Unlock()
	return err
}

// Stopped says that the thread has stopped.
func (w *Watchdog) Stopped() {
	w.mu.Lock()
	w.runs = false
	w.mu.Unlock()
}
