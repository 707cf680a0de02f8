//go:build linux

package disk

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk/block"
)

// TestFaults: one request fails in each execution but the first. A workload that ends at the first
// error loses nothing of what it has promised, and one that ignores errors does.
func TestFaults(t *testing.T) {
	able(t, "mkfs.ext4")
	const of = `
checker:
  mutate: '%s for i in 1 2; do echo text > tmp; sync tmp; mv tmp note$i; sync .; echo promise note$i > /dev/ariadne; done'
  check: 'for n in $ARIADNE_PROMISES; do grep -qs text $n || { echo $n is lost; exit 1; }; done'
images: 4
faults: {write: 1, flush: 1}
failures: 4
`
	r := check(t, Options{Spec: parse(t, ext4Stack+fmt.Sprintf(of, "set -e;"))})
	if r.Failed+r.Undecided > 0 || r.Executions != 9 || r.Faulty != 8 || r.FaultsTold != 8 || r.FaultsLeftOut == 0 {
		t.Error(printed(r))
	}
	r = check(t, Options{Spec: parse(t, ext4Stack+fmt.Sprintf(of, ""))})
	if r.Failed == 0 || r.Faulty != 8 || r.FaultsTold != 0 || len(r.Groups) == 0 ||
		!strings.Contains(r.Groups[0].Example.Execution, " fails") {
		t.Error(printed(r))
	}
}

// TestVanish: a device that vanishes takes no promise with it that the workload has made before.
func TestVanish(t *testing.T) {
	able(t, "mkfs.ext4")
	r := check(t, Options{Spec: parse(t, ext4Stack+`
checker:
  mutate: 'set -e; for i in 1 2; do echo text > f$i; sync f$i .; echo promise f$i > /dev/ariadne; done'
  check: 'for n in $ARIADNE_PROMISES; do grep -qs text $n || { echo $n is lost; exit 1; }; done'
images: 3
faults: {vanish: 1}
failures: 6
`)})
	if r.Failed+r.Undecided > 0 || r.Faulty != 6 || r.FaultsTold != 6 {
		t.Error(printed(r))
	}
}

// copies is a workload that copies a file, and a checker that wants no wrong data in the copy.
// btrfs keeps smaller files in its trees.
const copies = `
checker:
  init: 'yes text | head -c 8000 > f; sync f .'
  mutate: 'tr x x < f > g || exit 0; sync g .'
  check: 'true'
  integrity: '[ "$ARIADNE_FAULT" = garbled_read ] || exit 2; ! cat g 2>/dev/null | tr -d "\0" | grep -qvx "t\?e\?x\?t\?" || { echo wrong data; exit 1; }'
images: 2
faults: {garbled_read: 1}
`

// TestSilentFaults: where a read returns other bytes, ext4 gives them to a program, and btrfs an
// error. A trace of that replays.
func TestSilentFaults(t *testing.T) {
	able(t, "mkfs.ext4", "mkfs.btrfs")
	s := parse(t, ext4Stack+copies)
	r := check(t, Options{Spec: s})
	if r.Failed == 0 || len(r.Groups) != 1 ||
		!strings.Contains(r.Groups[0].Example.Execution, " is garbled (read of ") {
		t.Fatal(printed(r))
	}
	if err := r.Keep(s, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	trace, err := ReadTrace(filepath.Join(r.Groups[0].Dir, "trace"))
	if err != nil {
		t.Fatal(err)
	}
	again := check(t, Options{Spec: s, Replay: trace})
	if again.Failed != 1 || again.Groups[0].Why != r.Groups[0].Why {
		t.Errorf("the trace replays as\n%s", printed(again))
	}
	r = check(t, Options{Spec: parse(t, "stack: [{device: 109MB}, {filesystem: btrfs}]\n"+copies)})
	if r.Failed+r.Undecided > 0 || r.Faulty == 0 {
		t.Error(printed(r))
	}
}

// TestRepairs: a mirror hides each fault of one of its devices, and a device alone does not.
func TestRepairs(t *testing.T) {
	able(t, "mkfs.ext4")
	const of = `
- {name: ext4, filesystem: ext4, mkfs: -b 1024}
checker:
  mutate: 'set -e; for i in 1 2; do echo text > f$i; sync f$i .; echo promise f$i > /dev/ariadne; done'
  check: 'for n in $ARIADNE_PROMISES; do grep -qs text $n || { echo $n is lost; exit 1; }; done'
images: 3
faults: {write: 1, flush: 1, vanish: 1}
repairs: [write, flush, vanish]
failures: 5
`
	r := check(t, Options{Spec: parse(t, "stack:\n- {name: a, device: 8MB}\n- {name: b, device: 8MB}\n"+
		"- {mirror: true, on: [a, b]}"+of)})
	if r.Failed+r.Undecided+r.FaultsTold > 0 || r.Faulty != 15 || r.Passed < 50 {
		t.Error(printed(r))
	}
	r = check(t, Options{Spec: parse(t, "stack:\n- {name: a, device: 8MB}"+of)})
	if r.Faulty < 10 || r.Failed != r.Faulty || len(r.Calls) != r.Faulty ||
		!strings.Contains(r.Calls[0], "told of a fault that the stack must repair: mutate: ") {
		t.Error(printed(r))
	}
}

// TestFilesFaults: the workloads of the ready-made checker end at a call that fails because of the
// device. Synced files stay, and a file system that ignores the error is found out.
func TestFilesFaults(t *testing.T) {
	able(t, "mkfs.ext4")
	r := check(t, Options{Spec: parse(t, ext4Stack+"images: 3\nfiles: {one_in: 12}\n"+
		"faults: {write: 1, flush: 1, vanish: 1}\nfailures: 3\n")})
	if r.Failed+r.Undecided > 0 || r.Faulty < 30 || r.FaultsTold < 20 {
		t.Error(printed(r))
	}
	for bug, fails := range map[string]bool{"": false, "ignored-error": true} {
		r = check(t, Options{Spec: parse(t, smallfs(t, bug)+"images: 3\nfiles: {rule: in_order, one_in: 15, without: [sync]}\n"+
			"faults: {write: 1}\nfailures: 2\n")})
		if (r.Failed > 0) != fails || r.Faulty == 0 || (r.FaultsTold == 0) != fails {
			t.Errorf("%q: %s", bug, printed(r))
		}
	}
}

// TestSilentFiles: by its checksums, btrfs never shows wrong data after a silent fault, and without
// them it does.
func TestSilentFiles(t *testing.T) {
	able(t, "mkfs.btrfs")
	s := parse(t, "stack: [{device: 109MB}, {filesystem: btrfs}]\nimages: 2\n"+
		"files: {without: [creat, mkdir, link, unlink, rmdir, rename, sync write, truncate, fdatasync, sync]}\n"+
		"faults: {lost_write: 1, garbled_write: 1, garbled_read: 1, lost_flush: 1}\n")
	r := check(t, Options{Spec: s})
	if r.Failed+r.Undecided > 0 || r.Faulty < 50 || r.Noticed == 0 {
		t.Error(printed(r))
	}
	s.Components[1].Options = "nodatasum"
	r = check(t, Options{Spec: s})
	if r.Failed == 0 || !strings.Contains(printed(r), "has a wrong byte") {
		t.Error(printed(r))
	}
}

// TestNoFaults: specs that cannot be.
func TestNoFaults(t *testing.T) {
	const own = "checker: {mutate: 'true', check: 'true'}\n"
	for text, want := range map[string]string{
		own + "faults: {discard: 1}":                                    `faults: "discard" is none of write, flush, read, vanish, lost_write`,
		own + "faults: {lost_write: 1}":                                 "data may be gone that nobody can know of",
		own + "repairs: [write]":                                        `repairs: "write" is none of faults`,
		own + "faults: {write: 1}\nrepairs: [write, write]\n":           `or is there twice`,
		"checker: {mutate: 'true', check: 'true', integrity: 'true'}\n": "faults has none",
		"checker: {mutate: 'true', check: 'true', integrity: 'true'}\n" +
			"faults: {lost_write: 1}\nrepairs: [lost_write]\n": "that is not in repairs",
		"files: {}\nfaults: {garbled_read: 1}\n": "has no checksums of data",
		own + "faults: {write: 2}":               "faults: write: 2 is neither 0 nor 1",
		own + "failures: 3":                      "add faults",
	} {
		_, err := Parse(filepath.Join(t.TempDir(), "test.yaml"), []byte(ext4Stack+text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	const raid = "stack: [{name: a, device: 8MB}, {name: b, device: 8MB}, {name: c, device: 8MB}, " +
		"{raid5: 64KB, fails: a, on: [a, b, c]}, {filesystem: ext4}]\n"
	for text, want := range map[string]string{
		raid + own + "faults: {write: 1}": "loses a device already (fails)",
		"stack: [{device: 109MB}, {filesystem: btrfs, options: nodatacow}]\nfiles: {}\nfaults: {lost_write: 1}": "has no checksums",
		"stack: [{device: 8MB}, {filesystem: ext4, threads: ['true']}]\nfiles: {}\nfaults: {write: 1}":          "beside threads",
	} {
		_, err := Parse(filepath.Join(t.TempDir(), "test.yaml"), []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	for _, option := range []string{"options: errors=panic", "mkfs: -e panic"} {
		text := strings.Replace(ext4Stack, "mkfs: -b 1024", option, 1) + own
		if _, err := Parse(filepath.Join(t.TempDir(), "test.yaml"), []byte(text)); err == nil {
			t.Errorf("%s is accepted", option)
		}
	}
}

// TestDropped: images with the same contents are examined apart if another device is used no more.
func TestDropped(t *testing.T) {
	s := parse(t, ext4Stack+"files: {}\n")
	r := &round{j: &judge{subject: newFiles(s)}}
	log := []block.Op{{Kind: block.Write}, {Kind: block.Drop, Device: 1}, {Kind: block.Flush}}
	before, after := epochAt(log, 1), epochAt(log, 2)
	if len(before.dropped) != 0 || !slices.Equal(after.dropped, []int{1}) || r.keyOf(before) == r.keyOf(after) {
		t.Errorf("%v before, and %v after", before.dropped, after.dropped)
	}
}
