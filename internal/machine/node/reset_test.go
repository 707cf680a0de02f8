//go:build linux

package node

import (
	"net/netip"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/machine/tracee"
	"github.com/ariadne-mc/ariadne/internal/system/machines"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// connected runs the server and a client of testdata/reset.c to their ends. The step of the client
// in which a place is, "" for none, is varied by the choice there.
func connected(t *testing.T, dir, call string, f spec.Fail, place string) (client, server []string, places []string) {
	t.Helper()
	s := &spec.Spec{Dir: dir, Limits: spec.Limits{Divergence: 10 * time.Second, Calls: 1_000_000}, Fail: f,
		Nodes: []spec.Node{
			{Name: "server", CPUs: 1, Commands: []spec.Command{{Args: []string{"/spec/reset", "server"}}},
				Addrs: []netip.Addr{netip.MustParseAddr("10.0.0.1")}},
			{ID: 1, Name: "client", CPUs: 1, Commands: []spec.Command{{Args: []string{"/spec/reset", "client", call}}},
				Addrs: []netip.Addr{netip.MustParseAddr("10.0.0.2")}}}}
	s.Faults[world.Fail] = 1
	nodes := []*Node{Start(Config{Pages: followInTests, Machine: machines.Of(s, 0, 1)}),
		Start(Config{Machine: machines.Of(s, 1, 2)})}
	said := make([][]string, 2)
	var flying []ariadne.Message
	step := func(id ariadne.NodeID, in ariadne.Input) {
		var frozen *Checkpoint
		if in.Kind != ariadne.Start {
			var err error
			if frozen, err = nodes[id].Freeze(); err != nil {
				t.Fatal(err)
			}
			defer frozen.Drop()
		}
		if in.Kind == ariadne.Start && id == 1 && strings.HasPrefix(place, "2/connect") {
			in.Vary = ariadne.Variation("fail:ENETUNREACH@" + place)
		}
		out, err := nodes[id].Apply(in)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range out.More() {
			if id == 1 {
				places = append(places, c.Place)
			}
			if id == 1 && c.Place == place {
				old := nodes[id]
				if nodes[id], err = frozen.Thaw(); err != nil {
					t.Fatal(err)
				}
				old.Close()
				in.Vary = ariadne.Variation(c.String())
				if out, err = nodes[id].Apply(in); err != nil || out.Variation() != in.Vary {
					t.Fatalf("varied by %q and not %q: %v", out.Variation(), in.Vary, err)
				}
				place = ""
				break
			}
		}
		said[id], flying = append(said[id], lines(&out)...), append(flying, out.Messages...)
	}
	step(0, ariadne.Input{Kind: ariadne.Start})
	step(1, ariadne.Input{Kind: ariadne.Start})
	for at := ariadne.Time(time.Millisecond); len(flying) > 0; at = at.Add(time.Millisecond) {
		m := flying[0]
		flying = flying[1:]
		step(m.To, ariadne.Input{Kind: ariadne.Deliver, At: at, Message: &m})
	}
	for _, n := range nodes {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}
	return said[1], said[0], places
}

// resetProgram compiles testdata/reset.c, for tests on a thread of their own.
func resetProgram(t *testing.T) string {
	program := filepath.Join(t.TempDir(), "reset")
	if out, err := exec.Command("cc", "-O1", "-Wall", "-Wno-unused-result", "-static", "-o", program,
		"testdata/reset.c").CombinedOutput(); err != nil {
		t.Skipf("cc: %v\n%s", err, out)
	}
	runtime.LockOSThread()
	if err := tracee.Pin(0); err != nil {
		t.Fatal(err)
	}
	return program
}

// TestResetCall: a call that finds its connection reset says what it says on Linux, and so do those
// after it; the other end is reset, too.
func TestResetCall(t *testing.T) {
	program := resetProgram(t)
	for _, call := range []string{"read", "readv", "recvfrom", "recvmsg", "write", "writev", "sendto", "sendmsg"} {
		native, err := exec.Command(program, "both", call).Output()
		if err != nil {
			t.Fatal(err)
		}
		place := "2/" + call + ":server:9000#1"
		if call == "sendto" {
			place = "2/sendto:server:9000#2"
		}
		f := spec.Fail{Errors: map[string][]string{call: {ariadne.CallReset}}, Peers: []ariadne.NodeID{0}}
		client, server, places := connected(t, filepath.Dir(program), call, f, place)
		if got := strings.Join(client, "\n") + "\n"; got != string(native) {
			t.Errorf("%s: here\n%son Linux\n%s; places %v", call, got, native, places)
		}
		if want := []string{"server reads: 1 ", "server reads: -1 ECONNRESET", "and then: 0 "}; !slices.Equal(server,
			want) {
			t.Errorf("%s: the server says %q, want %q", call, server, want)
		}
	}
}

// TestPeers: calls fail on connections to the nodes that are meant, and a connection is not set up
// where the way to one of them is not there.
func TestPeers(t *testing.T) {
	program := resetProgram(t)
	errors := map[string][]string{"connect": {"ENETUNREACH"}, "sendto": {ariadne.CallReset},
		"write": {"EIO", ariadne.CallReset}}
	for _, c := range []struct {
		peers []ariadne.NodeID
		want  int // places of the client
	}{{nil, 2}, {[]ariadne.NodeID{0}, 2}, {[]ariadne.NodeID{1}, 0}} {
		_, _, places := connected(t, filepath.Dir(program), "read", spec.Fail{Errors: errors, Peers: c.peers}, "")
		n := 0
		for _, p := range places {
			if strings.Contains(p, ":server:9000#") {
				n++
			}
		}
		if len(c.peers) > 0 && n != len(places) || n < c.want || c.want == 0 && n > 0 {
			t.Errorf("peers %v: places %q", c.peers, places)
		}
	}
	client, _, _ := connected(t, filepath.Dir(program), "read", spec.Fail{Errors: errors}, "2/connect:server:9000#1")
	if len(client) == 0 || client[0] != "connect: -1 ENETUNREACH" {
		t.Errorf("it says %q", client)
	}
}
