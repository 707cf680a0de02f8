package memo

import (
	"errors"
	"sync"

	"github.com/ariadne-mc/ariadne"
)

// Executors have instances and checkpoints of their own. But a checkpoint may be data, from which
// another executor makes one of the same state: on top of its own checkpoint of an earlier state,
// the base, on which the data rests. So what one executor has reached, others need not replay.

// Portable is a checkpoint from which other executors may make theirs.
type Portable interface {
	Frozen
	// Label names the checkpoint, and returns the name of its base: of the first checkpoint that
	// was labeled among those that rest on the same.
	Label(Reached) (base Reached)
	// Data is what others need; nil: they cannot have it. It does not change, and holds nothing
	// that Drop ends.
	Data() any
	// Adopt makes a checkpoint of data. The receiver is a checkpoint of the base. An error that
	// wraps ariadne.ErrNotFreezable says that it cannot be made.
	Adopt(data any) (Frozen, error)
}

// Reached says which state an instance has, and by what way it has come there. Where a state is
// named by its content, several ways lead to it. The instances may then differ in facts that no
// step shows, such as the numbers by which the host knows files. A checkpoint that rests on one of
// these instances cannot rest on another.
type Reached struct {
	State ariadne.Digest
	Way   ariadne.Digest // over all inputs since the boot, and what the node did
}

// exchange has checkpoints as data, by the names of their states.
type exchange struct {
	mu     sync.Mutex
	offers map[ariadne.Digest]offer
}

// offer is a checkpoint as data.
type offer struct {
	by   *Executor
	base Reached
	way  ariadne.Digest // to the checkpoint's own state
	data any
}

func newExchange() *exchange { return &exchange{offers: map[ariadne.Digest]offer{}} }

// enter offers the checkpoint of a state, unless another one is offered.
func (e *exchange) enter(state ariadne.Digest, o offer) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, ok := e.offers[state]; !ok {
		e.offers[state] = o
	}
}

// withdraw takes back what an executor has offered of a state.
func (e *exchange) withdraw(state ariadne.Digest, by *Executor) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.offers[state].by == by {
		delete(e.offers, state)
	}
}

// nearest is what others offer that is nearest to l, on the way there from a state, and that has a
// base which is at hand; nil: nothing.
func (e *exchange) nearest(l, from *Local, x *Executor) (to, base *Local, o offer) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for ; l.Depth-from.Depth >= adoptsFrom; l = l.Parent {
		o, ok := e.offers[l.Name]
		if !ok || o.by == x || x.refused[l.Name] {
			continue
		}
		if base := x.baseAtHand(l, from, o.base); base != nil {
			return l, base, o
		}
	}
	return nil, nil, offer{}
}

// adoptsFrom is the least number of replays for which a checkpoint is adopted: one costs about as
// much.
const adoptsFrom = 2

// offer lets others have a checkpoint.
func (x *Executor) offer(c *checkpoint) {
	p, ok := c.frozen.(Portable)
	if !ok || x.exchange == nil {
		return
	}
	if data := p.Data(); data != nil {
		x.exchange.enter(c.local.Name, offer{x, Reached{c.base, c.baseWay}, c.way, data})
	}
}

// adopt makes a checkpoint of what others offer that is nearest to l, if that is nearer than from,
// from where l would be reached otherwise. tried: there is one, and the node's instance may have
// been brought to its base, whether it could be adopted or not.
func (x *Executor) adopt(l, from *Local) (tried bool, err error) {
	if x.exchange == nil {
		return false, nil
	}
	to, base, o := x.exchange.nearest(l, from, x)
	if to == nil {
		return false, nil
	}
	f, way, err := x.adoptData(base, o)
	if f == nil || err != nil {
		x.refuse(to)
		return true, err
	}
	x.counts.Adopted++
	_, err = x.kept.keep(to, f, way, true)
	return true, err
}

// refuse notes that what others offer of a state is of no use.
func (x *Executor) refuse(l *Local) {
	if x.refused == nil {
		x.refused = map[ariadne.Digest]bool{}
	}
	x.refused[l.Name] = true
	x.counts.Unadopted++
}

// baseAtHand is the state on the way to l that is a base, if x has its checkpoint, or comes by
// there anyway on the way from a state; else nil.
func (x *Executor) baseAtHand(l, from *Local, base Reached) *Local {
	for ; l != nil; l = l.Parent {
		if l.Name != base.State {
			continue
		}
		if c := x.kept.at[base.State]; c != nil && c.way == base.Way || c == nil && l.Depth >= from.Depth {
			return l
		}
		return nil
	}
	return nil
}

// adoptData makes a checkpoint of what others offer, which rests on a base, and returns the way to
// it; nil: it cannot be made.
func (x *Executor) adoptData(base *Local, o offer) (Frozen, ariadne.Digest, error) {
	if !base.replayable() {
		return nil, ariadne.Digest{}, nil
	}
	c := x.kept.at[base.Name]
	if c == nil {
		if _, cut, err := x.reach(base); err != nil || cut != "" {
			return nil, ariadne.Digest{}, err
		}
		if err := x.freeze(base); err != nil {
			return nil, ariadne.Digest{}, err
		}
		if c = x.kept.at[base.Name]; c == nil {
			return nil, ariadne.Digest{}, nil
		}
	}
	p, ok := c.frozen.(Portable)
	if !ok || c.way != o.base.Way { // it has come to the base by another way
		return nil, ariadne.Digest{}, nil
	}
	if err := x.kept.use(c); err != nil {
		return nil, ariadne.Digest{}, err
	}
	f, err := p.Adopt(o.data)
	if errors.Is(err, ariadne.ErrNotFreezable) {
		return nil, ariadne.Digest{}, nil
	}
	return f, o.way, err
}

// replayable reports whether each replay of the way to l does the same.
func (l *Local) replayable() bool {
	for ; l != nil; l = l.Parent {
		if l.Unreplayable {
			return false
		}
	}
	return true
}
