package memo

import (
	"errors"

	"ariadne"
)

// checkpoints are those that an executor keeps, within their bounds. What goes
// first is the least useful one. The use of a checkpoint is the number of inputs
// that would have to be replayed, were it not there, from the nearest one kept
// above it; and because what was not used for long will likely not be used again,
// it is counted from where the least use stood when the checkpoint was last used
// (Cao and Irani's GreedyDual).
type checkpoints struct {
	count     int
	bytes     int64 // 0: no bound
	held      int64
	at        map[ariadne.Digest]*checkpoint
	list      []*checkpoint
	floor     int // the use of what was evicted last
	evictions int
}

type checkpoint struct {
	local  *Local
	frozen Frozen
	since  int // floor when it was last used
	place  int // in list
}

// keep enters a checkpoint and makes room for it.
func (k *checkpoints) keep(l *Local, f Frozen) error {
	c := &checkpoint{local: l, frozen: f, since: k.floor, place: len(k.list)}
	k.at[l.Name] = c
	k.list = append(k.list, c)
	k.held += f.Bytes()
	var errs []error
	for len(k.list) > k.count || k.bytes > 0 && k.held > k.bytes && len(k.list) > 1 {
		errs = append(errs, k.evict(c))
	}
	return errors.Join(errs...)
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

// evict drops the least useful checkpoint, but not the newest.
func (k *checkpoints) evict(newest *checkpoint) error {
	var victim *checkpoint
	least := 0
	for _, c := range k.list {
		if c == newest && len(k.list) > 1 {
			continue
		}
		if v := k.value(c); victim == nil || v < least {
			victim, least = c, v
		}
	}
	k.floor = max(k.floor, least)
	k.evictions++
	last := k.list[len(k.list)-1]
	k.list[victim.place], last.place = last, victim.place
	k.list = k.list[:len(k.list)-1]
	delete(k.at, victim.local.Name)
	k.held -= victim.frozen.Bytes()
	return victim.frozen.Drop()
}

// drop drops all.
func (k *checkpoints) drop() error {
	var errs []error
	for _, c := range k.list {
		errs = append(errs, c.frozen.Drop())
	}
	k.list, k.held = nil, 0
	clear(k.at)
	return errors.Join(errs...)
}
