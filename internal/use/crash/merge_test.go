//go:build linux

package crash

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
	"github.com/ariadne-mc/ariadne/internal/system/checker"

	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// looking are commands of a checker, each of which looks at files in another way.
var looking = []string{
	"cat a", "cat b", "cat d/x d/y", "test -e b", "test ! -e d/x || cat d/y", "test -s d/x && cat a", "ls", "ls d",
	"ls d/..", "readlink l", "cat l", "cat d/m", "cat d/../b", "cat $PWD/d/x",
	"stat -c '%s %h %a' a", "stat -c '%h' d/x", "stat -c '%s %h' d", "stat -Lc '%s %a' l", "cd d; cat x; cd ..",
	"find . | sort", "mv a c; cat c", "mv d e; cat e/x; ls e", "rm -f b; ls", "rm -rf d; ls",
	"mkdir e; echo 1 >e/f; cat e/f", "mkdir d; ls d", "ln a h; cat h; stat -c %h h", "echo x >>a; cat a", ": >b; cat b",
	"cp -r d e; cat e/y", "ln -s b s; cat s", "cat /proc/self/cwd/a", "exec 3<d/x; cat <&3",
	"exec 3<a; cat /dev/fd/3", "chmod 700 d; stat -c %a d", "truncate -s 3 a; cat a", "mv -n a b; ls",
	"(cat d/x & wait)", "sh d/x", "head -c 3 a", "test b -ef a", "test -x d", "cd d && cat ../l", "set -- d/*; echo $#",
	"sh -c 'kill -9 $$'",
	`python3 -IS -c 'import os; print(os.listxattr("a"))'`, `python3 -IS -c 'import os; print(os.getxattr("d/x", "user.x"))'`,
	"mv l c; cat c", "mv l c; cat c/x", "mv d e; cat e/x", "ln l h; cat h",
	"stat -c %Y a", "mv a c; stat -c %Y c", "mv d e; stat -c %Y e/x", "test a -nt d/x", "python3 -IS -c 'import os; print(os.fstat(os.open(\"d/x\", 0)).st_mtime)'",
	"mv d/x b; cat b", "cp a d/z; ls d; rm a; cat d/z", "env -C d cat y", "cat l/x", "rmdir d", "d/y",
}

// drawTree draws the files of an image, most of them as in another one, which may be nil.
func drawTree(t *rapid.T, like *tree) *tree {
	root, top := draftDirectory(), draftDirectory()
	root.names[home[1:]] = top
	var files []*draft
	before := map[uint64]*draft{}
	put := func(dir *draft, at, name string) {
		if like != nil && rapid.IntRange(0, 3).Draw(t, "as before") > 0 {
			if f := like.find(home + "/" + at + name); f != nil {
				if before[f.id] == nil {
					before[f.id] = &draft{file: *f}
				}
				dir.names[name] = before[f.id]
			}
			return
		}
		f := &draft{}
		switch rapid.IntRange(0, 9).Draw(t, name) {
		case 0, 1:
			return
		case 2:
			f.attr.Mode, f.target = unix.S_IFLNK|0o777,
				rapid.SampledFrom([]string{"a", "../a", "d", "b/../a", ".", "none", "l", "/node/a", "/node/d",
					"/../node/d/../b"}).Draw(t, "target")
		case 3:
			if len(files) > 0 {
				dir.names[name] = rapid.SampledFrom(files).Draw(t, "link")
				return
			}
			fallthrough
		default:
			f.attr.Mode = unix.S_IFREG | rapid.SampledFrom([]uint32{0o644, 0o755}).Draw(t, "mode")
			f.attr.Modify = rapid.SampledFrom([]int64{1e18, 1e18, 1e18, 1e18 + 1e9}).Draw(t, "time")
			f.data = newContent([]byte(rapid.SampledFrom([]string{"", "1\n", "22\n", "echo 3\n", "#!/bin/sh\necho 4\n",
				"#!d/x\n"}).Draw(t, "content")))
			if rapid.IntRange(0, 3).Draw(t, "attribute") == 0 {
				f.setXattr("user.x", []byte(rapid.SampledFrom([]string{"", "1"}).Draw(t, "value")), false)
			}
			files = append(files, f)
		}
		dir.names[name] = f
	}
	put(top, "", "a")
	put(top, "", "b")
	put(top, "", "l")
	if rapid.IntRange(0, 4).Draw(t, "d") > 0 {
		d := draftDirectory()
		top.names["d"] = d
		put(d, "d/", "x")
		put(d, "d/", "y")
		if rapid.Bool().Draw(t, "m") {
			put(d, "d/", "m")
		}
	}
	return newTree(root)
}

// TestMerged: what is not run because another image is the same wherever the checker looks would
// have come to the same.
func TestMerged(t *testing.T) {
	found, runs := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		script := strings.Join(rapid.SliceOfN(rapid.SampledFrom(looking), 1, 4).Draw(rt, "checker"), "\n")
		temp, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		// Some checkers read all of /proc, which takes long on a loaded machine.
		c, err := newChecker([]string{"/bin/sh", "-c", script + "\nexit 0"}, filepath.Join(temp, "checker"), "",
			2*time.Minute, rapid.Bool().Draw(rt, "at home"))
		if err != nil {
			rt.Fatal(err)
		}
		defer c.close()
		j := &judge{Options: Options{Check: []string{"sh"}}, checkers: make(chan *looker, 1), merged: &merged{}}
		j.checkers <- c
		trees := []*tree{drawTree(rt, nil)}
		for range 4 {
			trees = append(trees, drawTree(rt, trees[0]))
		}
		clean := func() { // what lies beside the image is for all the same, and may not change
			beside, err := filepath.Glob(filepath.Join(filepath.Dir(c.image), "*"))
			if err != nil {
				rt.Fatal(err)
			}
			for _, name := range beside {
				if filepath.Base(name) != "output" && name != c.image {
					checker.Remove(name)
				}
			}
		}
		for _, tr := range trees {
			job := newJob(tr, tr.sum(), nil)
			clean()
			got, err := j.check(context.Background(), job, new(Result))
			if err != nil {
				rt.Fatal(err)
			}
			clean()
			want, err := j.look(context.Background(), job, new(Result), nil)
			if err != nil {
				rt.Fatal(err)
			}
			if !got.equals(want) || plain(got.output) != plain(want.output) {
				rt.Fatalf("of an image that is like another one where it looks the checker says %+v, and of that itself %+v", *got, *want)
			}
		}
		found, runs = found+j.merged.found, runs+j.merged.runs
	})
	t.Logf("%d of %d images are known by others", found, found+runs)
	if found == 0 {
		t.Error("nothing is merged")
	}
}

// TestTimesMatter: where the checker looks at a file's time of modification, images with another
// one are not the same.
func TestTimesMatter(t *testing.T) {
	image := func(modify int64) *tree {
		root, top, d := draftDirectory(), draftDirectory(), draftDirectory()
		root.names[home[1:]], top.names["d"] = top, d
		d.names["x"] = &draft{file: file{attr: disk.Attr{Mode: unix.S_IFREG | 0o644, Modify: modify},
			data: newContent([]byte("x"))}}
		return newTree(root)
	}
	for script, want := range map[string]int{
		"ls d":                   1,
		"stat -c %Y d/x":         0,
		"mv d e; stat -c %Y e/x": 0,
		"exec 3<d/x; stat -Lc %Y /proc/self/fd/3": 0,
		"touch -d @7 d/z; test d/x -nt d/z":       0,
	} {
		c, err := newChecker([]string{"/bin/sh", "-c", script}, filepath.Join(t.TempDir(), "checker"), "",
			10*time.Second, false)
		if err != nil {
			t.Fatal(err)
		}
		j := &judge{Options: Options{Check: []string{"sh"}}, checkers: make(chan *looker, 1), merged: &merged{}}
		j.checkers <- c
		for _, modify := range []int64{1e18, 2e18} {
			tr := image(modify)
			if _, err := j.check(context.Background(), newJob(tr, tr.sum(), nil), new(Result)); err != nil {
				t.Fatal(err)
			}
		}
		if j.merged.found != want {
			t.Errorf("%s: %d merged, want %d", script, j.merged.found, want)
		}
		c.close()
	}
}

// TestThread: the thread on which checkers are watched has no children but theirs, whatever Go's
// runtime has used it for.
func TestThread(t *testing.T) {
	tr, err := load("")
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		var others []*exec.Cmd
		for range 8 { // on as many threads as there are
			held := exec.Command("/bin/sleep", "100")
			ready, release := make(chan error), make(chan bool)
			go func() {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				ready <- held.Start()
				<-release
			}()
			if err := <-ready; err != nil {
				t.Fatal(err)
			}
			defer close(release)
			others = append(others, held)
			if len(others)%2 == 0 { // its thread is free again
				release <- true
			}
		}
		c, err := newChecker([]string{"/bin/true"}, filepath.Join(t.TempDir(), "checker"), "", 10*time.Second, true)
		if err != nil {
			t.Fatal(err)
		}
		if v, _, err := c.check(t.Context(), newJob(tr, tr.sum(), nil), newWatch(tr)); err != nil || !v.passed {
			t.Error(v, err)
		}
		c.close()
		for _, o := range others {
			o.Process.Kill()
			o.Wait()
		}
	}
}

// plain is an output without the path of the image and the ids of processes.
func plain(s string) string {
	return realTime.ReplaceAllString(strings.Join(strings.Fields(s), " "), "now")
}

// realTime are seconds as a checker sees them that has changed a file itself. Those of the files of
// images are of 2001.
var realTime = regexp.MustCompile(`\b1[5-9][0-9]{8}\b`)

// TestWatched: what single calls see, and what they may have seen.
func TestWatched(t *testing.T) {
	root, top, d := draftDirectory(), draftDirectory(), draftDirectory()
	root.names[home[1:]] = top
	top.names["a"] = &draft{file: file{attr: disk.Attr{Mode: unix.S_IFREG | 0o644}, data: newContent([]byte("1\n"))}}
	top.names["l"] = &draft{file: file{attr: disk.Attr{Mode: unix.S_IFLNK | 0o777}, target: "d/../a"}}
	top.names["m"] = &draft{file: file{attr: disk.Attr{Mode: unix.S_IFLNK | 0o777}, target: "/node/a"}}
	top.names["d"] = d
	d.names["x"] = top.names["a"]
	tr := newTree(root)
	tr.sum()
	for script, want := range map[string]string{
		"exec 3<a":                      "name . name a stat a data a",
		"exec 3<l":                      "name . name l name d name a stat a data a",
		"exec 3</node/a":                "name . name a stat a data a",
		"exec 3<m":                      "name . name m name a stat a data a",
		"cd /; exec 3<node/d/x":         "name . name d name d/x stat d/x data d/x",
		"exec 3<d/none":                 "name . name d name d/none stat d/none",
		"exec 3>>d/x":                   "name . name d name d/x stat d/x data d/x",
		": >a":                          "name . name a stat a",
		"test -e d/x":                   "name . name d name d/x stat d/x",
		"cd d; set -- *":                "name . name d stat d list d",
		"exec 3</proc/self/cwd/a":       "all",
		"exec 3</dev/shm/../etc/passwd": "",
		"ln -s a b":                     "all",
		"mv d e":                        "tree d tree e",
	} {
		c, err := newChecker([]string{"/bin/sh", "-c", script + "\n:"}, filepath.Join(t.TempDir(), "checker"), "",
			10*time.Second, true)
		if err != nil {
			t.Fatal(err)
		}
		w := newWatch(tr)
		if v, _, err := c.check(t.Context(), newJob(tr, tr.sum(), nil), w); err != nil {
			t.Fatal(v, err)
		}
		c.close()
		var got []string
		for _, p := range w.places {
			got = append(got,
				[]string{"name", "stat", "data", "list", "tree"}[p.kind]+" "+(p.name + ".")[:max(len(p.name), 1)])
		}
		if w.all != "" {
			got = []string{"all"}
		}
		// by which the shell finds out where it is
		got = slices.DeleteFunc(got, func(s string) bool { return s == "stat ." })
		if strings.HasPrefix(want, "tree ") {
			got = slices.DeleteFunc(got, func(s string) bool { return !strings.HasPrefix(s, "tree ") })
		}
		if want == "" {
			got = slices.DeleteFunc(got, func(s string) bool { return s == "name ." })
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%q: %q, want %q", script, got, want)
		}
	}
}

// TestWatchedEnds: a watched checker ends as it does unwatched, and leaves nothing running.
func TestWatchedEnds(t *testing.T) {
	tr, err := load("")
	if err != nil {
		t.Fatal(err)
	}
	mark := fmt.Sprint("1000", os.Getpid())
	for script, want := range map[string]string{
		"exit 3":                               "exit status 3",
		"kill -SEGV $$":                        "signal: segmentation fault",
		"kill -STOP $$; exit 4":                "exit status 4",
		"sleep 99":                             "it did not end within 1s",
		"setsid sleep " + mark + " & exit 5":   "exit status 5",
		"(sh -c 'sleep " + mark + "' &) ; :":   "",
		"trap 'exit 6' USR1; kill -USR1 $$; :": "exit status 6",
		"exec sh -c 'exec sh -c \"exit 7\"'":   "exit status 7",
		// Many that come and go: of a child is heard now before its parent has told of it, now
		// behind.
		"i=0; while [ $i -lt 300 ]; do (:) & (: | :) & i=$((i+1)); done; wait; exit 8": "exit status 8",
		"i=0; while [ $i -lt 50 ]; do (sleep 5 | sleep 5) & i=$((i+1)); done; exit 9":  "exit status 9",
	} {
		limit := 2 * time.Minute
		if strings.HasSuffix(want, "1s") {
			limit = time.Second
		}
		c, err := newChecker([]string{"/bin/sh", "-c", script}, filepath.Join(t.TempDir(), "checker"), "", limit, true)
		if err != nil {
			t.Fatal(err)
		}
		v, _, err := c.check(t.Context(), newJob(tr, tr.sum(), nil), newWatch(tr))
		c.close()
		if err != nil || v.status != want {
			t.Errorf("%q: %+v, %v, want %q", script, v, err, want)
		}
	}
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(lines) == 0 {
		t.Fatal(err)
	}
	for _, name := range lines {
		if line, _ := os.ReadFile(name); strings.Contains(string(line), "sleep\x00"+mark) {
			t.Errorf("%s runs on", name)
		}
	}
}
