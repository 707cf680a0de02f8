package machines

import (
	"net/netip"
	"reflect"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// full is a spec of which no field that a machine is built from is zero.
func full() *spec.Spec {
	addr := func(i byte) []netip.Addr { return []netip.Addr{netip.AddrFrom4([4]byte{10, 0, 0, i})} }
	command := []spec.Command{{Args: []string{"/bin/true"}}}
	s := &spec.Spec{Dir: "/s", Hidden: []string{"/s/out"}, Date: spec.DefaultDate, Processor: "x86-64-v2", Coarse: true,
		Fail: spec.Fail{Functions: map[string]int64{"malloc": 0}, Paths: []string{"*.log"},
			Peers: []ariadne.NodeID{1}, Programs: []string{"server"}, Sites: true},
		Stall:  spec.Stall{Paths: []string{"*.log"}},
		Power:  spec.Power{Model: spec.DefaultPower.Model, Images: spec.DefaultPower.Images, Alone: true},
		Kill:   spec.Kill{Programs: []string{"server"}, Between: true, Restart: time.Second},
		Limits: spec.Limits{Divergence: time.Second, Calls: 1000, Time: time.Minute},
		Growth: &spec.Growth{Descriptors: 9, Memory: 1 << 20}, Serves: true,
		Probes:     []spec.Probe{{Name: "p", Function: "f", Values: []string{"x"}}},
		Looks:      []spec.Look{{Name: "l", Command: &command[0], Nodes: []ariadne.NodeID{1}}},
		Properties: spec.Properties{Sources: expose.Sources{{Name: "kept", Stays: true}}},
	}
	for i := range 2 {
		s.Nodes = append(s.Nodes,
			spec.Node{ID: ariadne.NodeID(i), Name: string(rune('a' + i)), Commands: command, Restart: command,
				AfterCrash: command, Dir: "/d",
				Links: []string{"conf", "out"}, Writable: []string{"/w"}, Env: map[string]string{"A": "b"}, Stdin: "x",
				StdinOpen: true, Run: []string{"r"}, User: 1, Group: 2,
				CPUs: 3, Addrs: addr(byte(i + 1)), Disk: 4, Memory: 5, ClockOffset: 6, ClockDrift: 7,
				Ready: spec.Ready{Port: 8, Line: regexp.MustCompile("ready")}})
	}
	for _, k := range world.Kinds() {
		s.Faults[k] = 1
	}
	s.After[world.Crash], s.After[world.Stop] = regexp.MustCompile("ready"), regexp.MustCompile("acked")
	s.Outages[ariadne.Paused].Reads = true
	s.AfterOf = map[ariadne.ActionKind]ariadne.NodeID{world.Stop: 0}
	return s
}

// TestOf: no field of a machine is forgotten, and what a spec says of another node is none of the
// machine's.
func TestOf(t *testing.T) {
	m := Of(full(), 1, 42)
	var zeros func(name string, v reflect.Value)
	zeros = func(name string, v reflect.Value) {
		for i := range v.NumField() {
			f, in := v.Field(i), name+v.Type().Field(i).Name
			switch {
			case f.IsZero():
				t.Errorf("%s is zero", in)
			case f.Kind() == reflect.Struct && f.Type().PkgPath() == v.Type().PkgPath():
				zeros(in+".", f)
			}
		}
	}
	zeros("", reflect.ValueOf(*m))
	if !slices.Equal(m.Links, []string{"conf"}) {
		t.Errorf("links %q: what Ariadne writes is hidden", m.Links)
	}
	if want := []netip.Addr{netip.MustParseAddr("10.0.0.2")}; !slices.Equal(m.Faults.Fail.Peers, want) {
		t.Errorf("peers %v, want %v", m.Faults.Fail.Peers, want)
	}
	if a := m.Faults.After; a[world.Crash].Line == nil || a[world.Crash].Kind != "crash" || a[world.Stop].Line != nil {
		t.Errorf("after %v: another node has to write the line before a stop", a)
	}
	kept := ariadne.Output{Exposures: []ariadne.Shown{{Exposure: ariadne.Exposure{Name: "kept",
		Values: []string{"1"}}}}}
	if !m.Stays(&kept) || m.Stays(&ariadne.Output{}) {
		t.Error("a line by which something stays is not known")
	}
	if m.Looks[0].Ignored || Of(full(), 0, 42).Asks() || !m.Asks() {
		t.Error("a command of the other node is asked")
	}
	if other := Of(&spec.Spec{Nodes: make([]spec.Node, 1)}, 0, 0); other.Restart != nil || other.Stays != nil ||
		other.Faults.Fail.Errors != nil || other.Faults.Fail.Peers != nil {
		t.Errorf("a spec that says nothing: %+v", other)
	}
}
