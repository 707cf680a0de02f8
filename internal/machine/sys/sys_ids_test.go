package sys

import (
	"testing"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// none is an argument that leaves an id alone.
const none = 0xffffffff

func TestSetIDs(t *testing.T) {
	type ids = kernel.IDs
	all := func(id int) ids { return ids{Real: id, Effective: id, Saved: id, FS: id} }
	suid := ids{Real: 10, Effective: 20, Saved: 30, FS: 20}
	for _, c := range []struct {
		name string
		nr   int
		args []uint64
		root bool
		from ids
		e    kernel.Errno
		to   ids
	}{
		{"root setuid", unix.SYS_SETUID, []uint64{5}, true, all(0), 0, all(5)},
		{"setuid to saved", unix.SYS_SETUID, []uint64{30}, false, suid, 0,
			ids{Real: 10, Effective: 30, Saved: 30, FS: 30}},
		{"setuid to effective", unix.SYS_SETUID, []uint64{20}, false, suid, unix.EPERM, suid},
		{"setuid -1", unix.SYS_SETUID, []uint64{none}, true, all(0), unix.EINVAL, all(0)},
		{"swap", unix.SYS_SETREUID, []uint64{20, 10}, false, suid, 0, ids{Real: 20, Effective: 10, Saved: 10, FS: 10}},
		{"real to saved", unix.SYS_SETREUID, []uint64{30, none}, false, suid, unix.EPERM, suid},
		{"effective to saved", unix.SYS_SETREUID, []uint64{none, 30}, false, suid, 0,
			ids{Real: 10, Effective: 30, Saved: 30, FS: 30}},
		{"effective to real", unix.SYS_SETREUID, []uint64{none, 10}, false, suid, 0,
			ids{Real: 10, Effective: 10, Saved: 30, FS: 10}},
		{"all", unix.SYS_SETRESUID, []uint64{30, 10, 20}, false, suid, 0,
			ids{Real: 30, Effective: 10, Saved: 20, FS: 10}},
		{"to another", unix.SYS_SETRESUID, []uint64{none, none, 40}, false, suid, unix.EPERM, suid},
		{"root to any", unix.SYS_SETRESUID, []uint64{1, 2, 3}, true, all(0), 0,
			ids{Real: 1, Effective: 2, Saved: 3, FS: 2}},
	} {
		d, a, m := newProcess(t)
		if !c.root {
			a.Proc.SetUser(1, 1)
		}
		a.Cred.UID = c.from
		want(t, c.name, d.Must(a, c.nr, c.args...), errno(c.e))
		if got := a.Cred.UID; got != c.to {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.to)
		}
		want(t, "geteuid", d.Must(a, unix.SYS_GETEUID), int64(c.to.Effective))
		want(t, "getuid", d.Must(a, unix.SYS_GETUID), int64(c.to.Real))
		want(t, "getresuid", d.Must(a, unix.SYS_GETRESUID, bufAt, bufAt+4, bufAt+8), 0)
		want(t, "saved", int64(le.Uint32(m.Peek(bufAt+8, 4))), int64(c.to.Saved))
	}
}

func TestDroppingRootDropsCapabilities(t *testing.T) {
	d, a, m := newProcess(t)
	caps := func() uint64 {
		m.Poke(bufAt, le.AppendUint32(le.AppendUint32(nil, unix.LINUX_CAPABILITY_VERSION_3), 0))
		want(t, "capget", d.Must(a, unix.SYS_CAPGET, bufAt, bufAt+8), 0)
		b := m.Peek(bufAt+8, 24)
		return uint64(le.Uint32(b)) | uint64(le.Uint32(b[12:]))<<32
	}
	if caps() != kernel.AllCaps {
		t.Errorf("root has %#x", caps())
	}
	want(t, "seteuid", d.Must(a, unix.SYS_SETRESUID, none, 7, none), 0)
	want(t, "while away", int64(caps()), 0)
	want(t, "back", d.Must(a, unix.SYS_SETRESUID, none, 0, none), 0)
	if caps() != kernel.AllCaps {
		t.Errorf("after its return root has %#x", caps())
	}
	want(t, "setuid", d.Must(a, unix.SYS_SETUID, 7), 0)
	want(t, "dropped", int64(caps()), 0)
	want(t, "no way back", d.Must(a, unix.SYS_SETUID, 0), errno(unix.EPERM))
	want(t, "setgroups", d.Must(a, unix.SYS_SETGROUPS, 0, 0), errno(unix.EPERM))
	m.Poke(bufAt+8, le.AppendUint32(nil, 1))
	want(t, "capset", d.Must(a, unix.SYS_CAPSET, bufAt, bufAt+8), errno(unix.EPERM))
	m.Poke(bufAt, le.AppendUint32(nil, 1))
	want(t, "version", d.Must(a, unix.SYS_CAPGET, bufAt, bufAt+8), errno(unix.EINVAL))
	want(t, "known version", int64(le.Uint32(m.Peek(bufAt, 4))), unix.LINUX_CAPABILITY_VERSION_3)
}

func TestGroups(t *testing.T) {
	d, a, m := newProcess(t)
	m.Poke(bufAt, le.AppendUint32(le.AppendUint32(nil, 5), 9))
	want(t, "setgroups", d.Must(a, unix.SYS_SETGROUPS, 2, bufAt), 0)
	want(t, "count", d.Must(a, unix.SYS_GETGROUPS, 0, 0), 2)
	want(t, "too small", d.Must(a, unix.SYS_GETGROUPS, 1, bufAt), errno(unix.EINVAL))
	want(t, "getgroups", d.Must(a, unix.SYS_GETGROUPS, 5, bufAt+64), 2)
	want(t, "second", int64(le.Uint32(m.Peek(bufAt+68, 4))), 9)
	want(t, "setfsuid", d.Must(a, unix.SYS_SETFSUID, 4), 0)
	want(t, "setfsuid returns the old one", d.Must(a, unix.SYS_SETFSUID, none), 4)
}
