package fsmodel

import "fmt"

// History is what calls have done, one after the other.
type History struct {
	Calls []Call
	// StableNames says that a change of names is durable when its call has ended (mount -o
	// dirsync), and StableWrites that a write is (mount -o sync). The first matters for the rule
	// InOrder alone.
	StableNames, StableWrites bool
	// states are those before the first call and after each.
	states []*Tree
	// named and touched are, by inode, the last state that changed what fsync, or fdatasync, of the
	// inode must make durable besides its data; one list for each state.
	touched, sized []map[Inode]int
	// syncs are what was made durable.
	syncs []synced
	named []int // calls whose changes of names were durable when they had ended
}

// synced is that an inode, or a range of its bytes, was made durable.
type synced struct {
	call   int // that has done it
	all    bool
	in     Inode
	lo, hi int64 // bytes
	data   bool  // of fdatasync: not its names
	ranged bool  // of a write with O_SYNC: bytes lo to hi alone
}

// NewHistory begins with files that are durable.
func NewHistory(start *Tree) *History {
	return &History{states: []*Tree{start}, touched: []map[Inode]int{{}}, sized: []map[Inode]int{{}}}
}

// Add adds a call, which succeeded or failed. It reports how that differs from what the call must
// do, or "". The history goes on with what the call must do.
func (h *History) Add(c Call, succeeded bool) (wrong string) {
	before := h.states[len(h.states)-1]
	after, ok := before.Do(c)
	switch {
	case ok && !succeeded:
		wrong = fmt.Sprintf("%s fails, and must succeed", c)
	case !ok && succeeded:
		wrong = fmt.Sprintf("%s succeeds, and must fail", c)
	}
	k := len(h.Calls)
	h.Calls = append(h.Calls, c)
	h.states = append(h.states, after)
	touched, sized := cloneMap(h.touched[k]), cloneMap(h.sized[k])
	if ok {
		h.touch(c, before, after, touched, sized)
	}
	h.touched, h.sized = append(h.touched, touched), append(h.sized, sized)
	if ok && succeeded {
		h.sync(c, k, after)
	}
	return wrong
}

func cloneMap(m map[Inode]int) map[Inode]int {
	n := make(map[Inode]int, len(m))
	for k, v := range m {
		n[k] = v
	}
	return n
}

// touch notes which inodes a call has changed: those whose content, entries or names differ.
func (h *History) touch(c Call, before, after *Tree, touched, sized map[Inode]int) {
	state := len(h.Calls)
	for in, f := range after.files {
		old := before.files[in]
		if old == f {
			continue
		}
		touched[in] = state
		if old == nil || len(old.data) != len(f.data) || f.dir {
			sized[in] = state
		}
	}
	// The count of links, or the time of change, is the inode's.
	for _, path := range []string{c.Path, c.To} {
		if c.Kind != Unlink && c.Kind != Link && c.Kind != Rename {
			break
		}
		for _, t := range []*Tree{before, after} {
			if in, ok := t.find(path); ok && before != after {
				touched[in] = state
			}
		}
	}
}

// sync notes what a call makes durable.
func (h *History) sync(c Call, k int, after *Tree) {
	in := after.place(c.Path, true).in
	if h.StableWrites && c.Kind == Write {
		c.Kind = SyncWrite
	}
	switch c.Kind {
	case Creat, Mkdir, Symlink, Link, Unlink, Rmdir, Rename:
		if h.StableNames {
			h.named = append(h.named, k)
		}
	case Sync:
		h.syncs = append(h.syncs, synced{call: k, all: true})
	case Fsync, Fdatasync:
		h.syncs = append(h.syncs, synced{call: k, in: in, hi: 1 << 62, data: c.Kind == Fdatasync})
	case SyncWrite:
		h.syncs = append(h.syncs, synced{call: k, in: in, lo: c.Offset, hi: c.Offset + c.Length, ranged: true})
	}
}

// Last is the tree after all calls.
func (h *History) Last() *Tree { return h.states[len(h.states)-1] }

// IsPath reports whether a text is the path of a file that is or was there.
func (h *History) IsPath(text string) bool {
	for _, t := range h.states {
		if _, ok := t.find(text); ok && text != "" {
			return true
		}
	}
	return false
}
