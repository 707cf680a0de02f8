package disk

import "fmt"

// Words say of an image what of the log is lost, operation by operation.
func (i *Images) Words(n int) (lost []string) {
	s := i.kept[n]
	var last *atom
	parts, gone := 0, 0
	tell := func() {
		switch {
		case gone == 0:
		case gone < parts:
			lost = append(lost, fmt.Sprintf("%d of %d parts of %s", gone, parts, last.op))
		default:
			lost = append(lost, last.op.String())
		}
		parts, gone = 0, 0
	}
	for k := range i.plan.atoms {
		a := &i.plan.atoms[k]
		if last != nil && a.at != last.at {
			tell()
		}
		if parts++; !a.durable && !s.has(int32(k)) {
			gone++
		}
		last = a
	}
	if last != nil {
		tell()
	}
	return lost
}

// LeftOut is about how many images the model allows that were not formed.
func (i *Images) LeftOut() int { return max(int(min(i.Legal, 1<<31))-i.Subsets, 0) }
