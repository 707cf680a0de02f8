package coverage_test

import (
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/coverage"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/memo/memotest"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
)

// counter logs how many messages it got, and from whom the last one came.
type counter struct {
	worldtest.Idle
	count int
}

func (c *counter) Receive(x *worldtest.Ctx, m ariadne.Message) {
	c.count++
	x.Log("count %d from %d", c.count, m.From)
}

type shout struct{ worldtest.Idle }

func (shout) Start(c *worldtest.Ctx) { c.Send(0, "x") }

func programs() []worldtest.Program {
	return []worldtest.Program{&counter{}, shout{}, shout{}}
}

func TestMeter(t *testing.T) {
	y := world.NewSystem(world.Rules{Latency: time.Millisecond}, worldtest.Nodes(programs()...))
	m, err := memo.Open(y, memo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x := memo.NewExecutor(m, (&memotest.Instances{Programs: programs}).Boot(), memo.Limits{Checkpoints: 10})
	defer x.Close()
	totals := coverage.NewTotals(3, 0)
	meter := totals.Meter()
	shown := space.New(y, m, x)
	shown.Shows = expose.Rules{{Line: regexp.MustCompile(`count (\d+)`)}, {Line: regexp.MustCompile(`from \d`)}}
	e := &search.Exploration{Space: shown, Explorer: &strategy.DepthFirst{All: true}, Watch: meter.Watch,
		Checks: func() []property.Check { return nil }}
	e.Ended = func(p *space.Path, _ string, _ *ariadne.Violation) bool {
		if totals.Path(p) {
			totals.Sample(time.Second, x.Counts())
		}
		return true
	}
	if _, err := e.Run(); err != nil {
		t.Fatal(err)
	}
	meter.Done()
	// n1 has 1 state started and 2 with one message and 2 with both; n2 and n3 one each.
	if got := fmt.Sprint(totals.Locals()); got != "[5 1 1]" {
		t.Errorf("local states %s", got)
	}
	// (1, from 1), (1, from 2), (2, from 1), (2, from 2).
	s := totals.Sample(2*time.Second, x.Counts())
	samples := totals.Samples()
	if s.Protocol != 4 || s.Global != 4 || s.Traces != 2 || s.Executed != 7 || s.Paths != e.Coverage.Paths ||
		s.States != e.Coverage.States || s.Steps != e.Coverage.Steps || s.Paths < 10 {
		t.Errorf("%+v", s)
	}
	var b strings.Builder
	if err := coverage.WriteCSV(&b, samples); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if strings.Count(lines[0], ",") != strings.Count(coverage.Header, ",") ||
		!strings.HasPrefix(lines[len(lines)-1], "2.000,") {
		t.Errorf("%q", lines)
	}
	b.Reset()
	plot := coverage.Growth("a <small> system", samples)
	if err := plot.WriteSVG(&b); err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(strings.NewReader(b.String())); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"a &lt;small&gt; system", "partial-order traces: 2", "protocol states: 4"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in the plot", want)
		}
	}
	if strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "Inf") {
		t.Error("a value that cannot be drawn")
	}
}
