package block

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Point is the images of one position of a log.
type Point struct {
	walk *Walk
	At   int // position
	free []int
	sets []set
	// Subsets is how many subsets of the units there are that may be lost, in all. It is +Inf
	// beyond 2^1023.
	Subsets float64
}

// set says of each unit that may be lost whether it is on the disk.
type set []bool

// Images forms images of the position at which the walk is, up to a number of them. They come in
// this order, first with whole requests and then with units: everything is lost, nothing is lost,
// everything after a request is lost, one is lost, all but one are lost. Then come all other
// subsets of units if there are few enough, or random ones by the seed.
func (w *Walk) Images(most int, seed uint64) *Point {
	p := &Point{walk: w, At: w.at, free: w.volatile()}
	p.Subsets = math.Ldexp(1, len(p.free))
	g := gatherer{most: most, seen: map[string]bool{}}
	g.families(p.requests(), len(p.free))
	g.families(singles(len(p.free)), len(p.free))
	if p.Subsets <= float64(most) {
		g.all(len(p.free))
	} else {
		g.draw(len(p.free), w.random(seed))
	}
	p.sets = g.sets
	return p
}

// Len is how many images there are.
func (p *Point) Len() int { return len(p.sets) }

// LeftOut is how many subsets were not formed.
func (p *Point) LeftOut() float64 { return p.Subsets - float64(len(p.sets)) }

// requests are groups of units: those of each request.
func (p *Point) requests() (groups [][]int) {
	last := -1
	for i, u := range p.free {
		if op := p.walk.window[u].op; op != last {
			groups, last = append(groups, nil), op
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], i)
	}
	return groups
}

func singles(n int) (groups [][]int) {
	for i := range n {
		groups = append(groups, []int{i})
	}
	return groups
}

// gatherer collects sets, each once.
type gatherer struct {
	most int
	seen map[string]bool
	sets []set
}

// add collects a set, and reports whether there is room for more.
func (g *gatherer) add(s set) bool {
	if len(g.sets) >= g.most {
		return false
	}
	key := make([]byte, len(s))
	for i, has := range s {
		if has {
			key[i] = 1
		}
	}
	if !g.seen[string(key)] {
		g.seen[string(key)] = true
		g.sets = append(g.sets, s)
	}
	return true
}

// families collects the sets that are tried first, of groups of n units.
func (g *gatherer) families(groups [][]int, n int) {
	make := func(has func(group int) bool) set {
		s := make(set, n)
		for k, units := range groups {
			for _, u := range units {
				s[u] = has(k)
			}
		}
		return s
	}
	g.add(make(func(int) bool { return false }))
	g.add(make(func(int) bool { return true }))
	for _, family := range []func(k, group int) bool{
		func(k, group int) bool { return group <= k },
		func(k, group int) bool { return group != k },
		func(k, group int) bool { return group == k },
	} {
		for k := range groups {
			if !g.add(make(func(group int) bool { return family(k, group) })) {
				return
			}
		}
	}
}

// all collects all subsets of n units.
func (g *gatherer) all(n int) {
	for bits := range uint64(1) << n {
		s := make(set, n)
		for i := range s {
			s[i] = bits>>i&1 != 0
		}
		if !g.add(s) {
			return
		}
	}
}

// draw collects random subsets. There are more than the gatherer takes.
func (g *gatherer) draw(n int, r *rand.Rand) {
	for len(g.sets) < g.most {
		s := make(set, n)
		for i := range s {
			s[i] = r.IntN(2) == 1
		}
		g.add(s)
	}
}

// Form returns the disks of an image, one for each device, and the hash of their contents.
func (p *Point) Form(n int) ([]*Disk, Sum) { return p.form(p.sets[n]) }

func (p *Point) form(s set) ([]*Disk, Sum) {
	w := p.walk
	disks := make([]*Disk, len(w.base))
	for i, d := range w.base {
		disks[i] = d.Clone()
	}
	has := make([]bool, len(w.window))
	for i := range w.window {
		has[i] = w.window[i].durable
	}
	for i, u := range p.free {
		has[u] = s[i]
	}
	sum := w.sum
	sum.add(w.put(disks, func(i int) bool { return has[i] }))
	return disks, sum
}

// Loss is a part of a request that an image lacks.
type Loss struct {
	Op     int   // position in the log
	Lo, Hi int64 // bytes of the device
	All    bool  // nothing of the request is there
}

// Lost are the losses of an image, in the order of the log. Units that lie side by side are one.
func (p *Point) Lost(n int) (all []Loss) {
	w := p.walk
	present := map[int]bool{} // requests of which a part is there
	for i := range w.window {
		if w.window[i].durable {
			present[w.window[i].op] = true
		}
	}
	for i, u := range p.free {
		if p.sets[n][i] {
			present[w.window[u].op] = true
		}
	}
	for i, u := range p.free {
		if p.sets[n][i] {
			continue
		}
		x := &w.window[u]
		if k := len(all) - 1; k >= 0 && all[k].Op == x.op && all[k].Hi == x.lo {
			all[k].Hi = x.hi
			continue
		}
		all = append(all, Loss{x.op, x.lo, x.hi, !present[x.op]})
	}
	return all
}

// Words is a loss in words.
func (l Loss) Words(ops []Op) string {
	o := &ops[l.Op]
	if l.All {
		return o.String()
	}
	return fmt.Sprintf("bytes %d to %d of the %s", l.Lo, l.Hi-1, o)
}

// Without forms one more image of the point, that lacks these losses only, and returns its number.
// Every loss must be one of images of this point.
func (p *Point) Without(losses []Loss) int {
	s := make(set, len(p.free))
	for i, u := range p.free {
		x := &p.walk.window[u]
		s[i] = true
		for _, l := range losses {
			if l.Op == x.op && l.Lo <= x.lo && x.hi <= l.Hi {
				s[i] = false
			}
		}
	}
	p.sets = append(p.sets, s)
	return len(p.sets) - 1
}
