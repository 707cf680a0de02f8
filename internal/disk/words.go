package disk

import "fmt"

// Words say of an image what of the log is lost, operation by operation.
func (i *Images) Words(n int) (lost []string) {
	atoms := i.plan.atoms
	for k := 0; k < len(i.live); k++ {
		if !i.lacks(n, i.live[k]) {
			continue
		}
		first := i.live[k]
		a, gone := &atoms[first], 1
		for ; k+1 < len(i.live) && atoms[i.live[k+1]].at == a.at; k++ {
			if i.lacks(n, i.live[k+1]) {
				gone++
			}
		}
		parts := 1 // of the operation, which lie side by side
		for m := first; m > 0 && atoms[m-1].at == a.at; m-- {
			parts++
		}
		for m := int(first) + 1; m < len(atoms) && atoms[m].at == a.at; m++ {
			parts++
		}
		if gone < parts {
			lost = append(lost, fmt.Sprintf("%d of %d parts of %s", gone, parts, a.op))
		} else {
			lost = append(lost, a.op.String())
		}
	}
	return lost
}

// LeftOut is about how many images the model allows that were not formed.
func (i *Images) LeftOut() int { return max(int(min(i.Legal, 1<<31))-i.Subsets, 0) }
