package spec_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// TestPartitions: in which ways the network is parted, and which parts of it are slow.
func TestPartitions(t *testing.T) {
	for _, c := range []struct {
		nodes  int
		faults string
		want   string // names, in order; of links "late" stands behind
	}{
		{2, "{cut: 1}", "n1|n2"},
		{3, "{cut: 1}", "n1|n2+n3 n2|n1+n3 n3|n1+n2"},
		{4, "{cut: 1}", "n1|n2+n3+n4 n2|n1+n3+n4 n3|n1+n2+n4 n4|n1+n2+n3 n1+n2|n3+n4 n1+n3|n2+n4 n1+n4|n2+n3"},
		{3, "{cut: {groups: [[n1]], clients: true, one_way: true}}", "n1|n2+n3+c n1>n2+n3+c n2+n3+c>n1"},
		{3, "{cut: {links: [[n3, n1], [c, n2]], one_way: true}}", "n1|n3 n1>n3 n3>n1 n2|c n2>c c>n2"},
		{3, "{cut: {groups: [[n2]], links: [[n1, n2]], for: [1s, 1s]}}", "n2|n1+n3 n1|n2"},
		{4, "{slow: 1}", "n1|n2+n3+n4 late n2|n1+n3+n4 late n3|n1+n2+n4 late n4|n1+n2+n3 late"},
		{2, "{slow: {by: [1s, 5s]}, cut: 1}", "n1|n2 n1|n2 late n1|n2 late"},
		{2, "{slow: {links: [[n1, n2]]}}", "n1|n2 late"},
	} {
		var b strings.Builder
		b.WriteString("nodes:\n")
		for _, n := range []string{"n1", "n2", "n3", "n4"}[:c.nodes] {
			b.WriteString("  - {name: " + n + ", command: \"true\"}\n")
		}
		b.WriteString("  - {name: c, command: \"true\", client: true}\nfaults: " + c.faults + "\n")
		path := filepath.Join(t.TempDir(), "s.yaml")
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		s, err := spec.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range s.PartitionsOf() {
			got = append(got, p.Name)
			if p.By > 0 {
				got = append(got, "late")
			}
		}
		if want := strings.Fields(c.want); !slices.Equal(got, want) {
			t.Errorf("%s of %d: %v, want %v", c.faults, c.nodes, got, want)
		}
		if (s.Faults[world.Slow] > 0) != slices.Contains(got, "late") {
			t.Errorf("%s: %v", c.faults, s.Faults)
		}
	}
}
