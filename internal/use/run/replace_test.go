package run

import (
	"slices"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/systemtest"
)

const numbered = 8 // datagrams

// sender sends numbered datagrams.
type sender struct{ worldtest.Idle }

func (sender) Start(c *worldtest.Ctx) {
	for i := range numbered {
		c.SendDatagram(1, string(rune('a'+i)))
	}
}

// counter fails when it gets them in reverse, and when it gets one twice.
type counter struct {
	worldtest.Idle
	got string
}

func (k *counter) Receive(c *worldtest.Ctx, m ariadne.Message) {
	k.got += string(m.Data)
	b := []byte(k.got)
	slices.Reverse(b)
	if string(b) == "abcdefgh" || len(b) > 1 && b[0] == b[1] {
		c.Panic("wrong")
	}
}

// backwards takes what comes last first.
type backwards struct{}

func (backwards) Begin(*space.Path) (keep int, ok bool) { return 0, true }
func (backwards) Next(p *space.Path) (event int, ok bool) {
	f := p.Last()
	for i := range f.Plain {
		if f.Enabled[i].Kind == ariadne.ActDeliver || f.Enabled[i].Kind == ariadne.ActStart {
			event = i
		}
	}
	return event, true
}
func (backwards) End(*space.Path, strategy.End) error { return nil }

// TestOneFaultInsteadOfManyDeviations: a violation that was found by messages in reverse comes of
// one duplicate, too, which is easier to follow.
func TestOneFaultInsteadOfManyDeviations(t *testing.T) {
	s := systemtest.Spec(t, 2, 0)
	s.Faults = worldtest.Faults("duplicate", 1)
	f := &systemtest.Fakes{Programs: func() []worldtest.Program { return []worldtest.Program{sender{}, &counter{}} }}
	y, err := system.Open(t.Context(), s, f.Options())
	if err != nil {
		t.Fatal(err)
	}
	if err := y.OnThread(0, func() error {
		tape := record.NewTape(y.Digests)
		a, err := execute(t.Context(), y, way{by: backwards{}, watch: tape.Step})
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
		case less.From.Faults != 0 || less.From.Deviations < manyDeviations || less.To.Faults != 1 ||
			less.To.Deviations > 1:
			t.Errorf("from %+v to %+v", less.From, less.To)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
