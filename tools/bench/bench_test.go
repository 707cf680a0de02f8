package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/record"
	"github.com/ariadne-mc/ariadne/tools/harness"
)

func TestMedian(t *testing.T) {
	if got := median([]float64{3, 1, 2}); got != 2 {
		t.Errorf("got %v", got)
	}
	if got := median([]float64{4, 1, 2, 3}); got != 2.5 {
		t.Errorf("got %v", got)
	}
}

func TestKeep(t *testing.T) {
	b := &bench{results: map[string]result{}}
	b.keep("x", "µs", []float64{5, 1, 3})
	if got, want := b.results["x"], (result{3, "µs", 4, 3}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestParseBenchmarks(t *testing.T) {
	got, err := parseBenchmarks("goos: linux\nBenchmarkTransition/etcd-3.5-2         \t    1500\t   4265564 ns/op\t       661.2 end-µs\t       568.4 freeze-µs\nPASS\n")
	if err != nil || len(got) != 1 || got["BenchmarkTransition/etcd-3.5"]["freeze-µs"] != 568.4 ||
		got["BenchmarkTransition/etcd-3.5"]["ns/op"] != 4265564 {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := parseBenchmarks("PASS\n"); err == nil {
		t.Error("no benchmark is no error")
	}
}

// TestSearch: what a slow and a fast search did is kept, and what was not in nodes is the rest.
func TestSearch(t *testing.T) {
	b := &bench{results: map[string]result{}}
	b.search("fast.x",
		[]*harness.Run{{Report: harness.Report{Report: record.Report{RealTime: 10 * time.Second},
			Coverage: &harness.Coverage{Executed: 4, Replayed: 2, Stepping: time.Second, Replaying: 2 * time.Second,
				Thawing: 3 * time.Second}}}})
	if b.results["fast.x.rest"].Value != 4 || b.results["fast.x.replays_per_new"].Value != 0.5 ||
		b.results["fast.x.thawing"].Value != 3 {
		t.Errorf("%v", b.results)
	}
}

// TestBenchmarksExist: each Go benchmark that is run stands in the package in which it is looked
// for.
func TestBenchmarksExist(t *testing.T) {
	call := regexp.MustCompile(`goBenchmark\("(\./[^"]+)", [^"]*"(Benchmark\w+)`)
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range call.FindAllSubmatch(source, -1) {
			found++
			tests, _ := filepath.Glob(filepath.Join("../..", string(c[1]), "*_test.go"))
			if !slices.ContainsFunc(tests, func(test string) bool {
				text, err := os.ReadFile(test)
				return err == nil && bytes.Contains(text, []byte("func "+string(c[2])+"(b *testing.B)"))
			}) {
				t.Errorf("%s: there is no %s in %s", file, c[2], c[1])
			}
		}
	}
	if found == 0 {
		t.Error("no benchmark was found")
	}
}
