package memotest

import "fmt"

// Pages is a memo.Pages in memory, for one goroutine.
type Pages struct {
	Most int // how many there may be
	all  map[int64][]byte
	next int64
}

// Held is how many there are.
func (p *Pages) Held() int { return len(p.all) }

// Store implements memo.Pages.
func (p *Pages) Store(page []byte) (at int64, ok bool) {
	if len(p.all) >= p.Most {
		return 0, false
	}
	if p.all == nil {
		p.all = map[int64][]byte{}
	}
	p.next++
	p.all[p.next] = append([]byte(nil), page...)
	return p.next, true
}

// Load implements memo.Pages.
func (p *Pages) Load(at int64, page []byte) error {
	if p.all[at] == nil {
		return fmt.Errorf("no page is at %d", at)
	}
	copy(page, p.all[at])
	return nil
}

// Free implements memo.Pages.
func (p *Pages) Free(at int64) { delete(p.all, at) }
