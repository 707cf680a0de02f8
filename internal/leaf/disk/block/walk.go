package block

import (
	"maps"
	"math/rand/v2"
)

// Moments say at which points of a log images are formed.
type Moments uint8

const (
	// Barriers are the moments before each flush and mark, and the end. Images of other moments
	// are among theirs.
	Barriers Moments = iota
	// Requests are the moments after each request, and before each mark.
	Requests
	// Said are the moments of marks that ask for images, and no others.
	Said
)

// Points are the positions of a log at which images are formed: an image of point p has requests
// before position p only. asks reports whether a mark asks for images.
func Points(ops []Op, when Moments, asks func(text string) bool) (points []int) {
	for i := range ops {
		o := &ops[i]
		here := o.Kind == Flush || o.Kind == Mark
		switch when {
		case Requests:
			here = true
		case Said:
			here = o.Kind == Mark && asks(o.Text)
		}
		if here {
			points = append(points, i)
		}
	}
	if when != Said {
		points = append(points, len(ops))
	}
	return points
}

// unit is a part of a request that is on the disk wholly or not at all.
type unit struct {
	op      int // position in the log
	lo, hi  int64
	durable bool
}

// Walk goes through a log, and knows at each point what is durable.
type Walk struct {
	ops    []Op
	tear   int64 // bytes, or 0
	at     int   // requests before are taken in
	base   []*Disk
	window []unit // not in base, in order
	sum    Sum    // of base
	// whole are pages that requests write wholly, which all images share.
	whole map[wholePage]*page
}

// wholePage is a page as a request writes it.
type wholePage struct {
	op   int   // position in the log
	page int64 // number
}

// NewWalk begins before the first request of a log. base has the content of each device then, and
// is not changed. tear is the size of sectors in bytes that are written wholly or not at all. With
// 0 each request is.
func NewWalk(base []*Disk, ops []Op, tear int64) *Walk {
	w := &Walk{ops: ops, tear: tear, whole: map[wholePage]*page{}}
	for i, d := range base {
		w.base = append(w.base, d.Clone())
		w.sum.add(d.Sum().device(i))
	}
	return w
}

// device is what a disk's sum adds for a device's number.
func (s Sum) device(n int) Sum {
	if n == 0 {
		return s
	}
	k := uint64(n)*2 + 1 // odd: different sums stay different
	return Sum{s.a * k, s.b * k}
}

// To takes in the requests before a position.
func (w *Walk) To(at int) {
	for ; w.at < at; w.at++ {
		o := &w.ops[w.at]
		switch o.Kind {
		case Flush:
			for i := range w.window {
				if w.ops[w.window[i].op].Device == o.Device {
					w.window[i].durable = true
				}
			}
		case Write, Zero:
			w.enter(w.at, o)
		}
	}
	w.settle()
}

// enter divides a request into units.
func (w *Walk) enter(at int, o *Op) {
	for lo, end := o.Offset, o.Offset+o.Length; lo < end; {
		hi := end
		if w.tear > 0 && o.Kind == Write {
			hi = min(end, (lo/w.tear+1)*w.tear)
		}
		w.window = append(w.window, unit{at, lo, hi, o.FUA})
		lo = hi
	}
}

// settle takes durable units into the base, up to the first that can be lost: a later one may be
// on the same place.
func (w *Walk) settle() {
	n := 0
	for n < len(w.window) && w.window[n].durable {
		n++
	}
	if n == 0 {
		return
	}
	settled := make([]bool, len(w.window))
	for i := range n {
		settled[i] = true
	}
	w.sum.add(w.put(w.base, func(i int) bool { return settled[i] }))
	w.window = append([]unit(nil), w.window[n:]...)
	first := w.at
	if len(w.window) > 0 {
		first = w.window[0].op
	}
	maps.DeleteFunc(w.whole, func(p wholePage, _ *page) bool { return p.op < first })
}

// put applies units of the window to disks, in order, and returns the change of the disks' sum.
func (w *Walk) put(disks []*Disk, has func(int) bool) (change Sum) {
	type place struct {
		device int
		page   int64
	}
	before := map[place]Sum{}
	for i := range w.window {
		if !has(i) {
			continue
		}
		u := &w.window[i]
		o := &w.ops[u.op]
		d := disks[o.Device]
		d.pieces(u.lo, u.hi-u.lo, func(n, _, _, _ int64) {
			if _, ok := before[place{o.Device, n}]; !ok {
				before[place{o.Device, n}] = d.sumOf(n)
			}
		})
		w.apply(u, d)
	}
	for p, was := range before {
		now := disks[p.device].sumOf(p.page)
		now.sub(was)
		change.add(now.device(p.device))
	}
	return change
}

// apply does what a unit does to its device. Pages that it writes wholly are shared.
func (w *Walk) apply(u *unit, d *Disk) {
	o := &w.ops[u.op]
	if o.Kind != Write {
		o.apply(d, u.lo, u.hi)
		return
	}
	d.pieces(u.lo, u.hi-u.lo, func(n, in, from, length int64) {
		at := u.lo + from
		if length < PageSize {
			o.apply(d, at, at+length)
			return
		}
		key := wholePage{u.op, n}
		p := w.whole[key]
		if p == nil {
			p = &page{data: [PageSize]byte(o.Data[at-o.Offset:])}
			w.whole[key] = p
		}
		d.set(n, p)
	})
}

// volatile are the places in the window of units that may be lost.
func (w *Walk) volatile() (list []int) {
	for i := range w.window {
		if !w.window[i].durable {
			list = append(list, i)
		}
	}
	return list
}

// random is a source for a point: the same for the same seed, log and point.
func (w *Walk) random(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(w.at))) }
