package disk

import (
	"fmt"
	"slices"
)

// Words say of an image what of the log is lost, operation by operation.
func (i *Images) Words(n int) (lost []string) {
	i.divided(n, func(op *Op, _, parts int, gone []*atom) {
		if len(gone) < parts {
			lost = append(lost, fmt.Sprintf("%d of %d parts of %s", len(gone), parts, op))
		} else {
			lost = append(lost, op.String())
		}
	})
	return lost
}

// divided tells of each operation of which an image lacks something, of how many parts it has, and
// which are gone.
func (i *Images) divided(n int, tell func(op *Op, at, parts int, gone []*atom)) {
	atoms := i.plan.atoms
	lost := i.kept[n].lost.list()
	for len(lost) > 0 {
		first := lost[0]
		at, gone := atoms[first].at, []*atom(nil)
		for len(lost) > 0 && atoms[lost[0]].at == at {
			gone, lost = append(gone, &atoms[lost[0]]), lost[1:]
		}
		parts := 1 // which lie side by side
		for m := first; m > 0 && atoms[m-1].at == at; m-- {
			parts++
		}
		for m := int(first) + 1; m < len(atoms) && atoms[m].at == at; m++ {
			parts++
		}
		tell(atoms[first].op, at, parts, gone)
	}
}

// Loss is what an image lacks of an operation.
type Loss struct {
	Op    int        // position in the log, from 0
	All   bool       // nothing of it is there
	Bytes [][2]int64 // of a write that is there in part: which bytes are not, from and to
}

// Equal reports whether two losses are the same.
func (l Loss) Equal(o Loss) bool {
	return l.Op == o.Op && l.All == o.All && (l.All || slices.Equal(l.Bytes, o.Bytes))
}

// Losses say of an image what of the log is lost, in order.
func (i *Images) Losses(n int) (all []Loss) {
	i.divided(n, func(op *Op, at, parts int, gone []*atom) {
		l := Loss{Op: at, All: len(gone) == parts}
		for _, a := range gone {
			if last := len(l.Bytes) - 1; last >= 0 && a.hi > a.lo && l.Bytes[last][1] == a.lo {
				l.Bytes[last][1] = a.hi
			} else if a.hi > a.lo && !l.All {
				l.Bytes = append(l.Bytes, [2]int64{a.lo, a.hi})
			}
		}
		all = append(all, l)
	})
	return all
}

// LeftOut is about how many images the model allows that were not formed.
func (i *Images) LeftOut() int { return max(int(min(i.Legal, 1<<31))-i.Subsets, 0) }
