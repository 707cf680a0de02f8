//go:build linux

package crash

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
	"github.com/ariadne-mc/ariadne/internal/machine/sandbox"
	"github.com/ariadne-mc/ariadne/internal/system/checker"
	"github.com/ariadne-mc/ariadne/internal/testing/ended"

	"golang.org/x/sys/unix"
)

// replace are the operations of a program that replaces home/f by way of home/t, and then says so
// in home/said.
func replace(sync bool) (ops []*disk.Op) {
	regular := disk.Attr{Mode: unix.S_IFREG | 0o644}
	add := func(op disk.Op) { ops = append(ops, &op) }
	add(disk.Op{Kind: disk.Create, Ino: 12, Dir: 11, Name: "t", Links: 1, Attr: regular, Path: "/node/t"})
	add(disk.Op{Kind: disk.Write, Ino: 12, Length: 4, New: []byte("new\n"), Size: 4, Path: "/node/t"})
	if sync {
		add(disk.Op{Kind: disk.Fsync, Ino: 12, Path: "/node/t"})
	}
	add(disk.Op{Kind: disk.Rename, Ino: 12, Dir: 11, Name: "t", ToDir: 11, ToName: "f", Over: 13, Links: 1,
		Attr: regular, Path: "/node/t", ToPath: "/node/f"})
	if sync {
		add(disk.Op{Kind: disk.Fsync, Ino: 11, Path: "/node"})
	}
	add(disk.Op{Kind: disk.Write, Ino: 14, Length: 5, New: []byte("done\n"), Size: 5, Path: "/node/said"})
	return ops
}

func TestJudge(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"f": "old\n", "said": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const content = `grep -qx 'old\|new' f`
	const promise = `test ! -s said || grep -qx new f`
	for name, c := range map[string]struct {
		model   disk.Model
		sync    bool
		check   string
		outside []string
		fail    int
		blame   string
	}{
		"in order":             {disk.Prefix, false, content, nil, 0, ""},
		"ext4 replaces":        {disk.Ordered, false, content, nil, 0, ""},
		"any":                  {disk.Any, false, content, nil, 6, "rename of t to f before data of t"},
		"any, synced":          {disk.Any, true, content, nil, 0, ""},
		"promised on the disk": {disk.Prefix, false, promise, nil, 0, ""},
		"promised to others": {disk.Prefix, false, promise, []string{"said"}, 3,
			"write of 5 bytes at 0 to said before rename of t to f"},
		"promised, and kept":     {disk.Any, true, promise, []string{"said"}, 0, ""},
		"the checker takes part": {disk.Any, true, "rm f said; echo x > more", nil, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			all, err := Judge(t.Context(), Options{
				Dir: dir, Log: replace(c.sync), Check: []string{"/bin/sh", "-c", c.check},
				Models: []disk.Model{c.model}, Images: 100, Workers: 2, Timeout: 10 * time.Second,
				Outside: c.outside, Temp: t.TempDir(),
			})
			if err != nil || len(all) != 2 {
				t.Fatal(all, err)
			}
			if k := all[0]; k.Model != Kill || k.Failed > 0 || k.Passed != k.Distinct || k.Distinct < 3 {
				t.Errorf("%+v", *k)
			}
			r := all[1]
			blame := ""
			if len(r.Groups) > 0 {
				blame = r.Groups[0].String()
			}
			if r.Failed != c.fail || blame != c.blame || r.Passed+r.Failed != r.Distinct || r.AtLeast ||
				r.LeftOut != 0 || r.Before {
				t.Errorf("%+v %q", *r, blame)
			}
			if c.fail > 0 && r.Shortest == nil {
				t.Error("no failing image is shown")
			}
		})
	}
}

// TestKills: what a kill leaves is told from what only a power loss does.
func TestKills(t *testing.T) {
	all, err := Judge(t.Context(), Options{
		Log: replace(true)[:3], Check: []string{"/bin/sh", "-c", "test ! -e t || test -s t || exit 3"},
		Models: []disk.Model{disk.Prefix, disk.Any}, Images: 100, Workers: 2,
		Timeout: 10 * time.Second, Temp: t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	kill, inOrder, arbitrary := all[0], all[1], all[2]
	if kill.Failed != 1 || len(kill.Groups) != 1 || kill.Groups[0].String() != "creation of t, and nothing after it" ||
		kill.Statuses["exit status 3"] != 1 {
		t.Errorf("%+v %v", *kill, kill.Groups)
	}
	if inOrder.Failed != 1 || inOrder.Killed != 1 || len(inOrder.Groups) > 0 || inOrder.Shortest != nil ||
		inOrder.Checked > 0 {
		t.Errorf("%+v", *inOrder)
	}
	if arbitrary.Failed != 1 || arbitrary.Killed != 1 || arbitrary.Distinct <= inOrder.Distinct {
		t.Errorf("%+v", *arbitrary)
	}
}

// judgeFirst judges the beginning of a log by one checker.
func judgeFirst(t *testing.T, ctx context.Context, timeout time.Duration, progress func(*Result),
	check ...string) ([]*Result, error) {
	return Judge(ctx,
		Options{Log: replace(false)[:2], Check: check, Models: []disk.Model{disk.Any}, Images: 10, Workers: 1,
			Timeout: timeout, Temp: t.TempDir(), Progress: progress})
}

// TestJudgeRefuses: a checker that rejects what is there without a loss says nothing of losses.
func TestJudgeRefuses(t *testing.T) {
	_, err := judgeFirst(t, t.Context(), 10*time.Second, nil, "/bin/sh", "-c", "echo no; exit 1")
	if err == nil || !strings.Contains(err.Error(), "without a power loss: exit status 1: no") {
		t.Error(err)
	}
	r, err := judgeFirst(t, t.Context(), 50*time.Millisecond, nil, "sleep", "10")
	if err == nil || !strings.Contains(err.Error(), "did not end") {
		t.Error(r, err)
	}
	if _, err := judgeFirst(t, t.Context(), time.Second, nil, "no-such-checker"); err == nil ||
		!strings.Contains(err.Error(), "no-such-checker") {
		t.Error(err)
	}
}

// TestCheckersEnd: what a checker leaves running neither keeps it from ending nor stays.
func TestCheckersEnd(t *testing.T) {
	pids := filepath.Join(t.TempDir(), "pids")
	began := time.Now()
	all, err := judgeFirst(t, t.Context(), time.Minute, nil, "/bin/sh", "-c", "sleep 100 & echo $! >>"+pids)
	if err != nil || time.Since(began) > 30*time.Second {
		t.Fatal(all, err)
	}
	text, err := os.ReadFile(pids)
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range strings.Fields(string(text)) {
		number, err := strconv.Atoi(pid)
		if err != nil || !ended.Within(number, 10*time.Second) {
			t.Fatalf("process %s runs on: %v", pid, err)
		}
	}
}

// TestAtHome: a checker sees the image where the node has its files, and the spec's directory where
// the node sees it, unless it accepts the files elsewhere alone.
func TestAtHome(t *testing.T) {
	beside := t.TempDir()
	if err := os.WriteFile(filepath.Join(beside, "b"), []byte("beside\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ check, elsewhere, wrong string }{
		"home":           {`test "$PWD" = /node && test "$(pwd -P)" = /node && cat /node/t && grep -qx beside /spec/b && ls /etc/passwd`, "", ""},
		"its own mounts": {`test "$(grep -c ' /node ' /proc/self/mountinfo)" = 1 && test $(ls /node | wc -l) = 1 && ! mkdir /more`, "", ""},
		"elsewhere":      {`test "$PWD" != /node && test -e t`, "at /node it rejects what the command left", ""},
		"nowhere":        {`echo $PWD; false`, "", "exit status 1: /node"},
		"not in time":    {`test "$PWD" != /node || sleep 9`, "at /node it rejects what the command left", ""},
	} {
		all, err := Judge(t.Context(),
			Options{Log: replace(false)[:2], Check: []string{"/bin/sh", "-c", c.check}, Workers: 2,
				Timeout: 2 * time.Second, Temp: t.TempDir(), Beside: beside})
		switch {
		case c.wrong != "" && (err == nil || !strings.Contains(err.Error(), c.wrong)):
			t.Errorf("%s: %v, want %q", name, err, c.wrong)
		case c.wrong == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.wrong == "" && (all[0].Failed > 0 || all[0].Elsewhere != c.elsewhere):
			t.Errorf("%s: %+v, want %q", name, all[0], c.elsewhere)
		}
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil || strings.Contains(string(mounts), "checker-0") {
		t.Errorf("%v: mounts are left: %s", err, mounts)
	}
}

// TestUnprivileged: an ordinary user's checkers see images at the node's home, too, have no
// privileges, and leave no namespace.
func TestUnprivileged(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root, to be somebody else")
	}
	test, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("/tmp", "ariadne-unprivileged-")
	if err != nil {
		t.Fatal(err)
	}
	defer checker.Remove(dir)
	copied := filepath.Join(dir, "test")
	text, err := os.ReadFile(test)
	if err := errors.Join(err, os.WriteFile(copied, text, 0o755), os.Chmod(dir, 0o777)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(copied, "-test.run", "TestAtHome|TestCredentials|TestWatched|TestCheckersEnd", "-test.v")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65533}}
	out, err := cmd.CombinedOutput()
	if strings.Contains(string(out), noNamespaces) {
		t.Skip(noNamespaces)
	}
	if err != nil || !strings.Contains(string(out), "--- PASS: TestCredentials") {
		t.Errorf("%v: %s", err, out)
	}
}

const noNamespaces = "no user namespaces for ordinary users"

// TestCredentials: a checker is who started it, and has no more privileges.
func TestCredentials(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("as root it has all")
	}
	if _, err := sandbox.NewView(t.TempDir(), nil); err != nil {
		t.Skip(noNamespaces)
	}
	check := fmt.Sprintf(`test "$(id -u)/$(id -g)" = %d/%d && grep -q '^CapEff:[[:space:]]*0*$' /proc/self/status && test "$PWD" = /node && stat -c %%u t | grep -qx %[1]d`, os.Getuid(), os.Getgid())
	all, err := Judge(t.Context(),
		Options{Log: replace(false)[:2], Check: []string{"/bin/sh", "-c", check}, Workers: 1, Timeout: 10 * time.Second,
			Temp: t.TempDir()})
	if err != nil || all[0].Failed > 0 || all[0].Elsewhere != "" {
		t.Error(all, err)
	}
}

// TestProgress: how long the rest takes is estimated from what is done.
func TestProgress(t *testing.T) {
	r := &Result{Model: "any", Operations: 40, Judged: 10, Distinct: 7, Failed: 1, began: time.Now().Add(-time.Minute)}
	if got, want := r.Progress(), "any: 10 of 40 operations, 7 images checked, 1 fail, about 3m0s left"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	told := 0
	_, err := Judge(t.Context(),
		Options{Log: replace(false)[:2], Check: []string{"sleep", "0.3"}, Workers: 1, Timeout: 10 * time.Second,
			Temp: t.TempDir(), Apart: true,
			Progress: func(*Result) { told++ }, Pause: time.Hour})
	if err != nil || told > 0 {
		t.Errorf("%v: told %d times within an hour", err, told)
	}
}

// TestFlaky: what a checker rejects once and then accepts is undecided.
func TestFlaky(t *testing.T) {
	for _, c := range []struct {
		apart bool
		check string
	}{
		{false, "echo >>RUNS; test $(wc -l <RUNS) != 4"},
		{true, "echo >>RUNS; test $(wc -l <RUNS) != 4"},
	} {
		runs := filepath.Join(t.TempDir(), "runs")
		check := strings.ReplaceAll(c.check, "RUNS", runs)
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "f"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
		all, err := Judge(t.Context(),
			Options{Dir: dir, Log: replace(false)[:3],
				Check: []string{"/bin/sh", "-c", check + "; e=$?; cat *; exit $e"}, Models: []disk.Model{disk.Any},
				Images: 9, Apart: c.apart, Workers: 1, Timeout: 10 * time.Second, Temp: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		flaky := 0
		for _, r := range all {
			flaky += r.Flaky
			if r.Failed > 0 || r.Undecided != r.Flaky || len(r.Groups) > 0 || r.Flaky > 0 &&
				!strings.Contains(r.Undecidable.Status, "accepts them in the next") {
				t.Errorf("%+v", r)
			}
		}
		if flaky == 0 {
			t.Error("no image is undecided since the checker is flaky")
		}
	}
}

// TestInterrupted: what was judged before an interrupt is kept.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	all, err := judgeFirst(t, ctx, 10*time.Second, func(*Result) { cancel() }, "/bin/sh", "-c",
		"sleep 0.3; test ! -e t || test -s t")
	if !errors.Is(err, context.Canceled) || len(all) != 1 {
		t.Fatal(all, err)
	}
	if r := all[0]; r.Judged != 0 || r.Failed != 1 || r.Operations != 2 || len(r.Groups) != 1 {
		t.Errorf("%+v", r)
	}
}

// TestRemove: directories that its user may not change are removed with what is in them.
func TestRemove(t *testing.T) {
	runtime.LockOSThread() // not unlocked: the thread ends with the test
	unix.SetfsuidRetUid(65534)
	dir, err := os.MkdirTemp("/tmp", "ariadne-remove-")
	if err != nil {
		t.Fatal(err)
	}
	inner := filepath.Join(dir, "a", "b")
	if err := os.MkdirAll(inner, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(inner, "f"), nil, 0o400); err != nil {
		t.Fatal(err)
	}
	os.Chmod(inner, 0o500)
	os.Chmod(filepath.Dir(inner), 0)
	if os.RemoveAll(dir) == nil {
		t.Error("they are removed without more ado")
	}
	checker.Remove(dir)
	if _, err := os.Stat(dir); !os.IsNotExist(err) {
		t.Error(err)
	}
}

// TestOwners: files of an image are those of the user of Ariadne, whoever owns them in the node, so
// that the checker can read and change them. Images that differ by an owner are two.
func TestOwners(t *testing.T) {
	sums := map[sum]bool{}
	for _, uid := range []uint32{uint32(os.Geteuid()), 12345} {
		root, top := draftDirectory(), draftDirectory()
		root.names[home[1:]] = top
		top.names["of"] = &draft{file: file{attr: disk.Attr{Mode: unix.S_IFREG | 0o600, UID: uid, GID: uid},
			data: newContent([]byte("text"))}}
		tree := newTree(root)
		sums[tree.sum()] = true
		out := filepath.Join(t.TempDir(), "image")
		if err := errors.Join(os.Mkdir(out, 0o700), newSlot(out).fill(tree)); err != nil {
			t.Fatal(err)
		}
		var st unix.Stat_t
		if err := unix.Stat(filepath.Join(out, "of"), &st); err != nil {
			t.Fatal(err)
		}
		if int(st.Uid) != os.Geteuid() || st.Mode != unix.S_IFREG|0o600 {
			t.Errorf("the file of user %d is one of user %d, mode %o", uid, st.Uid, st.Mode)
		}
	}
	if len(sums) != 2 {
		t.Error("an image is the same with another owner")
	}
}

// TestTree: what an image holds is written as it is.
func TestTree(t *testing.T) {
	root, top := draftDirectory(), draftDirectory()
	root.names[home[1:]] = top
	top.names["there"] = &draft{file: file{attr: disk.Attr{Mode: unix.S_IFREG | 0o600},
		data: newContent([]byte("there"))}}
	tree := newTree(root)
	dir := disk.Attr{Mode: unix.S_IFDIR | 0o755}
	regular := disk.Attr{Mode: unix.S_IFREG | 0o750}
	for _, op := range []disk.Op{
		{Kind: disk.Create, Ino: 2, Dir: 1, Name: "d", Attr: dir, Path: "/node/d"},
		{Kind: disk.Create, Ino: 3, Dir: 2, Name: "a", Attr: regular, Path: "/node/d/a"},
		{Kind: disk.Write, Ino: 3, Offset: 2, Length: 3, New: []byte("abc"), Size: 5},
		{Kind: disk.Truncate, Ino: 3, OldSize: 5, Size: 4},
		{Kind: disk.Zero, Ino: 3, Offset: 2, Length: 1, OldSize: 4, Size: 4},
		{Kind: disk.Link, Ino: 3, Dir: 2, Name: "b", Path: "/node/d/b"},
		{Kind: disk.Create, Ino: 4, Dir: 1, Name: "l", Attr: disk.Attr{Mode: unix.S_IFLNK | 0o777}, Target: "d/a",
			Path: "/node/l"},
		{Kind: disk.Link, Ino: 7, Dir: 2, Name: "c", Path: "/node/d/c", ToPath: "/node/there"},
		{Kind: disk.Rename, Ino: 2, Dir: 1, Name: "d", ToDir: 1, ToName: "e", Attr: dir, Path: "/node/d",
			ToPath: "/node/e"},
		{Kind: disk.Rename, Flags: disk.Exchange, Ino: 2, Over: 4, Dir: 1, Name: "e", ToDir: 1, ToName: "l", Attr: dir,
			Path: "/node/e", ToPath: "/node/l"},
		{Kind: disk.Unlink, Ino: 3, Dir: 2, Name: "a", Path: "/node/l/a"},
		{Kind: disk.SetXattr, Ino: 3, Xattr: "user.kept", New: []byte("1"), Absent: true},
		{Kind: disk.SetXattr, Ino: 3, Xattr: "user.gone", New: []byte("1"), Absent: true},
		{Kind: disk.SetXattr, Ino: 3, Xattr: "user.gone", Old: []byte("1"), Gone: true},
		{Kind: disk.Create, Ino: 5, Dir: 6, Name: "x", Attr: regular, Path: "/var/lib/x"},
	} {
		if err := tree.apply(&op); err != nil {
			t.Fatal(err)
		}
	}
	before := tree.sum()
	image, err := tree.with(&disk.Image{
		Names: []disk.Name{{Dir: 2, Name: "a", Ino: 3}},
		Files: []disk.File{{Ino: 3, Size: 6, Data: []disk.Extent{{Offset: 5, Bytes: []byte("z")}},
			Attr:   &disk.Attr{Mode: unix.S_IFREG | 0o640},
			Xattrs: []disk.Xattr{{Name: "user.back", Value: []byte("22")}}}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "image")
	if err := errors.Join(os.Mkdir(out, 0o700), newSlot(out).fill(image)); err != nil {
		t.Fatal(err)
	}
	again, err := load(out)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"user.kept": "1", "user.back": "22", "user.gone": ""} {
		var b [10]byte
		if n, _ := unix.Lgetxattr(filepath.Join(out, "l/a"), name, b[:]); string(b[:max(n, 0)]) != want {
			t.Errorf("%s is %q, want %q", name, b[:max(n, 0)], want)
		}
	}
	with := image.sum()
	without, err := tree.with(&disk.Image{
		Names: []disk.Name{{Dir: 2, Name: "a", Ino: 3}},
		Files: []disk.File{{Ino: 3, Size: 6, Data: []disk.Extent{{Offset: 5, Bytes: []byte("z")}},
			Attr:   &disk.Attr{Mode: unix.S_IFREG | 0o640},
			Xattrs: []disk.Xattr{{Name: "user.back", Value: []byte("22")}, {Name: "user.kept", Gone: true}}}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if without.sum() == with {
		t.Error("the sum is the same without an extended attribute")
	}
	a, b := again.find("/node/l/a"), again.find("/node/l/b")
	if a == nil || a != b || string(a.data.all()) != "\x00\x00\x00b\x00z" || a.attr.Mode != unix.S_IFREG|0o640 ||
		again.find("/node/e").target != "d/a" || again.find("/node/l/c") != again.find("/node/there") {
		t.Errorf("%+v %+v", a, b)
	}
	if tree.sum() != before || tree.find("/node/l/a") != nil {
		t.Error("an image changes the files of which it is one")
	}
}
