package check

import (
	"crypto/sha256"
	"fmt"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/coverage"
)

// recall takes up what the check had seen before it was interrupted, and keeps from now
// on what it sees.
func (x *explorer) recall(version ariadne.Digest) {
	key := x.seenKey(version)
	was, last := x.check.ledger.report.Coverage, 0
	if x.from > 0 && was != nil {
		var err error
		if x.kept, err = x.check.dir.OpenSeen(x.totals, key, was.Record); err == nil {
			x.before = *was
			x.check.ledger.cover.Bounded, x.check.ledger.cover.Merged, x.check.ledger.cover.RulesAudited = was.Bounded, was.Merged, was.RulesAudited
			x.check.ledger.cover.Cycles, x.check.ledger.cover.CutOff = was.Cycles, was.CutOff
			x.check.ledger.cover.Known, x.check.ledger.cover.Given = was.Known, was.Given
			x.check.ledger.cover.Liveness = was.Liveness
			x.check.ledger.cover.Faults, x.check.ledger.cover.Assertions = was.Faults, was.Assertions
			x.check.ledger.cover.Earlier, x.check.ledger.cover.Lost, x.check.ledger.cover.Record = was.Earlier, was.Lost, was.Record
			return
		}
		x.check.ledger.cover.Earlier, x.check.ledger.cover.Lost, x.check.ledger.cover.Record = x.check.ledger.report.Executions, err.Error(), was.Record
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
	for _, s := range x.tells() {
		fmt.Fprintf(h, "%q %v %v %q %v %v %v", s.Name, s.Line, s.Until, s.Fields, s.Key, s.Nodes, s.Stays)
	}
	fmt.Fprint(h, x.equality())
	return ariadne.Digest(h.Sum(nil))
}

// newTotals begins to count within the share of memory for it.
func (x *explorer) newTotals() *coverage.Totals {
	return coverage.NewTotals(len(x.check.system.Spec.Nodes), x.shares.counted)
}
