package memo

import (
	"cmp"
	"slices"
	"sync"

	"github.com/ariadne-mc/ariadne"
)

// Dependency is what nodes have learnt of a file of the host, on which what they did
// then rests.
type Dependency struct {
	ariadne.File
	Digest ariadne.Digest // of that
}

// dependencies are all of them. There is one list for all transitions: which of them
// would be the same with other files is not known.
type dependencies struct {
	digest func(ariadne.File) (ariadne.Digest, error) // nil: files do not matter
	now    func(ariadne.File) (ariadne.Digest, error) // likewise, of what is there now
	mu     sync.Mutex
	known  map[ariadne.File]ariadne.Digest
}

// add returns those of the files that are new, with their digests.
func (d *dependencies) add(files []ariadne.File) (more []Dependency) {
	if len(files) == 0 || d.digest == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, f := range files {
		if _, ok := d.known[f]; !ok {
			// What is gone by now has no digest, and is found to have changed.
			d.known[f], _ = d.digest(f)
			more = append(more, Dependency{f, d.known[f]})
		}
	}
	return more
}

// changed returns those that are not as they were, in the order of their paths.
func (d *dependencies) changed() (changed []Dependency) {
	if d.digest == nil {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for f, was := range d.known {
		if now, err := d.now(f); err != nil || now != was {
			changed = append(changed, Dependency{f, was})
		}
	}
	slices.SortFunc(changed, func(a, b Dependency) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Use, b.Use))
	})
	return changed
}

// Depend notes what a node has learnt of the host's files, before the transition in which
// it did is added. Files that are executed again for another reason may have learnt more.
func (m *Memo) Depend(files []ariadne.File) error {
	more := m.depends.add(files)
	if len(more) == 0 || m.store == nil {
		return nil
	}
	return m.store.Depend(more)
}

// Changed are the files of the host that are not as they were when nodes learnt of them.
func (m *Memo) Changed() []Dependency { return m.depends.changed() }

// Stale are the files for which Open has emptied the store: they had changed.
func (m *Memo) Stale() []Dependency { return m.stale }
