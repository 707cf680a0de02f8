package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne/tools/harness"
)

func TestPage(t *testing.T) {
	rows := []row{{program{Name: "p", Triage: "why"}, &result{Models: map[string]shown{
		"kill":    {Operations: 3, Distinct: 2},
		"prefix":  {Operations: 3, Distinct: 4},
		"ordered": {Operations: 3, Distinct: 5, Failed: 2, Statuses: map[string]int{"exit status 2": 2}},
		"any": {Operations: 3, Distinct: 9, Failed: 3,
			Statuses: map[string]int{"exit status 2": 1, "exit status 1": 2}, Undecided: 1},
		"calls": {Operations: 7, Distinct: 1, Failures: &failures{Reported: 4, Succeeded: 2, Hung: 1, Undecided: 1}},
	}}}}
	page, err := replace("before\n"+begin+"old\n"+end+"after\n", table(rows, ""))
	if err != nil || !strings.Contains(page, "| p | 3 | survives (2) | survives (4) | loses what it promised (2 of 5) | **broken** (2 of 9), loses what it promised (1 of 9), undecided (1) | survives (1); 7 failures, 2 not reported, 1 hang, 1 not judged | why |\n"+end+"after\n") || strings.Contains(page, "old") {
		t.Error(page, err)
	}
	again := func(kept ...string) string {
		r := row{rows[0].program, &result{Models: map[string]shown{}}}
		for _, m := range kept {
			r.Models[m] = rows[0].Models[m]
		}
		return table([]row{r, {program{Name: "q"}, nil}}, harness.Page(page))
	}
	for _, kept := range [][]string{nil, {"kill"}, {"calls", "any"}} {
		if again := again(kept...); again != table(rows, "") {
			t.Errorf("of what only %v is kept it becomes\n%s", kept, again)
		}
	}
	if _, err := replace("nothing", ""); err == nil {
		t.Error("a page without a place is no error")
	}
	failed := rows[0].Models["calls"]
	failed.Failed = 1
	rows[0].Models["calls"] = failed
	if got := rows[0].unexplained(); !slices.Equal(got, []string{"calls"}) {
		t.Errorf("%v are not explained", got)
	}
	rows[0].Triage, rows[0].Failed = "", "because"
	if got := rows[0].unexplained(); !slices.Equal(got, []string{"ordered", "any"}) ||
		rows[0].triaged() != "failed calls: because" {
		t.Errorf("%v are not explained", got)
	}
}

// TestNotInstalled: the row of a program that is not installed stays as it was.
func TestNotInstalled(t *testing.T) {
	dir := t.TempDir()
	at := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	was := table([]row{{program{Name: "p"}, &result{Models: map[string]shown{"kill": {Operations: 3, Distinct: 2}}}}},
		"")
	o := options{list: at("list.yaml", "- {name: p, program: no-such-program}\n- {name: q, program: no-such-program}\n"), work: filepath.Join(dir, "work"),
		page: at("page.md", begin+was+end), binary: at("ariadne", "#!/bin/sh\necho ariadne 1\n")}
	if good, err := run(t.Context(), o); err != nil || !good {
		t.Fatal(good, err)
	}
	if now, err := os.ReadFile(o.page); err != nil || string(now) != begin+was+end {
		t.Errorf("the table was\n%s\nand is now\n%s%v", was, now, err)
	}
}
