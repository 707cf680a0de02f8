package search

import (
	"fmt"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
)

// Cycle is what a system does again and again on the natural schedule: the steps of the last round.
type Cycle struct {
	Steps []ariadne.Step
	Time  ariadne.Time // of a round
	Times int          // in a row
}

// The steps that Cycle reads, and its bounds for a cycle.
const (
	cycleSteps = 2000
	leastTimes = 4
)

// FindCycle continues a suspected execution on the natural schedule, and looks for a cycle: the
// same nodes take the same kinds of steps, write the same lines except for numbers, and expose the
// same values. It returns nil if there is none. The path then also has the steps that were taken.
func (l *Liveness) FindCycle(s *Stuck) (*Cycle, error) {
	p, from := s.Path, s.Path.Steps()
	var did []string
	for p.Steps()-from < cycleSteps && p.Last().Plain > 0 && !l.stopped() {
		if err := p.Push(0); err != nil {
			return nil, err
		}
		l.work++
		out := &p.Last().By.Output
		if l.Watch != nil {
			l.Watch(p.Last().By)
		}
		if out.Cut != "" || out.Fatal != "" || len(out.Exits) > 0 {
			return nil, nil
		}
		did = append(did, l.describeLastStep(p))
	}
	for n := 1; n*leastTimes <= len(did); n++ {
		end := len(did)
		same := 0
		for same < end-n && did[end-1-same] == did[end-1-same-n] {
			same++
		}
		if same < n*(leastTimes-1) {
			continue
		}
		c := &Cycle{Time: p.Last().State.Now - p.FrameAt(p.Steps()-n).State.Now, Times: same/n + 1}
		for i := p.Steps() - n + 1; i <= p.Steps(); i++ {
			c.Steps = append(c.Steps, p.Step(i))
		}
		return c, nil
	}
	return nil, nil
}

// describeLastStep lists the visible effects of the last step of a path, without numbers.
func (l *Liveness) describeLastStep(p *space.Path) string {
	e, by := p.Taken(p.Steps()), p.Last().By
	var b strings.Builder
	fmt.Fprint(&b, e.Kind, e.Node, len(by.Output.Messages))
	if e.Packet != nil {
		fmt.Fprint(&b, " from ", e.Packet.From)
	}
	for l := range by.Output.Lines() {
		b.WriteString("\n" + variable.ReplaceAllString(l.Text, "#"))
	}
	for i, set := range p.Snapshot().Sets {
		for _, t := range set.Tuples() {
			fmt.Fprintf(&b, "\n%d %s", i, variable.ReplaceAllString(t.String(), "#"))
		}
	}
	return b.String()
}
