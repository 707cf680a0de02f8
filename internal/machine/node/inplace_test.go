//go:build linux

package node

import (
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// TestMergePages: fresh pages stand for old ones; one that has its old content is the old page, and
// one that is as in the fork is not listed.
func TestMergePages(t *testing.T) {
	of := func(b byte) *page { return &page{0: b} }
	one, two, three := of(1), of(2), of(3)
	old := pages{{0x1000, one}, {0x3000, two}, {0x5000, three}}
	fresh := pages{{0x0000, of(4)}, {0x1000, of(1)}, {0x2000, of(6)}, {0x3000, of(7)}, {0x5000, of(8)}, {0x6000, of(9)}}
	all := old.merge(fresh, map[uint64]*page{0x2000: of(6), 0x5000: of(8), 0x6000: of(1)}, nil)
	want := pages{{0x0000, of(4)}, {0x1000, of(1)}, {0x3000, of(7)}, {0x6000, of(9)}}
	if len(all) != len(want) {
		t.Fatalf("%d pages, want %d", len(all), len(want))
	}
	for i := range want {
		if all[i].at != want[i].at || *all[i].page != *want[i].page {
			t.Errorf("page %d is at %#x with %d, want %#x with %d", i, all[i].at, all[i].page[0], want[i].at,
				want[i].page[0])
		}
	}
	if all[1].page != one {
		t.Error("a page with the old content is not the old page")
	}
	all = old.merge(pages{{0x5000, of(8)}, {0x6000, of(9)}}, map[uint64]*page{0x5000: of(8), 0x6000: of(9)},
		pages{{0x5000, two}})
	if len(all) != 3 || all[2].at != 0x5000 {
		t.Errorf("base has a page that is as in the fork again: %d pages", len(all))
	}
	if all = old.merge(nil, nil, nil); len(all) != 3 {
		t.Errorf("merged with nothing: %d pages", len(all))
	}
}

// TestFollowingPays: pages are followed while that is of use, and now and then where it was of
// none.
func TestFollowingPays(t *testing.T) {
	follows := func(f *following, n int) (did int) {
		for range n {
			if f.pays() {
				did++
			}
		}
		return did
	}
	var f following
	if n := follows(&f, uselessFollows+10*followsAgain); n != uselessFollows+10 {
		t.Errorf("of no use: followed %d times", n)
	}
	f.used += 100
	if n := follows(&f, 50); n != 50 {
		t.Errorf("of use: followed %d times of 50", n)
	}
}

// TestDirectoriesMadeAnew: the program has removed a directory, and it is there again since an
// earlier state was brought back. It is the old one also for a state that is restored in place.
func TestDirectoriesMadeAnew(t *testing.T) {
	const program = `import os, time
os.mkdir("d")
for i in range(3):
    time.sleep(1)
    print(os.stat("d").st_ino, flush=True)
os.rmdir("d")
time.sleep(1)`
	// The last step has removed the directory. All states before have the same files.
	if !stepsAgain(t, program, 3, 3, 3, 3, 2, 3) {
		t.Error("nothing was restored in place")
	}
}

// TestMappingMadeWritable: a program stores in a file through a mapping that was not writable when
// checkpoints were made.
func TestMappingMadeWritable(t *testing.T) {
	const program = `import ctypes, os, time
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
fd = os.open("a", os.O_RDWR | os.O_CREAT)
os.ftruncate(fd, 4096)
m = libc.mmap(None, 4096, 1, 1, fd, 0)
for i in range(7):
    time.sleep(1)
    print(ctypes.string_at(m, 2), os.pread(fd, 2, 0), flush=True)
    if i == 3:
        print(libc.mprotect(ctypes.c_void_p(m), 4096, 3), flush=True)
    if i >= 3:
        ctypes.memset(m, 65 + i, 1)
    else:
        os.pwrite(fd, b"%d" % i, 1)`
	if !stepsAgain(t, program, 6, 6, 6, 5, 6, 2, 3, 1, 4, 2, 6) {
		t.Error("nothing was restored in place")
	}
}

// TestMappingPunched: a program frees a part of a file through a mapping that is not writable.
func TestMappingPunched(t *testing.T) {
	const program = `import ctypes, os, time
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
fd = os.open("a", os.O_RDWR | os.O_CREAT)
os.write(fd, b"x" * 7 * 4096)
m = libc.mmap(None, 7 * 4096, 1, 1, fd, 0)
for i in range(7):
    time.sleep(1)
    print([b[:1] for b in (os.pread(fd, 1, 4096 * k) for k in range(7))], flush=True)
    if i >= 2:
        libc.madvise(ctypes.c_void_p(m + 4096 * i), 4096, 9)`
	stepsAgain(t, program, 6, 6, 6, 5, 6, 2, 3, 1, 4, 2, 6)
}

// TestSharedMemoryNotSeen: the node is taken back from where no process shows memory that processes
// of the checkpoint share. The pages are zero again to which nobody had written by then.
func TestSharedMemoryNotSeen(t *testing.T) {
	const writes = `import mmap, os, time
def writes():
    m = mmap.mmap(-1, 7 * 4096)
    for i in range(7):
        time.sleep(1)
        print("page", i, m[4096 * i], flush=True)
        m[4096 * i] = i + 1
`
	t.Run("ended", func(t *testing.T) {
		stepsAgain(t, writes+`other = mmap.mmap(-1, 4096)
if os.fork() == 0:
    time.sleep(.5)
    writes()
    os._exit(0)
for i in range(30):
    time.sleep(1)
    other[0] = i
    print(i, flush=True)`, 24, 5, 7, 5)
	})
	t.Run("crashed", func(t *testing.T) {
		systemStepsAgain(t, alone(t.TempDir(), "python3", "-c", writes+"writes()"), 6, true, 3)
	})
}

// stepsAgain has a program in Python that only sleeps make some steps, and then takes it back
// before some of them, which must do the same again.
func stepsAgain(t *testing.T, program string, steps int, again ...int) (inPlace bool) {
	t.Helper()
	return systemStepsAgain(t, alone(t.TempDir(), "python3", "-c", program), steps, false, again...)
}

// systemStepsAgain is stepsAgain for any system of one node. The node may crash before it is taken
// back.
func systemStepsAgain(t *testing.T, s *spec.Spec, steps int, crash bool, again ...int) (inPlace bool) {
	t.Helper()
	n, apply := startAs(t, s, Config{Pages: true})
	outs := []ariadne.Output{apply(ariadne.Input{Kind: ariadne.Start})}
	all := []*Checkpoint{nil} // of the states before the outputs
	freeze := func() *Checkpoint {
		c, err := n.Freeze()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Drop() })
		return c
	}
	for k := range steps {
		all = append(all, freeze())
		outs = append(outs, apply(ariadne.Input{Kind: ariadne.Fire, At: outs[k].Deadline}))
	}
	if crash {
		apply(ariadne.Input{Kind: ariadne.Fault, At: outs[steps].Clock,
			Fault: ariadne.Outage{Down: ariadne.Crashed, For: time.Second}})
		freeze()
	}
	for _, k := range again {
		ok, err := n.Restore(all[k])
		if err != nil {
			t.Fatal(err)
		}
		inPlace = inPlace || ok
		if out := apply(ariadne.Input{Kind: ariadne.Fire, At: outs[k-1].Deadline}); out.Digest != outs[k].Digest {
			t.Errorf("step %d says %q, and said %q before", k, lines(&out), lines(&outs[k]))
		}
	}
	return inPlace
}

// TestUnchanged: a checkpoint says whether the step before it has left the memory of the node as it
// was. A fork is compared with nothing.
func TestUnchanged(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("cc", "-O2", "-Wall", "-o", filepath.Join(dir, "unchanged"),
		"testdata/unchanged.c").CombinedOutput(); err != nil {
		t.Skipf("cc: %v\n%s", err, out)
	}
	n, apply := startAs(t, alone(dir, "/spec/unchanged"), Config{Pages: true})
	out := apply(ariadne.Input{Kind: ariadne.Start})
	compared := 0
	for sleeps := 1; sleeps < 10; sleeps++ {
		c, err := n.Freeze()
		if err != nil {
			t.Fatal(err)
		}
		defer c.Drop()
		if unchanged, known := c.Unchanged(); known {
			if compared++; unchanged != (sleeps <= 5) {
				t.Errorf("sleep %d: unchanged: %t", sleeps, unchanged)
			}
		} else if sleeps > 3 {
			t.Errorf("sleep %d: no memory was compared", sleeps)
		}
		out = apply(ariadne.Input{Kind: ariadne.Fire, At: out.Deadline})
	}
	if compared < 6 {
		t.Errorf("memory was compared %d times", compared)
	}
}
