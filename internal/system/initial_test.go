package system

import (
	"regexp"
	"slices"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// TestFirstStateNamesTheMachine: what programs see of the machine is in the name of a node's first
// state, each fact of it, and nothing else.
func TestFirstStateNamesTheMachine(t *testing.T) {
	here := thisMachine()
	defer func(f func() machine) { thisMachine = f }(thisMachine)
	for _, f := range append(here.facts(), append(here.visible(""), here.visible("x86-64-v2")...)...) {
		if f.Value == "" && f.Name != "state that is saved" {
			t.Errorf("nothing is known of %s", f.Name)
		}
	}
	of := machine{release: "Linux 6.8.0-31-generic", vendor: "GenuineIntel", model: "Xeon 1",
		flags: []string{"sse", "avx", "sha_ni"}, user: "root", sysctl: "a=1"}
	for _, c := range []struct {
		what   string
		change func(m *machine)
		// whether it is seen by who sees the real processor, by who is told of a model, and is in
		// traces
		real, told, list bool
	}{
		{"a fix of the kernel", func(m *machine) { m.release = "Linux 6.8.0-45-generic" }, false, false, true},
		{"another kernel", func(m *machine) { m.release = "Linux 6.11.0-31-generic" }, true, true, true},
		{"another model of the vendor", func(m *machine) {
			m.model, m.flags = "Xeon 2", []string{"sse", "avx", "vaes"}
		}, true, false, true},
		{"more registers", func(m *machine) { m.flags = []string{"sse", "avx", "avx512f", "sha_ni"} }, true, true,
			true},
		{"another vendor", func(m *machine) { m.vendor, m.model = "AuthenticAMD", "EPYC" }, true, true, true},
		{"another user", func(m *machine) { m.user = "1000" }, true, true, true},
		{"another setting", func(m *machine) { m.sysctl = "a=2" }, true, true, true},
	} {
		other := of
		c.change(&other)
		for model, want := range map[string]bool{"": c.real, "x86-64-v2": c.told} {
			y := &System{Spec: &spec.Spec{Processor: model, Nodes: make([]spec.Node, 2)}}
			thisMachine = func() machine { return of }
			before := y.initial(0)
			if before != y.initial(0) || before == y.initial(1) {
				t.Error("it does not name the node")
			}
			thisMachine = func() machine { return other }
			if got := y.initial(0) != before; got != want {
				t.Errorf("%s, programs told of %q: named %v, not %v", c.what, model, got, want)
			}
		}
		if got := !slices.Equal(of.facts(), other.facts()); got != c.list {
			t.Errorf("%s: in traces %v", c.what, got)
		}
	}
}

// TestFirstStateNamesTheFaults: nodes list places where there is a budget for what may happen
// there, so its kind is in the name of their first state. How large it is they are not told.
func TestFirstStateNamesTheFaults(t *testing.T) {
	y := &System{Spec: &spec.Spec{Nodes: make([]spec.Node, 1)}}
	none := y.initial(0)
	y.Spec.Faults[world.Fail] = 1
	one := y.initial(0)
	if y.Spec.Faults[world.Fail]++; none == one || one != y.initial(0) {
		t.Errorf("%v without faults, %v with one, %v with two", none, one, y.initial(0))
	}
}

// TestFirstStateNamesWhatStays: a line that outlives a crash is an effect, before and behind which
// nodes list places. So it is in the name of the first state of the nodes that may write it; other
// lines are not.
func TestFirstStateNamesWhatStays(t *testing.T) {
	named := func(node int, sources ...expose.Source) ariadne.Digest {
		y := &System{Spec: &spec.Spec{Nodes: make([]spec.Node, 2)}}
		y.Spec.Properties.Sources = sources
		return y.initial(node)
	}
	line := expose.Source{Name: "served", Line: regexp.MustCompile("serves"), Nodes: []ariadne.NodeID{1}}
	staying, other := line, line
	staying.Stays, other.Stays = true, true
	other.Line = regexp.MustCompile("is ready")
	switch {
	case named(1) != named(1, line):
		t.Error("a line that does not stay is named")
	case named(1, line) == named(1, staying), named(1, staying) == named(1, other):
		t.Error("a line that stays is not named")
	case named(0) != named(0, staying):
		t.Error("a line of another node is named")
	}
}
