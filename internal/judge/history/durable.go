package history

import (
	"slices"
	"time"

	"github.com/anishathalye/porcupine"
)

// durable returns a read, of one key, and what could have come before it, when no order of the
// operations that change something explains the read. The results of these operations do not count,
// nor do other reads, so two reads may disagree on an order that nobody knows: a regular register
// with many writers (Shao, Welch, Pierce and Lee, "Multiwriter consistency conditions for shared
// memory registers", SIAM J. Comput. 2011, condition MWR-Weak), for any data.
func (p *Property) durable(all []operation, events int, limit time.Duration) (bad []operation, unknown bool) {
	var changes []operation
	for _, o := range all {
		if !slices.Contains(p.data.reads, o.what) {
			o.ignored = true
			changes = append(changes, o)
		}
	}
	for _, r := range all {
		if !slices.Contains(p.data.reads, r.what) {
			continue
		}
		// What began when the read had ended comes behind it. What ended later may, too, and by
		// then something else may have happened that it needs, as a cas does: here it is one that
		// may happen or not.
		some := slices.DeleteFunc(slices.Clone(changes), func(o operation) bool { return o.from > r.to })
		for i := range some {
			some[i].pending = some[i].pending || some[i].to > r.to
		}
		some = append(some, r)
		switch porcupine.CheckOperationsTimeout(p.model(), operations(some, events), limit) {
		case porcupine.Illegal:
			return some, false
		case porcupine.Unknown:
			unknown = true
		}
	}
	return nil, unknown
}
