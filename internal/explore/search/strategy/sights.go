package strategy

import (
	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// sights are what a path has shown so far: that a node has done something (features) for the n-th
// time since it, or the network, was last struck by a fault. Beyond the first few times only each
// doubling of n is one. A second election is another sight than the first one, and so is what a
// node does after a crash.
//
// AFL tells inputs apart in the same way, by how often they take each branch
// (https://lcamtuf.coredump.cx/afl/technical_details.txt).
type sights struct {
	counts map[uint64]int // how often the path had each feature
	all    []uint64       // the features of the steps that were read
	ends   []int          // where those of a step end in all
}

// cut forgets what was read behind the first n steps of the path.
func (s *sights) cut(n int) {
	if n >= len(s.ends) {
		return
	}
	from := 0
	if n > 0 {
		from = s.ends[n-1]
	}
	for _, f := range s.all[from:] {
		if s.counts[f]--; s.counts[f] == 0 {
			delete(s.counts, f)
		}
	}
	s.all, s.ends = s.all[:from], s.ends[:n]
}

// read reads the steps of a path that are new to it. It returns a sight of the last step that the
// search has not had before. Not ok: there is none.
func (s *sights) read(p *space.Path, c *Features) (fresh uint64, ok bool) {
	if s.counts == nil {
		s.counts = map[uint64]int{}
	}
	for i := len(s.ends) + 1; i <= p.Len(); i++ {
		fresh, ok = s.step(p, c, i)
	}
	return fresh, ok
}

// step reads a step.
func (s *sights) step(p *space.Path, c *Features, i int) (fresh uint64, ok bool) {
	e, by := p.Event(i), p.Frame(i).By
	var all []uint64
	if by != nil {
		all = c.ofStep(e.Node, by)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	struck := feature(e.Node, 's')
	life := uint64(min(s.counts[struck]+s.counts[worldStruck], maxLife))
	for _, f := range all {
		f = mixed(f, life)
		n := s.counts[f] + 1
		s.counts[f], s.all = n, append(s.all, f)
		if often(n) {
			continue
		}
		if sight := mixed(f, uint64(n)); c.sight(sight) {
			fresh, ok = sight, true
		}
	}
	switch k := world.KindOf(e.Kind); {
	case k.Fault != "" && k.World:
		s.count(worldStruck)
	case k.Fault != "" && !k.Messages, by != nil && by.Output.Down != ariadne.Up:
		s.count(struck)
	}
	s.ends = append(s.ends, len(s.all))
	return fresh, ok
}

func (s *sights) count(f uint64) {
	s.counts[f]++
	s.all = append(s.all, f)
}

// worldStruck is the feature of a fault that hits all nodes: that of the network between them.
var worldStruck = feature(0, 'w')

// maxLife is how many times that a node was struck are told apart.
const maxLife = 3
