package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/explore/coverage"
)

// TestSeries: what a search has written is drawn, its first samples, before any path
// has ended, left out.
func TestSeries(t *testing.T) {
	path := filepath.Join(t.TempDir(), "coverage.csv")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	file.WriteString(coverage.Header)
	if err := coverage.WriteCSV(file, []coverage.Sample{
		{Steps: 3},
		{Elapsed: time.Second, Paths: 1, Traces: 1, Global: 4},
		{Elapsed: 2 * time.Second, Paths: 5, Traces: 2, Global: 7},
	}); err != nil {
		t.Fatal(err)
	}
	file.Close()
	rows, err := readCSV(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]float64{"traces": {1, 2}, "protocol_combinations": {4, 7}} {
		if s := series("x", rows, column(name)); !slices.Equal(s.X, []float64{1, 5}) || !slices.Equal(s.Y, want) {
			t.Errorf("%s: %v", name, s)
		}
	}
	if _, err := readCSV(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("a file that is not there is read")
	}
}

func TestDistribution(t *testing.T) {
	if s := distribution("x", []int{0, 0, 3, 9}); !slices.Equal(s.X, []float64{1, 4, 10}) ||
		!slices.Equal(s.Y, []float64{50, 75, 100}) {
		t.Errorf("%v", s)
	}
}

func TestPerformanceRow(t *testing.T) {
	got := performanceRow("x", "dpor", []performance{{1000, 9, 90, 0.25}, {1000, 11, 110, 0.35}})
	if want := "| x | dpor | 1000 | 10.0 ± 1.4 | 100 ± 14 | 10.0 ± 0.0 | 30.0 ± 7.1 |\n"; got != want {
		t.Errorf("got %s", got)
	}
}
