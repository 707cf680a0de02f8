package sys

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/kerneltest"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/area"

	"golang.org/x/sys/unix"
)

// files drives the handlers of file calls: Linux really does them in the test's own
// process, below a temporary directory.
type files struct {
	*testing.T
	d   *kerneltest.Driver
	th  *kernel.Thread
	m   *kerneltest.HostMachine
	dir string
}

func newFiles(t *testing.T) *files {
	d := kerneltest.NewDriver(t, Handle)
	_, th := d.Node.NewProcess(nil)
	m := kerneltest.NewHostMachine(t)
	th.M = m
	th.Proc.FDs = kernel.NewFDTable()
	th.Proc.Exe, th.Name = "/bin/prog", "prog"
	d.Node.RealBase, d.Node.Now = 1700000000e9, 5e9
	dir := t.TempDir()
	var st unix.Stat_t
	unix.Stat(dir, &st)
	d.Node.Files.Private = st.Dev
	return &files{t, d, th, m, dir}
}

// Offsets of arguments in the memory.
const (
	pathOff, path2Off, dataOff = 0, 0x2000, 0x4000
)

// call makes a call in which strings are paths below the directory, unless
// absolute.
func (f *files) call(nr int, args ...any) int64 {
	f.Helper()
	var a []uint64
	off := pathOff
	for _, x := range args {
		switch x := x.(type) {
		case string:
			if !filepath.IsAbs(x) && x != "" {
				x = filepath.Join(f.dir, x)
			}
			a = append(a, f.m.Text(off, x))
			off = path2Off
		case int:
			a = append(a, uint64(x))
		case uint64:
			a = append(a, x)
		}
	}
	return f.d.Must(f.th, nr, a...)
}

func (f *files) data() uint64 { return f.m.At + dataOff }

func (f *files) open(name string, flags int) uint64 {
	f.Helper()
	fd := f.call(unix.SYS_OPENAT, int(unix.AT_FDCWD), name, flags, 0o644)
	if fd < 0 {
		f.Fatalf("open %s: %v", name, unix.Errno(-fd))
	}
	f.Cleanup(func() { unix.Close(int(fd)) })
	return uint64(fd)
}

func (f *files) stat(nr int, args ...any) unix.Stat_t {
	f.Helper()
	want(f, "stat", f.call(nr, args...), 0)
	return parseStat(f.m.Bytes(f.data(), statSize))
}

// TestTimeOfHostFile: a file of the host keeps its time of modification when that came with a
// package.
func TestTimeOfHostFile(t *testing.T) {
	f := newFiles(t)
	f.d.Node.Files.Private = ^uint64(0)
	f.write("packed", "x")
	f.write("built", "x")
	packed, built := time.Unix(1234567890, 0), time.Unix(1234567890, 1)
	for name, at := range map[string]time.Time{"packed": packed, "built": built} {
		if err := os.Chtimes(filepath.Join(f.dir, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	epoch := inode.Epoch / 1e9
	if st := f.stat(unix.SYS_STAT, "packed", f.data()); st.Mtim.Sec != packed.Unix() || st.Atim.Sec != epoch ||
		st.Ctim.Sec != epoch {
		t.Errorf("a file of whole seconds: %+v", st)
	}
	if st := f.stat(unix.SYS_STAT, "built", f.data()); st.Mtim.Sec != epoch {
		t.Errorf("a file made here: %+v", st)
	}
}

func (f *files) write(name, content string) {
	f.Helper()
	if err := os.WriteFile(filepath.Join(f.dir, name), []byte(content), 0o644); err != nil {
		f.Fatal(err)
	}
}

// at sets the node's clock, in seconds.
func (f *files) at(s int) int64 {
	f.d.Node.Now = ariadne.Time(s) * 1e9
	return f.d.Node.RealNow() / 1e9
}

func TestStatHidesTheHost(t *testing.T) {
	f := newFiles(t)
	f.write("b", "hello")
	f.write("a", "")
	st := f.stat(unix.SYS_STAT, "b", f.data())
	if st.Ino != 11 || st.Dev != inode.DevNode || st.Size != 5 || st.Mtim.Sec != inode.Epoch/1e9 ||
		st.Mode != unix.S_IFREG|0o644 {
		t.Errorf("b: %+v", st)
	}
	if st := f.stat(unix.SYS_LSTAT, "a", f.data()); st.Ino != 12 {
		t.Errorf("a: inode %d", st.Ino)
	}
	fd := f.open("b", unix.O_RDONLY)
	for _, again := range []unix.Stat_t{
		f.stat(unix.SYS_FSTAT, fd, f.data()),
		f.stat(unix.SYS_NEWFSTATAT, fd, "", f.data(), unix.AT_EMPTY_PATH),
		f.stat(unix.SYS_NEWFSTATAT, int(unix.AT_FDCWD), "b", f.data(), 0),
	} {
		if again != st {
			t.Errorf("differs:\n%+v\n%+v", again, st)
		}
	}
	if dir := f.stat(unix.SYS_STAT, f.dir, f.data()); dir.Size != 4096 {
		t.Errorf("directory: %+v", dir)
	}
	want(t, "missing file", f.call(unix.SYS_STAT, "x", f.data()), errno(unix.ENOENT))
}

func TestStatx(t *testing.T) {
	f := newFiles(t)
	f.write("b", "hello")
	st := f.stat(unix.SYS_STAT, "b", f.data())
	want(t, "statx", f.call(unix.SYS_STATX, int(unix.AT_FDCWD), "b", 0, unix.STATX_ALL, f.data()), 0)
	b := f.m.Bytes(f.data(), statxSize)
	dev := unix.Mkdev(le.Uint32(b[136:]), le.Uint32(b[140:]))
	if le.Uint64(b[32:]) != st.Ino || dev != st.Dev || le.Uint64(b[40:]) != 5 || uint32(le.Uint16(b[28:])) != st.Mode {
		t.Errorf("statx %x, stat %+v", b, st)
	}
	if got := int64(le.Uint64(b[112:])); got != inode.Epoch/1e9 {
		t.Errorf("mtime %d", got)
	}
	fd := f.open("b", unix.O_RDONLY)
	want(t, "statx", f.call(unix.SYS_STATX, fd, "", unix.AT_EMPTY_PATH, unix.STATX_ALL, f.data()), 0)
	if again := f.m.Bytes(f.data(), statxSize); string(again) != string(b) {
		t.Errorf("by descriptor:\n%x\n%x", again, b)
	}
}

// TestStatAsTheNodesUser: a user with fewer rights than Ariadne looks for itself.
func TestStatAsTheNodesUser(t *testing.T) {
	f := newFiles(t)
	f.write("a", "x")
	outside := f.stat(unix.SYS_STAT, "a", f.data())
	f.d.Node.Files.User, f.d.Node.Files.Group = 5, 5
	f.th.Proc.SetUser(5, 5)
	if inside := f.stat(unix.SYS_STAT, "a", f.data()); asRoot && inside != outside {
		t.Errorf("%+v\n%+v", inside, outside)
	}
	for _, c := range []struct {
		dirfd int
		name  string
		want  kernel.Errno
	}{{unix.AT_FDCWD, "absent", unix.ENOENT}, {unix.AT_FDCWD, "a/b", unix.ENOTDIR}, {unix.AT_FDCWD, "", unix.ENOENT}} {
		for _, user := range []int{0, 5} {
			f.d.Node.Files.User, f.d.Node.Files.Group = user, user
			f.th.Proc.SetUser(user, user)
			want(t, c.name, f.call(unix.SYS_NEWFSTATAT, c.dirfd, c.name, f.data(), 0), errno(c.want))
		}
	}
	fd := f.open("a", unix.O_RDONLY)
	rel := f.m.Text(0x8000, "x")
	want(t, "below a file", f.call(unix.SYS_NEWFSTATAT, fd, rel, f.data(), 0), errno(unix.ENOTDIR))
	want(t, "nothing below a file", f.call(unix.SYS_NEWFSTATAT, fd, "", f.data(), 0), errno(unix.ENOENT))
	want(t, "below nothing", f.call(unix.SYS_NEWFSTATAT, 999, rel, f.data(), 0), errno(unix.EBADF))
}

func TestTimes(t *testing.T) {
	f := newFiles(t)
	now := f.at(10)
	fd := f.open("new", unix.O_CREAT|unix.O_RDWR)
	st := f.stat(unix.SYS_FSTAT, fd, f.data())
	if st.Mtim.Sec != now || st.Atim.Sec != now || st.Ctim.Sec != now {
		t.Errorf("new file: %+v", st)
	}
	if dir := f.stat(unix.SYS_STAT, f.dir, f.data()); dir.Mtim.Sec != now {
		t.Errorf("its directory: %+v", dir)
	}
	later := f.at(20)
	want(t, "write", f.call(unix.SYS_WRITE, fd, f.m.Text(dataOff, "x"), 1), 1)
	if st := f.stat(unix.SYS_FSTAT, fd, f.data()); st.Mtim.Sec != later || st.Atim.Sec != now {
		t.Errorf("written file: %+v", st)
	}
	last := f.at(30)
	want(t, "rename", f.call(unix.SYS_RENAME, "new", "old"), 0)
	if st := f.stat(unix.SYS_STAT, "old", f.data()); st.Mtim.Sec != later || st.Ctim.Sec != last {
		t.Errorf("renamed file: %+v", st)
	}
	times := le.AppendUint64(nil, 7)
	times = le.AppendUint64(times, 8)
	times = le.AppendUint64(times, 0)
	times = le.AppendUint64(times, unix.UTIME_OMIT)
	f.m.WriteMem(f.data(), times)
	want(t, "utimensat", f.call(unix.SYS_UTIMENSAT, int(unix.AT_FDCWD), "old", f.data(), 0), 0)
	if st := f.stat(unix.SYS_STAT, "old", f.data()); st.Atim != (unix.Timespec{Sec: 7, Nsec: 8}) ||
		st.Mtim.Sec != later {
		t.Errorf("after utimensat: %+v", st)
	}
	want(t, "open", int64(f.open("old", unix.O_CREAT|unix.O_RDWR))*0, 0)
	if st := f.stat(unix.SYS_STAT, "old", f.data()); st.Mtim.Sec != later {
		t.Errorf("opened again: %+v", st)
	}
	want(t, "truncate", f.call(unix.SYS_TRUNCATE, "old", 0), 0)
	if st := f.stat(unix.SYS_STAT, "old", f.data()); st.Mtim.Sec != last || st.Size != 0 {
		t.Errorf("truncated: %+v", st)
	}
}

// names lists an open directory by buffers of the given size.
func (f *files) names(fd uint64, size int) string {
	f.Helper()
	var s []string
	for {
		n := f.call(unix.SYS_GETDENTS64, fd, f.data(), size)
		if n <= 0 {
			want(f, "getdents64", n, 0)
			return strings.Join(s, " ")
		}
		for _, d := range parseDirents(nil, f.m.Bytes(f.data(), int(n))) {
			s = append(s, d.Name)
		}
	}
}

func TestDirectoryIsSorted(t *testing.T) {
	f := newFiles(t)
	all := ". .."
	for i := range 30 {
		f.write(fmt.Sprintf("f%02d", i*7%30), "")
		all += fmt.Sprintf(" f%02d", i)
	}
	fd := f.open(".", unix.O_RDONLY|unix.O_DIRECTORY)
	for _, size := range []int{4096, 64} {
		if got := f.names(fd, size); got != all {
			t.Errorf("buffers of %d: %s", size, got)
		}
		want(t, "rewind", f.call(unix.SYS_LSEEK, fd, 0, unix.SEEK_SET), 0)
	}
	want(t, "small buffer", f.call(unix.SYS_GETDENTS64, fd, f.data(), 10), errno(unix.EINVAL))
	want(t, "getdents64", f.call(unix.SYS_GETDENTS64, fd, f.data(), 24+24+24), 72)
	want(t, "telldir", f.call(unix.SYS_LSEEK, fd, 0, unix.SEEK_CUR), 3)
	f.names(fd, 4096)
	want(t, "seekdir", f.call(unix.SYS_LSEEK, fd, 31, unix.SEEK_SET), 31)
	if got := f.names(fd, 4096); got != "f29" {
		t.Errorf("after seekdir: %s", got)
	}
	f.write("zz", "")
	if got := f.names(fd, 4096); got != "" {
		t.Errorf("at the end: %s", got)
	}
	f.call(unix.SYS_LSEEK, fd, 0, unix.SEEK_SET)
	if got := f.names(fd, 4096); !strings.HasSuffix(got, "zz") {
		t.Errorf("rewound: %s", got)
	}
	// The types and numbers agree with stat's.
	st := f.stat(unix.SYS_STAT, "f03", f.data())
	f.call(unix.SYS_LSEEK, fd, 5, unix.SEEK_SET)
	n := f.call(unix.SYS_GETDENTS64, fd, f.data(), 32)
	if d := parseDirents(nil, f.m.Bytes(f.data(), int(n)))[0]; d.Name != "f03" || d.Ino != st.Ino ||
		d.Type != unix.DT_REG {
		t.Errorf("entry %+v, inode %d", d, st.Ino)
	}
}

func TestOldGetdents(t *testing.T) {
	f := newFiles(t)
	f.write("abc", "")
	fd := f.open(".", unix.O_RDONLY|unix.O_DIRECTORY)
	n := f.call(unix.SYS_GETDENTS, fd, f.data(), 4096)
	b := f.m.Bytes(f.data(), int(n))
	last := b[24+24:]
	if string(last[18:21]) != "abc" || last[len(last)-1] != unix.DT_REG || le.Uint16(last[16:]) != uint16(len(last)) {
		t.Errorf("%q", b)
	}
}

func TestOpenFlags(t *testing.T) {
	f := newFiles(t)
	f.write("a", "x")
	fd := f.open("a", unix.O_WRONLY|unix.O_APPEND|unix.O_CLOEXEC|unix.O_TRUNC|unix.O_DIRECT|unix.O_CREAT)
	want(t, "F_GETFL", f.call(unix.SYS_FCNTL, fd, unix.F_GETFL), unix.O_WRONLY|unix.O_APPEND|unix.O_DIRECT|largeFile)
	want(t, "F_GETFD", f.call(unix.SYS_FCNTL, fd, unix.F_GETFD), unix.FD_CLOEXEC)
	if st := f.stat(unix.SYS_FSTAT, fd, f.data()); st.Size != 0 {
		t.Errorf("not truncated: %+v", st)
	}
	for _, c := range []struct {
		name  string
		flags int
		want  kernel.Errno
	}{
		{"absent", unix.O_RDONLY, unix.ENOENT},
		{"a", unix.O_CREAT | unix.O_EXCL, unix.EEXIST},
		{"a/b", unix.O_RDONLY, unix.ENOTDIR},
		{".", unix.O_WRONLY, unix.EISDIR},
		{"/dev/tty", unix.O_RDWR, unix.ENXIO},
		{"/proc/self/stat", unix.O_WRONLY, unix.EACCES},
		{"/proc/self/nothing", unix.O_RDONLY, unix.ENOENT},
		{"/proc/77777/stat", unix.O_RDONLY, unix.ENOENT},
	} {
		want(t, c.name, f.call(unix.SYS_OPENAT, int(unix.AT_FDCWD), c.name, c.flags, 0o600), errno(c.want))
	}
	how := le.AppendUint64(nil, unix.O_RDONLY)
	how = le.AppendUint64(how, 0)
	how = le.AppendUint64(how, unix.RESOLVE_NO_SYMLINKS)
	f.m.WriteMem(f.data(), how)
	os.Symlink("a", filepath.Join(f.dir, "link"))
	want(t, "openat2", f.call(unix.SYS_OPENAT2, int(unix.AT_FDCWD), "link", f.data(), 24), errno(unix.ELOOP))
	want(t, "openat2", f.call(unix.SYS_OPENAT2, int(unix.AT_FDCWD), "link", f.data(), 8), errno(unix.EINVAL))
}

func TestOpenFIFO(t *testing.T) {
	f := newFiles(t)
	want(t, "mknod", f.call(unix.SYS_MKNOD, "fifo", unix.S_IFIFO|0o600, 0), 0)
	want(t, "open for writing", f.call(unix.SYS_OPEN, "fifo", unix.O_WRONLY|unix.O_NONBLOCK, 0), errno(unix.ENXIO))
	other := f.th.Proc.NewThread()
	other.M = f.m
	f.d.Waits(f.th, unix.SYS_OPEN, f.m.Text(pathOff, filepath.Join(f.dir, "fifo")), unix.O_RDONLY, 0)
	w := f.d.Must(other, unix.SYS_OPEN, f.m.Text(path2Off, filepath.Join(f.dir, "fifo")), unix.O_WRONLY, 0)
	r := f.d.Done(f.th)
	want(t, "write", f.d.Must(other, unix.SYS_WRITE, uint64(w), f.m.Text(dataOff, "abc"), 3), 3)
	want(t, "read", f.call(unix.SYS_READ, uint64(r), f.data()+100, 10), 3)
	if st := f.stat(unix.SYS_FSTAT, uint64(r), f.data()); st.Mode&unix.S_IFMT != unix.S_IFIFO {
		t.Errorf("mode %o", st.Mode)
	}
	want(t, "lseek", f.call(unix.SYS_LSEEK, uint64(r), 0, 0), errno(unix.ESPIPE))
	f.call(unix.SYS_CLOSE, uint64(r))
	f.call(unix.SYS_CLOSE, uint64(w))
}

func TestRandomDevice(t *testing.T) {
	read := func(f *files) string {
		fd := f.open("/dev/urandom", unix.O_RDONLY)
		want(t, "read", f.call(unix.SYS_READ, fd, f.data(), 16), 16)
		b := string(f.m.Bytes(f.data(), 16))
		if st := f.stat(unix.SYS_FSTAT, fd, f.data()); st.Rdev != unix.Mkdev(1, 9) {
			t.Errorf("%+v", st)
		}
		return b
	}
	var got [2]string
	for i := range got {
		t.Run("", func(t *testing.T) { got[i] = read(newFiles(t)) })
	}
	if got[0] != got[1] {
		t.Error("two nodes of one seed differ")
	}
}

func TestMmap(t *testing.T) {
	f := newFiles(t)
	f.write("a", strings.Repeat("x", 4096))
	fd := f.open("a", unix.O_RDONLY)
	at := f.call(unix.SYS_MMAP, 0, 4096, unix.PROT_READ, unix.MAP_PRIVATE, fd, 0)
	if at <= 0 {
		t.Fatal(at)
	}
	f.call(unix.SYS_MUNMAP, uint64(at), 4096)
	ev := f.call(unix.SYS_EVENTFD2, 0, 0)
	want(t, "mmap of an eventfd", f.call(unix.SYS_MMAP, 0, 4096, unix.PROT_READ, unix.MAP_PRIVATE, uint64(ev), 0),
		errno(unix.ENODEV))
	want(t, "mmap of nothing", f.call(unix.SYS_MMAP, 0, 4096, unix.PROT_READ, unix.MAP_PRIVATE, 999, 0),
		errno(unix.EBADF))
	f.call(unix.SYS_CLOSE, uint64(ev))
}

func TestStatfs(t *testing.T) {
	f := newFiles(t)
	for name, magic := range map[string]uint64{f.dir: unix.EXT4_SUPER_MAGIC, "/proc/self/fd": unix.PROC_SUPER_MAGIC,
		"/proc": unix.PROC_SUPER_MAGIC} {
		want(t, "statfs", f.call(unix.SYS_STATFS, name, f.data()), 0)
		if got := le.Uint64(f.m.Bytes(f.data(), 8)); got != magic {
			t.Errorf("%s: magic %#x", name, got)
		}
	}
	want(t, "statfs", f.call(unix.SYS_STATFS, "absent", f.data()), errno(unix.ENOENT))
}

// read returns the content of a file that the node opens.
func (f *files) read(name string) string {
	f.Helper()
	fd := f.open(name, unix.O_RDONLY)
	var s []byte
	for {
		n := f.call(unix.SYS_READ, fd, f.data(), 4096)
		if n <= 0 {
			want(f, "read", n, 0)
			break
		}
		s = append(s, f.m.Bytes(f.data(), int(n))...)
	}
	f.call(unix.SYS_CLOSE, fd)
	return string(s)
}

func (f *files) readlink(name string) string {
	f.Helper()
	n := f.call(unix.SYS_READLINK, name, f.data(), 4096)
	if n < 0 {
		f.Fatalf("readlink %s: %v", name, unix.Errno(-n))
	}
	return string(f.m.Bytes(f.data(), int(n)))
}

func TestProcFiles(t *testing.T) {
	f := newFiles(t)
	for name, part := range map[string]string{
		"/proc/self/status":                 "Name:\tprog\nUmask:\t0022\nState:\tR (running)\nTgid:\t2\n",
		"/proc/self/stat":                   "2 (prog) R 1 2 2 0 -1",
		"/proc/2/task/2/comm":               "prog\n",
		"/proc/thread-self/comm":            "prog\n",
		"/proc/self/limits":                 "Max stack size            8388608              unlimited            bytes     \n",
		"/proc/uptime":                      "5.00 5.00\n",
		"/proc/stat":                        "btime 1700000000\n",
		"/proc/self/oom_score_adj":          "0\n",
		"/proc/self/../self/./task/2/statm": " 8192 ",
		"/proc/self/maps":                   "[stack]\n",
	} {
		if got := f.read(name); !strings.Contains(got, part) {
			t.Errorf("%s: no %q in\n%s", name, part, got)
		}
	}
	if got := f.read("/proc/self/maps"); strings.Contains(got, "vvar") ||
		strings.Contains(got, fmt.Sprintf("%x", area.Scratch)) {
		t.Errorf("maps:\n%s", got)
	}
	if a, b := f.read("/proc/sys/kernel/random/uuid"), f.read("/proc/sys/kernel/random/uuid"); a == b || len(a) != 37 {
		t.Errorf("uuids %q %q", a, b)
	}
	st := f.stat(unix.SYS_STAT, "/proc/self/stat", f.data())
	fd := f.open("/proc/self/stat", unix.O_RDONLY)
	if again := f.stat(unix.SYS_FSTAT, fd, f.data()); st.Mode != unix.S_IFREG|0o444 || again.Mode != st.Mode ||
		again.Size != 0 {
		t.Errorf("%+v\n%+v", st, again)
	}
	if link, dir := f.stat(unix.SYS_LSTAT, "/proc/self", f.data()),
		f.stat(unix.SYS_LSTAT, "/proc/self/", f.data()); link.Mode&unix.S_IFMT != unix.S_IFLNK ||
		dir.Mode&unix.S_IFMT != unix.S_IFDIR {
		t.Errorf("/proc/self: %o, with a slash %o", link.Mode, dir.Mode)
	}
	if got := f.readlink("/proc/self"); got != "2" {
		t.Errorf("/proc/self leads to %s", got)
	}
	if got := f.readlink("/proc/self/exe"); got != "/bin/prog" {
		t.Errorf("exe: %s", got)
	}
}

func TestProcDescriptors(t *testing.T) {
	f := newFiles(t)
	f.write("a", "content")
	fd := f.open("a", unix.O_RDONLY)
	link := fmt.Sprintf("/proc/self/fd/%d", fd)
	if got := f.readlink(link); got != filepath.Join(f.dir, "a") {
		t.Errorf("%s: %s", link, got)
	}
	if got := f.read(link); got != "content" {
		t.Errorf("content %q", got)
	}
	if got := f.read(fmt.Sprintf("/dev/fd/%d", fd)); got != "content" {
		t.Errorf("content %q", got)
	}
	a, b := f.stat(unix.SYS_STAT, link, f.data()), f.stat(unix.SYS_STAT, "a", f.data())
	if a != b {
		t.Errorf("stat through the link:\n%+v\n%+v", a, b)
	}
	if st := f.stat(unix.SYS_LSTAT, link, f.data()); st.Mode&unix.S_IFMT != unix.S_IFLNK {
		t.Errorf("lstat: %+v", st)
	}
	dir := f.open("/proc/self/fd", unix.O_RDONLY|unix.O_DIRECTORY)
	if got, all := f.names(dir, 4096), fmt.Sprintf(". .. %d %d", fd, dir); got != all {
		t.Errorf("fd: %q, not %q", got, all)
	}
	// Relative to the open directory.
	n := f.call(unix.SYS_READLINKAT, dir, f.m.Text(0x8000, fmt.Sprint(fd)), f.data(), 4096)
	if got := string(f.m.Bytes(f.data(), int(n))); got != filepath.Join(f.dir, "a") {
		t.Errorf("readlinkat: %q", got)
	}
	if got := f.read(fmt.Sprintf("/proc/self/fdinfo/%d", fd)); !strings.HasPrefix(got, "pos:\t0\nflags:\t0100000\n") {
		t.Errorf("fdinfo: %q", got)
	}
	f.call(unix.SYS_CLOSE, dir)
}

// TestThroughProc: paths may lead through the links of a process, for any call.
func TestThroughProc(t *testing.T) {
	f := newFiles(t)
	f.write("a", "content")
	want(t, "chdir", f.call(unix.SYS_CHDIR, f.dir), 0)
	defer os.Chdir("/")
	if got := f.read("/proc/self/cwd/a"); got != "content" {
		t.Errorf("through cwd: %q", got)
	}
	if got := f.read("/proc/self/root" + f.dir + "/a"); got != "content" {
		t.Errorf("through root: %q", got)
	}
	dir := f.open(".", unix.O_RDONLY|unix.O_DIRECTORY)
	through := fmt.Sprintf("/proc/self/fd/%d/a", dir)
	a, b := f.stat(unix.SYS_STAT, through, f.data()), f.stat(unix.SYS_STAT, "a", f.data())
	if a != b {
		t.Errorf("through a descriptor:\n%+v\n%+v", a, b)
	}
	fd := f.open("a", unix.O_RDWR)
	link := fmt.Sprintf("/proc/self/fd/%d", fd)
	want(t, "truncate", f.call(unix.SYS_TRUNCATE, link, 3), 0)
	want(t, "chmod", f.call(unix.SYS_CHMOD, link, 0o604), 0)
	want(t, "fchmodat", f.call(unix.SYS_FCHMODAT, int(unix.AT_FDCWD), through, 0o600), 0)
	want(t, "chown", f.call(unix.SYS_CHOWN, link, 7, 8), 0)
	want(t, "utimensat", f.call(unix.SYS_UTIMENSAT, int(unix.AT_FDCWD), link, 0, 0), 0)
	if st := f.stat(unix.SYS_STAT, "a", f.data()); st.Size != 3 || st.Mode != unix.S_IFREG|0o600 || st.Uid != 7 ||
		st.Mtim.Sec != f.d.Node.RealNow()/1e9 {
		t.Errorf("%+v", st)
	}
	want(t, "chmod of a file of /proc", f.call(unix.SYS_CHMOD, "/proc/self/stat", 0o600), errno(unix.EACCES))
}

// TestTimesOfRemovedFiles: a file that is gone but open has changed too.
func TestTimesOfRemovedFiles(t *testing.T) {
	f := newFiles(t)
	f.write("a", "")
	f.write("b", "")
	fa, fb := f.open("a", unix.O_RDONLY), f.open("b", unix.O_RDONLY)
	now := f.at(50)
	want(t, "unlink", f.call(unix.SYS_UNLINK, "a"), 0)
	f.write("c", "")
	want(t, "rename", f.call(unix.SYS_RENAME, "c", "b"), 0)
	for _, fd := range []uint64{fa, fb} {
		if st := f.stat(unix.SYS_FSTAT, fd, f.data()); st.Ctim.Sec != now || st.Nlink != 0 {
			t.Errorf("%+v", st)
		}
	}
}

func TestProcAttributes(t *testing.T) {
	f := newFiles(t)
	fd := f.open("/proc/self/oom_score_adj", unix.O_RDWR)
	want(t, "write", f.call(unix.SYS_WRITE, fd, f.m.Text(dataOff, "-500\n"), 5), 5)
	want(t, "write", f.call(unix.SYS_WRITE, fd, f.m.Text(dataOff, "5000\n"), 5), errno(unix.EINVAL))
	if got := f.read("/proc/self/oom_score_adj"); got != "-500\n" {
		t.Errorf("%q", got)
	}
	fd = f.open("/proc/self/task/2/comm", unix.O_WRONLY)
	want(t, "write", f.call(unix.SYS_WRITE, fd, f.m.Text(dataOff, "worker"), 6), 6)
	if f.th.Name != "worker" {
		t.Errorf("name %q", f.th.Name)
	}
}

func TestExecThroughProc(t *testing.T) {
	f := newFiles(t)
	f.th.Call = kernel.Call{NR: unix.SYS_EXECVE, Args: Args{f.m.Text(pathOff, "/proc/self/exe"), 1, 2}}
	if r := Handle(f.th); r.Op != kernel.OpExec {
		t.Fatal(r)
	}
	if name, _ := readPath(f.th, f.th.Call.Args[0]); name != "/bin/prog" {
		t.Errorf("execs %q", name)
	}
	f.write("prog", "")
	fd := f.open("prog", unix.O_RDONLY)
	f.th.Call = kernel.Call{NR: unix.SYS_EXECVE,
		Args: Args{f.m.Text(pathOff, fmt.Sprintf("/proc/self/fd/%d", fd)), 1, 2}}
	if r := Handle(f.th); r.Op != kernel.OpExec {
		t.Fatal(r)
	}
	if c := f.th.Call; c.NR != unix.SYS_EXECVEAT || c.Args != (Args{fd, area.Scratch, 1, 2, unix.AT_EMPTY_PATH}) {
		t.Errorf("%+v", c)
	}
}

func TestOwners(t *testing.T) {
	f := newFiles(t)
	f.write("a", "")
	want(t, "chown", f.call(unix.SYS_CHOWN, "a", 1234, 77), 0)
	if st := f.stat(unix.SYS_STAT, "a", f.data()); st.Uid != 1234 || st.Gid != 77 {
		t.Errorf("owner %d %d", st.Uid, st.Gid)
	}
	// A virtual user's new files are its own.
	f.th.Proc.SetUser(26, 27)
	f.th.Cred.EffectiveCaps = 1 << unix.CAP_DAC_OVERRIDE // the directory is another's
	fd := f.open("b", unix.O_CREAT|unix.O_WRONLY)
	if st := f.stat(unix.SYS_FSTAT, fd, f.data()); st.Uid != 26 || st.Gid != 27 {
		t.Errorf("owner %d %d", st.Uid, st.Gid)
	}
}

func TestNames(t *testing.T) {
	f := newFiles(t)
	want(t, "mkdir", f.call(unix.SYS_MKDIR, "d", 0o755), 0)
	want(t, "mkdir", f.call(unix.SYS_MKDIR, "d", 0o755), errno(unix.EEXIST))
	want(t, "symlink", f.call(unix.SYS_SYMLINK, "/target", "d/l"), 0)
	if got := f.readlink("d/l"); got != "/target" {
		t.Errorf("link to %q", got)
	}
	f.write("a", "")
	want(t, "link", f.call(unix.SYS_LINK, "a", "d/a"), 0)
	if st := f.stat(unix.SYS_STAT, "d/a", f.data()); st.Nlink != 2 || st.Ctim.Sec == inode.Epoch/1e9 {
		t.Errorf("%+v", st)
	}
	want(t, "rmdir", f.call(unix.SYS_RMDIR, "d"), errno(unix.ENOTEMPTY))
	want(t, "unlink", f.call(unix.SYS_UNLINK, "d/a"), 0)
	want(t, "unlink", f.call(unix.SYS_UNLINK, "d/l"), 0)
	want(t, "rmdir", f.call(unix.SYS_RMDIR, "d"), 0)
	want(t, "mknod", f.call(unix.SYS_MKNOD, "dev", unix.S_IFCHR|0o600, 0x103), errno(unix.EPERM))
}

func TestTmpfileGetsAName(t *testing.T) {
	f := newFiles(t)
	fd := f.open(".", unix.O_TMPFILE|unix.O_RDWR)
	ino := f.stat(unix.SYS_FSTAT, fd, f.data()).Ino
	if got := f.readlink(fmt.Sprintf("/proc/self/fd/%d", fd)); got != fmt.Sprintf("%s/#%d (deleted)", f.dir, ino) {
		t.Errorf("inode %d is shown as %s", ino, got)
	}
	r := f.call(unix.SYS_LINKAT, int(unix.AT_FDCWD), fmt.Sprintf("/proc/self/fd/%d", fd), int(unix.AT_FDCWD), "named",
		unix.AT_SYMLINK_FOLLOW)
	want(t, "linkat", r, 0)
	f.stat(unix.SYS_STAT, "named", f.data())
}

func BenchmarkSupervisorStat(b *testing.B) {
	d := kerneltest.NewDriver(b, Handle)
	_, th := d.Node.NewProcess(nil)
	th.M = kerneltest.NewHostMachine(b)
	file, err := os.Open("/etc/passwd")
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	fd := int(file.Fd())
	b.Run("fdStat", func(b *testing.B) {
		for b.Loop() {
			fdStat(th, fd)
		}
	})
	b.Run("fdPath", func(b *testing.B) {
		for b.Loop() {
			fdPath(th, fd)
		}
	})
	b.Run("pathStat", func(b *testing.B) {
		for b.Loop() {
			pathStat(th, atCwd, "/etc/passwd", true)
		}
	})
	b.Run("fstat", func(b *testing.B) {
		var st unix.Stat_t
		for b.Loop() {
			unix.Fstat(fd, &st)
		}
	})
}
