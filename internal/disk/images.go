package disk

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"ariadne"
)

// Choice says how many images are wanted, and which if there are more.
type Choice struct {
	Limit int // distinct ones
	Seed  uint64
}

// Images are what a power loss at the end of a log may leave: distinct, in this order: all that is not durable
// is lost; nothing is; all but one atom with what that needs; one, with what needs it; then the others, all of them if
// there are few enough, or drawn at random.
type Images struct {
	// Lost says for each image what is lost of the log.
	Lost []Lost
	// Subsets are how many of what the model allows have been looked at. Several may leave the same files.
	Subsets int
	// Legal is how many the model allows. Unless Exact there are more.
	Legal float64
	Exact bool

	plan *plan
	kept []state
	// live and fresh are those of the plan at the point: what is lost can still be told when there are more operations.
	live, fresh []int32
	last        int
}

// Lost is what an image lacks: the parts of operations that are lost though all that they need is there. With
// them is lost whatever needs them.
type Lost []Part

// Part is a part of an operation: a sector of what it wrote, its change of a file's size, or all of it.
type Part struct {
	Op   int // position in the log, from 0
	Part int
}

// String names the parts, such as 12.0,13.2: the second and third part of operations 12 and 13, from 0.
func (l Lost) String() string {
	if len(l) == 0 {
		return "nothing"
	}
	parts := make([]string, len(l))
	for i, p := range l {
		parts[i] = fmt.Sprintf("%d.%d", p.Op, p.Part)
	}
	return strings.Join(parts, ",")
}

// Images returns what a power loss now may leave.
func (m Model) Images(l *Log, c Choice) *Images {
	p := newPlan(m)
	for _, op := range l.Ops() {
		p.add(op)
	}
	return p.images(c, map[ariadne.Digest]bool{}, false)
}

// A Walk forms the images of all points of a log, each of them once: after each operation those that have
// something of it. What lacks all of it could be there before.
type Walk struct {
	plan   *plan
	choice Choice
	seen   map[ariadne.Digest]bool
}

// NewWalk returns the walk along an empty log. Of each point it forms at most c.Limit images.
func NewWalk(m Model, c Choice) *Walk {
	return &Walk{newPlan(m), c, map[ariadne.Digest]bool{}}
}

// Add appends an operation to the log, and returns the images that were not there before.
func (w *Walk) Add(op *Op) *Images {
	w.Skip(op)
	return w.plan.images(w.choice, w.seen, true)
}

// Skip appends an operation to the log, and forms nothing.
func (w *Walk) Skip(op *Op) {
	w.plan.add(op)
	w.choice.Seed++
}

// Image forms the image at some place of the list. Of a walk's it can do so until the next operation.
func (i *Images) Image(n int) *Image { return i.kept[n].image() }

// everything is the state in which nothing is lost.
func (p *plan) everything() state {
	s := p.nothing()
	for _, n := range p.live {
		s.set(n, true)
	}
	return s
}

// nothing is the state in which all is lost that can be.
func (p *plan) nothing() state {
	s := state{p: p, from: int32(len(p.atoms))}
	if len(p.live) > 0 {
		s.from = p.live[0]
	}
	s.kept = make([]bool, int32(len(p.atoms))-s.from)
	return s
}

func (s state) clone() state {
	s.kept = slices.Clone(s.kept)
	return s
}

// keep adds an atom, with what it needs.
func (s state) keep(n int32) {
	if s.has(n) {
		return
	}
	s.set(n, true)
	for _, m := range s.p.atoms[n].needs {
		if !s.has(m) {
			s.keep(m)
		}
	}
}

// lose takes an atom away, with what needs it.
func (s state) lose(n int32) {
	if s.p.atoms[n].durable || !s.has(n) {
		return
	}
	s.set(n, false)
	for _, m := range s.p.atoms[n].needed {
		if s.has(m) {
			s.lose(m)
		}
	}
}

// mark adds an atom and all that needs it.
func (s state) mark(n int32) {
	if s.has(n) {
		return
	}
	s.set(n, true)
	for _, m := range s.p.atoms[n].needed {
		s.mark(m)
	}
}

// shared are the atoms that each of some needs, itself included.
func (p *plan) shared(of []int32) state {
	all := p.nothing()
	for i, n := range of {
		s := p.nothing()
		s.keep(n)
		if i == 0 {
			all = s
		}
		for k := range all.kept {
			all.kept[k] = all.kept[k] && s.kept[k]
		}
	}
	return all
}

// lost are the parts that are lost though what they need is there.
func (s state) lost() (l Lost) {
	for _, n := range s.p.live {
		a := &s.p.atoms[n]
		if !s.has(n) && !slices.ContainsFunc(a.needs, func(m int32) bool { return !s.has(m) }) {
			l = append(l, Part{a.at, a.part})
		}
	}
	return l
}

// images forms images that are not among those seen; of fresh: only such as have something of the last
// operation.
func (p *plan) images(c Choice, seen map[ariadne.Digest]bool, fresh bool) *Images {
	i := &Images{plan: p, live: slices.Clone(p.live), fresh: p.fresh, last: p.ops - 1}
	if fresh && len(p.fresh) == 0 && p.ops > 1 {
		i.Exact = true
		return i
	}
	if fresh && p.ops == 1 {
		fresh = false // the state before all is one, too
	}
	full := func() bool { return len(i.Lost) >= c.Limit }
	most := 16*c.Limit + 64 // what is looked at, when images are equal again and again
	look := func(s state) {
		i.Subsets++
		d := digest(s.sum())
		if !seen[d] {
			seen[d] = true
			i.Lost, i.kept = append(i.Lost, s.lost()), append(i.kept, s.clone())
		}
	}
	try := func(s state) {
		if !full() && i.Subsets < most && (!fresh || slices.ContainsFunc(p.fresh, s.has)) {
			look(s)
		}
	}
	choices := p.open(fresh)
	i.Exact = true
	for k, o := range choices {
		if k == 64 { // a large write, each sector of which may be the first: that is enough to count
			i.Exact = false
			break
		}
		n, exact := o.count(4*c.Limit + 64)
		i.Legal, i.Exact = i.Legal+n, i.Exact && exact
	}
	try(p.nothing())
	try(p.everything())
	alone, basis := p.live, p.nothing()
	if fresh { // older atoms alone have nothing of the last operation, and what lacks what all of it needs has neither
		alone, basis = p.fresh, p.shared(p.fresh)
	}
	for k := 0; k < len(alone) && !full(); k++ {
		s := p.nothing()
		s.keep(alone[k])
		try(s)
	}
	for k := 0; k < len(p.live) && !full(); k++ {
		if fresh && basis.has(p.live[k]) {
			continue
		}
		s := p.everything()
		s.lose(p.live[k])
		try(s)
	}
	if i.Exact && i.Legal <= float64(4*c.Limit+64) {
		first := i.Subsets
		for _, o := range choices {
			o.every(func(s state) bool { look(s); return !full() })
		}
		if i.Subsets -= first; !full() {
			i.Subsets = int(i.Legal)
		}
		return i
	}
	// What is drawn again and again has hardly anything new any more.
	for r, last := (random{c.Seed}), i.Subsets; !full() && i.Subsets < most && i.Subsets-last <= 4*c.Limit; {
		found := len(i.Lost)
		s := p.draw(&r)
		if fresh {
			s.keep(p.fresh[r.below(uint64(len(p.fresh)))])
		}
		if try(s); len(i.Lost) > found {
			last = i.Subsets
		}
	}
	return i
}

// A choice of atoms that is still open: those of must are kept, those of free may be.
type open struct {
	must state
	free []int32 // in order; what they need is in must or in free
}

// open are all choices, or of fresh those that have something of the last operation, divided
// by the first atom of it that they have.
func (p *plan) open(fresh bool) (all []open) {
	if !fresh {
		return []open{{p.nothing(), p.live}}
	}
	never := p.nothing() // what it has is not to be had
	for _, f := range p.fresh {
		s := p.nothing()
		s.keep(f)
		o := open{must: s}
		for _, n := range p.live {
			if !s.has(n) && !never.has(n) {
				o.free = append(o.free, n)
			}
		}
		if !never.has(f) {
			all = append(all, o)
		}
		never.mark(f)
	}
	return all
}

// every yields all subsets of a choice until yield returns false. The state that it yields changes
// afterwards.
func (o open) every(yield func(state) bool) bool {
	s := o.must
	for i, n := range o.free {
		if slices.ContainsFunc(s.p.atoms[n].needs, func(m int32) bool { return !s.has(m) }) {
			continue
		}
		rest := open{s, o.free[i+1:]}
		if !rest.every(yield) { // without it
			return false
		}
		s.set(n, true)
		goOn := rest.every(yield)
		s.set(n, false)
		return goOn
	}
	return yield(s)
}

// count says how many subsets a choice has, up to a limit for each of the parts into which it falls that have nothing
// to do with each other. Then it is exact, else too little.
func (o open) count(limit int) (n float64, exact bool) {
	n, exact = 1, true
	for _, free := range o.parts() {
		sub := 0
		open{o.must, free}.every(func(state) bool { sub++; return sub <= limit })
		if sub > limit {
			sub, exact = limit, false
		}
		n *= float64(sub)
	}
	return n, exact
}

// parts divides the free atoms into those that need each other.
func (o open) parts() [][]int32 {
	at := make(map[int32]int32, len(o.free)) // union-find
	for _, n := range o.free {
		at[n] = n
	}
	find := func(n int32) int32 {
		for at[n] != n {
			at[n] = at[at[n]]
			n = at[n]
		}
		return n
	}
	for _, n := range o.free {
		for _, m := range o.must.p.atoms[n].needs {
			if _, free := at[m]; free {
				at[find(n)] = find(m)
			}
		}
	}
	index := map[int32]int{}
	var parts [][]int32
	for _, n := range o.free {
		root := find(n)
		i, ok := index[root]
		if !ok {
			i = len(parts)
			index[root] = i
			parts = append(parts, nil)
		}
		parts[i] = append(parts[i], n)
	}
	return parts
}

// draw returns a random subset: few atoms are lost, or few are kept, or about half.
func (p *plan) draw(r *random) state {
	rarely := uint64(2)<<r.below(uint64(bits.Len(uint(len(p.live))))) - 1 // ones: one atom in so many
	if r.below(2) == 0 {
		s := p.everything()
		for _, n := range p.live {
			if r.next()&rarely == 0 {
				s.lose(n)
			}
		}
		return s
	}
	s := p.nothing()
	for _, n := range p.live {
		if r.next()&rarely == 0 {
			s.keep(n)
		}
	}
	return s
}

// random is splitmix64.
type random struct{ state uint64 }

func (r *random) next() uint64 {
	r.state += 0x9e3779b97f4a7c15
	return scramble(r.state)
}

func (r *random) below(n uint64) uint64 { return r.next() % n }
