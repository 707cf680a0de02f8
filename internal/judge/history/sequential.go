package history

import (
	"encoding/binary"
	"time"
)

// sequential returns the operations, of one key, unless they could come of one copy of the data on
// which those of each client happen in their order, whatever the clock says: sequential
// consistency.
func (p *Property) sequential(all []operation, _ int, limit time.Duration) (bad []operation, unknown bool) {
	s := search{Property: p, tried: map[string]bool{}, until: time.Now().Add(limit)}
	type client struct {
		node int
		name string
	}
	index := map[client]int{}
	for _, o := range all {
		c := client{int(o.Node), o.Client}
		i, ok := index[c]
		if !ok {
			i = len(s.clients)
			index[c] = i
			s.clients = append(s.clients, nil)
		}
		if o.pending {
			s.pending = append(s.pending, maybe{o, i, len(s.clients[i])})
		} else {
			s.clients[i] = append(s.clients[i], o)
		}
	}
	s.at, s.taken = make([]int, len(s.clients)), make([]bool, len(s.pending))
	if s.explains(p.first) || s.late {
		return nil, s.late
	}
	return all, false
}

// search looks for an order. It does not try a state of clients and data again that it has tried
// before.
type search struct {
	*Property
	clients [][]operation
	pending []maybe
	at      []int  // of each client: how many operations have happened
	taken   []bool // of pending ones
	tried   map[string]bool
	until   time.Time
	late    bool
}

// maybe is an operation that happens behind so many of its client's, or never.
type maybe struct {
	operation
	client, behind int
}

func (s *search) explains(state string) bool {
	done := true
	for i, n := range s.at {
		done = done && n == len(s.clients[i])
	}
	if done {
		return true
	}
	key := s.key(state)
	if s.tried[key] || s.late {
		return false
	}
	if s.tried[key] = true; len(s.tried)%256 == 0 {
		s.late = time.Now().After(s.until)
	}
	for i := range s.clients {
		if s.at[i] == len(s.clients[i]) {
			continue
		}
		next, ok := s.data.step(state, &s.clients[i][s.at[i]])
		if !ok {
			continue
		}
		s.at[i]++
		if s.explains(next) {
			return true
		}
		s.at[i]--
	}
	for i := range s.pending {
		m := &s.pending[i]
		if s.taken[i] || s.at[m.client] < m.behind {
			continue
		}
		next, ok := s.data.step(state, &m.operation)
		if !ok || next == state {
			continue
		}
		s.taken[i] = true
		if s.explains(next) {
			return true
		}
		s.taken[i] = false
	}
	return false
}

func (s *search) key(state string) string {
	var b []byte
	for _, n := range s.at {
		b = binary.AppendUvarint(b, uint64(n))
	}
	for _, t := range s.taken {
		b = append(b, map[bool]byte{true: 1}[t])
	}
	return string(b) + state
}
