package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne/tools/harness"
)

// TestPage: the tables say what was shown now and in 2006, and keep what was shown elsewhere.
func TestPage(t *testing.T) {
	fs := &row{Name: "xfs", Table: 2, Then: []string{"sync", "O_SYNC"}, Notes: "a\n b"}
	none := &row{Name: "Reiser4", Table: 2, Then: []string{"O_SYNC"}, Notes: "not in Debian"}
	raid := &row{Name: "RAID", Table: 3, Then: []string{"2"}, Specs: []string{"disk/a.yaml", "disk/b.yaml"}}
	rows := []*row{fs, none, raid}
	results := map[*row]result{fs: {"sync": {Images: 7}, "fsync": {Executions: 3, All: true},
		"O_SYNC": {Images: 9, Failed: 1, Undecided: 2}},
		raid: {"disk/a.yaml": {Images: 4}, "disk/b.yaml": {Images: 5, Failed: 2, Blamed: "raid"}}}
	page, err := replace("before\n"+begin+"old\n"+end+"after\n", tables(rows, results, ""))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"before\n" + begin,
		"| xfs | passes (7 images); 2006: failed | not run | passes (3 executions, all explored) | **fails** (9 images, 2 undecided); 2006: failed | a b |\n",
		"| Reiser4 | not run | not run | not run | not run; 2006: failed | not in Debian |\n",
		"| RAID | 2 | `disk/a.yaml`: passes (4 images); `disk/b.yaml`: **fails** (5 images), to blame: raid |  |\n",
		end + "after\n",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in\n%s", want, page)
		}
	}
	if again := tables(rows, nil, harness.Page(page)); again != tables(rows, results, "") {
		t.Errorf("without results the tables become\n%s", again)
	}
	if _, err := replace("nothing", ""); err == nil {
		t.Error("a page without a place is no error")
	}
}

// TestSpec: the spec of a column leaves out the calls of other columns.
func TestSpec(t *testing.T) {
	r := &row{Name: "ext2", Size: "16MB", Mkfs: "-b 1024"}
	for _, c := range columns {
		text, err := r.spec(20, c)
		if err != nil {
			t.Fatal(err)
		}
		var s struct {
			Files struct {
				OneIn   int `json:"one_in"`
				Without []string
			}
			Stack []map[string]string
		}
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatal(err)
		}
		if s.Stack[1]["options"] != c.options || len(s.Files.Without) != len(c.without) ||
			(s.Files.OneIn == 1) != (c.name == "O_SYNC") {
			t.Errorf("%s: %s", c.name, text)
		}
	}
}

// TestByWay: a violation belongs to the column that its message names, and to all if it names none.
func TestByWay(t *testing.T) {
	messages := []string{"lost: vm by(way=mount-sync), vm looked(looked)", "lost: vm by(way=O_SYNC)",
		"unusable: vm by(way=O_SYNC)"}
	for unnamed, want := range []map[string]int{{"mount sync": 1, "O_SYNC": 2},
		{"sync": 1, "mount sync": 2, "fsync": 1, "O_SYNC": 3}} {
		cells := byWay(&cell{Executions: 9, Failed: 3, Why: "x", All: true}, messages)
		for _, c := range columns {
			got := cells[c.name]
			if got.Failed != want[c.name] || (got.Why != "") != (got.Failed > 0) || got.Executions != 9 || !got.All {
				t.Errorf("%d, %s: %+v, want %d failures", unnamed, c.name, got, want[c.name])
			}
		}
		messages = append(messages, "death: node vm")
	}
}
