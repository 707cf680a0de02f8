package memo

import (
	"container/heap"
	"errors"
	"slices"

	"github.com/ariadne-mc/ariadne"
)

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
	forgotten func(*Local) // is called when the checkpoint of a state is dropped
}

type checkpoint struct {
	local  *Local
	frozen Frozen
	since  int // floor when it was last used
	value  int // since and its use, when last looked at
	// adopted: it was made of another executor's.
	adopted bool
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
func (k *checkpoints) keep(l *Local, f Frozen, adopted bool) error {
	if k.room != nil {
		k.bytes = k.room(k.held)
	}
	var errs []error
	for len(k.heap) > 0 && (len(k.heap) >= k.count || k.bytes > 0 && k.held+f.Bytes() > k.bytes) {
		errs = append(errs, k.evict())
	}
	c := &checkpoint{local: l, frozen: f, since: k.floor, adopted: adopted}
	c.value = k.value(c)
	k.at[l.Name] = c
	heap.Push(&k.heap, c)
	k.held += f.Bytes()
	return errors.Join(errs...)
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

func (k *checkpoints) use(c *checkpoint) { c.since = k.floor }

// value is how useful a checkpoint is.
func (k *checkpoints) value(c *checkpoint) int {
	replays := 0
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

// evict drops the least useful checkpoint.
func (k *checkpoints) evict() error {
	for {
		c := k.heap[0]
		if v := k.value(c); v > c.value {
			c.value = v
			heap.Fix(&k.heap, 0)
			continue
		}
		heap.Pop(&k.heap)
		k.floor = max(k.floor, c.value)
		k.evictions++
		return k.forget(c)
	}
}

// forget drops a checkpoint that is not in the heap any more.
func (k *checkpoints) forget(c *checkpoint) error {
	delete(k.at, c.local.Name)
	k.forgotten(c.local)
	k.held -= c.frozen.Bytes()
	return c.frozen.Drop()
}

// lose drops the checkpoint of a state, if there is one.
func (k *checkpoints) lose(l *Local) error {
	i := slices.IndexFunc(k.heap, func(c *checkpoint) bool { return c.local.Name == l.Name })
	if i < 0 {
		return nil
	}
	c := k.heap[i]
	heap.Remove(&k.heap, i)
	return k.forget(c)
}

// drop drops all.
func (k *checkpoints) drop() error {
	var errs []error
	for _, c := range k.heap {
		k.forgotten(c.local)
		errs = append(errs, c.frozen.Drop())
	}
	k.heap, k.held = nil, 0
	clear(k.at)
	return errors.Join(errs...)
}
