package main

import (
	"regexp"
	"slices"
	"testing"

	"github.com/ariadne-mc/ariadne/tools/harness"
)

func TestNamed(t *testing.T) {
	lines := []string{"n1: start", "n2: crash n2 for 1s", "n1 -> n2: FULLRESYNC", "n2: x"}
	for _, c := range []struct {
		patterns []string
		want     []int
	}{
		{[]string{"crash", "FULLRESYNC"}, []int{2, 3}},
		{[]string{"FULLRESYNC", "crash"}, []int{3, 0}}, // in this order
		{[]string{"crash", "crash"}, []int{2, 0}},      // a line of its own
		{[]string{"^none", "^n1"}, []int{0, 1}},
	} {
		var patterns []harness.Pattern
		for _, p := range c.patterns {
			patterns = append(patterns, harness.Pattern{Regexp: regexp.MustCompile(p)})
		}
		if got := named(patterns, lines); !slices.Equal(got, c.want) {
			t.Errorf("%q: %v, want %v", c.patterns, got, c.want)
		}
	}
}

// TestList: each bug of the list has a step at fault, and there are as many of each kind as the
// page says.
func TestList(t *testing.T) {
	bugs, err := harness.ReadList[bug]("../../examples/explained.yaml")
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, b := range bugs {
		if b.Name == "" || b.Spec == "" || b.Fault == "" || len(b.Steps) == 0 {
			t.Errorf("%+v", b)
		}
		kinds[b.Kind]++
		if b.Paper != "" {
			kinds["paper"]++
		}
	}
	if len(bugs) != 10 || kinds["paper"] != 4 || kinds["liveness"] != 2 || kinds["power"] != 2 {
		t.Errorf("%d bugs, %v", len(bugs), kinds)
	}
}
