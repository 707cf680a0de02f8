package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/tools/harness"
)

// recorded are the golden files that are kept, of systems built from this repository.
const recorded = "testdata"

func TestCompare(t *testing.T) {
	base := func() *golden {
		return &golden{spec: "s", uses: "u", run: "nothing found: clients done, 0 violations",
			steps:  []string{"1 a", "2 b", "3 c"},
			checks: []string{"dpor: paths 3", "all-paths: paths 9"}}
	}
	for name, c := range map[string]struct {
		change  func(want, got *golden)
		verdict string
		line    string
	}{
		"same": {func(want, got *golden) {}, "same 3 steps and 2 searches", ""},
		"a step": {func(want, got *golden) { got.steps[1] = "2 x" },
			"DIFFERS; the same are 1 steps and 2 searches", "got  2 x"},
		"fewer": {func(want, got *golden) { got.steps = got.steps[:2] },
			"DIFFERS; the same are 2 steps and 2 searches", "want 3 steps, got 2"},
		"the end": {func(want, got *golden) { got.run = "violation" },
			"DIFFERS; the same are 3 steps and 2 searches", "got  violation"},
		"a count": {func(want, got *golden) { got.checks[0] = "dpor: paths 4" },
			"DIFFERS; the same are 3 steps and 1 searches", "got  dpor: paths 4"},
		"preempted": {func(want, got *golden) { got.steps, got.preempted = got.steps[:2], 3 },
			"same 2 steps and 2 searches", "from step 3 on"},
		"too slow": {func(want, got *golden) { got.checks[1] = "all-paths: " + notComparable + "x" },
			"same 3 steps and 1 searches", "all-paths is not comparable"},
		"programs": {func(want, got *golden) { got.steps[0], got.uses = "1 x", "v" }, "not comparable",
			"the programs are others"},
		"new programs do the same": {func(want, got *golden) { got.uses = "v" }, "same 3 steps and 2 searches", ""},
	} {
		want, got := base(), base()
		c.change(want, got)
		cmp := compare(want, got)
		if cmp.verdict() != c.verdict || !strings.Contains(strings.Join(cmp.lines, "\n"), c.line) {
			t.Errorf("%s: %s: %q", name, cmp.verdict(), cmp.lines)
		}
	}
}

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x", "y.golden")
	want := &golden{spec: "s", uses: "u", run: "violation: x", steps: []string{"1 a", "2 b"}, preempted: 3,
		checks: []string{"dpor: 1"}}
	if err := want.save(path); err != nil {
		t.Fatal(err)
	}
	got, err := load(path)
	if err != nil || !slices.Equal(got.steps, want.steps) || !slices.Equal(got.checks, want.checks) ||
		got.run != want.run || got.preempted != 3 {
		t.Errorf("%+v, %v", got, err)
	}
	if err := os.WriteFile(path, []byte("1 a\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := load(path); err == nil {
		t.Error("a file without a head is a golden file")
	}
}

// TestRecorded holds this version to what earlier ones did: systems in C and Go, over TCP and UDP.
// After a change that is meant to change what they do: `go run ./tools/golden -write
// tools/golden/testdata raftkv/raftkv.yaml paxos planted`.
func TestRecorded(t *testing.T) {
	dir := t.TempDir()
	o := &options{examples: "../../examples", work: dir}
	o.ariadne = harness.Ariadne{Binary: filepath.Join(dir, "ariadne"), Limit: time.Minute}
	if err := harness.Build("../..", o.ariadne.Binary); err != nil {
		t.Fatal(err)
	}
	if err := o.ariadne.Possible(); err != nil {
		t.Skip(err)
	}
	ctx := context.Background()
	for _, held := range []struct {
		spec     string
		searches bool
	}{{"raftkv/raftkv.yaml", false}, {"paxos/paxos-tiny.yaml", false}, {"planted/queue.yaml", false},
		{"planted/token.yaml", true}} {
		t.Run(strings.TrimSuffix(held.spec, ".yaml"), func(t *testing.T) {
			want, err := load(filepath.Join(recorded, strings.TrimSuffix(held.spec, ".yaml")+".golden"))
			if err != nil {
				t.Fatal(err)
			}
			if err := harness.Fetch(ctx, filepath.Join(o.examples, held.spec)); err != nil {
				t.Skip(err)
			}
			o.searches = held.searches
			got, err := o.record(ctx, held.spec)
			if err != nil {
				t.Fatal(err)
			}
			c := compare(want, got)
			switch {
			case c.changed:
				t.Skip("recorded with programs built by another compiler")
			case c.different:
				t.Errorf("%s\n%s", c.verdict(), strings.Join(c.lines, "\n"))
			}
		})
	}
}
