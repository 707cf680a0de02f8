package live

// senders are events of a node, in the order in which they came, with the same upper bound of what
// the node had sent.
type senders struct {
	sent   *Positions
	events []*event
	waits  int // how many of them wait
}

// first is the first one that waits. There is one.
func (s *senders) first() *event {
	for s.events[0].stage != waits {
		s.events = s.events[1:]
	}
	return s.events[0]
}

// senderIndex finds events of a node that wait, by the positions that bound what it had sent.
type senderIndex struct {
	streams map[sentStream]*sentHeap
	latest  *senders // or nil
	// total is how many positions streams have, and over how many are of events that wait no longer
	total, over int
}

// sentStream names a stream, and what its positions count.
type sentStream struct {
	Stream
	counted bool
}

// sentAt is a position in a stream, as a number that does not wrap around.
type sentAt struct {
	at int64
	of *senders
}

// mostAhead is by how much one position can be behind another one (ahead).
const mostAhead = 1<<31 - 1

// sentHeap has positions in one stream.
type sentHeap struct {
	heap[sentAt]
	last, most int64 // that came
}

// unwrap returns a position as a number. It takes it as close to the last one.
func (h *sentHeap) unwrap(position uint32) int64 {
	return h.last + int64(int32(position-uint32(h.last)))
}

func (h *sentHeap) add(position uint32, of *senders) {
	if len(h.all) == 0 {
		h.last, h.most = int64(position), int64(position)
	}
	h.last = h.unwrap(position)
	h.most = max(h.most, h.last)
	h.push(sentAt{h.last, of})
}

// add enters an event that waits.
func (x *senderIndex) add(e *event) {
	if s := x.latest; s != nil && s.sent == e.sent && s.waits > 0 {
		s.events = append(s.events, e)
		s.waits++
		e.senders = s
		return
	}
	x.latest = &senders{e.sent, []*event{e}, 1}
	e.senders = x.latest
	x.enter(x.latest)
}

func (x *senderIndex) enter(s *senders) {
	for of, position := range s.sent.Sent {
		at := sentStream{of, s.sent.Counted}
		if x.streams[at] == nil {
			x.streams[at] = &sentHeap{heap: heap[sentAt]{less: func(a, b sentAt) bool { return a.at < b.at }}}
		}
		x.streams[at].add(position, s)
	}
	x.total += len(s.sent.Sent)
}

// take notes that one of senders waits no longer. Streams come and go, so what is over is dropped
// from time to time.
func (x *senderIndex) take(s *senders) {
	if s.waits--; s.waits > 0 {
		return
	}
	if x.over += len(s.sent.Sent); x.over < 16 || x.over < x.total/2 {
		return
	}
	all := map[*senders]bool{}
	for _, h := range x.streams {
		for _, p := range h.all {
			if p.of.waits > 0 {
				all[p.of] = true
			}
		}
	}
	x.streams, x.total, x.over = map[sentStream]*sentHeap{}, 0, 0
	for s := range all {
		x.enter(s)
	}
}

// heard returns the first event to come that waits, and after which the node sent something that
// was read by then.
func (x *senderIndex) heard(by *Positions) (found *event) {
	for of, got := range by.Got {
		h := x.streams[sentStream{of, by.Counted}]
		if h == nil {
			continue
		}
		h.drop(func(p sentAt) bool { return p.of.waits == 0 })
		if len(h.all) == 0 {
			continue
		}
		at := h.unwrap(got)
		// so far apart, positions are not in the order of their numbers
		far := at-h.all[0].at > mostAhead || h.most-at > mostAhead
		h.walk(0, func(p sentAt) bool {
			is := ahead(got, uint32(p.at))
			if is && p.of.waits > 0 {
				found = sooner(found, p.of.first())
			}
			return is || far
		})
	}
	return found
}
