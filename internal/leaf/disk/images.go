package disk

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne"
)

// Choice says how many images are wanted, and which if there are more.
type Choice struct {
	Limit int // distinct ones
	Seed  uint64
	// Alone: a list that the limit cuts off does not begin with those of stronger models
	// (Model.Images).
	Alone bool
}

// Images are what a power loss at the end of a log may leave: distinct, in this order: all that is
// not durable is lost; nothing is; all but one atom with what that needs; one, with what needs it;
// then the others, all of them if there are few enough, or drawn at random.
type Images struct {
	// Lost says for each image what is lost of the log.
	Lost []Lost
	// Subsets are how many of what the model allows have been looked at. Several may leave the same
	// files.
	Subsets int
	// Legal is how many the model allows. Unless Exact there are more.
	Legal float64
	Exact bool

	plan *plan
	kept []state
	// Those of the plan at the point: what is lost can still be told when there are more
	// operations.
	live  atomSet
	fresh [2]int32 // the first atom of the last operation, and behind it
	last  int
}

// Lost is what an image lacks: the parts of operations that are lost though all that they need is
// there. With them is lost whatever needs them.
type Lost []Part

// Part is a part of an operation: a sector of what it wrote, its change of a file's size, or all of
// it.
type Part struct {
	Op   int // position in the log, from 0
	Part int
}

// String names the parts, such as 12.0,13.2: the second and third part of operations 12 and 13,
// from 0.
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

// Images returns what a power loss now may leave. If the limit cuts the list off, it begins with
// what stronger models form within the same limit, and the limit is for the others: what these find
// this one finds as well.
func (m Model) Images(l *Log, c Choice) *Images {
	p := newPlan(m)
	for _, op := range l.Ops() {
		p.add(op)
	}
	i := p.list()
	// else it is cut off
	if i.count(c, false); c.Alone || m.order == prefix || i.Exact && i.Legal <= c.all() {
		i = p.images(c, map[ariadne.Digest]bool{}, false, nil)
		if c.Alone || m.order == prefix || i.Exact && i.LeftOut() == 0 {
			return i
		}
	}
	stronger := Model{m.order - 1, m.sector}.Images(l, c)
	return p.images(c, map[ariadne.Digest]bool{}, false, stronger.kept)
}

// A Walk forms the images of all points of a log, each of them once: after each operation, the
// images that have a part of it. An image that lacks all of it was possible before. A weaker model
// allows what stronger ones do, so the images that their walks form come first: what they find the
// weaker one finds as well.
type Walk struct {
	plan     *plan
	choice   Choice
	seen     map[ariadne.Digest]bool
	stronger *Walk // of the next stronger model, or nil
}

// NewWalk returns the walk along an empty log. Of each point it forms at most c.Limit images
// besides those of stronger models.
func NewWalk(m Model, c Choice) *Walk {
	w := &Walk{plan: newPlan(m), choice: c, seen: map[ariadne.Digest]bool{}}
	if m.order > prefix {
		w.stronger = NewWalk(Model{m.order - 1, m.sector}, c)
	}
	return w
}

// Add appends an operation to the log, and returns the images that were not there before.
func (w *Walk) Add(op *Op) *Images {
	w.add(op)
	var first []state
	if w.stronger != nil {
		first = w.stronger.Add(op).kept
	}
	return w.plan.images(w.choice, w.seen, true, first)
}

// add appends an operation to the log of this walk alone.
func (w *Walk) add(op *Op) {
	w.plan.add(op)
	w.choice.Seed++
}

// Skip appends an operation to the log, and forms nothing.
func (w *Walk) Skip(op *Op) {
	for ; w != nil; w = w.stronger {
		w.add(op)
	}
}

// Image forms the image at some place of the list. Of a walk's it can do so until the next
// operation.
func (i *Images) Image(n int) *Image { return i.kept[n].image() }

// everything is the state in which nothing is lost.
func (p *plan) everything() state { return state{p, p.live.empty()} }

// nothing is the state in which all is lost that can be.
func (p *plan) nothing() state { return state{p, p.live.clone()} }

func (s state) clone() state {
	s.lost = s.lost.clone()
	return s
}

// keep adds an atom, with what it needs.
func (s state) keep(n int32) {
	for stack := []int32{n}; len(stack) > 0; {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		switch {
		case s.has(n):
		case n == s.p.linked:
			s.lost.subtract(&s.p.with)
		default:
			s.lost.remove(n)
			stack = append(stack, s.p.atoms[n].needs...)
		}
	}
}

// lose takes an atom away, with what needs it.
func (s state) lose(n int32) {
	for stack := []int32{n}; len(stack) > 0; {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if a := &s.p.atoms[n]; !a.durable && s.has(n) {
			s.lost.add(n)
			stack = append(stack, a.needed...)
		}
	}
}

// behind is the number of the next atom.
func (p *plan) behind() int32 { return int32(len(p.atoms)) }

// shared is the state that lacks what is not needed by each of the last operation's atoms. Those
// that need another one of them need what that one does.
func (p *plan) shared() state {
	all := p.everything()
	last, needs := none, []int32(nil) // the one before that was looked at, and what it needs
	for n := p.fresh; n < p.behind(); n++ {
		a := &p.atoms[n]
		if slices.ContainsFunc(a.needs, func(m int32) bool { return m >= p.fresh }) {
			continue
		}
		if n > p.fresh && slices.Equal(a.needs, needs) {
			all.lost.add(last) // it needs the same, and not that one
			continue
		}
		last, needs = n, a.needs
		s := p.nothing()
		s.keep(n)
		all.lost.unite(&s.lost)
	}
	return all
}

// missing are the parts that are lost though what they need is there.
func (s state) missing() (l Lost) {
	for n := range s.lost.all {
		a := &s.p.atoms[n]
		if !slices.ContainsFunc(a.needs, func(m int32) bool { return !s.has(m) }) {
			l = append(l, Part{a.at, a.part})
		}
	}
	return l
}

// as is the state that lacks what one of a stronger model's plan lacks, of the same log.
func (p *plan) as(s state) state {
	t := p.everything()
	if s.p.model.order != prefix { // it has the same atoms
		t.lost.unite(&s.lost)
		return t
	}
	last := -1 // the operation that was looked at: what follows in it is lost as well
	for n := range s.lost.all {
		a := &s.p.atoms[n]
		if a.at == last {
			continue
		}
		last = a.at
		k, _ := slices.BinarySearchFunc(p.atoms, a.at, func(b atom, at int) int { return cmp.Compare(b.at, at) })
		for ; k < len(p.atoms) && p.atoms[k].at == a.at; k++ {
			if b := &p.atoms[k]; a.op.Kind != Write || max(b.hi, b.size) > a.lo {
				t.lose(int32(k))
			}
		}
	}
	return t
}

// images forms images that are not among those seen; of fresh: only such as have something of the
// last operation. Those that states of a stronger model leave come first, and do not count for the
// limit.
func (p *plan) images(c Choice, seen map[ariadne.Digest]bool, fresh bool, stronger []state) *Images {
	i := p.list()
	if fresh && p.fresh == p.behind() && p.ops > 1 {
		i.Exact = true
		return i
	}
	if fresh && p.ops == 1 {
		fresh = false // the state before all is one, too
	}
	more := 0 // images of stronger models
	full := func() bool { return len(i.Lost)-more >= c.Limit }
	most := 16*c.Limit + 64 // what is looked at, when images are equal again and again
	// and how many atoms they may lack together: where thousands are not durable, sets of few are
	// enough
	work := 64 * most
	over := func() bool { return full() || i.Subsets-more >= most || work <= 0 }
	look := func(s state) {
		i.Subsets++
		d := digest(s.difference().sum())
		if !seen[d] {
			seen[d] = true
			i.Lost, i.kept = append(i.Lost, s.missing()), append(i.kept, s.clone())
		}
	}
	floor := p.nothing() // what else may be lost is
	far := fresh && p.far(&floor)
	if far {
		work = c.Limit * floor.lost.len()
	}
	try := func(s state) {
		if over() {
			return
		}
		work -= 1 + s.lost.len()
		if !fresh || s.hasFresh() {
			look(s)
		}
	}
	for _, s := range stronger {
		look(p.as(s))
	}
	i.Subsets = len(i.Lost) // what was there before comes again below
	more = len(i.Lost)
	choices := i.count(c, fresh)
	if far {
		if lost := p.live.len(); p.saved >= lost {
			p.saved -= lost
			s := p.nothing()
			s.keep(p.fresh)
			try(s)
		}
	} else {
		try(p.nothing())
	}
	try(p.everything())
	alone, basis := p.live, p.live // what is looked at alone, and what else may be lost
	// older atoms alone have nothing of the last operation, and what lacks what all of it needs has
	// neither
	if fresh {
		alone = atomSet{from: p.fresh &^ 63}
		for n := p.fresh; n < p.behind(); n++ {
			alone.add(n)
		}
		basis = p.shared().lost
		if far {
			basis.intersect(&floor.lost)
		}
	}
	for n := range alone.all {
		if over() {
			break
		}
		s := floor.clone()
		s.keep(n)
		try(s)
	}
	for n := range basis.all {
		if over() {
			break
		}
		s := p.everything()
		s.lose(n)
		try(s)
	}
	if i.Exact && i.Legal <= c.all() {
		first := i.Subsets
		for _, o := range choices {
			every(o.must, o.free.list(), func(s state) bool { look(s); return !full() })
		}
		if i.Subsets -= first; !full() {
			i.Subsets = int(i.Legal)
		}
		return i
	}
	// What is drawn again and again has hardly anything new any more.
	for r, last := (random{c.Seed}), i.Subsets; !over() && i.Subsets-last <= 4*c.Limit; {
		found := len(i.Lost)
		s := p.draw(&r, floor)
		if fresh {
			s.keep(p.fresh + int32(r.below(uint64(p.behind()-p.fresh))))
		}
		if try(s); len(i.Lost) > found {
			last = i.Subsets
		}
	}
	// Draws repeat each other and what stronger models leave: however many there were, some sets
	// may be left.
	i.Subsets = min(i.Subsets, max(int(min(i.Legal, 1<<31))-1, 0))
	return i
}

// all is how many subsets are all looked at, if there are no more.
func (c Choice) all() float64 { return float64(4*c.Limit + 64) }

// count finds out how many subsets the model allows, by choices, or of fresh how many have
// something of the last operation.
func (i *Images) count(c Choice, fresh bool) (choices []open) {
	i.Exact = true
	for o := range i.plan.openChoices(fresh) {
		// a large write, each sector of which may be the first: that is enough to count
		if len(choices) == 64 {
			i.Exact = false
			break
		}
		choices = append(choices, o)
		n, exact := o.count(int(c.all()))
		i.Legal, i.Exact = i.Legal+n, i.Exact && exact
	}
	return choices
}

// list is an empty list of images of now.
func (p *plan) list() *Images {
	return &Images{plan: p, live: p.live.clone(), fresh: [2]int32{p.fresh, p.behind()}, last: p.ops - 1}
}

// hasFresh reports whether anything of the last operation is kept.
func (s state) hasFresh() bool {
	for n := s.p.fresh; n < s.p.behind(); n++ {
		if s.has(n) {
			return true
		}
	}
	return false
}

// open is a choice of atoms that is still open: those of must are kept, those of free may be.
type open struct {
	must state
	free atomSet // what they need is in must or in free
}

// openChoices yields all choices, or of fresh those that have something of the last operation,
// divided by the first atom of it that they have.
func (p *plan) openChoices(fresh bool) func(yield func(open) bool) {
	return func(yield func(open) bool) {
		if !fresh {
			yield(open{p.nothing(), p.live})
			return
		}
		never := p.everything() // what it lacks is not to be had
		for f := p.fresh; f < p.behind(); f++ {
			if never.has(f) {
				o := open{must: p.nothing()}
				o.must.keep(f)
				o.free = o.must.lost.clone()
				o.free.subtract(&never.lost)
				if !yield(o) {
					return
				}
			}
			never.lose(f)
		}
	}
}

// every yields all subsets of a choice among some atoms, in order, until yield returns false. The
// state that it yields changes afterwards.
func every(s state, free []int32, yield func(state) bool) bool {
	for i, n := range free {
		if slices.ContainsFunc(s.p.atoms[n].needs, func(m int32) bool { return !s.has(m) }) {
			continue
		}
		rest := free[i+1:]
		if !every(s, rest, yield) { // without it
			return false
		}
		s.lost.remove(n)
		goOn := every(s, rest, yield)
		s.lost.add(n)
		return goOn
	}
	return yield(s)
}

// plenty is up to how many subsets are counted.
const plenty = 1e18

// count says how many subsets a choice has, up to a limit for each of the parts into which it falls
// that have nothing to do with each other, and up to plenty. Then it is exact, else too little.
func (o open) count(limit int) (n float64, exact bool) {
	n = 1
	for part := range o.parts(limit) {
		sub := 0
		if len(part) > limit { // a part of so many atoms has more subsets than atoms
			sub = limit + 1
		} else {
			every(o.must, part, func(state) bool { sub++; return sub <= limit })
		}
		if n *= float64(min(sub, limit)); sub > limit || n > plenty {
			return n, false
		}
	}
	return n, true
}

// parts divides the free atoms into those that need each other. Of a part that has more than so
// many it yields some.
func (o open) parts(most int) func(yield func([]int32) bool) {
	return func(yield func([]int32) bool) {
		left := o.free.clone()
		for n := range o.free.all {
			if !left.has(n) {
				continue
			}
			left.remove(n)
			part := []int32{n}
			for i := 0; i < len(part) && len(part) <= most; i++ {
				a := &o.must.p.atoms[part[i]]
				for _, list := range [][]int32{a.needs, a.needed} {
					for _, m := range list {
						if left.has(m) {
							left.remove(m)
							part = append(part, m)
						}
					}
				}
			}
			slices.Sort(part)
			if !yield(part) {
				return
			}
		}
	}
}

// few is how many atoms may be lost together at each point, at least.
const few = 128

// far reports whether a state, in which all is lost, lacks so much that few can be like it: else
// images would cost more and more where nothing is ever synced. Then it has the older atoms, and
// lacks few, or twice as many as the last operation has. The savings at each point pay for a state
// that lacks all atoms, now and then.
func (p *plan) far(s *state) bool {
	most := max(p.few, 2*int(p.behind()-p.fresh))
	if p.live.len() <= most {
		return false
	}
	s.lost.keepLast(most)
	p.saved = min(p.saved+most, p.live.len())
	return true
}

// draw returns a random subset: few atoms are lost, or few are kept, or about half. The others are
// as in a state, which lacks all or all but older ones. Of these a few are lost in one subset of
// three.
func (p *plan) draw(r *random, floor state) state {
	count := floor.lost.len()
	rarely := uint64(2)<<r.below(uint64(bits.Len(uint(count)))) - 1 // ones: one atom in so many
	if count < p.live.len() && r.below(3) == 0 {
		s := p.everything()
		for range 1 + r.below(rarely+1)%8 {
			s.loseFew(p.live.from+int32(r.below(uint64(p.behind()-p.live.from))), count)
		}
		return s
	}
	if r.below(2) == 0 {
		s := p.everything()
		for n := range floor.lost.all {
			if r.next()&rarely == 0 {
				s.lose(n)
			}
		}
		return s
	}
	s := floor.clone()
	for n := range floor.lost.all {
		if r.next()&rarely == 0 {
			s.keep(n)
		}
	}
	return s
}

// loseFew takes an atom away, with what needs it, unless these are more than so many.
func (s state) loseFew(n int32, most int) {
	var taken []int32
	for stack := []int32{n}; len(stack) > 0; {
		n := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		a := &s.p.atoms[n]
		if a.durable || !s.has(n) {
			continue
		}
		s.lost.add(n)
		taken = append(taken, n)
		if stack = append(stack, a.needed...); len(taken) > most {
			for _, n := range taken {
				s.lost.remove(n)
			}
			return
		}
	}
}

// random is splitmix64.
type random struct{ state uint64 }

func (r *random) next() uint64 {
	r.state += 0x9e3779b97f4a7c15
	return scramble(r.state)
}

func (r *random) below(n uint64) uint64 { return r.next() % n }
