//go:build linux

package node

import (
	"testing"

	"github.com/ariadne-mc/ariadne"

	"pgregory.net/rapid"
)

// TestTrend: whether a number grows is what follows from all of its samples at once.
func TestTrend(t *testing.T) {
	grown := 0
	rapid.Check(t, func(t *rapid.T) {
		type sample struct {
			at            ariadne.Time
			number, given int64
		}
		var all []sample
		s := sample{at: ariadne.Time(rapid.Int64Range(0, 20e9).Draw(t, "begins")), number: 100}
		up := rapid.Int64Range(0, 6).Draw(t, "up")
		longest := rapid.SampledFrom([]int64{2, 4, 30}).Draw(t, "longest s")
		for range rapid.IntRange(1, 80).Draw(t, "samples") {
			all = append(all, s)
			s.at += ariadne.Time(rapid.SampledFrom([]int64{0, 5e8, 1e9, 3e9, longest * 1e9}).Draw(t, "later"))
			s.number += rapid.SampledFrom([]int64{up, up, up, 0, -1}).Draw(t, "more")
			s.given += rapid.SampledFrom([]int64{0, 0, 0, 1, 3}).Draw(t, "given")
		}
		least, share := rapid.Int64Range(0, 24).Draw(t, "least"), rapid.Int64Range(0, 2).Draw(t, "share")
		// The number and what was given at a time are those of the last sample that is not later.
		end := func(window int) ariadne.Time { return all[0].at + growthWindow*ariadne.Time(window+1) }
		floor := func(window int) (least, given int64) {
			from := end(window) - growthWindow
			least = -1
			for i, s := range all {
				if s.at >= end(window) {
					break
				}
				given = s.given
				holds := s.at >= from || i+1 == len(all) || all[i+1].at >= from
				if holds && (least < 0 || s.number < least) {
					least = s.number
				}
			}
			return least, given
		}
		trend := newTrend(all[0].at, all[0].number, all[0].given)
		for i, s := range all {
			before := end(0)
			if i > 0 {
				before = all[i-1].at
			}
			want := false
			for w := growthRises + 1; end(w) <= s.at; w++ {
				if end(w) <= before {
					continue
				}
				rises := true
				last, gift := floor(w)
				first, before := floor(w - growthRises)
				for k := range growthRises {
					a, _ := floor(w - k - 1)
					b, _ := floor(w - k)
					rises = rises && a < b
				}
				want = want || rises && last-first >= least+share*(gift-before)
			}
			if got := trend.add(s.at, s.number, s.given, least, share); got != want {
				t.Fatalf("sample %d: %v, want %v; %v", i, got, want, all)
			}
			if want {
				grown++
			}
		}
	})
	if grown == 0 {
		t.Error("nothing grew")
	}
}
