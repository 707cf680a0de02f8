package main

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/debuginfo/stack"
	"github.com/ariadne-mc/ariadne/internal/use/session"
	"github.com/ariadne-mc/ariadne/internal/use/timers"
	"github.com/ariadne-mc/ariadne/tools/harness"
)

// TestPage: a timer stands on the page with what the list says of its place, and one of which the
// list says nothing is said to be not looked at.
func TestPage(t *testing.T) {
	timer := func(function string) timers.Timer {
		return timers.Timer{Seen: 3, Events: []string{"timer"}, Boundary: session.Boundary{
			After: ariadne.Time(61 * time.Second),
			Branch: &session.Branch{Confirmed: true, Comparison: "cmp rax, 60",
				Operands: []session.Operand{{Before: "60", After: "61"}},
				Stack:    []stack.Frame{{PC: 1}, {Function: function, File: "/src/replication.c", Line: 3591}}}}}
	}
	all := []target{{Spec: "redis/timers.yaml", What: "Redis", Judged: []judged{{Text: "true: the primary is silent"}}}}
	all[0].Judged[0].Place.Regexp = regexp.MustCompile("^replicationCron ")
	r := &result{List: timers.List{Timers: []timers.Timer{timer("replicationCron"), timer("other")}}}
	if allJudged(&all[0], r) {
		t.Error("one was not judged")
	}
	text := string(page(all, []*result{r}, nil, harness.Page("")))
	for _, want := range []string{"| Redis | 2 | 1 | 0 | 0 | 0 |",
		"| `replicationCron (replication.c:3591)` | timer | 1m1s | 3 | 60 before, 61 after | true: the primary is silent |",
		"| `other (replication.c:3591)` | timer | 1m1s | 3 | 60 before, 61 after | not looked at |"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in:\n%s", want, text)
		}
	}
	r.Timers = r.Timers[:1]
	if !allJudged(&all[0], r) {
		t.Error("all were judged")
	}
}

// TestPlantedSection: a search that has missed a bug does not look like one that has found it. A
// page without new searches keeps the earlier section.
func TestPlantedSection(t *testing.T) {
	all := []*sought{{Name: "bucket", Budget: time.Minute, Fixed: 40,
		Found: []found{{Found: true, Took: 1500 * time.Millisecond, Executions: 7}, {Executions: 9},
			{Wrong: "inconclusive: a call"}}}}
	text := plantedSection(all, harness.Page(""))
	want := "| `bucket` | 1.5 s, 7 | not found in 9 | inconclusive: a call | nothing in 40 |"
	if !strings.Contains(text, want) {
		t.Errorf("no %q in:\n%s", want, text)
	}
	again := plantedSection(nil, harness.Page("# Page\n\n"+text))
	if strings.TrimSpace(again) != strings.TrimSpace(text) {
		t.Errorf("kept:\n%s", again)
	}
}

// TestKnownSection: known timers are listed by system, and there is no section without any.
func TestKnownSection(t *testing.T) {
	all := []target{{What: "Redis", Known: []known{{"`now > t`", "found"}}}, {What: "NSQ"}}
	text := knownSection(all)
	if !strings.Contains(text, "Redis:\n\n| timer | in the runs |\n| --- | --- |\n| `now > t` | found |\n") ||
		strings.Contains(text, "NSQ") {
		t.Error(text)
	}
	if text := knownSection(all[1:]); text != "" {
		t.Error(text)
	}
}
