//go:build linux

package node

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/tracee"

	"pgregory.net/rapid"
)

// TestBesides holds besides to a byte map: what regions have that others do not have.
func TestBesides(t *testing.T) {
	const most = 24
	perms := []string{"", "rw-p", "r--p"} // of each place; "": nothing is mapped
	text := func(places []string) (all []region) {
		for at, p := range places {
			m := region{Range: tracee.Range{Start: uint64(at), End: uint64(at) + 1}}
			m.of.Perms, m.of.Start, m.of.End = p, m.Start, m.End
			if last := len(all) - 1; p != "" && last >= 0 && all[last].follows(m.of) {
				all[last].End++
			} else if p != "" {
				all = append(all, m)
			}
		}
		return all
	}
	rapid.Check(t, func(t *rapid.T) {
		others := rapid.SliceOfN(rapid.SampledFrom(perms), most, most).Draw(t, "others")
		now := slices.Clone(others)
		for range rapid.IntRange(0, 3).Draw(t, "changes") {
			now[rapid.IntRange(0, most-1).Draw(t, "at")] = rapid.SampledFrom(perms).Draw(t, "kind")
		}
		wantOK, want := true, make([]string, most)
		for at := range now {
			switch {
			case others[at] != "":
				wantOK = wantOK && now[at] == others[at]
			default:
				want[at] = now[at]
			}
		}
		more, ok := besides(text(now), text(others))
		if ok != wantOK {
			t.Fatalf("%q besides %q: ok is %t", now, others, ok)
		}
		got := make([]string, most)
		for _, m := range more {
			for at := m.Start; at < m.End; at++ {
				got[at] = m.of.Perms
			}
		}
		if ok && !slices.Equal(got, want) {
			t.Fatalf("%q besides %q: %q", now, others, got)
		}
	})
}

// TestMappingsUndone: a program maps memory, changes its rights, gives it back, and makes its heap
// longer and shorter. It goes back in place nevertheless, and does the same again.
func TestMappingsUndone(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("cc", "-O2", "-Wall", "-o", filepath.Join(dir, "mappings"),
		"testdata/mappings.c").CombinedOutput(); err != nil {
		t.Skipf("cc: %v\n%s", err, out)
	}
	const steps = 18
	for seed := range 6 {
		inPlace := 0
		n, apply := startAs(t, alone(dir, "/spec/mappings", fmt.Sprint(seed)), Config{Pages: true})
		outs := []ariadne.Output{apply(ariadne.Input{Kind: ariadne.Start})}
		all := []*Checkpoint{nil} // of the states before the outputs
		for k := range steps {
			c, err := n.Freeze()
			if err != nil {
				t.Fatal(err)
			}
			defer c.Drop()
			all = append(all, c)
			outs = append(outs, apply(ariadne.Input{Kind: ariadne.Fire, At: outs[k].Deadline}))
		}
		for i := range 60 {
			k := 3 + (i*i*7+i*5+seed)%(steps-2)
			ok, err := n.Restore(all[k])
			if err != nil {
				t.Fatal(err)
			}
			if ok {
				inPlace++
			}
			if i%10 == 9 { // it makes a copy
				if d, err := n.Differences(all[k]); err != nil || len(d) > 0 {
					t.Fatalf("seed %d: back at step %d: %v, %v", seed, k, d, err)
				}
			}
			if out := apply(ariadne.Input{Kind: ariadne.Fire, At: outs[k-1].Deadline}); out.Digest != outs[k].Digest {
				t.Fatalf("seed %d: step %d says %q, and said %q before", seed, k, lines(&out), lines(&outs[k]))
			}
		}
		if inPlace < 50 {
			t.Errorf("seed %d: %d times of 60 in place", seed, inPlace)
		}
	}
}

// TestMappingCallsRefused: what Linux refuses to unmap, or to map something else at, keeps what it
// holds.
func TestMappingCallsRefused(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("cc", "-O2", "-Wall", "-o", filepath.Join(dir, "refused"),
		"testdata/refused.c").CombinedOutput(); err != nil {
		t.Skipf("cc: %v\n%s", err, out)
	}
	for call := range 4 {
		t.Run(fmt.Sprint(call), func(t *testing.T) {
			s := alone(dir, "/spec/refused", fmt.Sprint(call))
			if !systemStepsAgain(t, s, 12, false, 12, 9, 12, 9, 8, 10) {
				t.Error("nothing was restored in place")
			}
		})
	}
}

// TestGrowingMapping: memory that gets larger without a call does so also after it was brought
// back.
func TestGrowingMapping(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("cc", "-O2", "-Wall", "-o", filepath.Join(dir, "growing"),
		"testdata/growing.c").CombinedOutput(); err != nil {
		t.Skipf("cc: %v\n%s", err, out)
	}
	systemStepsAgain(t, alone(dir, "/spec/growing"), 16, false, 8, 14, 15, 16, 13, 14)
}
