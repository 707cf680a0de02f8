//go:build linux

package node

// What a checkpoint holds of pages may lie on disk instead of in memory. Its registers, its state
// and where its pages belong stay in memory, and the forks that it refers to stay.

// A PageStore keeps pages.
type PageStore interface {
	// Store keeps a page and returns where. Not ok: it has no room.
	Store(page []byte) (at int64, ok bool)
	// Load reads a page.
	Load(at int64, page []byte) error
	// Free gives up a page, as often as it was stored.
	Free(at int64)
}

// movedPages are pages of a checkpoint that a store has, by process.
type movedPages struct {
	store PageStore
	procs [][]movedPage
}

type movedPage struct {
	at    uint64 // in the process
	place int64  // in the store
}

// leastMoved is how many pages a checkpoint has at least if they are to be moved.
const leastMoved = 8

// Move moves the checkpoint's pages to a store, and reports whether it has. Before the checkpoint
// is used, they must come back.
func (c *Checkpoint) Move(to PageStore) bool {
	n := 0
	for _, all := range c.pages {
		n += len(all)
	}
	if n < leastMoved || c.moved != nil {
		return false
	}
	m := &movedPages{store: to}
	for _, all := range c.pages {
		var list []movedPage
		for _, p := range all {
			place, ok := to.Store(p.page[:])
			if !ok {
				m.procs = append(m.procs, list)
				m.free()
				return false
			}
			list = append(list, movedPage{p.at, place})
		}
		m.procs = append(m.procs, list)
	}
	c.moved, c.pages, c.portable = m, nil, nil
	c.bytes = c.state.Bytes() + pagesBase
	return true
}

// Return brings the checkpoint's pages back to memory.
func (c *Checkpoint) Return() error {
	if c.moved == nil {
		return nil
	}
	fresh, procs := 0, make([]pages, len(c.moved.procs))
	read := c.home.contents.space(1)[0]
	for i, list := range c.moved.procs {
		for _, p := range list {
			if err := c.moved.store.Load(p.place, read[:]); err != nil {
				return err
			}
			shared, isFresh := c.home.contents.share((*page)(read))
			procs[i] = append(procs[i], pageAt{p.at, shared})
			if isFresh {
				fresh++
			}
		}
	}
	c.moved.free()
	c.moved, c.pages = nil, procs
	c.bytes += int64(fresh) * pageSize
	return nil
}

// free gives up all pages.
func (m *movedPages) free() {
	for _, list := range m.procs {
		for _, p := range list {
			m.store.Free(p.place)
		}
	}
}
