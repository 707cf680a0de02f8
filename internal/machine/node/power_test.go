//go:build linux

package node

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"
	"github.com/ariadne-mc/ariadne/internal/machine/node/config"

	"golang.org/x/sys/unix"
)

// prelude is what the programs of TestRecord begin with.
const prelude = `
import os, mmap, time, ctypes, struct, fcntl
c = ctypes.CDLL(None, use_errno=True)
def check(r):
    if r < 0: raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return r
def fallocate(fd, mode, at, n): check(c.fallocate(fd, mode, ctypes.c_long(at), ctypes.c_long(n)))
def renameat2(a, b, flags): check(c.renameat2(-100, a, -100, b, flags))
def put(name, b=b"", flags=0):
    fd = os.open(name, os.O_RDWR | os.O_CREAT | flags, 0o644)
    os.write(fd, b)
    return fd
`

// recordings are programs: what they do before everything is synced, what they do then, and what is
// entered of that.
var recordings = []struct{ name, before, then, want string }{
	{"write", `fd = put("f", b"old")`, `os.write(fd, b"new"); os.pwrite(fd, b"x" * 5000, 4096)`,
		"write of 3 bytes at 3 to /node/f; write of 5000 bytes at 4096 to /node/f"},
	{"append", `fd = put("f", b"old", os.O_APPEND)`, `os.write(fd, b"new"); os.pwrite(fd, b"y", 0)`,
		"write of 3 bytes at 3 to /node/f; write of 1 bytes at 6 to /node/f"},
	{"vectors", `fd = put("f", b"0123456789")`, `os.writev(fd, [b"ab", b"c"]); os.pwritev(fd, [b"d", b"e"], 2); os.pwritev(fd, [b"f"], 7, os.RWF_DSYNC)`,
		"write of 3 bytes at 10 to /node/f; write of 2 bytes at 2 to /node/f; write of 1 bytes at 7 to /node/f; fdatasync of /node/f"},
	{"synchronous", `fd = put("f", b"", os.O_SYNC); gd = put("g", b"", os.O_DSYNC)`, `os.write(fd, b"new"); os.write(gd, b"new")`,
		"write of 3 bytes at 0 to /node/f; fsync of /node/f; write of 3 bytes at 0 to /node/g; fdatasync of /node/g"},
	{"sizes", `fd = put("f", b"0123456789")`, `os.ftruncate(fd, 4); os.truncate("f", 8); os.close(os.open("f", os.O_WRONLY | os.O_TRUNC))`,
		"truncate of /node/f from 10 to 4 bytes; truncate of /node/f from 4 to 8 bytes; truncate of /node/f from 8 to 0 bytes; close of /node/f"},
	{"ranges", `fd = put("f", b"a" * 8192 + b"b" * 8192)`, `fallocate(fd, 0, 16384, 4096); fallocate(fd, 1, 30000, 10); fallocate(fd, 3, 4096, 100); fallocate(fd, 0x10, 8192, 10); fallocate(fd, 8, 4096, 4096); fallocate(fd, 0x20, 4096, 4096)`,
		"fallocate of /node/f, 16384 to 20480 bytes; fallocate of /node/f, 20480 to 20480 bytes; zeros for 100 bytes at 4096 of /node/f; zeros for 10 bytes at 8192 of /node/f; " +
			"shift of /node/f at 4096, 20480 to 16384 bytes; shift of /node/f at 4096, 16384 to 20480 bytes"},
	{"names", `put("f", b"f"); put("g", b"g"); os.mkdir("d"); put("d/x", b"x")`, `put("n", b"n"); os.link("f", "d/l"); os.unlink("g"); os.mkdir("e"); os.symlink("f", "s"); os.rename("d", "e/d"); os.unlink("e/d/x"); os.mkfifo("p"); os.mkdir("q"); os.rmdir("q")`,
		"creation of /node/n; write of 1 bytes at 0 to /node/n; link to /node/d/l; unlink of /node/g; mkdir of /node/e; symlink of /node/s; rename of /node/d to /node/e/d; unlink of /node/e/d/x; " +
			"creation of /node/p; mkdir of /node/q; rmdir of /node/q"},
	{"rename over", `put("f", b"f"); fd = put("g", b"g"); os.link("g", "h")`, `os.rename("f", "g"); os.write(fd, b"late"); os.rename("g", "h"); os.rename("h", "h")`,
		"rename of /node/f to /node/g; write of 4 bytes at 1 to /node/g; rename of /node/g to /node/h"},
	{"exchange", `put("f", b"f"); os.mkdir("d"); put("d/x")`, `renameat2(b"f", b"d", 2); put("f/y", b"y")`,
		"exchange of /node/f and /node/d; creation of /node/f/y; write of 1 bytes at 0 to /node/f/y"},
	{"nameless", ``, `fd = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o600); os.write(fd, b"new"); check(c.linkat(-100, b"/proc/self/fd/%d" % fd, -100, b"n", 0x400))`,
		"creation of /node/#N (deleted); write of 3 bytes at 0 to /node/#N (deleted); link to /node/n"},
	{"unlinked", `fd = put("f", b"f")`, `os.unlink("f"); os.write(fd, b"g"); put("f", b"h")`,
		"unlink of /node/f; write of 1 bytes at 1 to /node/f; creation of /node/f; write of 1 bytes at 0 to /node/f"},
	{"by a link", `os.mkdir("d"); os.symlink("d/f", "s")`, `put("s", b"x")`,
		"creation of /node/d/f; write of 1 bytes at 0 to /node/d/f"},
	{"copies", `fd = put("f", b"0123456789"); gd = put("g", b"g"); r, w = os.pipe(); os.write(w, b"pipe")`, `os.lseek(fd, 0, 0); os.sendfile(gd, fd, 0, 4); os.copy_file_range(fd, gd, 3, 0, 1); os.splice(r, gd, 4, None, 7)`,
		"write of 4 bytes at 1 to /node/g; write of 3 bytes at 1 to /node/g; write of 4 bytes at 7 to /node/g"},
	{"attributes", `fd = put("f", b"f")`, `os.chmod("f", 0o600); os.fchmod(fd, 0o600); os.utime("f", ns=(5, 6)); os.setxattr("f", "user.a", b"1"); os.setxattr(fd, "user.a", b"2"); os.removexattr("f", "user.a")`,
		"attributes of /node/f; attributes of /node/f; extended attribute user.a of /node/f; extended attribute user.a of /node/f; extended attribute user.a of /node/f"},
	{"mapping", `fd = put("f", b"\0" * 16384); m = mmap.mmap(fd, 16384)`, `m[5000:5003] = b"abc"; os.pwrite(fd, b"z", 0); m[0:2] = b"yx"; m[12288:12289] = b"q"; m.flush(12288, 4096); m[1:2] = b"w"; m.close(); os.close(fd)`,
		"write of 3 bytes at 5000 to /node/f (mapping); write of 1 bytes at 0 to /node/f; write of 2 bytes at 0 to /node/f (mapping); write of 1 bytes at 12288 to /node/f (mapping); fdatasync of /node/f; " +
			"write of 1 bytes at 1 to /node/f (mapping); close of /node/f"},
	{"syncs", `fd = put("f", b"f"); d = os.open(".", os.O_RDONLY); put("g")`, `os.write(fd, b"g"); os.fsync(fd); os.write(fd, b"h"); os.fdatasync(fd); os.write(fd, b"i"); check(c.sync_file_range(fd, ctypes.c_long(0), ctypes.c_long(0), 7)); os.unlink("g"); os.fsync(d)`,
		"write of 1 bytes at 3 to /node/f; sync_file_range of /node/f; unlink of /node/g; fsync of /node"},
	{"all of it", `fd = put("f", b"f")`, `os.write(fd, b"g"); os.sync()`, ""},
	{"in memory", ``, `put("/tmp/f", b"f"); put("/dev/shm/g", b"g"); os.mkdir("/run/d")`, ""},
	{"failures", `put("f")`, `
for call in lambda: os.mkdir("f"), lambda: os.unlink("none"), lambda: os.rename("none", "f"), lambda: os.truncate("none", 1):
    try: call(); print("no error")
    except OSError: pass
`, ""},
}

// numbered is how a file without a name is called.
var numbered = regexp.MustCompile(`#\d+`)

// TestRecord: what calls change of files is entered, and only that; and from it the files can be
// brought back to what they were when everything was synced, or left as they are.
func TestRecord(t *testing.T) {
	for _, r := range recordings {
		for _, lost := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s lost %v", r.name, lost), func(t *testing.T) {
				program := prelude + r.before + "\nos.sync()\ntime.sleep(1)\n" + r.then + "\nprint('done', flush=True)\ntime.sleep(1000)"
				n, apply := downOf(t, world.Power, t.TempDir(), "/usr/bin/python3", "-c", program)
				n.cfg.Faults.Power.Model, n.cfg.Faults.Power.Images = disk.Any, 64
				out := apply(ariadne.Input{Kind: ariadne.Start})
				before := snapshot(t, n)
				if out = apply(ariadne.Input{Kind: ariadne.Fire, At: out.Deadline}); !slices.Equal(lines(&out),
					[]string{"done"}) {
					t.Fatal(lines(&out))
				}
				after := snapshot(t, n)
				in := ariadne.Input{Kind: ariadne.Fault, At: out.Clock,
					Fault: ariadne.Outage{Down: ariadne.PowerLost, For: time.Second}}
				var words []string
				for _, op := range n.k.Files.Log.Ops() {
					words = append(words, numbered.ReplaceAllString(op.String(), "#N"))
				}
				if got := strings.Join(words, "; "); !strings.HasPrefix(got, r.want) || r.want == "" && got != "" {
					t.Errorf("entered\n%s\nwant\n%s", strings.ReplaceAll(got, "; ", "\n"),
						strings.ReplaceAll(r.want, "; ", "\n"))
				}
				want := before
				if !lost || r.name == "all of it" {
					in.Vary, want = "disk:2@0/disk#1", after
				}
				if r.name == "syncs" || r.name == "synchronous" || r.name == "vectors" || r.name == "mapping" {
					want = nil // some of it is durable
				}
				out = apply(in)
				if got := snapshot(t, n); want != nil && !slices.Equal(got, want) {
					t.Errorf("lost %q\nleft\n%s\nwant\n%s", out.Lost, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
				if lost && len(out.Places) > 0 && len(out.Lost) == 0 {
					t.Error("nothing is said to be lost")
				}
			})
		}
	}
}

// snapshot lists the files below /node with all that a power loss may change of them.
func snapshot(t *testing.T, n *Node) (all []string) {
	base, _ := n.ownFiles()
	dir := filepath.Join(base, "node")
	first := map[uint64]string{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		var st unix.Stat_t
		if err != nil || name == dir {
			return err
		}
		if err := unix.Lstat(name, &st); err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		line := fmt.Sprintf("%s %o %d", rel, st.Mode, n.k.Files.Number(keyOfStat(&st)))
		switch d.Type() {
		case 0:
			b, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			line += fmt.Sprintf(" %q", b)
		case fs.ModeSymlink:
			target, _ := os.Readlink(name)
			line += " -> " + target
		}
		if other, ok := first[st.Ino]; ok {
			line += " is " + other
		}
		first[st.Ino] = rel
		for _, x := range n.k.Files.Xattrs(keyOfStat(&st)) {
			line += fmt.Sprintf(" %s=%s", x.Name, x.Value)
		}
		all = append(all, line)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func keyOfStat(st *unix.Stat_t) inode.Key { return inode.Key{Dev: st.Dev, Ino: st.Ino} }

// TestAfterCrash: what looks at the files after a fault runs one after the other, before the
// commands, and before neither when the machine is switched on for the first time.
func TestAfterCrash(t *testing.T) {
	n, apply := downOf(t, world.Power, t.TempDir(), "/bin/sh", "-c", "echo command; sleep 10")
	for _, script := range []string{"sleep 1; echo first; exit 3", "echo second"} {
		n.cfg.AfterCrash = append(n.cfg.AfterCrash, config.Command{Args: []string{"/bin/sh", "-c", script}})
	}
	out := apply(ariadne.Input{Kind: ariadne.Start})
	if got := lines(&out); !slices.Equal(got, []string{"command"}) {
		t.Fatal(got)
	}
	out = apply(ariadne.Input{Kind: ariadne.Fault, At: out.Clock,
		Fault: ariadne.Outage{Down: ariadne.PowerLost, For: time.Second}})
	out = apply(ariadne.Input{Kind: ariadne.Start, At: out.Back})
	if got := lines(&out); len(got) > 0 || out.Ended || out.Done {
		t.Fatal(got, out.Ended)
	}
	out = apply(ariadne.Input{Kind: ariadne.Fire, At: out.Deadline})
	if got := lines(&out); !slices.Equal(got, []string{"first", "second", "command"}) || out.Ended {
		t.Error(got)
	}
	if len(out.Exits) != 2 || out.Exits[0].Command != 1 || out.Exits[0].Status != 3 || out.Exits[1].Command != 2 ||
		out.Exits[1].Status != 0 {
		t.Error(out.Exits)
	}
}

// TestEpoch: what programs have said of their work is told to those who look at the files after a
// fault, whatever it was, and tells machines apart that have the same files.
func TestEpoch(t *testing.T) {
	const say = `import os, time
d = os.open("/dev/ariadne", os.O_RDWR)
for line in %q.split("|"): os.write(d, line.encode())
print("said", flush=True)
time.sleep(1000)`
	const look = `printf "%s %s <%s>\n" $ARIADNE_BEGUN $ARIADNE_ENDED "$ARIADNE_PROMISES"`
	contents := map[ariadne.Digest]string{}
	for _, c := range []struct {
		lines string
		want  []string
	}{
		{"begin|promise one|end|begin|promise two words", []string{"2 1 <one", "two words>"}},
		{"begin|promise one|end|begin", []string{"2 1 <one>"}},
		{"crash now", []string{"0 0 <>"}},
	} {
		for kind, down := range map[ariadne.ActionKind]ariadne.Down{world.Power: ariadne.PowerLost,
			world.Stop: ariadne.Stopped, world.Crash: ariadne.Crashed} {
			n, apply := downOf(t, kind, t.TempDir(), "/usr/bin/python3", "-c", fmt.Sprintf(say, c.lines))
			n.cfg.AfterCrash = []config.Command{{Args: []string{"/bin/sh", "-c", look}}}
			n.cfg.Restart = []config.Command{{Args: []string{"/bin/sh", "-c", `echo "${ARIADNE_BEGUN-none}"`}}}
			out := apply(ariadne.Input{Kind: ariadne.Start})
			if got := lines(&out); !slices.Equal(got, []string{"said"}) {
				t.Fatal(got)
			}
			out = apply(ariadne.Input{Kind: ariadne.Fault, At: out.Clock,
				Fault: ariadne.Outage{Down: down, For: time.Second}})
			if other, known := contents[out.Content]; down == ariadne.Stopped && known {
				t.Errorf("%q leaves what %q does", c.lines, other)
			} else if down == ariadne.Stopped {
				contents[out.Content] = c.lines
			}
			out = apply(ariadne.Input{Kind: ariadne.Start, At: out.Back})
			if got, want := lines(&out), append(slices.Clone(c.want), "none"); !slices.Equal(got, want) {
				t.Errorf("%v after %q: %q, want %q", down, c.lines, got, want)
			}
		}
	}
}

// TestCrashNow: where a program asks for it the power may go, with what it has promised by then.
func TestCrashNow(t *testing.T) {
	const program = `import os
d = os.open("/dev/ariadne", os.O_RDWR)
os.write(d, b"promise it")
os.write(d, b"crash now")
print("on", flush=True)
`
	boot := func(vary ariadne.Variation) ariadne.Output {
		_, apply := downOf(t, world.Power, t.TempDir(), "/usr/bin/python3", "-c", program)
		return apply(ariadne.Input{Kind: ariadne.Start, Vary: vary})
	}
	out := boot("")
	at := slices.IndexFunc(out.Places, func(p ariadne.Place) bool { return strings.Contains(p.Name, "/dev/ariadne") })
	if at < 0 || !slices.Equal(lines(&out), []string{"on"}) {
		t.Fatal(out.Places, lines(&out))
	}
	p := out.Places[at]
	if out = boot(ariadne.Variation("").And(ariadne.Choice{Alternative: p.Alternatives[0],
		Place: p.Name})); out.Down != ariadne.PowerLost || len(lines(&out)) > 0 {
		t.Error(out.Down, lines(&out))
	}
}
