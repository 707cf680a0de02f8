package space

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// lines is a source of one step, whose lines are those that a function makes of the time.
type lines func(at ariadne.Time) []string

func (l lines) Transition(_ *memo.Local, in world.Input) (*memo.Transition, error) {
	t := &memo.Transition{Input: in}
	t.Output.ReadClock = true
	for _, text := range l(in.At) {
		t.Output.Logs = append(t.Output.Logs, ariadne.LogLine{Stream: 1, Text: text})
	}
	return t, nil
}

// TestTimeInLine: a line with the time in it turns nowhere, also where it stands at other places at
// most times. A number that changes beside such a line does turn.
func TestTimeInLine(t *testing.T) {
	const ms = ariadne.Time(1e6)
	stamp := func(at ariadne.Time) string { return fmt.Sprint("now ", int(at)) }
	for _, c := range []struct {
		name  string
		lines lines
		turns []ariadne.Time // near these
	}{
		{"alone", func(at ariadne.Time) []string { return []string{stamp(at)} }, nil},
		{"last of more and more", func(at ariadne.Time) (all []string) {
			for i := range int(at / (100 * ms)) {
				all = append(all, fmt.Sprint("tick of ", []string{"a", "b", "c", "d", "e"}[i%5]))
			}
			return append(all, stamp(at))
		}, []ariadne.Time{100 * ms, 200 * ms, 300 * ms}},
		{"over soon", func(at ariadne.Time) []string {
			if at < 50*ms {
				return []string{stamp(at)}
			}
			return []string{"over", stamp(at)}
		}, []ariadne.Time{50 * ms}},
		{"count", func(at ariadne.Time) []string {
			return []string{stamp(at), fmt.Sprint("left ", int(3-at/(150*ms)))}
		}, []ariadne.Time{150 * ms, 300 * ms}},
		{"count, over soon", func(at ariadne.Time) []string {
			left := fmt.Sprint("left ", int(3-at/(20*ms)))
			if at < 50*ms {
				return []string{left, stamp(at)}
			}
			return []string{"over"}
		}, []ariadne.Time{20 * ms, 40 * ms, 50 * ms}},
	} {
		f := &finder{source: c.lines, first: 0, last: 310 * ms, spreads: true, seen: map[ariadne.Time][]part{}}
		turns, err := f.findTurns(f.first, f.last)
		if err != nil {
			t.Fatal(err)
		}
		found := map[ariadne.Time]bool{}
		for i := 0; i < len(turns); i += 2 {
			near := slices.IndexFunc(c.turns, func(at ariadne.Time) bool { return turns[i] <= at && at <= turns[i+1] })
			if near < 0 {
				t.Errorf("%s: found %d to %d, where nothing turns", c.name, turns[i], turns[i+1])
			} else {
				found[c.turns[near]] = true
			}
		}
		if len(found) < len(c.turns) {
			t.Errorf("%s: found %v of %v", c.name, found, c.turns)
		}
	}
}

// TestTurnBesideTimes: a line that changes in more than its numbers is found before numbers are
// looked at, which may be others at each time and stand only before that change.
func TestTurnBesideTimes(t *testing.T) {
	const ms = ariadne.Time(1e6)
	for _, unit := range []ariadne.Time{ms, 1000 * ms} {
		for _, turn := range []ariadne.Time{700 * ms, 4500 * ms, 61234 * ms} {
			f := &finder{source: lines(func(at ariadne.Time) []string {
				if at < turn {
					return []string{fmt.Sprint("hit of age ", int(at/unit))}
				}
				return []string{fmt.Sprint("miss at ", int(at/unit))}
			}), first: 0, last: 3600 * 1000 * ms, spreads: true, seen: map[ariadne.Time][]part{}}
			turns, err := f.findTurns(f.first, f.last)
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for i := 0; i < len(turns); i += 2 {
				found = found || turns[i] < turn && turn <= turns[i+1]
			}
			if !found || !slices.IsSorted(turns) {
				t.Errorf("at %d, times in units of %d: found %d in %d tries", turn, unit, turns, f.tries)
			}
		}
	}
}

// TestBoundaryBesideTimes: where words differ at a boundary, numbers do not tell on which side of
// it an outcome is. Else they do.
func TestBoundaryBesideTimes(t *testing.T) {
	output := func(text string) *ariadne.Output {
		return &ariadne.Output{Logs: []ariadne.LogLine{{Stream: 1, Text: text}}}
	}
	for _, c := range []struct {
		before, after, text string
		is                  bool // after
	}{
		{"1.017 busy", "2.018 granted", "2.019 granted", true},
		{"1.017 busy", "2.018 granted", "2.018 busy", false},
		{"left 2", "left 1", "left 1", true},
		{"left 2", "left 1", "left 0", false},
	} {
		b := Boundary{before: visibleParts(output(c.before)), after: visibleParts(output(c.after)),
			told: comparison{plain: true}}
		if b.DoesAfter(output(c.text)) != c.is {
			t.Errorf("%q, then %q: %q is after: %v", c.before, c.after, c.text, !c.is)
		}
	}
}
