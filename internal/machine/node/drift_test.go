//go:build linux

package node

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	_ "github.com/ariadne-mc/ariadne/internal/testing/draws"

	"pgregory.net/rapid"
)

// TestDrift: a machine's clock runs forward, by as much as it drifts, and the world's time of one
// of its times is the first at which it has come.
func TestDrift(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		since := ariadne.Time(rapid.SampledFrom([]time.Duration{0, 7 * time.Hour, 123_456_789}).Draw(t, "since"))
		d := drift{ariadne.Time(rapid.IntRange(-1000, 1000).Draw(t, "ppm")), since,
			since + ariadne.Time(rapid.Int64Range(0, 2).Draw(t, "off")*1e6)}
		at := ariadne.Time(rapid.Int64Range(0, int64(24*time.Hour)).Draw(t, "time"))
		l := d.local(at)
		if next := d.local(at + 1); next < l || next > l+2 {
			t.Fatalf("from %v to %v in a nanosecond", l, next)
		}
		if exact := float64(d.shown) + float64(at-d.since)*(1+float64(d.ppm)/million); float64(l) < exact-2 ||
			float64(l) > exact+2 {
			t.Fatalf("%v is %v", at, l)
		}
		for _, l := range []ariadne.Time{l, l + 1} { // there may be no such time of the world's
			if w := d.first(l); d.local(w) < l || w > 0 && d.local(w-1) >= l {
				t.Fatalf("%v comes at %v, which is %v", l, w, d.local(w))
			}
			if w := d.last(l); d.local(w) > l || d.local(w+1) <= l {
				t.Fatalf("%v is over at %v, which is %v", l, w, d.local(w))
			}
		}
	})
}

// TestClocksDrift: a program that sleeps for ten seconds by its own clock sleeps longer or less by
// the world's, and pauses and starts end at the world's full seconds.
func TestClocksDrift(t *testing.T) {
	const nap = `read a b </proc/uptime; sleep 10; read c d </proc/uptime; echo $a $c`
	for _, ppm := range []int{-1000, 0, 500, 1000} {
		n, apply := downOf(t, world.Pause, t.TempDir(), "sh", "-c", nap)
		n.cfg.ClockDrift = ppm
		start := ariadne.Time(20 * time.Second)
		first := apply(ariadne.Input{Kind: ariadne.Start, At: start})
		slept := time.Duration(first.Deadline - start)
		if off := slept - 10*time.Second + time.Duration(ppm)*10*time.Microsecond; off < -20*time.Microsecond ||
			off > time.Millisecond {
			t.Errorf("%d: it sleeps for %v", ppm, slept)
		}
		paused := apply(ariadne.Input{Kind: ariadne.Fault, At: first.Clock,
			Fault: ariadne.Outage{Down: ariadne.Paused, For: 2 * time.Second}})
		if back := start.Add(3 * time.Second); paused.Back != back || paused.Clock < back ||
			paused.Clock > back+1_000_000 {
			t.Errorf("%d: it goes on at %v, and its clock shows %v", ppm, paused.Back, paused.Clock)
		}
		out := apply(ariadne.Input{Kind: ariadne.Fire, At: paused.Deadline})
		var a, b float64
		l := strings.Join(lines(&out), "")
		if _, err := fmt.Sscan(l, &a, &b); err != nil || b-a < 9.98 || b-a > 10.03 {
			t.Errorf("%d: it says %q", ppm, l)
		}
	}
}

// TestClocksBeginToDrift: from the fault on a program's sleep, also one that has begun, takes
// longer or less by the world's time and as long as ever by its own clocks, none of which runs
// backwards; also when the machine stops and is switched on again.
func TestClocksBeginToDrift(t *testing.T) {
	const nap = `read a b </proc/uptime; date +%s%N; sleep 10; read c d </proc/uptime; date +%s%N; sleep 10; date +%s%N; sleep 1`
	for _, ppm := range []int{-1000, 500, 1000} {
		_, apply := downOf(t, world.Stop, t.TempDir(), "bash", "-c", nap)
		start := ariadne.Time(20 * time.Second)
		first := apply(ariadne.Input{Kind: ariadne.Start, At: start})
		// After four of the ten seconds.
		begun := first.Deadline - ariadne.Time(6*time.Second)
		drifts := apply(ariadne.Input{Kind: ariadne.Fault, At: begun, Fault: ariadne.Drift{By: ppm}})
		late := -time.Duration(ppm) * 6 * time.Microsecond
		if off := time.Duration(drifts.Deadline-first.Deadline) - late; off < -20*time.Microsecond ||
			off > 20*time.Microsecond || drifts.Clock < begun {
			t.Errorf("%d: the sleep ends %v later than before, and the clock shows %v at %v", ppm, time.Duration(drifts.Deadline-first.Deadline), drifts.Clock, begun)
		}
		woken := apply(ariadne.Input{Kind: ariadne.Fire, At: drifts.Deadline})
		slept := time.Duration(woken.Deadline - woken.Clock)
		if off := slept - 10*time.Second + time.Duration(ppm)*10*time.Microsecond; off < -time.Millisecond ||
			off > time.Millisecond {
			t.Errorf("%d: then it sleeps for %v", ppm, slept)
		}
		end := apply(ariadne.Input{Kind: ariadne.Fire, At: woken.Deadline})
		var shown []int64
		for _, o := range []*ariadne.Output{&first, &woken, &end} {
			for _, l := range lines(o) {
				var at int64
				if _, err := fmt.Sscan(l, &at); err != nil {
					t.Fatalf("%d: it says %q", ppm, l)
				}
				shown = append(shown, at)
			}
		}
		for i, at := range shown {
			if i == 0 {
				continue
			}
			if took := time.Duration(at - shown[i-1]); took < 10*time.Second ||
				took > 10*time.Second+100*time.Millisecond {
				t.Errorf("%d: by its own clock it sleeps for %v", ppm, took)
			}
		}
		stopped := apply(ariadne.Input{Kind: ariadne.Fault, At: end.Clock,
			Fault: ariadne.Outage{Down: ariadne.Stopped, For: time.Second}})
		rebooted := apply(ariadne.Input{Kind: ariadne.Start, At: stopped.Back})
		var at int64
		if _, err := fmt.Sscan(strings.Join(lines(&rebooted), ""), &at); err != nil || len(shown) != 3 ||
			at <= shown[2] {
			t.Errorf("%d: it says %v, and when it is switched on again %d, %v", ppm, shown, at, err)
		}
	}
}
