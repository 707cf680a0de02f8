package memo

import (
	"container/heap"
	"errors"
	"slices"

	"github.com/ariadne-mc/ariadne"
)

// Movable is a checkpoint of which a part may lie outside of memory.
type Movable interface {
	Frozen
	// Move moves what it can, and reports whether it has. Bytes is then what is left in memory.
	Move(to Pages) bool
	// Return brings it back, before the checkpoint is used.
	Return() error
}

// Pages is where pages of checkpoints lie that are not in memory. It is for any number of
// goroutines.
type Pages interface {
	// Store keeps a page and returns where. Not ok: there is no room.
	Store(page []byte) (at int64, ok bool)
	// Load reads a page.
	Load(at int64, page []byte) error
	// Free gives up a page, as often as it was stored.
	Free(at int64)
}

// checkpoints are those that an executor keeps, within their bounds. The least useful one goes
// first. The use of a checkpoint is the number of inputs that would have to be replayed, were it
// not there, from the nearest one kept above it; and because what was not used for long will likely
// not be used again, it is counted from where the least use stood when the checkpoint was last used
// (Cao and Irani's GreedyDual).
//
// The use grows when the checkpoint is used and when one above it goes. So the heap
// holds what the use was when the checkpoint was last looked at, which is never too
// much but for checkpoints above it that came later, and the one on top is looked at
// again before it goes.
type checkpoints struct {
	count     int
	bytes     int64 // 0: no bound
	room      func(held int64) int64
	held      int64
	at        map[ariadne.Digest]*checkpoint
	heap      checkpointHeap
	floor     int // the use of what was evicted last
	evictions int
	// beyond are those for which count has no room. They rest on others that are kept, so they cost
	// nothing but memory. Of some, a part lies in pages, outside of memory. beyondHeld is what they
	// hold in memory, as a part of held, resting how many rest on the checkpoint of a state, and
	// moves how often one was moved.
	beyond     checkpointHeap
	beyondHeld int64
	resting    map[ariadne.Digest]int
	moves      int
	pages      Pages // nil: there is none
	// forgotten is called when the checkpoint of a state is dropped or moved.
	forgotten func(*Local)
}

type checkpoint struct {
	local  *Local
	frozen Frozen
	since  int   // floor when it was last used
	value  int   // since and its use, when last looked at
	bytes  int64 // what it counts for in held
	// base is the name of the state of the checkpoint on which it rests, or of its own. way is the
	// way to its state, and baseWay that to its base (Reached).
	base, way, baseWay ariadne.Digest
	// adopted: it was made of another executor's. beyond: it is in that heap. away: it was moved.
	adopted, beyond, away bool
}

// checkpointHeap has the checkpoint of the least value on top (container/heap).
type checkpointHeap []*checkpoint

func (h checkpointHeap) Len() int           { return len(h) }
func (h checkpointHeap) Less(i, j int) bool { return h[i].value < h[j].value }
func (h checkpointHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *checkpointHeap) Push(c any)        { *h = append(*h, c.(*checkpoint)) }
func (h *checkpointHeap) Pop() any {
	last := len(*h) - 1
	c := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return c
}

// keep makes room for a checkpoint and enters it.
func (k *checkpoints) keep(l *Local, f Frozen, way ariadne.Digest, adopted bool) (*checkpoint, error) {
	err := k.makeRoom(f.Bytes())
	c := &checkpoint{local: l, frozen: f, since: k.floor, base: l.Name, way: way, baseWay: way, adopted: adopted}
	if p, ok := f.(Portable); ok {
		base := p.Label(Reached{l.Name, way})
		c.base, c.baseWay = base.State, base.Way
	}
	k.at[l.Name] = c
	k.enter(c)
	return c, err
}

// makeRoom evicts until there is room for one more checkpoint of so many bytes.
func (k *checkpoints) makeRoom(bytes int64) error {
	if k.room != nil {
		k.bytes = k.room(k.held)
	}
	var errs []error
	for len(k.heap) > 0 && (len(k.heap) >= k.count || k.bytes > 0 && k.held+bytes > k.bytes) {
		errs = append(errs, k.evict())
	}
	return errors.Join(errs...)
}

// enter enters a checkpoint that is in memory.
func (k *checkpoints) enter(c *checkpoint) {
	c.value, c.bytes = k.value(c), c.frozen.Bytes()
	heap.Push(&k.heap, c)
	k.held += c.bytes
}

// nearest is the checkpoint of a local state, or of the nearest of its ancestors that has one; nil:
// of none, and the ancestor is the node before it is switched on.
func (k *checkpoints) nearest(l *Local) (*Local, *checkpoint) {
	for a := l; ; a = a.Parent {
		if c := k.at[a.Name]; c != nil || a.Parent == nil {
			return a, c
		}
	}
}

// nearestMade is the nearest one that was not adopted, likewise.
func (k *checkpoints) nearestMade(l *Local) (*Local, *checkpoint) {
	for a := l; ; a = a.Parent {
		if c := k.at[a.Name]; c != nil && !c.adopted {
			return a, c
		} else if a.Parent == nil {
			return a, nil
		}
	}
}

// use notes that a checkpoint is about to be used. It comes back to memory, and within the bound.
func (k *checkpoints) use(c *checkpoint) error {
	c.since = k.floor
	if !c.beyond {
		return nil
	}
	if c.away {
		if err := c.frozen.(Movable).Return(); err != nil {
			return err
		}
	}
	heap.Remove(&k.beyond, slices.Index(k.beyond, c))
	k.leaveBeyond(c)
	k.held -= c.bytes
	err := k.makeRoom(c.frozen.Bytes())
	k.enter(c)
	return err
}

// value is how useful a checkpoint is. With it go those beyond the bound that rest on it.
func (k *checkpoints) value(c *checkpoint) int {
	replays := k.resting[c.local.Name]
	for a := c.local; ; a = a.Parent {
		if a.Parent == nil {
			return c.since + replays + bootCost
		}
		replays++
		if k.at[a.Parent.Name] != nil {
			return c.since + replays
		}
	}
}

// bootCost is what booting a node costs, in inputs.
const bootCost = 4

// evict drops the least useful checkpoint within the bound, or leaves it beyond.
func (k *checkpoints) evict() error {
	c := k.takeLeast(&k.heap)
	k.floor = max(k.floor, c.value)
	if k.pages == nil || c.base == c.local.Name || k.at[c.base] == nil {
		k.evictions++
		return k.forget(c)
	}
	k.enterBeyond(c)
	return k.boundBeyond()
}

// takeLeast takes the least useful checkpoint out of a heap.
func (k *checkpoints) takeLeast(h *checkpointHeap) *checkpoint {
	for {
		c := (*h)[0]
		if v := k.value(c); v > c.value {
			c.value = v
			heap.Fix(h, 0)
			continue
		}
		heap.Pop(h)
		return c
	}
}

// enterBeyond enters a checkpoint that is in no heap any more.
func (k *checkpoints) enterBeyond(c *checkpoint) {
	c.beyond = true
	k.beyondHeld += c.bytes
	if k.resting == nil {
		k.resting = map[ariadne.Digest]int{}
	}
	k.resting[c.base]++
	heap.Push(&k.beyond, c)
}

// leaveBeyond notes that a checkpoint is not beyond the bound any more.
func (k *checkpoints) leaveBeyond(c *checkpoint) {
	c.beyond, c.away = false, false
	k.beyondHeld -= c.bytes
	if k.resting[c.base]--; k.resting[c.base] == 0 {
		delete(k.resting, c.base)
	}
}

// mostBeyond is how many checkpoints are beyond the bound for each one within. They hold no more in
// memory than one part in beyondShare of the room. They are moved when all checkpoints hold three
// quarters of the room.
const (
	mostBeyond  = 4
	beyondShare = 2
)

// boundBeyond keeps the checkpoints beyond the bound to bounds of their own.
func (k *checkpoints) boundBeyond() error {
	var errs []error
	if k.bytes > 0 && k.held > k.bytes/4*3 {
		for _, c := range k.beyond {
			k.move(c)
		}
	}
	for len(k.beyond) > mostBeyond*k.count ||
		k.bytes > 0 && len(k.beyond) > 0 && k.beyondHeld > k.bytes/beyondShare {
		k.evictions++
		errs = append(errs, k.forget(k.takeLeast(&k.beyond)))
	}
	return errors.Join(errs...)
}

// move moves a checkpoint that is beyond the bound out of memory, as far as it can be moved.
func (k *checkpoints) move(c *checkpoint) {
	m, ok := c.frozen.(Movable)
	if !ok || c.away || !m.Move(k.pages) {
		return
	}
	k.moves++
	k.forgotten(c.local) // others cannot have it there
	was := c.bytes
	c.away, c.bytes = true, c.frozen.Bytes()
	k.held += c.bytes - was
	k.beyondHeld += c.bytes - was
}

// forget drops a checkpoint that is in no heap any more, and those beyond the bound that rest on
// it.
func (k *checkpoints) forget(c *checkpoint) error {
	var errs []error
	if k.resting[c.local.Name] > 0 {
		for _, rests := range slices.Clone(k.beyond) {
			if rests.base == c.local.Name {
				heap.Remove(&k.beyond, slices.Index(k.beyond, rests))
				k.evictions++
				errs = append(errs, k.release(rests))
			}
		}
	}
	return errors.Join(append(errs, k.release(c))...)
}

// release drops a checkpoint that is in no heap any more.
func (k *checkpoints) release(c *checkpoint) error {
	delete(k.at, c.local.Name)
	k.forgotten(c.local)
	if c.beyond {
		k.leaveBeyond(c)
	}
	k.held -= c.bytes
	return c.frozen.Drop()
}

// lose drops the checkpoint of a state, if there is one.
func (k *checkpoints) lose(l *Local) error {
	c := k.at[l.Name]
	if c == nil {
		return nil
	}
	h := &k.heap
	if c.beyond {
		h = &k.beyond
	}
	heap.Remove(h, slices.Index(*h, c))
	return k.forget(c)
}

// drop drops all.
func (k *checkpoints) drop() error {
	var errs []error
	for _, c := range slices.Concat(k.heap, k.beyond) {
		k.forgotten(c.local)
		errs = append(errs, c.frozen.Drop())
	}
	k.heap, k.beyond, k.held, k.beyondHeld = nil, nil, 0, 0
	clear(k.at)
	clear(k.resting)
	return errors.Join(errs...)
}
