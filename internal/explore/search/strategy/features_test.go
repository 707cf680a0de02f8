package strategy

import (
	"fmt"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// sent is a step in which a node has sent messages and written lines.
func sent(to ariadne.NodeID, data []string, lines ...string) *memo.Transition {
	t := &memo.Transition{}
	for _, d := range data {
		t.Effect.Packets = append(t.Effect.Packets, world.NewPacket(&ariadne.Message{To: to, Data: []byte(d)}))
	}
	for _, l := range lines {
		t.Output.Logs = append(t.Output.Logs, ariadne.LogLine{Text: l})
	}
	return t
}

// TestFeaturesAreFew: what differs in numbers only is one feature, and messages that begin
// otherwise each time are told apart by their lengths only.
func TestFeaturesAreFew(t *testing.T) {
	var c features
	first := c.of(nil, 0, sent(1, []string{"beat 1"}, "term 7 begins"))
	if again := c.of(nil, 0, sent(1, []string{"beat 2"}, "term 18 begins")); len(first) != 2 || first[0] != again[0] ||
		first[1] != again[1] {
		t.Errorf("%x, %x: numbers matter", first, again)
	}
	if other := c.of(nil, 1, sent(1, []string{"beat 1"}, "term 7 begins")); other[0] == first[0] ||
		other[1] == first[1] {
		t.Error("nodes do not matter")
	}
	if other := c.of(nil, 0, sent(1, []string{"vote 1"})); other[0] == first[1] {
		t.Error("how messages begin does not matter")
	}
	kinds := map[uint64]bool{}
	for i := range 1000 {
		id := fmt.Sprintf("%c%c%c%c", 'a'+i%26, 'a'+i/26%26, 'k', 'q')
		kinds[c.of(nil, 0, sent(2, []string{id}))[0]] = true
	}
	if len(kinds) != maxKinds+1 {
		t.Errorf("%d kinds of messages of one class, not %d", len(kinds), maxKinds+1)
	}
}

// TestRepeats: a step is no news when its node has often done all of what it does. Each doubling is
// news.
func TestRepeats(t *testing.T) {
	y := world.NewSystem(world.Rules{}, []world.Node{{Name: "a"}, {Name: "client", Client: true}})
	var m moments
	m.begin(&Features{}, true, 0)
	beat := sent(0, nil, "beat 1")
	var news []int
	for i := 1; i <= 20; i++ {
		if before := m.repeats(0, beat); before != m.of(y, 0, beat).repeat {
			t.Fatalf("step %d: before it was taken it repeats others: %v", i, before)
		} else if !before {
			news = append(news, i)
		}
	}
	if got := fmt.Sprint(news); got != "[1 2 3 4 8 16]" {
		t.Errorf("steps %s were news", got)
	}
	if now := m.of(y, 0, sent(1, []string{"ok"}, "beat 1")); !now.reply || !now.fresh || !now.novel || now.repeat {
		t.Errorf("the first reply: %+v", now)
	}
	m.begin(m.search, true, 0)
	if now := m.of(y, 0, beat); !now.fresh || now.novel {
		t.Errorf("the first beat of another path: %+v", now)
	}
}
