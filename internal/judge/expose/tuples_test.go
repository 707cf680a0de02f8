package expose

import (
	"regexp"
	"slices"
	"testing"

	"github.com/ariadne-mc/ariadne"
)

// TestWhatIsExposed: tuples come with lines and go with others and with the node, and of a name and
// key there is one.
func TestWhatIsExposed(t *testing.T) {
	sources := Sources{
		{Name: "leader", Line: regexp.MustCompile(`leads term (?P<term>\d+)`), Until: regexp.MustCompile(`follows`)},
		{Name: "value", Line: regexp.MustCompile(`set (?P<key>\w+) to (.*)`), Key: []int{1},
			Until: regexp.MustCompile(`drop (?P<key>\w+)`), UntilKey: []int{1}},
		{Name: "ready", Line: regexp.MustCompile(`ready`), Nodes: []ariadne.NodeID{1}},
	}
	for _, c := range []struct {
		lines []string
		want  []string
	}{
		{[]string{"n1 leads term 2"}, []string{"leader(term=2)"}},
		{[]string{"n1 leads term 2", "leads term 3"}, []string{"leader(term=3)"}},
		{[]string{"leads term 2", "follows"}, nil},
		{[]string{"set a to 1", "set b to 2", "set a to 3 x"}, []string{"value(key=a, 3 x)", "value(key=b, 2)"}},
		{[]string{"set a to 1", "set b to 2", "drop a", "drop c"}, []string{"value(key=b, 2)"}},
		{[]string{"ready"}, nil}, // of another node
		{[]string{"> expose value[a] 7", "> expose role leader 5"}, []string{"role(leader, 5)", "value(7)"}},
		{[]string{"> expose value[a] 7", "> expose value[b] 8", "> conceal value[a]"}, []string{"value(8)"}},
		{[]string{"> expose value[a] 7", "> expose value[b] 8", "> expose x", "> conceal value"}, []string{"x"}},
	} {
		out := ariadne.Output{}
		for _, l := range c.lines {
			if l[0] == '>' {
				e, _ := ariadne.ParseExposure(l[2:])
				out.Exposures = append(out.Exposures, ariadne.Shown{Place: out.Recorded(), Exposure: e})
				continue
			}
			out.Logs = append(out.Logs, ariadne.LogLine{Stream: 1, Text: l})
		}
		var got []string
		for _, u := range (*Set)(nil).After(sources.Changes(0, &out)).Tuples() {
			got = append(got, u.String())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.lines, got, c.want)
		}
	}
}
