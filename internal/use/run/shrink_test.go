package run

import (
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/systemtest"
)

// talker sends datagrams again and again.
type talker struct{ worldtest.Idle }

func (t talker) Start(c *worldtest.Ctx) { t.Fire(c) }
func (talker) Fire(c *worldtest.Ctx) {
	c.SendDatagram(1, "hello")
	c.SetTimer(500 * time.Millisecond)
}

// fragile fails some time after it has been down.
type fragile struct {
	worldtest.Idle
	fell int
}

func (f *fragile) Fall() { f.fell++ }
func (f *fragile) Start(c *worldtest.Ctx) {
	if f.fell > 0 {
		c.SetTimer(20 * time.Second)
	}
}
func (f *fragile) Fire(c *worldtest.Ctx) { c.Panic("it was down") }

// inOrder takes faults of some kinds, each as soon as it can and some steps have passed.
type inOrder struct {
	kinds []string
	after int
}

func (*inOrder) Begin(*space.Path) (keep int, ok bool) { return 0, true }
func (x *inOrder) Next(p *space.Path) (event int, ok bool) {
	f := p.Last()
	for i := range f.Enabled[:f.Initial] {
		if len(x.kinds) > 0 && p.Steps() >= x.after && world.KindOf(f.Enabled[i].Kind).Name == x.kinds[0] &&
			(x.kinds[0] != "stop" || f.Enabled[i].Node == 2) {
			x.kinds = x.kinds[1:]
			return i, true
		}
	}
	return 0, true
}
func (*inOrder) End(*space.Path, strategy.End) error { return nil }

// TestFaultThatLostMessages: a partition that a violation does not need is left out, although
// messages that it has lost would be as late as can be then, because the trace never has them
// arrive.
func TestFaultThatLostMessages(t *testing.T) {
	s := systemtest.Spec(t, 3, 20)
	s.Faults = worldtest.Faults("stop", 1)
	for kind, n := range worldtest.Faults("cut", 1) {
		s.Faults[kind] += n
	}
	f := &systemtest.Fakes{Programs: func() []worldtest.Program {
		return []worldtest.Program{talker{}, worldtest.Idle{}, &fragile{}}
	}}
	y, err := system.Open(t.Context(), s, f.Options())
	if err != nil {
		t.Fatal(err)
	}
	if err := y.OnThread(0, func() error {
		tape := record.NewTape(y.Digests)
		a, err := execute(t.Context(), y, way{by: &inOrder{kinds: []string{"stop", "cut"}, after: 7}, watch: tape.Step})
		if err != nil {
			return err
		}
		h, err := y.Header(0, s.Dir)
		if err != nil || a.Violation == nil {
			t.Fatalf("%v, %+v", err, a.Result)
		}
		found, _ := tape.End(h, &a.Result, y.Names())
		less, err := Shrink(t.Context(), y, found, Shrinking{Limit: time.Minute})
		switch {
		case err != nil:
			return err
		case less == nil:
			t.Fatalf("nothing smaller than %+v", SizeOf(y, found, 0))
		case less.From.Faults != 2 || less.To.Faults != 1 || less.To.Deviations > 0:
			t.Errorf("from %+v to %+v", less.From, less.To)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
