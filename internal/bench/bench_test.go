package main

import (
	"os"
	"testing"
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
	if got, want := b.results["x"], (result{3, "µs", 4}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestResidentMB(t *testing.T) {
	if got := residentMB(os.Getpid()); got < 1 || got > 10_000 {
		t.Errorf("got %v MB", got)
	}
	if got := residentMB(1 << 30); got != 0 {
		t.Errorf("got %v MB of no process", got)
	}
}
