package strategy

import (
	"slices"
	"sync"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// sites are where the nodes of a search have come to places of each kind of fault within steps
// (ariadne.SiteOf). A long execution has thousands of places, most of them at a few sites: a call
// that is made once, as when a file is replaced, would hardly ever be drawn among them. So some
// faults are aimed at a site, those first at which the fewest were.
type sites struct {
	mu    sync.Mutex
	known map[uint64]*site
	kinds map[string][]*site // in the order in which they were met
}

// site is one for a kind of fault.
type site struct {
	name string // ariadne.SiteOf
	aims int    // faults that were aimed at it
	most int    // alternatives there on a path
}

// maxSites is how many are known. Further ones are not aimed at.
const maxSites = 1 << 14

// placed are how many alternatives of a path were seen so far, by site.
type placed map[uint64]int

// see enters the places of a step, the next one of a path.
func (s *sites) see(path placed, by *memo.Transition) {
	if len(by.Output.Places) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range by.Output.Places {
		p := &by.Output.Places[i]
		kind, at, key := "", (*site)(nil), uint64(0)
		for _, a := range p.Alternatives {
			if k := ariadne.KindOf(a); k != kind {
				kind, key = k, ariadne.HashSite(exact(feature(0, 's'), k), p.Name)
				if at = s.known[key]; at == nil && !world.FreeKind(a) {
					at = s.add(key, kind, ariadne.SiteOf(p.Name))
				}
			}
			if at != nil {
				path[key]++
				at.most = max(at.most, path[key])
			}
		}
	}
}

func (s *sites) add(key uint64, kind, name string) *site {
	if len(s.known) >= maxSites {
		return nil
	}
	if s.known == nil {
		s.known, s.kinds = map[uint64]*site{}, map[string][]*site{}
	}
	at := &site{name: name}
	s.known[key], s.kinds[kind] = at, append(s.kinds[kind], at)
	return at
}

// aimOf: one path in so many is aimed as long as there are sites at which none was, and half as
// many are afterwards. A long execution has hundreds of sites, and most bugs are at none of them.
const aimOf = 8

// aim draws whether a fault of a kind is aimed on a path. It returns the site, and how many
// alternatives there are on a path at most.
func (s *sites) aim(kind string, d *draw) (name string, most int, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, from := d.below(2*aimOf), d.next()
	all := s.kinds[kind]
	if len(all) == 0 || r > 1 {
		return "", 0, false
	}
	i := int(from % uint64(len(all))) // of those with equally few, any
	least := slices.MinFunc(append(all[i:len(all):len(all)], all[:i]...), func(a, b *site) int {
		return a.aims - b.aims
	})
	if least.aims > 0 && r > 0 {
		return "", 0, false
	}
	least.aims++
	return least.name, least.most, true
}
