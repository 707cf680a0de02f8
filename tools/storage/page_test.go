package main

import (
	"strings"
	"testing"

	"ariadne/tools/harness"
)

func TestPage(t *testing.T) {
	rows := []row{{program{Name: "p", Triage: "why"}, &result{Models: map[string]shown{
		"kill":    {Operations: 3, Distinct: 2},
		"prefix":  {Operations: 3, Distinct: 4},
		"ordered": {Operations: 3, Distinct: 5, Failed: 2, Statuses: map[string]int{"exit status 2": 2}},
		"any":     {Operations: 3, Distinct: 9, Failed: 3, Statuses: map[string]int{"exit status 2": 1, "exit status 1": 2}},
	}}}}
	page, err := replace("before\n"+begin+"old\n"+end+"after\n", table(rows, ""))
	if err != nil || !strings.Contains(page, "| p | 3 | survives (2) | survives (4) | loses what it promised (2 of 5) | **broken** (2 of 9), loses what it promised (1 of 9) | why |\n"+end+"after\n") || strings.Contains(page, "old") {
		t.Error(page, err)
	}
	if again := table([]row{{program{Name: "p"}, nil}}, harness.Page(page)); again != table(rows, "") {
		t.Errorf("without what is kept it becomes\n%s", again)
	}
	if _, err := replace("nothing", ""); err == nil {
		t.Error("a page without a place is no error")
	}
	if !rows[0].bad() {
		t.Error("what is broken is not bad")
	}
}
