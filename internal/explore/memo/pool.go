package memo

import (
	"sync"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// Pool makes transitions for several workers, each of which has an executor of its
// own. They share the remembered transitions, and a transition that several of them
// want at the same time is executed once. They share checkpoints, too (exchange.go).
//
// A worker executes what is missing itself, on the thread of its executor. To ask
// another thread costs two switches, which on idle processors of a virtual machine
// takes half as long as a thaw.
type Pool struct {
	memo     *Memo
	exchange *exchange // of checkpoints

	mu      sync.Mutex // of all below
	pending map[asked]*request
	workers []*Worker
}

// asked names a transition.
type asked struct {
	state ariadne.Digest
	input hash.Hash
}

// request is a transition that a worker is executing.
type request struct {
	done   chan struct{}
	result *Transition
	err    error
}

// NewPool returns a pool without workers.
func NewPool(m *Memo) *Pool {
	return &Pool{memo: m, exchange: newExchange(), pending: map[asked]*request{}}
}

// Worker is a worker's access to a pool. It is used and closed on one goroutine.
type Worker struct {
	pool       *Pool
	executor   *Executor
	counts     Counts // of the executor, after its last transition; the pool's mu is held
	shared     int    // transitions for which another worker was waited; likewise
	remembered Tally  // of the worker
}

// Worker returns the access of one more worker, to whom the executor belongs from
// now on. Close must follow.
func (p *Pool) Worker(x *Executor) *Worker {
	w := &Worker{pool: p, executor: x}
	x.exchange = p.exchange
	p.mu.Lock()
	p.workers = append(p.workers, w)
	p.mu.Unlock()
	return w
}

// Transition looks up what an input does in a local state, or executes it.
func (w *Worker) Transition(l *Local, in world.Input) (*Transition, error) {
	t, err := w.pool.memo.Lookup(l, in)
	if err != nil {
		return nil, err
	}
	if t != nil {
		w.remembered.Count()
		return t, nil
	}
	return w.execute(l, in)
}

// Known is the executor's.
func (w *Worker) Known(l *Local, in world.Input) (bool, error) { return w.executor.Known(l, in) }

// Visit is the executor's.
func (w *Worker) Visit(l *Local, f func(Instance) error) error {
	defer func() {
		w.pool.mu.Lock()
		w.counts = w.executor.Counts()
		w.pool.mu.Unlock()
	}()
	return w.executor.Visit(l, f)
}

// execute makes a transition, unless another worker is about to.
func (w *Worker) execute(l *Local, in world.Input) (*Transition, error) {
	p, name := w.pool, asked{l.Name, in.Key()}
	r := &request{}
	p.mu.Lock()
	if !p.memo.off {
		if other := p.pending[name]; other != nil {
			w.shared++
			p.mu.Unlock()
			<-other.done
			return other.result, other.err
		}
		r.done = make(chan struct{})
		p.pending[name] = r
	}
	p.mu.Unlock()
	w.remembered.Share()
	// Another worker may have made it since it was looked up.
	switch r.result, r.err = p.memo.Lookup(l, in); {
	case r.result != nil:
		w.remembered.Count()
	case r.err == nil:
		r.result, r.err = w.executor.execute(l, in)
	}
	p.mu.Lock()
	w.counts = w.executor.Counts()
	if r.done != nil {
		delete(p.pending, name)
		close(r.done)
	}
	p.mu.Unlock()
	return r.result, r.err
}

// Close ends the worker's executor. Its counts stay.
func (w *Worker) Close() error {
	err := w.executor.Close()
	w.remembered.Share()
	w.pool.mu.Lock()
	w.counts = w.executor.Counts()
	w.pool.mu.Unlock()
	return err
}

// Counts tells what all workers did so far.
func (p *Pool) Counts() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	var sum Counts
	for _, w := range p.workers {
		sum.Add(w.counts)
		sum.Shared += w.shared
		sum.Remembered += w.remembered.Read()
	}
	return sum
}
