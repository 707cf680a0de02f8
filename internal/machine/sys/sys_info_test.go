package sys

import (
	"bytes"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/kerneltest"

	"golang.org/x/sys/unix"
)

func TestUname(t *testing.T) {
	d, a, m := newProcess(t)
	want(t, "uname", d.Must(a, unix.SYS_UNAME, bufAt), 0)
	for i, expected := range []string{"Linux", "n0", kernel.OSRelease, kernel.OSVersion, "x86_64", "(none)"} {
		if got := strings.TrimRight(string(m.Peek(bufAt+uint64(i)*65, 65)), "\x00"); got != expected {
			t.Errorf("field %d: %q, want %q", i, got, expected)
		}
	}
}

func TestSysinfo(t *testing.T) {
	d, a, m := newProcess(t)
	d.Thread(a)
	d.Node.MonoBase, d.Node.Now = 90e9, 9e9
	want(t, "sysinfo", d.Must(a, unix.SYS_SYSINFO, bufAt), 0)
	b := m.Peek(bufAt, 112)
	want(t, "uptime", int64(le.Uint64(b)), 99)
	want(t, "memory", int64(le.Uint64(b[32:])), kernel.MemTotal)
	want(t, "threads", int64(le.Uint16(b[80:])), 2)
	want(t, "unit", int64(le.Uint32(b[104:])), 1)
}

func TestRlimits(t *testing.T) {
	d, a, m := newProcess(t)
	get := func(r uint64) (soft, hard int64) {
		want(t, "getrlimit", d.Must(a, unix.SYS_GETRLIMIT, r, bufAt), 0)
		v := getTimes(m, bufAt, 2)
		return v[0], v[1]
	}
	set := func(r, soft, hard uint64) int64 {
		putTimes(m, bufAt, soft, hard)
		return d.Must(a, unix.SYS_SETRLIMIT, r, bufAt)
	}
	soft, hard := get(unix.RLIMIT_NOFILE)
	want(t, "files", soft, kernel.SoftFiles)
	want(t, "files", hard, kernel.MaxFiles)
	soft, hard = get(unix.RLIMIT_STACK)
	want(t, "stack", soft, 8<<20)
	want(t, "stack", hard, -1)
	soft, _ = get(unix.RLIMIT_AS)
	want(t, "memory", soft, -1)
	want(t, "no such limit", d.Must(a, unix.SYS_GETRLIMIT, 16, bufAt), errno(unix.EINVAL))
	want(t, "soft over hard", set(unix.RLIMIT_CORE, 2, 1), errno(unix.EINVAL))
	want(t, "too many files", set(unix.RLIMIT_NOFILE, 1, kernel.MaxFiles+1), errno(unix.EPERM))

	var native []uint64
	m.Answer[unix.SYS_PRLIMIT64] = func(args []uint64) int64 {
		if args[3] != 0 {
			m.WriteMem(args[3], le.AppendUint64(le.AppendUint64(nil, 4096), 4096))
		} else {
			native = []uint64{le.Uint64(m.Peek(args[2], 8)), le.Uint64(m.Peek(args[2]+8, 8))}
		}
		return 0
	}
	want(t, "fewer files", set(unix.RLIMIT_NOFILE, 100, 200), 0)
	if len(native) != 2 || native[0] != 100 || native[1] != 4096 {
		t.Errorf("Linux was told %d", native)
	}
	a.Proc.SetUser(1000, 1000)
	want(t, "raise", set(unix.RLIMIT_NOFILE, 100, 300), errno(unix.EPERM))
	want(t, "raise the soft one", set(unix.RLIMIT_NOFILE, 200, 200), 0)

	b, _ := d.Process(nil)
	want(t, "other user's", d.Must(a, unix.SYS_PRLIMIT64, uint64(b.TID), 0, 0, bufAt), errno(unix.EPERM))
	putTimes(b.M.(*kerneltest.Tracee), bufAt, 5, 6)
	want(t, "prlimit", d.Must(b, unix.SYS_PRLIMIT64, uint64(a.TID), unix.RLIMIT_CORE, bufAt, bufAt+16), 0)
	soft, hard = get(unix.RLIMIT_CORE)
	want(t, "soft", soft, 5)
	want(t, "hard", hard, 6)
}

func TestGetrandom(t *testing.T) {
	d, a, m := newProcess(t)
	want(t, "getrandom", d.Must(a, unix.SYS_GETRANDOM, bufAt, 100000, 0), 100000)
	other := kernel.NewRand(1)
	expected := make([]byte, 1<<16)
	other.Fill(expected)
	if !bytes.Equal(m.Peek(bufAt, 1<<16), expected) {
		t.Error("not the node's own bytes")
	}
	want(t, "bad flag", d.Must(a, unix.SYS_GETRANDOM, bufAt, 1, 8), errno(unix.EINVAL))
	want(t, "both", d.Must(a, unix.SYS_GETRANDOM, bufAt, 1, unix.GRND_RANDOM|unix.GRND_INSECURE), errno(unix.EINVAL))
	want(t, "fault", d.Must(a, unix.SYS_GETRANDOM, bad, 1, 0), errno(unix.EFAULT))
}
