//go:build linux

package check_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/system/systemtest"
	_ "github.com/ariadne-mc/ariadne/internal/testing/draws"
	"github.com/ariadne-mc/ariadne/internal/use/check"

	"pgregory.net/rapid"
)

// works and looks are lines of sh: what a program does to its files before its machine loses power,
// and what it does when it is back. @ is one of a few names.
var (
	works = []string{"echo $n > @", "echo more >> @", "mv @ @", "rm -f @", "mkdir -p dir", "ln -f @ @", "ln -sf @ link",
		"sync", "sync @", "chmod 600 @", "truncate -s 5000 @", ": > @"}
	looks = []string{"read x < @ && echo $x", "[ -e @ ] && echo there", "[ -s @ ] && echo some", "echo *", "echo dir/*",
		"read x < old; echo $x", "mv @ @", "echo again >> @", "rm -f @", "echo new > @", "cat link",
		"stat -c '%i %s %h %a %Y %F' @", "stat -c '%i %s %h %a %Y' dir .", "ln -sf @ other; cat other",
		"mv dir moved; echo moved/*", "cd dir && echo *", "[ a -nt b ] && echo newer",
		"ln @ hard; echo x >> hard; cat @", "chmod 600 @; stat -c %a @",
		"touch fresh; stat -c '%i' fresh", "sync", "cp @ copy", "exec 3<@ && cat <&3", "readlink link", "find . | sort"}
	names = []string{"a", "b", "c", "dir/d"}
)

// drawLines draws lines, behind each of which the program waits for some time, perhaps.
func drawLines(t *rapid.T, label string, from []string, n int) string {
	var b strings.Builder
	for i := range rapid.IntRange(1, n).Draw(t, label+"s") {
		line := rapid.SampledFrom(from).Draw(t, label)
		for strings.Contains(line, "@") {
			line = strings.Replace(line, "@", rapid.SampledFrom(names).Draw(t, "name"), 1)
		}
		fmt.Fprintf(&b, "n=%s%d; ( %s ) || :\n", label, i, line)
		if rapid.IntRange(0, 2).Draw(t, "wait") == 0 {
			b.WriteString("sleep 1\n")
		}
	}
	return b.String()
}

// TestLend: what a machine does when it is back is the same whether it is executed on each of the
// disks that a loss of power may leave, or lent where all is the same at which it has looked; and
// so are images that are formed together. Nor does it depend on the order of the search.
func TestLend(t *testing.T) {
	type way struct {
		strategy string
		audit    float64
	}
	losses := []string{"1"}
	if os.Getenv("ARIADNE_LONG") != "" {
		losses = append(losses, "2")
	}
	programs := rapid.Custom(func(t *rapid.T) [4]string {
		return [4]string{rapid.SampledFrom([]string{"prefix", "ordered", "any"}).Draw(t, "model"),
			drawLines(t, "work", works, 6), drawLines(t, "look", looks, 6), rapid.SampledFrom(losses).Draw(t, "losses")}
	})
	draws, ways := 6, []way{{"deviations", 0}, {"deviations", 1}}
	if os.Getenv("ARIADNE_LONG") != "" {
		draws, ways = 300, append(ways, way{"depth-first", 0})
	}
	lent, foreseen, executed, apart := 0, 0, 0, 0
	for draw := range draws {
		program := programs.Example(draw)
		dir := t.TempDir()
		path := filepath.Join(dir, "spec.yaml")
		systemtest.Write(t, filepath.Join(dir, "run.sh"), "cd /node\nif [ -e old ]; then\nexec 2>&1\n"+program[2]+"exit 0; fi\necho old > old; mkdir -p dir; echo a > a; sync\n"+program[1]+"sleep 1\n")
		systemtest.Write(t, path, fmt.Sprintf("faults: {power: {count: %s, model: %s, images: 3, for: [1s]}}\nnodes:\n  - {name: n1, command: sh /spec/run.sh}\n", program[3], program[0]))
		s, err := spec.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		var states []int
		for i, w := range ways {
			r, err := check.Check(t.Context(), s,
				check.Options{System: version, Out: filepath.Join(t.TempDir(), "out"), Workers: 1,
					Search: check.Search{Strategy: w.strategy, Audit: w.audit}})
			if err != nil || len(r.Bugs) > 0 || !r.Coverage.Exhausted || r.Coverage.Nodes.Mismatches > 0 {
				t.Fatalf("%q: %v, %+v", program, err, r)
			}
			states = append(states, r.Coverage.States)
			switch i {
			case 0:
				lent += r.Coverage.Nodes.Lent
				foreseen += r.Coverage.Nodes.Foreseen
				executed += r.Coverage.Nodes.Executed
			case 1:
				apart += r.Coverage.Nodes.Executed
			}
		}
		if len(slices.Compact(slices.Clone(states))) > 1 {
			t.Errorf("%q: %v states, by %v", program, states, ways)
		}
	}
	t.Logf("%d lent, %d foreseen and %d executed, of %d", lent, foreseen, executed, apart)
	if lent == 0 || foreseen == 0 || executed >= apart {
		t.Error("nothing was lent, or no image was formed with another one")
	}
}
