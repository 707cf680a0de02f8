package check

import (
	"crypto/sha256"
	"fmt"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/coverage"
	"github.com/ariadne-mc/ariadne/internal/record"
)

// recallSeen takes up what the check had seen before it was interrupted, and keeps from now
// on what it sees.
func (x *explorer) recallSeen(version ariadne.Digest, cover *record.Coverage) {
	key := x.seenKey(version)
	was, last := x.was, 0
	if x.from > 0 && was != nil {
		var err error
		if x.kept, err = x.check.dir.OpenSeen(x.totals, key, was.Record); err == nil {
			x.before = *was
			counted := was.Sum(x.check.system.Names())
			if l := counted.Liveness; l != nil { // it finds out again how long walks are
				l.Bound, l.Sampled = 0, nil
			}
			x.check.ledger.resumeCounts(&counted)
			cover.Earlier, cover.Lost, cover.Record = was.Earlier, was.Lost, was.Record
			return
		}
		executions, _ := x.check.ledger.progress()
		cover.Earlier, cover.Lost, cover.Record = executions, err.Error(), was.Record
		x.totals = x.newTotals()
		last = was.Record
	}
	x.kept = x.check.dir.NewSeen(coverage.NewLog(x.totals, key, last))
}

// seenKey is over what tells what a hash stands for: Ariadne itself, the nodes, the rules
// for protocol states, and the equality of states.
func (x *explorer) seenKey(version ariadne.Digest) ariadne.Digest {
	h := sha256.New()
	h.Write(version[:])
	for _, n := range x.world.Nodes() {
		h.Write(n.Initial[:])
	}
	for _, r := range x.check.opts.Search.States {
		fmt.Fprintf(h, "%q", r)
	}
	for _, s := range x.steeringSources() {
		fmt.Fprintf(h, "%q %v %v %q %v %v %v", s.Name, s.Line, s.Until, s.Fields, s.Key, s.Nodes, s.Stays)
	}
	fmt.Fprint(h, x.equality())
	return ariadne.Digest(h.Sum(nil))
}

// newTotals begins to count within the share of memory for it.
func (x *explorer) newTotals() *coverage.Totals {
	return coverage.NewTotals(len(x.check.system.Spec.Nodes), x.shares.counted)
}
