package main

import (
	"math/rand/v2"
	"testing"
)

// TestInterval: figures that scatter by a tenth. The interval holds the true ratio nearly always,
// and tells a binary that is a fifth slower.
func TestInterval(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	noisy := func(mean float64) []float64 {
		v := make([]float64, 20)
		for i := range v {
			v[i] = mean * (0.95 + 0.1*r.Float64())
		}
		return v
	}
	held, slower := 0, 0
	const times = 40
	for range times {
		same := newRatio(noisy(100), noisy(100))
		if same.low <= 1 && 1 <= same.high && same.high-same.low < 0.1 {
			held++
		}
		if newRatio(noisy(100), noisy(80)).high < enough {
			slower++
		}
	}
	if held < times*85/100 || slower < times {
		t.Errorf("of %d: %d hold 1, %d are found slower", times, held, slower)
	}
}

func TestMedian(t *testing.T) {
	if median([]float64{3, 1, 2}) != 2 || median([]float64{4, 1, 3, 2}) != 2.5 {
		t.Error("wrong")
	}
}
