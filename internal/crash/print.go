//go:build linux

package crash

import (
	"fmt"
	"io"
	"strings"
)

// mostGroups are listed.
const mostGroups = 12

// Print says what came of it, for people.
func Print(w io.Writer, r *Result) {
	fmt.Fprintf(w, "%s: %d operations, %d points, %d images, %d distinct: %d pass, %d fail (%.0f images/s)\n",
		r.Model, r.Operations, r.Points, r.Images, r.Distinct, r.Passed, r.Failed, float64(r.Distinct)/r.Seconds)
	if r.Judged < r.Operations {
		fmt.Fprintf(w, "  interrupted: power was lost after %d of %d operations\n", r.Judged, r.Operations)
	}
	switch {
	case r.AtLeast:
		fmt.Fprintf(w, "  left out: more than %.3g of the subsets that the model allows (--images)\n", r.LeftOut)
	case r.LeftOut > 0:
		fmt.Fprintf(w, "  left out: %.0f of the subsets that the model allows (--images)\n", r.LeftOut)
	}
	if r.Before {
		fmt.Fprintln(w, "  note: the checker rejects the files from before the first operation; images equal to them are not counted")
	}
	for i := range r.Groups {
		if i == mostGroups {
			fmt.Fprintf(w, "  and %d more\n", len(r.Groups)-i)
			break
		}
		g := &r.Groups[i]
		if g.Images == 1 {
			fmt.Fprintf(w, "  %s: 1 image fails\n", g)
		} else {
			fmt.Fprintf(w, "  %s: %d images fail\n", g, g.Images)
		}
	}
	if f := r.Shortest; f != nil {
		fmt.Fprintf(w, "the failing image that lacks least:\n  power is lost after operation %d, %s\n", f.Operation, f.Last)
		for i, l := range f.Lost {
			if i == 8 {
				fmt.Fprintf(w, "  lost: %d more\n", len(f.Lost)-i)
				break
			}
			fmt.Fprintf(w, "  lost: %s\n", l)
		}
		fmt.Fprintf(w, "  the checker: %s\n", f.Status)
		for line := range strings.SplitSeq(f.Output, "\n") {
			fmt.Fprintf(w, "  | %s\n", line)
		}
	}
}
