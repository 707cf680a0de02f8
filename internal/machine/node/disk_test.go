//go:build linux

package node

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// sights are statements of a program that is back, and what they have looked at besides the names
// on the way.
var sights = []struct{ do, want string }{
	{`pass`, ""},
	{`open("a").read()`, "stat a, data a"},
	{`open("a", "r+")`, "stat a, data a"},
	{`open("a", "w").write("new")`, "stat a"},
	{`open("a", "a").write("more")`, "stat a, data a"},
	{`open("none", "x").write("new"); open("none").read()`, "stat none, data none"},
	{`os.path.islink("a")`, "stat a"},
	{`os.access("a", 0)`, ""},
	{`os.chmod("a", 0o600)`, "stat a"},
	{`os.utime("a")`, "stat a"},
	{`os.stat("link")`, "stat link, stat a"},
	{`open("link").read()`, "stat link, data link, stat a, data a"},
	{`os.readlink("link")`, ""},
	{`os.listdir("dir")`, "stat dir, data dir"},
	{`os.rename("a", "b"); open("b").read()`, "tree a, tree b, stat b, data b"},
	{`os.rename("dir", "moved"); open("moved/f").read()`, "tree dir, tree moved, stat moved/f, data moved/f"},
	{`os.link("a", "hard")`, "tree a, tree hard"},
	{`os.unlink("a")`, "stat a, data a"},
	{`os.truncate("a", 1)`, "stat a, data a"},
	{`os.symlink("dir/f", "new"); open("new").read()`, "stat new, data new, stat dir/f, data dir/f"},
	{`os.symlink("/node/dir", "/tmp/d"); open("/tmp/d/f").read()`, "stat dir/f, data dir/f"},
	{`open("/proc/self/cwd/a").read()`, "stat a, data a"},
	{`fd = os.open("a", os.O_PATH); open("/proc/self/fd/%d" % fd).read()`, "stat a, data a"},
	{`fd = os.open("dir", os.O_RDONLY); os.open("f", os.O_RDONLY, dir_fd=fd)`, "stat dir, data dir, stat dir/f, data dir/f"},
	{`os.chdir("dir"); open("../dir/./f").read()`, "stat dir/f, data dir/f"},
	{`os.getxattr("a", "user.x")`, "stat a"},
	{`subprocess.run(["./run"])`, "stat run, data run"},
	{`socket.socket(socket.AF_UNIX).connect_ex("sock")`, "stat sock"},
	{`os.statvfs("a")`, ""},
	{`os.chroot("dir")`, "everything"},
	{`os.mkdir("/tmp/x"); os.listdir("/tmp")`, ""},
}

// TestLooks: what a program has looked at when its machine is back is told.
func TestLooks(t *testing.T) {
	const prepare = `
import os, subprocess, socket, sys
if not os.access("dir", 0):
    os.mkdir("dir")
    for name in "a", "dir/f": open(name, "w").write("old")
    os.setxattr("a", "user.x", b"1")
    os.symlink("a", "link")
    open("run", "w").write("#!/bin/true\n")
    os.chmod("run", 0o755)
    socket.socket(socket.AF_UNIX).bind("sock")
    sys.exit()
`
	looked := func(do string) []string {
		_, apply := downOf(t, world.Stop, t.TempDir(), "/usr/bin/python3", "-IS", "-c", prepare+do)
		out := apply(ariadne.Input{Kind: ariadne.Start})
		out = apply(ariadne.Input{Kind: ariadne.Fault, At: out.Clock,
			Fault: ariadne.Outage{Down: ariadne.Stopped, For: time.Second}})
		if out.Disks == nil {
			t.Fatal("nothing is told of the disks")
		}
		out = apply(ariadne.Input{Kind: ariadne.Start, At: out.Back})
		if len(out.Exits) != 1 || out.Exits[0].Status != 0 {
			t.Errorf("%s: %v", do, lines(&out))
		}
		if out.Looks == nil {
			return []string{"everything"}
		}
		var all []string
		for _, l := range out.Looks {
			if l.Kind != ariadne.LookName {
				kind := [...]string{ariadne.LookStat: "stat", ariadne.LookData: "data",
					ariadne.LookTree: "tree"}[l.Kind]
				all = append(all, kind+" "+strings.TrimPrefix(l.Path, "/node/"))
			}
		}
		return all
	}
	always := looked("pass")
	for _, s := range sights {
		got := slices.DeleteFunc(looked(s.do), func(l string) bool { return slices.Contains(always, l) })
		want := strings.Split(s.want, ", ")
		if s.want == "" {
			want = nil
		}
		slices.Sort(got)
		slices.Sort(want)
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s looks at %q, want %q", s.do, got, want)
		}
	}
}

// TestDisks: of two disks that is another thing which differs, and nothing else.
func TestDisks(t *testing.T) {
	const prepare = `
import os
os.mkdir("dir")
for name in "a", "dir/f": open(name, "w").write("old")
os.symlink("a", "link")
times = {name: os.stat(name).st_mtime_ns for name in (".", "a", "dir", "dir/f")}
def again(*names):
    for name in names: os.utime(name, ns=(0, times[name]))
again("a", "dir", "dir/f", ".")
`
	left := func(do string) ariadne.Disks {
		_, apply := downOf(t, world.Stop, t.TempDir(), "/usr/bin/python3", "-IS", "-c", prepare+do)
		out := apply(ariadne.Input{Kind: ariadne.Start})
		if len(out.Exits) != 1 || out.Exits[0].Status != 0 {
			t.Errorf("%s: %v", do, lines(&out))
		}
		return apply(ariadne.Input{Kind: ariadne.Fault, At: 10 * ariadne.Time(time.Second),
			Fault: ariadne.Outage{Down: ariadne.Stopped, For: time.Second}}).Disks
	}
	base := left("")
	for _, c := range []struct{ do, want string }{
		{"", ""},
		// it was changed at another time
		{`fd = open("a", "w"); fd.write("new"); fd.close(); again("a")`, "stat a, data a"},
		{`os.chmod("dir/f", 0o600)`, "name dir/f, stat dir/f"},
		{`os.setxattr("a", "user.x", b"1")`, "stat a"},
		{`os.link("a", "hard"); again(".")`, "stat ., data ., stat a, data a, name hard, stat hard, data hard"},
		{`os.mkdir("new"); again(".")`, "stat ., data ., name new, stat new"},
		{`open("new", "w"); again(".")`, "stat ., data ., name new, stat new, data new"},
		{`os.unlink("link"); os.symlink("b", "link"); again(".")`, "stat ., name link, stat link"},
		{`os.rename("dir/f", "dir/g"); again("dir")`, "stat dir, data dir, name dir/f, stat dir/f, data dir/f, name dir/g, stat dir/g, data dir/g"},
		{`open("/tmp/x", "w")`, ""},
	} {
		now := left(c.do)
		var got []string
		for _, name := range []string{".", "a", "link", "dir", "dir/f", "dir/g", "hard", "new"} {
			for kind, word := range [...]string{ariadne.LookName: "name", ariadne.LookStat: "stat",
				ariadne.LookData: "data", ariadne.LookTree: "tree"} {
				l := ariadne.Look{Kind: ariadne.LookKind(kind), Path: path.Join("/node", name)}
				changed := base.At(l) != now.At(l)
				if l.Kind != ariadne.LookTree {
					if changed {
						got = append(got, word+" "+name)
					}
				} else if below := c.want != "" && name == "." || name == "dir" && strings.Contains(c.want, "dir") ||
					slices.Contains(got, "stat "+name); changed != below {
					t.Errorf("%s: the tree of %s has changed: %v", c.do, name, changed)
				}
			}
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s changes %q, want %q", c.do, strings.Join(got, ", "), c.want)
		}
		if base.Rest() != now.Rest() {
			t.Errorf("%s changes what is not on the disk", c.do)
		}
	}
}
