//go:build linux

package node

import (
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// watchdog looks from outside at a thread that runs and makes no call: it stops
// one that spins while others could run, and any that runs past the step's limit.
// It is the only place where real time matters, and what it does is marked.
type watchdog struct {
	limit   time.Duration
	pid     atomic.Int64
	tid     atomic.Int64 // running now, or 0
	others  atomic.Bool  // another thread could run instead
	beats   atomic.Int64 // stops so far
	started atomic.Int64 // real time of the step's start, ns; 0 between steps
	over    atomic.Bool
	done    chan struct{}
}

const (
	tick      = 50 * time.Millisecond
	spinTicks = 20 // a second without a call, others waiting: a spin lock
)

func startWatchdog(limit time.Duration) *watchdog {
	w := &watchdog{limit: limit, done: make(chan struct{})}
	go w.watch()
	return w
}

func (w *watchdog) watch() {
	t := time.NewTicker(tick)
	defer t.Stop()
	var last, still int64
	for {
		select {
		case <-w.done:
			return
		case now := <-t.C:
			tid, beats := w.tid.Load(), w.beats.Load()
			if tid == 0 || beats != last {
				last, still = beats, 0
			} else {
				still++
			}
			if s := w.started.Load(); s != 0 && w.limit > 0 && now.UnixNano()-s > int64(w.limit) {
				w.over.Store(true)
			}
			if tid != 0 && (w.over.Load() || still >= spinTicks && w.others.Load()) {
				still = 0
				// The thread may have stopped since: it then stops once more, harmlessly.
				_ = unix.Tgkill(int(w.pid.Load()), int(tid), unix.SIGSTOP)
			}
		}
	}
}

func (w *watchdog) begin()        { w.over.Store(false); w.started.Store(time.Now().UnixNano()) }
func (w *watchdog) end()          { w.started.Store(0); w.tid.Store(0) }
func (w *watchdog) stop()         { close(w.done) }
func (w *watchdog) expired() bool { return w.over.Load() }

func (w *watchdog) running(pid, tid int, others bool) {
	w.pid.Store(int64(pid))
	w.others.Store(others)
	w.beats.Add(1)
	w.tid.Store(int64(tid))
}

func (w *watchdog) stopped() { w.tid.Store(0) }
