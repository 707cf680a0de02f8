package guest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestReset: both ends of a connection that the network resets show what they show on Linux
// when each gets an RST that the other has not sent.
func TestReset(t *testing.T) {
	for _, what := range []string{"read", "write", "error", "unread", "half"} {
		t.Run(what, func(t *testing.T) { struckAsOnLinux(t, "reset", "reset", what) })
	}
}

// TestConnectMeetsFaults: who connects sees what it does on Linux when it is refused, or its SYN
// is dropped.
func TestConnectMeetsFaults(t *testing.T) {
	for _, kind := range []string{"refuse", "lose"} {
		for _, how := range []string{"block", "poll"} {
			t.Run(kind+" "+how, func(t *testing.T) { struckAsOnLinux(t, "connect", kind, kind, how) })
		}
	}
}

// TestSplit: what is written at once and arrives in pieces is read as on Linux when it is written
// in pieces.
func TestSplit(t *testing.T) { struckAsOnLinux(t, "split", "split") }

// TestJoin: what is written in several steps and arrives together is read as on Linux by who looks
// late.
func TestJoin(t *testing.T) {
	for _, what := range []string{"all", "few", "end"} {
		t.Run(what, func(t *testing.T) { struckAsOnLinux(t, "join", "join", what) })
	}
}

// TestSilence: who hears nothing of the other end of a connection gives up as on Linux, or learns
// that the other end is gone.
func TestSilence(t *testing.T) {
	for _, c := range []struct{ what, fault string }{
		{"kept", "cut: {for: [20s], groups: [[server]], clients: true}"},
		{"limited", "cut: {for: [20s], groups: [[server]], clients: true}"},
		{"unacknowledged", "cut: {for: [20s], groups: [[server]], clients: true}"},
		{"kept", "stop: {nodes: [server], for: [20s]}"},
		{"unacknowledged", "stop: {nodes: [server], for: [20s]}"},
		{"gone", "stop: {nodes: [server], for: [4s]}"},
	} {
		t.Run(c.what+" "+c.fault[:4], func(t *testing.T) {
			t.Parallel()
			p := read(t, "fault/silence", "testdata/fault/silence.c")
			p.skip(t)
			dir := t.TempDir()
			file := p.build(t, dir)
			p.args = []string{c.what}
			want := p.native(t, filepath.Join(dir, file))
			if want.stdout == "" || want.status != 9 {
				t.Skipf("there are no networks of their own: %s", want.stdout)
			}
			got := struck(t, dir, c.fault, []node{
				{name: "server", program: p, file: file, args: []string{c.what, "7000"}},
				{name: "client", program: p, file: file, args: []string{c.what, "server", "7000"}},
			})
			got["client"].mustEqual(t, "client", want)
		})
	}
}

// TestSlow: a connection goes on, in order, where the network is slow, as on Linux where it has
// hardly any bandwidth.
func TestSlow(t *testing.T) {
	t.Parallel()
	p := read(t, "fault/slow", "testdata/fault/slow.c")
	p.skip(t)
	dir := t.TempDir()
	file := p.build(t, dir)
	want := p.native(t, filepath.Join(dir, file))
	if want.stdout == "" || want.status != 9 {
		t.Skipf("there is no slow network: %s", want.stdout)
	}
	got := struck(t, dir, "slow: {groups: [[server]], clients: true}", []node{
		{name: "server", program: p, file: file, args: []string{"7000"}},
		{name: "client", program: p, file: file, args: []string{"server", "7000"}},
	})
	got["client"].mustEqual(t, "client", want)
}

// struckAsOnLinux: a fault of a kind shows both ends of a connection what they see natively.
func struckAsOnLinux(t *testing.T, name, kind string, what ...string) {
	t.Parallel()
	p := read(t, "fault/"+name, "testdata/fault/"+name+".c")
	p.skip(t)
	dir := t.TempDir()
	file := p.build(t, dir)
	with := func(args ...string) []string { return append(slices.Clone(what), args...) }
	nodes := []node{
		{name: "server", program: p, file: file, args: with("7000")},
		{name: "client", program: p, file: file, args: with("server", "7000")},
	}
	port := freePort(t)
	var want [2]outcome
	var both sync.WaitGroup
	for i, args := range [][]string{with(port), with("127.0.0.1", port)} {
		p := p
		p.args = args
		both.Go(func() { want[i] = p.native(t, filepath.Join(dir, file)) })
	}
	both.Wait()
	got := struck(t, dir, kind+": 1", nodes)
	for i, n := range nodes {
		want[i].mustShow(t, n.name)
		got[n.name].mustEqual(t, n.name, want[i])
	}
}

// struck runs a system in which a node fails when the fault has happened that the spec says, along
// an execution in which it has.
func struck(t *testing.T, dir, fault string, nodes []node) map[string]outcome {
	t.Helper()
	command, err := ariadne()
	if err != nil {
		t.Fatal(err)
	}
	spec := filepath.Join(dir, "spec.yaml")
	text := strings.ReplaceAll(describe(nodes), "    may_fail: true\n", "") + "delays: 0\nfaults: {" + fault + "}\n"
	if err := os.WriteFile(spec, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	out := filepath.Join(dir, "check")
	o := finish(t,
		exec.CommandContext(ctx, command, "check", "--strategy", "deviations", "--jobs", "1", "--audit", "1",
			"--no-memo", "--out", out, spec))
	if o.status != 1 {
		t.Fatalf("check: status %d\n%s%s", o.status, last(o.stdout, 3000), o.stderr)
	}
	o = finish(t,
		exec.CommandContext(ctx, command, "replay", "--json", "--out", filepath.Join(dir, "replay"),
			filepath.Join(out, "violation-1", "trace.txt")))
	if o.status != 1 {
		t.Fatalf("replay: status %d\n%s%s", o.status, last(o.stdout, 3000), o.stderr)
	}
	all, _ := outcomes(t, o)
	return all
}
