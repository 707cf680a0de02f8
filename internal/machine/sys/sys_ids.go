package sys

import (
	"slices"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// peer finds the process of the calls on process groups and sessions; 0 is the
// caller.
func peer(t *kernel.Thread, pid int) *kernel.Process {
	switch pid {
	case 0:
		return t.Proc
	case t.Node().Init.TID:
		return t.Node().Init.Proc
	}
	return processByID(t, pid)
}

// peerThread finds the thread that a call on one names; 0 is the caller.
func peerThread(t *kernel.Thread, tid int) *kernel.Thread {
	switch tid {
	case 0:
		return t
	case t.Node().Init.TID:
		return t.Node().Init
	}
	return t.Node().Task(tid)
}

func sysGetpgid(t *kernel.Thread, a Args) kernel.Result {
	if p := peer(t, int(int32(a[0]))); p != nil {
		return kernel.Ret(int64(p.PGID))
	}
	return kernel.Fail(unix.ESRCH)
}

func sysGetsid(t *kernel.Thread, a Args) kernel.Result {
	if p := peer(t, int(int32(a[0]))); p != nil {
		return kernel.Ret(int64(p.SID))
	}
	return kernel.Fail(unix.ESRCH)
}

func sysSetpgid(t *kernel.Thread, a Args) kernel.Result {
	pid, pgid := int(int32(a[0])), int(int32(a[1]))
	if pgid < 0 || pgid == 0 && pid < 0 {
		return kernel.Fail(unix.EINVAL)
	}
	p := t.Proc
	if pid != 0 {
		p = t.Node().Procs[pid]
	}
	if p == nil && t.Node().Thread(pid) != nil { // it leads no process
		return kernel.Fail(unix.EINVAL)
	}
	if p == nil || p != t.Proc && p.Parent != t.Proc {
		return kernel.Fail(unix.ESRCH)
	}
	if pgid == 0 {
		pgid = p.PID
	}
	if e := mayJoin(t, p, pgid); e != 0 {
		return kernel.Fail(e)
	}
	p.PGID = pgid
	return kernel.Ret(0)
}

// mayJoin says whether t may put p into a process group (setpgid(2)).
func mayJoin(t *kernel.Thread, p *kernel.Process, pgid int) kernel.Errno {
	switch {
	case p != t.Proc && p.SID != t.Proc.SID:
		return unix.EPERM
	case p != t.Proc && p.HasExeced:
		return unix.EACCES
	case p.SID == p.PID: // a session's leader
		return unix.EPERM
	case pgid == p.PID:
		return 0
	}
	for _, m := range t.Node().Group(pgid) {
		if m.SID == t.Proc.SID {
			return 0
		}
	}
	return unix.EPERM
}

func sysSetsid(t *kernel.Thread, a Args) kernel.Result {
	p := t.Proc
	if p.SID == p.PID || len(t.Node().Group(p.PID)) > 0 {
		return kernel.Fail(unix.EPERM)
	}
	p.SID, p.PGID = p.PID, p.PID
	return kernel.Ret(int64(p.PID))
}

// keep is the argument that leaves an id as it is.
const keep = -1

// idArg is an id as the calls take it.
func idArg(a uint64) int { return int(int32(a)) }

// setIDs is what one of the set*id calls does to one kind of ids. able: the
// caller may take any id.
type setIDs func(old kernel.IDs, a Args, able bool) (kernel.IDs, kernel.Errno)

func setUIDs(t *kernel.Thread, a Args, f setIDs) kernel.Result {
	ids, e := f(t.Cred.UID, a, t.Capable(unix.CAP_SETUID))
	if e == 0 {
		t.SetUIDs(ids)
	}
	return kernel.RetOr(0, e)
}

func setGIDs(t *kernel.Thread, a Args, f setIDs) kernel.Result {
	ids, e := f(t.Cred.GID, a, t.Capable(unix.CAP_SETGID))
	if e == 0 {
		t.SetGIDs(ids)
	}
	return kernel.RetOr(0, e)
}

func sysSetuid(t *kernel.Thread, a Args) kernel.Result    { return setUIDs(t, a, setID) }
func sysSetgid(t *kernel.Thread, a Args) kernel.Result    { return setGIDs(t, a, setID) }
func sysSetreuid(t *kernel.Thread, a Args) kernel.Result  { return setUIDs(t, a, setREID) }
func sysSetregid(t *kernel.Thread, a Args) kernel.Result  { return setGIDs(t, a, setREID) }
func sysSetresuid(t *kernel.Thread, a Args) kernel.Result { return setUIDs(t, a, setRESID) }
func sysSetresgid(t *kernel.Thread, a Args) kernel.Result { return setGIDs(t, a, setRESID) }

func setID(old kernel.IDs, a Args, able bool) (kernel.IDs, kernel.Errno) {
	id := idArg(a[0])
	switch {
	case id == keep:
		return old, unix.EINVAL
	case able:
		return kernel.IDs{Real: id, Effective: id, Saved: id, FS: id}, 0
	case id == old.Real || id == old.Saved:
		old.Effective, old.FS = id, id
		return old, 0
	}
	return old, unix.EPERM
}

func setREID(old kernel.IDs, a Args, able bool) (kernel.IDs, kernel.Errno) {
	r, e := idArg(a[0]), idArg(a[1])
	ids := old
	if r != keep {
		if ids.Real = r; !able && r != old.Real && r != old.Effective {
			return old, unix.EPERM
		}
	}
	if e != keep {
		if ids.Effective = e; !able && e != old.Real && e != old.Effective && e != old.Saved {
			return old, unix.EPERM
		}
	}
	if r != keep || e != keep && e != old.Real {
		ids.Saved = ids.Effective
	}
	ids.FS = ids.Effective
	return ids, 0
}

func setRESID(old kernel.IDs, a Args, able bool) (kernel.IDs, kernel.Errno) {
	ids := old
	for i, p := range []*int{&ids.Real, &ids.Effective, &ids.Saved} {
		id := idArg(a[i])
		if id == keep {
			continue
		}
		if *p = id; !able && id != old.Real && id != old.Effective && id != old.Saved {
			return old, unix.EPERM
		}
	}
	if idArg(a[1]) == keep && ids == old {
		return old, 0 // even the id for files stays
	}
	ids.FS = ids.Effective
	return ids, 0
}

// sysSetfsuid returns the old id whether or not it could be changed.
func sysSetfsuid(t *kernel.Thread, a Args) kernel.Result {
	ids, id := t.Cred.UID, idArg(a[0])
	if maySetFS(ids, id, t.Capable(unix.CAP_SETUID)) {
		t.SetFSUID(id)
	}
	return kernel.Ret(int64(ids.FS))
}

func sysSetfsgid(t *kernel.Thread, a Args) kernel.Result {
	ids, id := t.Cred.GID, idArg(a[0])
	if maySetFS(ids, id, t.Capable(unix.CAP_SETGID)) {
		ids := t.Cred.GID
		ids.FS = id
		t.SetGIDs(ids)
	}
	return kernel.Ret(int64(ids.FS))
}

func maySetFS(ids kernel.IDs, id int, able bool) bool {
	return id != keep && (able || id == ids.Real || id == ids.Effective || id == ids.Saved || id == ids.FS)
}

func storeIDs(t *kernel.Thread, a Args, ids kernel.IDs) kernel.Result {
	for i, id := range []int{ids.Real, ids.Effective, ids.Saved} {
		if e := writeU32(t, a[i], uint32(id)); e != 0 {
			return kernel.Fail(e)
		}
	}
	return kernel.Ret(0)
}

func sysGetgroups(t *kernel.Thread, a Args) kernel.Result {
	g := t.Cred.Groups
	n := int(int32(a[0]))
	if n < 0 || n > 0 && n < len(g) {
		return kernel.Fail(unix.EINVAL)
	}
	if n > 0 {
		var b []byte
		for _, id := range g {
			b = le.AppendUint32(b, uint32(id))
		}
		if e := t.M.WriteMem(a[1], b); e != 0 {
			return kernel.Fail(e)
		}
	}
	return kernel.Ret(int64(len(g)))
}

// maxGroups is NGROUPS_MAX.
const maxGroups = 65536

func sysSetgroups(t *kernel.Thread, a Args) kernel.Result {
	n := int(uint32(a[0]))
	if !t.Capable(unix.CAP_SETGID) {
		return kernel.Fail(unix.EPERM)
	}
	if n > maxGroups {
		return kernel.Fail(unix.EINVAL)
	}
	b, e := readBytes(t, a[1], n*4)
	if e != 0 {
		return kernel.Fail(e)
	}
	g := make([]int, n)
	for i := range g {
		if g[i] = int(int32(le.Uint32(b[i*4:]))); g[i] == -1 {
			return kernel.Fail(unix.EINVAL)
		}
	}
	slices.Sort(g)
	t.Cred.Groups = g
	return kernel.Ret(0)
}

// capWords returns how many 32-bit words a version of capget's structures has,
// 0 for an unknown one.
func capWords(version uint32) int {
	switch version {
	case unix.LINUX_CAPABILITY_VERSION_1:
		return 1
	case unix.LINUX_CAPABILITY_VERSION_2, unix.LINUX_CAPABILITY_VERSION_3:
		return 2
	}
	return 0
}

// capHeader reads the header of capget and capset; with an unknown version it
// writes the one that is known.
func capHeader(t *kernel.Thread, addr uint64) (words int, x *kernel.Thread, e kernel.Errno) {
	b, e := readBytes(t, addr, 8)
	if e != 0 {
		return 0, nil, e
	}
	if words = capWords(le.Uint32(b)); words == 0 {
		if e := writeU32(t, addr, unix.LINUX_CAPABILITY_VERSION_3); e != 0 {
			return 0, nil, e
		}
		return 0, nil, unix.EINVAL
	}
	pid := int(int32(le.Uint32(b[4:])))
	if pid < 0 {
		return words, nil, unix.EINVAL
	}
	if x = peerThread(t, pid); x == nil {
		return words, nil, unix.ESRCH
	}
	return words, x, 0
}

func sysCapget(t *kernel.Thread, a Args) kernel.Result {
	words, x, e := capHeader(t, a[0])
	if a[1] == 0 && (e == 0 || e == unix.EINVAL) { // asks for the version alone
		return kernel.Ret(0)
	}
	if e != 0 {
		return kernel.Fail(e)
	}
	var b []byte
	for i := range words {
		for _, set := range []uint64{x.Cred.EffectiveCaps, x.Cred.Permitted, x.Cred.Inheritable} {
			b = le.AppendUint32(b, uint32(set>>(32*i)))
		}
	}
	return kernel.RetOr(0, t.M.WriteMem(a[1], b))
}

func sysCapset(t *kernel.Thread, a Args) kernel.Result {
	words, x, e := capHeader(t, a[0])
	if e != 0 {
		return kernel.Fail(e)
	}
	if x != t {
		return kernel.Fail(unix.EPERM)
	}
	b, e := readBytes(t, a[1], words*12)
	if e != 0 {
		return kernel.Fail(e)
	}
	var sets [3]uint64 // effective, permitted, inheritable
	for i := range words {
		for j := range sets {
			sets[j] |= uint64(le.Uint32(b[i*12+j*4:])) << (32 * i)
		}
	}
	c := &t.Cred
	for i := range sets {
		sets[i] &= kernel.AllCaps
	}
	mayInherit := c.Inheritable | c.Permitted
	if t.Capable(unix.CAP_SETPCAP) {
		mayInherit = c.Inheritable | c.Bounding
	}
	if sets[1]&^c.Permitted != 0 || sets[0]&^sets[1] != 0 || sets[2]&^(mayInherit&(c.Inheritable|c.Bounding)) != 0 {
		return kernel.Fail(unix.EPERM)
	}
	c.EffectiveCaps, c.Permitted, c.Inheritable = sets[0], sets[1], sets[2]
	c.Ambient &= c.Permitted & c.Inheritable
	return kernel.Ret(0)
}
