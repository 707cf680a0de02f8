package main

import (
	"math/rand/v2"
	"slices"
)

// ratio is how new is to old: the median over the rounds, with its 95 % interval.
type ratio struct{ median, low, high float64 }

// newRatio takes the ratio of each round, and draws rounds again to see how sure the median is.
func newRatio(old, new []float64) ratio {
	ratios := make([]float64, len(old))
	for i := range old {
		ratios[i] = new[i] / old[i]
	}
	const samples = 10_000
	r := rand.New(rand.NewPCG(1, 2)) // the same figures give the same interval
	medians := make([]float64, samples)
	drawn := make([]float64, len(ratios))
	for i := range medians {
		for j := range drawn {
			drawn[j] = ratios[r.IntN(len(ratios))]
		}
		medians[i] = median(drawn)
	}
	slices.Sort(medians)
	return ratio{median(ratios), medians[samples*25/1000], medians[samples*975/1000-1]}
}

func median(values []float64) float64 {
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	if n == 0 {
		return 0
	}
	return (v[(n-1)/2] + v[n/2]) / 2
}
