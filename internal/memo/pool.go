package memo

import (
	"errors"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"ariadne"
	"ariadne/internal/world"
)

// Pool makes transitions for any number of workers with a few executors, each on a
// goroutine and thread of its own. What is remembered a worker looks up by itself;
// for what is missing it waits, and other workers go on meanwhile. A transition that
// several of them wait for is executed once.
//
// A transition goes to the idle executor for which it is cheapest, and an executor
// takes next of what waits what is cheapest for it: what begins where a machine of it
// stands, or at a checkpoint or soon after one. So a worker mostly keeps its executor,
// and inputs of one local state are tried one after the other by the same one, as
// long as nobody else has waited for too long.
type Pool struct {
	memo *Memo
	ends sync.WaitGroup

	mu       sync.Mutex // of all below
	idle     []*hand    // executors without work; there is none while something is in the queue
	queue    []*request // that nobody has taken yet, in the order in which they came
	pending  map[asked]*request
	closing  bool
	sources  []*Worker
	counts   []Counts // by executor, after its last transition
	shared   int
	closeErr error
}

// asked names a transition.
type asked struct {
	state ariadne.Digest
	input world.Hash
}

type request struct {
	name   asked
	from   *Local
	input  world.Input
	passed int // how often others were taken before it, when it was the oldest

	done   chan struct{}
	result *Transition
	err    error
}

// hand is an executor in a pool.
type hand struct {
	x    *Executor
	next *request      // what it is to do; nil: it is to end
	wake chan struct{} // next was set
}

// patience is how often others may be taken before the oldest request.
const patience = 32

// NewPool starts n executors, each made by newExecutor(i) on the thread where it
// will be used and closed. Close must follow.
func NewPool(m *Memo, n int, newExecutor func(i int) *Executor) *Pool {
	p := &Pool{memo: m, pending: map[asked]*request{}, counts: make([]Counts, n)}
	for i := range n {
		p.ends.Go(func() {
			runtime.LockOSThread() // for good: the thread ends with the goroutine
			p.run(i, newExecutor(i))
		})
	}
	return p
}

// Worker is one worker's access to a pool.
type Worker struct {
	pool       *Pool
	remembered atomic.Int64 // written by the worker alone
	_          [48]byte     // a cache line of its own
}

// Worker returns the access of one more worker.
func (p *Pool) Worker() *Worker {
	w := &Worker{pool: p}
	p.mu.Lock()
	p.sources = append(p.sources, w)
	p.mu.Unlock()
	return w
}

// Transition looks up what an input does in a local state, or has it executed.
func (w *Worker) Transition(l *Local, in world.Input) (*Transition, error) {
	t, err := w.pool.memo.Lookup(l, in)
	if err != nil {
		return nil, err
	}
	if t != nil {
		w.remembered.Store(w.remembered.Load() + 1)
		return t, nil
	}
	return w.pool.execute(l, in)
}

// execute waits until an executor has made a transition.
func (p *Pool) execute(l *Local, in world.Input) (*Transition, error) {
	name := asked{l.Name, in.Key()}
	p.mu.Lock()
	r := p.pending[name]
	if r == nil {
		r = &request{name: name, from: l, input: in, done: make(chan struct{})}
		if !p.memo.off {
			p.pending[name] = r
		}
		p.submit(r)
	} else {
		p.shared++
	}
	p.mu.Unlock()
	<-r.done
	return r.result, r.err
}

// submit gives a request to the idle executor for which it is cheapest, or to the
// queue. p.mu is held.
func (p *Pool) submit(r *request) {
	if len(p.idle) == 0 {
		p.queue = append(p.queue, r)
		return
	}
	best, least := 0, math.MaxInt
	for i, h := range p.idle {
		if c := h.x.cost(r.from); c < least {
			best, least = i, c
		}
	}
	h := p.idle[best]
	p.idle = slices.Delete(p.idle, best, best+1)
	h.next = r
	h.wake <- struct{}{}
}

// run is the life of an executor.
func (p *Pool) run(i int, x *Executor) {
	h := &hand{x: x, wake: make(chan struct{}, 1)}
	p.mu.Lock()
	for {
		r := p.take(h)
		if r == nil {
			break
		}
		p.mu.Unlock()
		// Another executor may have made it before it was asked for again.
		if r.result, r.err = p.memo.Lookup(r.from, r.input); r.result == nil && r.err == nil {
			r.result, r.err = x.execute(r.from, r.input)
		}
		p.mu.Lock()
		delete(p.pending, r.name)
		p.counts[i] = x.Counts()
		close(r.done)
	}
	p.mu.Unlock()
	err := x.Close()
	p.mu.Lock()
	p.counts[i] = x.Counts()
	p.closeErr = errors.Join(p.closeErr, err)
	p.mu.Unlock()
}

// take waits for something to do; nil: it is the end. p.mu is held.
func (p *Pool) take(h *hand) *request {
	if len(p.queue) > 0 {
		return p.next(h.x)
	}
	if p.closing {
		return nil
	}
	h.next = nil
	p.idle = append(p.idle, h)
	p.mu.Unlock()
	<-h.wake
	p.mu.Lock()
	return h.next
}

// next takes out of the queue what x should do. p.mu is held.
func (p *Pool) next(x *Executor) *request {
	oldest := p.queue[0]
	best := 0
	if oldest.passed < patience {
		least := x.cost(oldest.from)
		for i := 1; i < len(p.queue) && least > 0; i++ {
			if c := x.cost(p.queue[i].from); c < least {
				best, least = i, c
			}
		}
	}
	if best > 0 {
		oldest.passed++
	}
	r := p.queue[best]
	p.queue = slices.Delete(p.queue, best, best+1)
	return r
}

// Counts tells what all executors and workers did so far.
func (p *Pool) Counts() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	sum := Counts{Shared: p.shared}
	for _, c := range p.counts {
		sum.Add(c)
	}
	for _, w := range p.sources {
		sum.Remembered += int(w.remembered.Load())
	}
	return sum
}

// Close ends the executors. No worker may be waiting.
func (p *Pool) Close() error {
	p.mu.Lock()
	p.closing = true
	for _, h := range p.idle {
		h.wake <- struct{}{}
	}
	p.idle = nil
	p.mu.Unlock()
	p.ends.Wait()
	return p.closeErr
}
