package ariadne_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/ariadne-mc/ariadne"

	"pgregory.net/rapid"
)

// TestExposuresReadBack: the line by which a program says an exposure is read as that exposure,
// whatever is in its key and its values.
func TestExposuresReadBack(t *testing.T) {
	text := rapid.OneOf(rapid.String(),
		rapid.SampledFrom([]string{"", " ", `"`, `"a b"`, "]", "[", "\u00a0", "é", "\xff", "a\\b", "\t"}))
	rapid.Check(t, func(t *rapid.T) {
		e := ariadne.Exposure{Name: rapid.StringMatching(`[a-zA-Z_][a-zA-Z_0-9]{0,5}`).Draw(t, "name"),
			Key: text.Draw(t, "key")}
		if e.Ends = rapid.Bool().Draw(t, "ends"); !e.Ends {
			e.Values = rapid.SliceOfN(text, 0, 3).Draw(t, "values")
		}
		if len(e.Values) == 0 {
			e.Values = nil
		}
		if got, ok := ariadne.ParseExposure(e.String()); !ok || !reflect.DeepEqual(got, e) {
			t.Fatalf("%q is read as %+v, %v, want %+v", e.String(), got, ok, e)
		}
	})
}

// shown is an output with a line, notices and exposures, and was is the same when all of it was
// lines.
func shown() (o, was ariadne.Output) {
	exposed := func(at ariadne.Time, pid int, text string) ariadne.LogLine {
		return ariadne.LogLine{At: at, Stream: ariadne.Exposed, PID: pid, Text: text}
	}
	o.Logs = []ariadne.LogLine{{At: 2, Stream: 1, PID: 7, Text: "one"}, {At: 4, Stream: 2, PID: 7, Text: "two"}}
	o.Notices = []ariadne.Notice{{Place: 0, At: 1, PID: 7, Found: "function f"}}
	o.Exposures = []ariadne.Shown{
		{Place: 2, At: 3, PID: 7, Exposure: ariadne.Exposure{Name: "leader", Values: []string{"3", "a b"}}},
		{Place: 4, At: 5, Exposure: ariadne.Exposure{Name: "serves", Key: "80", Ends: true}},
	}
	was.Logs = []ariadne.LogLine{exposed(1, 7, "probes function f"), o.Logs[0], exposed(3, 7, `expose leader 3 "a b"`),
		o.Logs[1], exposed(5, 0, "conceal serves[80]")}
	return o, was
}

// TestExposuresHaveTheirPlaces: a record has lines, exposures and notices in the order in which
// they came about, and where a spec looks for something in lines there are no notices.
func TestExposuresHaveTheirPlaces(t *testing.T) {
	o, was := shown()
	if got := slices.Collect(o.Record()); !slices.Equal(got, was.Logs) || o.Recorded() != len(got) {
		t.Errorf("recorded are %d, %+v", o.Recorded(), got)
	}
	if got := slices.Collect(o.Lines()); !slices.Equal(got, was.Logs[1:]) {
		t.Errorf("lines are %+v", got)
	}
	var said []any
	for l, e := range o.Said() {
		if l != nil {
			said = append(said, *l)
		} else {
			said = append(said, *e)
		}
	}
	if want := []any{o.Logs[0], o.Exposures[0], o.Logs[1], o.Exposures[1]}; !reflect.DeepEqual(said, want) {
		t.Errorf("said is %+v", said)
	}
	for range o.Said() {
		break
	}
	for range o.Lines() {
		break
	}
}

// TestNothingIsLeftOutOfRecords: whatever the places say, which files may have wrong, a record has
// all there is.
func TestNothingIsLeftOutOfRecords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var o ariadne.Output
		place := rapid.Custom(func(t *rapid.T) int { return rapid.IntRange(-2, 9).Draw(t, "place") })
		for range rapid.IntRange(0, 4).Draw(t, "lines") {
			o.Logs = append(o.Logs, ariadne.LogLine{})
		}
		for range rapid.IntRange(0, 4).Draw(t, "exposures") {
			o.Exposures = append(o.Exposures, ariadne.Shown{Place: place.Draw(t, "place")})
		}
		for range rapid.IntRange(0, 4).Draw(t, "notices") {
			o.Notices = append(o.Notices, ariadne.Notice{Place: place.Draw(t, "place")})
		}
		if n := len(slices.Collect(o.Record())); n != o.Recorded() || n != len(o.Logs)+len(o.Exposures)+len(o.Notices) {
			t.Fatalf("%d of %d are recorded", n, o.Recorded())
		}
	})
}

// TestDigestsAreOverRecords: the digest of a step is what it was when exposures and notices were
// lines, so traces of then replay.
func TestDigestsAreOverRecords(t *testing.T) {
	o, was := shown()
	if o.Sum(7) != was.Sum(7) {
		t.Error("the digest is another one")
	}
	o.Exposures[0].Place, o.Exposures[1].Place = 3, 4
	if o.Sum(7) == was.Sum(7) {
		t.Error("the order is not in it")
	}
}

func TestExposureKey(t *testing.T) {
	for _, c := range []struct {
		texts []string
		want  string
	}{
		{nil, ""}, {[]string{"a b"}, "a b"}, {[]string{""}, `""`}, {[]string{"a", "b"}, "a b"},
		{[]string{"a b", "c"}, `"a b" c`},
		{[]string{"a", "b c"}, `a "b c"`}, {[]string{"", "x"}, `"" x`}, {[]string{`"`, "x"}, `"\"" x`},
	} {
		if got := ariadne.ExposureKey(c.texts); got != c.want {
			t.Errorf("%q: %s, not %s", c.texts, got, c.want)
		}
	}
}
