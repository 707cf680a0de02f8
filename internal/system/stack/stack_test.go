//go:build linux

package stack

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk/block"
	"github.com/ariadne-mc/ariadne/internal/leaf/disk/fsmodel"
)

func TestMain(m *testing.M) {
	if IsWorker() {
		Work()
	}
	os.Exit(m.Run())
}

const size = 8 << 20

// ext4 is a stack with one file system.
func ext4(t *testing.T) *Config {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root may mount file systems")
	}
	for _, name := range []string{"/dev/fuse", "/dev/loop-control"} {
		if _, err := os.Stat(name); err != nil {
			t.Skip(err)
		}
	}
	mkfs, err := exec.LookPath("mkfs.ext4")
	if err != nil {
		t.Skip(err)
	}
	return &Config{Components: []Component{
		{Name: "disk", Size: size},
		{Name: "ext4", FileSystem: "ext4", On: []string{"disk"},
			Init: []string{"/bin/sh", "-c", mkfs + " -q -b 1024 $ARIADNE_BELOW"}},
	}, Dir: "/", Timeout: 10 * time.Second}
}

func start(t *testing.T, c *Config) (*Worker, []*block.Disk) {
	t.Helper()
	w, err := Start(c, t.TempDir(), true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	d, err := block.NewDisk(size)
	if err != nil {
		t.Fatal(err)
	}
	disks := []*block.Disk{d}
	do(t, w, Step{Kind: Make, Nodes: w.Serve(disks, nil, false)}, Step{Kind: Unmount})
	return w, disks
}

// do does steps that must succeed.
func do(t *testing.T, w *Worker, steps ...Step) []Result {
	t.Helper()
	r, err := w.Do(context.Background(), steps, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for i := range r {
		if r[i].Failed != "" {
			t.Fatalf("%s: %+v", steps[i].Kind, r[i])
		}
	}
	return r
}

// run is a step that runs a shell.
func run(line string) Step {
	return Step{Kind: Run, Command: []string{"/bin/sh", "-c", line}, Timeout: 10 * time.Second}
}

// TestLog: what is logged of a device, applied to what was on it, is what is on it. Data that were
// synced are in the log before a flush, and that before the line that the program writes then.
func TestLog(t *testing.T) {
	w, disks := start(t, ext4(t))
	w.Hear(func(line string) (string, string) { return "heard " + line, "" })
	base := disks[0].Clone()
	log := new(Recorder)
	w.Hear(func(line string) (string, string) { log.Mark(line); return "heard " + line, "" })
	r := do(t, w, Step{Kind: Mount, Nodes: w.Serve(disks, log, false)},
		run(`echo a-text-that-is-found > f; sync f; exec 3<>/dev/ariadne; echo promise x >&3; read -r a <&3; echo $a`),
		Step{Kind: Unmount})
	if r[1].Output != "heard promise x\n" {
		t.Errorf("the program has read %q", r[1].Output)
	}
	ops := log.Ops()
	written, flushed, marked := -1, -1, -1
	for i := range ops {
		switch o := &ops[i]; {
		case strings.Contains(string(o.Data), "a-text-that-is-found"):
			written = i
		case o.Kind == block.Flush && written >= 0 && marked < 0:
			flushed = i
		case o.Kind == block.Mark:
			marked = i
		}
		ops[i].Do(base)
	}
	if written < 0 || written > flushed || flushed > marked {
		t.Errorf("the data are written at %d, flushed at %d, and promised at %d of %d", written, flushed, marked, len(ops))
	}
	if base.Sum() != disks[0].Sum() {
		t.Error("the log does not lead to the content of the device")
	}
}

// TestImagesApart: a stack over a clone of a device sees its files, and changes nothing of it.
func TestImagesApart(t *testing.T) {
	w, disks := start(t, ext4(t))
	do(t, w, Step{Kind: Mount, Nodes: w.Serve(disks, nil, false)}, run("echo 1 > f"), Step{Kind: Unmount})
	before := disks[0].Sum()
	for range 3 {
		nodes := w.Serve([]*block.Disk{disks[0].Clone()}, nil, false)
		r := do(t, w, Step{Kind: Mount, Nodes: nodes}, run("cat f; echo 2 > f; sync f"), Step{Kind: Unmount})
		w.Drop(nodes)
		if r[1].Output != "1\n" || disks[0].Sum() != before {
			t.Fatalf("the file has %q, and the device changes: %v", r[1].Output, disks[0].Sum() != before)
		}
	}
}

// TestSteps: a step that fails ends a list, but for what is always done.
func TestSteps(t *testing.T) {
	w, disks := start(t, ext4(t))
	nodes := w.Serve(disks, nil, false)
	for range 2 { // the second time shows that nothing is left mounted
		r, err := w.Do(context.Background(), []Step{{Kind: Mount, Nodes: nodes}, run("echo said; exit 3"), run("true"),
			{Kind: Unmount, Always: true}}, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if r[1].Failed != "exit status 3" || r[1].Output != "said\n" || !r[2].Skipped || r[3].Failed != "" {
			t.Errorf("%+v", r)
		}
	}
}

// TestBusy: an unmount that fails is noticed, and the next mount works.
func TestBusy(t *testing.T) {
	w, disks := start(t, ext4(t))
	nodes := w.Serve(disks, nil, false)
	r, err := w.Do(context.Background(), []Step{{Kind: Mount, Nodes: nodes},
		run("setsid sh -c 'exec 3>f; sleep 60' >/dev/null 2>&1 & sleep 0.3"), {Kind: Unmount}}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if !r[2].Busy || r[2].Component != "ext4" {
		t.Errorf("%+v", r)
	}
	do(t, w, Step{Kind: Mount, Nodes: w.Serve([]*block.Disk{disks[0].Clone()}, nil, false)}, Step{Kind: Unmount})
}

// TestHangs: a worker that does not answer is given up, and one that dies is an error.
func TestHangs(t *testing.T) {
	w, disks := start(t, ext4(t))
	w.slack = 0
	_, err := w.Do(context.Background(), []Step{{Kind: Mount, Nodes: w.Serve(disks, nil, false)}, run("sleep 100")},
		time.Second)
	var hangs *HangError
	if !errors.As(err, &hangs) {
		t.Errorf("%v", err)
	}
	w.Close()

	w, disks = start(t, ext4(t))
	w.cmd.Process.Kill()
	_, err = w.Do(context.Background(), []Step{{Kind: Mount, Nodes: w.Serve(disks, nil, false)}}, time.Second)
	if err == nil || !strings.Contains(err.Error(), "the process that mounts the stack: ") {
		t.Errorf("%v", err)
	}
}

// randomCall is a call on few files.
func randomCall(r *rand.Rand) fsmodel.Call {
	kinds := append(fsmodel.Kinds(), fsmodel.Also()...)
	path := func() string {
		p := []string{"A", "B", "f"}[r.IntN(3)]
		for range r.IntN(3) {
			p += "/" + []string{"A", "B", "f"}[r.IntN(3)]
		}
		return p
	}
	c := fsmodel.Call{Kind: kinds[r.IntN(len(kinds))], Path: path(), Byte: byte('a' + r.IntN(3))}
	switch c.Kind {
	case fsmodel.Link, fsmodel.Rename:
		c.To = path()
	case fsmodel.Write, fsmodel.SyncWrite:
		c.Offset, c.Length = r.Int64N(9000), 1+r.Int64N(5000)
	case fsmodel.Truncate:
		c.Length = r.Int64N(9000)
	case fsmodel.Fallocate, fsmodel.PunchHole:
		c.Offset, c.Length = r.Int64N(9000), 1+r.Int64N(9000)
	case fsmodel.Setxattr, fsmodel.Removexattr:
		c.Text, c.Length = []string{"user.a", "user.b"}[r.IntN(2)], r.Int64N(50)
	case fsmodel.Symlink:
		c.Text = path() // without .., which could lead out of the directory
	}
	return c
}

// TestCalls compares the abstract file system with one of this machine: which calls succeed, and
// what they leave.
func TestCalls(t *testing.T) {
	succeeded := 0
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 0))
		dir := t.TempDir()
		tree := fsmodel.NewTree()
		var done []string
		for range 60 {
			c := randomCall(r)
			after, ok := tree.Do(c)
			err := doCall(c, dir)
			done = append(done, fmt.Sprintf("%s: %v", c, err))
			if (err == nil) != ok {
				t.Fatalf("seed %d: %s: %v, and the abstract file system says: %v\n%s", seed, c, err, ok,
					strings.Join(done, "\n"))
			}
			found, err := look(dir)
			if err != nil {
				t.Fatal(err)
			}
			if differ := after.Differ(found); differ != "" {
				t.Fatalf("seed %d: after %s: %s\n%s", seed, c, differ, strings.Join(done, "\n"))
			}
			tree = after
			if ok {
				succeeded++
			}
		}
	}
	if succeeded < 500 {
		t.Errorf("only %d calls have succeeded", succeeded)
	}
}
