//go:build linux

package crash

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk"

	"golang.org/x/sys/unix"
)

// TestSurvivors: those of the lowest ranks are kept, whatever their order.
func TestSurvivors(t *testing.T) {
	ranks := []uint64{5, 9, 2, 7, 9, 1, 3, 8, 0, 6}
	for most := 1; most <= len(ranks)+1; most++ {
		var s survivors
		for _, r := range ranks {
			s.add(&survivor{rank: r}, most)
		}
		var got []uint64
		for _, x := range s.all {
			got = append(got, x.rank)
		}
		want := slices.Sorted(slices.Values(ranks))[:min(most, len(ranks))]
		if slices.Sort(got); !slices.Equal(got, want) || s.count != len(ranks) {
			t.Errorf("%d: %v of %d, want %v", most, got, s.count, want)
		}
	}
}

// recovered judges a program that replaces a file, with a recovery.
func recovered(t *testing.T, most int, check string,
	run func(dir string) ([]*disk.Op, string, error)) ([]*Result, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("old\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return Judge(t.Context(), Options{Dir: dir, Log: replace(true)[:4], Check: []string{"/bin/sh", "-c", check},
		Models: []disk.Model{disk.Any}, Images: 100, Workers: 2, Timeout: 10 * time.Second, Temp: t.TempDir(),
		Recovery: &Recoveries{Most: most, Run: func(_ context.Context, dir, _ string,
			_ []string) ([]*disk.Op, string, error) {
			return run(dir)
		}}})
}

// TestRecoveries: recoveries find the image, and are counted by what comes of them.
func TestRecoveries(t *testing.T) {
	found := map[string]int{}
	all, err := recovered(t, 3, "true", func(dir string) ([]*disk.Op, string, error) {
		b, err := os.ReadFile(filepath.Join(dir, "f"))
		found[string(b)]++
		if len(found) == 2 {
			return nil, "it cannot be followed", err
		}
		return nil, "", err
	})
	if err != nil || len(all) != 4 {
		t.Fatal(all, err)
	}
	kill, power := all[1], all[3]
	if kill.Recovered == nil || power.Recovered == nil || kill.Model != Kill || power.Model != "any" {
		t.Fatalf("%+v %+v", kill, power)
	}
	a, b := kill.Recovered, power.Recovered
	if kill.Operations != 3 || power.Operations != 3 || a.LeftOut != all[0].Distinct-3 ||
		b.LeftOut != all[2].Distinct-3 ||
		a.Undecided+b.Undecided == 0 || a.Unchanged+b.Unchanged+a.Undecided+b.Undecided != 6 || len(found) != 2 ||
		kill.Images+power.Images > 0 {
		t.Errorf("%+v %+v %v", *a, *b, found)
	}
	_, err = recovered(t, 3, "true", func(string) ([]*disk.Op, string, error) { return nil, "", errors.ErrUnsupported })
	if !errors.Is(err, errors.ErrUnsupported) {
		t.Error(err)
	}
}

// TestSecondLoss: an image of a loss during a recovery counts once, and is told with both losses.
// An unsynced operation of the recovery may be lost.
func TestSecondLoss(t *testing.T) {
	recovery := func(sync bool) (ops []*disk.Op) {
		regular := disk.Attr{Mode: unix.S_IFREG | 0o644}
		ops = append(ops,
			&disk.Op{Kind: disk.Create, Ino: 22, Dir: 21, Name: "n", Links: 1, Attr: regular, Path: "/node/n"},
			&disk.Op{Kind: disk.Write, Ino: 22, Length: 4, New: []byte("new\n"), Size: 4, Path: "/node/n"})
		if sync {
			ops = append(ops, &disk.Op{Kind: disk.Fsync, Ino: 22, Path: "/node/n"})
		}
		return append(ops, &disk.Op{Kind: disk.Rename, Ino: 22, Dir: 21, Name: "n", ToDir: 21, ToName: "r", Links: 1,
			Attr: regular, Path: "/node/n", ToPath: "/node/r"})
	}
	for _, sync := range []bool{true, false} {
		all, err := recovered(t, 100, "test ! -e r || grep -qx new r", func(string) ([]*disk.Op, string, error) {
			return recovery(sync), "", nil
		})
		if err != nil {
			t.Fatal(err)
		}
		kill, power := all[1], all[3]
		if kill.Failed > 0 || kill.Distinct == 0 || power.Distinct <= kill.Distinct || (power.Failed > 0) == sync {
			t.Errorf("synced: %v: %+v, %+v", sync, *kill, *power)
		}
		if sync {
			continue
		}
		if len(power.Groups) != 1 || power.Groups[0].String() != "rename of n to r before data of n" ||
			power.Groups[0].Images != power.Failed || power.Images <= power.Distinct {
			t.Errorf("%+v", power.Groups)
		}
		f := power.Shortest
		if f.Recovery == nil || f.Operation != 3 || f.Recovery.Operation < 1 {
			t.Errorf("%+v", f)
		}
	}
}
