//go:build linux

package node

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/deepcopy"
	"github.com/ariadne-mc/ariadne/internal/machine/filetree"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"
	futexes "github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/futex"
)

// A checkpoint that lists pages is data, but for the forks that it refers to. Another executor has
// nodes of the same spec, with processes and a file tree of its own. If one of these has been where
// the forks were made, its memory was the same there. So the pages that were written since, the
// registers and the state make a checkpoint of that node, too. Of the state, the numbers by which
// Linux knows files are exchanged for those of the other file tree.

// origin is the moment at which forks were made.
type origin struct {
	state *stateImage
	fixed map[string]uint64 // home.fixedFiles
	label any               // who keeps checkpoints calls it so; nil: not yet
}

// A Portable is a checkpoint as data. It does not change, and belongs to no executor.
type Portable struct {
	origin  *origin
	state   *stateImage
	files   *filetree.State
	mapped  []inode.Key // files that are mapped shared and writable
	threads []frozenThreads
	pages   []pages
	extras  []extras
	// base lists what the processes had mapped at the origin besides the mappings of the forks.
	base []extras
}

// Label gives the checkpoint a name, and returns that of the first one that was named among those
// that refer to the same forks. That one must be of the moment at which these were made.
func (c *Checkpoint) Label(name any) (first any) {
	o := c.forks.origin
	if o.label == nil {
		o.label = name
	}
	return o.label
}

// Portable returns the checkpoint as data; nil: it cannot be had, or would be of no use.
func (c *Checkpoint) Portable() *Portable { return c.portable }

// portable is what other executors may have of a checkpoint of n; nil: nothing. Memory that is
// shared, and files on their way between processes, are not data.
func (n *Node) portable(c *Checkpoint) *Portable {
	if c.forks.origin == nil {
		c.forks.origin = &origin{state: c.state, fixed: n.fixedFiles()}
		return nil // it is the origin itself
	}
	k := n.k
	if k.SharesMemory || len(k.Carried) > 0 || len(k.Files.Recreated) > 0 || n.hasOrphans() || n.keepsPrivate() ||
		futexes.Of(k).WaitsShared() {
		return nil
	}
	return &Portable{origin: c.forks.origin, state: c.state, files: n.files, threads: c.threads, pages: c.pages,
		extras: c.extras, base: c.forks.extras, mapped: slices.Collect(maps.Keys(k.Files.Mapped))}
}

// errForeign is the cause of an error of Adopt where a checkpoint is of no use to another executor.
var errForeign = fmt.Errorf("%w: a checkpoint of another executor cannot be taken over", ariadne.ErrNotFreezable)

// Adopt returns a checkpoint of c's node that is the same as one of another executor's, of the same
// node by the spec. c must be of the moment of that one's Origin. An error says why there is none.
func (c *Checkpoint) Adopt(p *Portable) (adopted *Checkpoint, err error) {
	defer c.recoverTool(&err)
	f, err := c.pairWith(p.origin)
	if err == nil && !c.fitsThreads(p.threads) {
		err = errors.New("it has other processes")
	}
	if err == nil && !slices.EqualFunc(c.extras, p.base, func(a, b extras) bool { return a.equal(&b) }) {
		err = errors.New("it has other mappings")
	}
	if err == nil {
		err = f.mappedAreKnown(p.mapped)
	}
	if err != nil {
		return nil, fmt.Errorf("node %s: %w: %w", c.cfg.Name, errForeign, err)
	}
	files, err := c.home.tree.Translate(p.files, &f.tree)
	if errors.Is(err, filetree.ErrForeign) {
		return nil, fmt.Errorf("node %s: %w: %w", c.cfg.Name, errForeign, err)
	}
	must(err)
	adopted = &Checkpoint{setup: c.setup, home: c.home, state: f.stateOf(p, files), threads: p.threads,
		extras: p.extras}
	for i, all := range p.pages {
		// What is in the extras is listed as a whole.
		both := c.pages[i].without(c.extras[i].ranges()).merge(all, nil, nil)
		if len(both) > mostPages {
			return nil, fmt.Errorf("node %s: %w: it has too many pages", c.cfg.Name, errForeign)
		}
		adopted.pages = append(adopted.pages, both)
	}
	adopted.forks = c.forks.use()
	adopted.bytes = adopted.state.Bytes() + pagesBase
	c.home.users++
	return adopted, nil
}

// fitsThreads reports whether c has the same processes and threads.
func (c *Checkpoint) fitsThreads(procs []frozenThreads) bool {
	return slices.EqualFunc(c.threads, procs, func(ours, theirs frozenThreads) bool {
		return slices.EqualFunc(ours, theirs, func(a, b frozenThread) bool {
			return a.tid == b.tid && a.dead == b.dead
		})
	})
}

// pairing is what two nodes of the same spec have of the same files.
type pairing struct {
	err          error // why there is none
	tree         filetree.Foreign
	theirs, ours uint64                  // devices of the nodes' own files
	keys         map[inode.Key]inode.Key // of files elsewhere
	gone         map[uint64]uint64       // of files that are in none of both trees any more
}

// pairWith is the pairing of c's node with one that was as c when its forks were made.
func (c *Checkpoint) pairWith(o *origin) (*pairing, error) {
	f := c.pairings[o]
	if f == nil {
		f = pair(o.state.Copy(), c.state.Copy())
		f.pairFixed(o.fixed, c.home.fixed)
		if c.pairings == nil {
			c.pairings = map[*origin]*pairing{}
		}
		c.pairings[o] = f
	}
	return f, f.err
}

// pair pairs the files of two nodes in the same state.
func pair(theirs, ours *state) *pairing {
	f := &pairing{keys: map[inode.Key]inode.Key{}, gone: map[uint64]uint64{},
		theirs: theirs.k.Files.Private, ours: ours.k.Files.Private,
		tree: filetree.Foreign{Device: theirs.k.Files.Private, Theirs: theirs.files, Ours: ours.files,
			Known: map[uint64]uint64{}}}
	if len(ours.k.Files.Recreated) > 0 {
		f.err = errors.New("a directory was made again")
		return f
	}
	if f.err = f.tree.Pair(); f.err != nil {
		return f
	}
	if !theirs.k.Files.Pair(&ours.k.Files, f.enter) {
		f.err = errors.New("the nodes have seen other files")
		return f
	}
	for pid, p := range theirs.k.Procs {
		q := ours.k.Procs[pid]
		if p.Dead || p.FDs == nil {
			continue
		}
		for _, fd := range p.FDs.Numbers() {
			h, ok := p.FDs.Get(fd).File.(*kernel.HostFile)
			if !ok {
				continue
			}
			if q == nil || q.FDs == nil || q.FDs.Get(fd) == nil {
				f.err = fmt.Errorf("descriptor %d of process %d is not open", fd, pid)
				return f
			}
			if g, ok := q.FDs.Get(fd).File.(*kernel.HostFile); ok {
				f.enter(h.Key(), g.Key())
			}
		}
	}
	return f
}

// pairFixed pairs the files of both nodes that they cannot change. A node may see one later for the
// first time.
func (f *pairing) pairFixed(theirs, ours map[string]uint64) {
	for name, their := range theirs {
		our, ok := ours[name]
		if !ok && f.err == nil {
			f.err = fmt.Errorf("it has no %s", name)
		}
		f.tree.Known[their] = our
	}
}

// enter enters that a file of theirs is one of ours.
func (f *pairing) enter(their, our inode.Key) {
	switch {
	case their == our:
	case their.Dev == f.theirs:
		f.tree.Known[their.Ino] = our.Ino
	default:
		f.keys[their] = our
		f.tree.Known[their.Ino|inMemory] = our.Ino | inMemory
	}
}

// mappedAreKnown sees that files which are mapped shared and writable have counterparts.
func (f *pairing) mappedAreKnown(mapped []inode.Key) error {
	for _, key := range mapped {
		_, known := f.keys[key]
		if key.Dev == f.theirs {
			_, known = f.tree.Known[key.Ino]
		}
		if !known {
			return errors.New("it has mapped a file that has no name")
		}
	}
	return nil
}

// goneFiles counts files of other executors that are in no tree any more: their numbers are unlike
// those of all files.
var goneFiles atomic.Uint64

// goneFile is set in the numbers of such files.
const goneFile = 1 << 62

// key is how our node knows a file of theirs.
func (f *pairing) key(k inode.Key) inode.Key {
	if our, ok := f.keys[k]; ok {
		return our
	}
	if k.Dev != f.theirs {
		return k
	}
	ino, ok := f.tree.Known[k.Ino]
	if !ok {
		if ino, ok = f.gone[k.Ino]; !ok {
			ino = goneFile | goneFiles.Add(1)
			f.gone[k.Ino] = ino
		}
	}
	return inode.Key{Dev: f.ours, Ino: ino}
}

// stateOf is the state of a checkpoint of theirs as one of our node, whose files it has.
func (f *pairing) stateOf(p *Portable, files *filetree.State) *stateImage {
	return p.state.Edited(
		deepcopy.EditOf(func(k *inode.Key) { *k = f.key(*k) }),
		deepcopy.EditOf(func(h *kernel.HostFile) {
			k := f.key(h.Key())
			h.Dev, h.Ino = k.Dev, k.Ino
		}),
		deepcopy.EditOf(func(t *inode.Table) { t.Private = f.ours }),
		deepcopy.EditOf(func(m *inode.Mapped) { m.Content = m.Content.Foreign() }),
		deepcopy.EditOf(func(v *versions) { v.files = files }))
}
