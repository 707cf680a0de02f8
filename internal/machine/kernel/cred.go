package kernel

import (
	"slices"

	"golang.org/x/sys/unix"
)

// IDs are a thread's user or group ids (credentials(7)).
type IDs struct{ Real, Effective, Saved, FS int }

// Cred is who a thread is; libc sees to it that all threads of a process are the same. To Linux it
// is always the node's own user: what it may do as somebody else is decided from this (MayUse).
type Cred struct {
	UID, GID IDs
	Groups   []int // replaced as a whole, never changed in place
	// Capabilities as 64-bit sets.
	Permitted, EffectiveCaps, Inheritable, Bounding, Ambient uint64
	// SECBIT_*, but for that of KeepCaps
	SecureBits int
	KeepCaps   bool // PR_SET_KEEPCAPS
}

// Bits of Cred.SecureBits (capabilities(7)).
const (
	SecNoRoot        = 1 << 0
	SecNoSetUIDFixup = 1 << 2
	SecKeepCaps      = 1 << 4
	SecKeepLocked    = 1 << 5
	SecNoAmbient     = 1 << 6
	SecAllBits       = 0x55
	SecAllLocks      = SecAllBits << 1
)

// AllCaps are the capabilities that root has.
const AllCaps = 1<<41 - 1

// SetUser makes p, with all its threads, belong to a user and a group altogether, as login does.
func (p *Process) SetUser(uid, gid int) {
	c := Cred{UID: IDs{uid, uid, uid, uid}, GID: IDs{gid, gid, gid, gid}, Groups: []int{gid}, Bounding: AllCaps}
	if uid == 0 {
		c.Permitted, c.EffectiveCaps = AllCaps, AllCaps
	}
	for _, t := range p.Threads {
		t.Cred = c
	}
}

// SetUIDs changes the user ids, and the capabilities with them (capabilities(7),
// "Effect of user ID changes on capabilities").
func (t *Thread) SetUIDs(ids IDs) {
	c := &t.Cred
	defer t.credChanged(*c)
	old := c.UID
	c.UID = ids
	if c.SecureBits&SecNoSetUIDFixup != 0 {
		return
	}
	root := func(i IDs) bool { return i.Real == 0 || i.Effective == 0 || i.Saved == 0 }
	if root(old) && !root(ids) {
		c.Ambient = 0
		if !c.KeepCaps {
			c.Permitted, c.EffectiveCaps = 0, 0
		}
	}
	switch {
	case old.Effective == 0 && ids.Effective != 0:
		c.EffectiveCaps = 0
	case old.Effective != 0 && ids.Effective == 0:
		c.EffectiveCaps = c.Permitted
	}
}

// FileCaps are the capabilities over files: with the user id for files goes or
// comes the right to use them.
const FileCaps = 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH | 1<<unix.CAP_FOWNER |
	1<<unix.CAP_FSETID | 1<<unix.CAP_LINUX_IMMUTABLE | 1<<unix.CAP_MKNOD | 1<<unix.CAP_MAC_OVERRIDE

// SetFSUID changes the user id for files alone.
func (t *Thread) SetFSUID(id int) {
	c := &t.Cred
	defer t.credChanged(*c)
	switch {
	case c.SecureBits&SecNoSetUIDFixup != 0:
	case c.UID.FS == 0 && id != 0:
		c.EffectiveCaps &^= FileCaps
	case c.UID.FS != 0 && id == 0:
		c.EffectiveCaps |= FileCaps & c.Permitted
	}
	c.UID.FS = id
}

// SetGIDs changes the group ids.
func (t *Thread) SetGIDs(ids IDs) {
	defer t.credChanged(t.Cred)
	t.Cred.GID = ids
}

// credChanged is called after a change of ids: who acts as another may have secrets in
// memory, and no parent is to signal him by his own choice (commit_creds).
func (t *Thread) credChanged(old Cred) {
	c := &t.Cred
	if c.UID.Effective != old.UID.Effective || c.UID.FS != old.UID.FS || c.GID.Effective != old.GID.Effective ||
		c.GID.FS != old.GID.FS {
		t.Proc.Dumpable, t.PDeathSig = 0, 0
	}
}

// Capable reports whether t has a capability (CAP_*).
func (t *Thread) Capable(capability int) bool { return t.Cred.EffectiveCaps>>capability&1 != 0 }

// Rights over a file, as in its mode.
const (
	MayExec  = 1
	MayWrite = 2
	MayRead  = 4
)

// MayUse reports whether who has these credentials has the rights over a file of this mode
// and owner (generic_permission in Linux).
func (c *Cred) MayUse(mode uint32, uid, gid int, rights uint32) bool {
	bits := mode
	if uid == c.UID.FS {
		bits >>= 6
	} else if c.FileGroup(gid) {
		bits >>= 3
	}
	able := func(capability int) bool { return c.EffectiveCaps>>capability&1 != 0 }
	switch {
	case rights&^bits == 0:
		return true
	case mode&unix.S_IFMT == unix.S_IFDIR:
		return able(unix.CAP_DAC_OVERRIDE) || rights&MayWrite == 0 && able(unix.CAP_DAC_READ_SEARCH)
	case rights == MayRead && able(unix.CAP_DAC_READ_SEARCH):
		return true
	}
	return (rights&MayExec == 0 || mode&0o111 != 0) && able(unix.CAP_DAC_OVERRIDE)
}

// FileGroup reports whether files of a group are of one of c's.
func (c *Cred) FileGroup(gid int) bool { return c.GID.FS == gid || slices.Contains(c.Groups, gid) }

// Owns reports whether c is a file's owner or stands for him.
func (c *Cred) Owns(uid int) bool {
	return uid == c.UID.FS || c.EffectiveCaps>>unix.CAP_FOWNER&1 != 0
}

// AsReal is who access(2) asks for.
func (c *Cred) AsReal() Cred {
	r := *c
	r.UID.FS, r.GID.FS = c.UID.Real, c.GID.Real
	if c.SecureBits&SecNoSetUIDFixup == 0 {
		if r.EffectiveCaps = c.Permitted; c.UID.Real != 0 {
			r.EffectiveCaps = 0
		}
	}
	return r
}

// IsUser reports whether c is what SetUser makes of an ordinary user.
func (c *Cred) IsUser(uid, gid int) bool {
	return c.UID == IDs{uid, uid, uid, uid} && c.GID == IDs{gid, gid, gid, gid} && len(c.Groups) == 1 &&
		c.Groups[0] == gid && c.EffectiveCaps|c.Permitted == 0
}

// ExecCred changes the credentials as executing a program of this mode and owner does, and reports
// whether it must not trust who executes it (AT_SECURE). A process that could not read the program
// does not see its memory either.
func (t *Thread) ExecCred(mode uint32, uid, gid int) (secure bool) {
	old, c := t.Cred, &t.Cred
	readable := c.MayUse(mode, uid, gid, MayRead)
	if !t.NoNewPrivs {
		if mode&unix.S_ISUID != 0 {
			c.UID.Effective = uid
		}
		if mode&(unix.S_ISGID|unix.S_IXGRP) == unix.S_ISGID|unix.S_IXGRP {
			c.GID.Effective = gid
		}
	}
	gained := c.UID.Effective != old.UID.Effective || c.GID.Effective != old.GID.Effective &&
		!old.FileGroup(c.GID.Effective)
	c.Permitted, c.EffectiveCaps = 0, 0
	root := c.SecureBits&SecNoRoot == 0 && (c.UID.Real == 0 || c.UID.Effective == 0)
	if root {
		c.Permitted = old.Inheritable | c.Bounding
	}
	if t.NoNewPrivs && (gained || c.Permitted&^old.Permitted != 0) {
		c.UID.Effective, c.GID.Effective = c.UID.Real, c.GID.Real
		c.Permitted &= old.Permitted
	}
	c.UID.Saved, c.UID.FS = c.UID.Effective, c.UID.Effective
	c.GID.Saved, c.GID.FS = c.GID.Effective, c.GID.Effective
	if gained {
		c.Ambient = 0
	}
	c.Permitted |= c.Ambient
	if c.EffectiveCaps = c.Ambient; root && c.UID.Effective == 0 {
		c.EffectiveCaps = c.Permitted
	}
	if !readable || c.UID.Effective != c.UID.Real || c.GID.Effective != c.GID.Real {
		t.Proc.Dumpable = 0
	}
	t.credChanged(old)
	secure = gained || c.UID.Effective != old.UID.Real || c.GID.Effective != old.GID.Real || c.UID.Real != 0 &&
		(c.UID.Effective == 0 && root || c.Permitted&^c.Ambient != 0)
	if secure {
		t.PDeathSig = 0
	}
	return secure
}

// MayTrace reports whether t may look into u's process: its memory, descriptors and environment
// (ptrace_may_access in Linux). real: t's real ids count, not those for files.
func (t *Thread) MayTrace(u *Thread, real bool) bool {
	if t.Proc == u.Proc || t.Capable(unix.CAP_SYS_PTRACE) {
		return true
	}
	c, caps := &t.Cred, t.Cred.EffectiveCaps
	uid, gid := c.UID.FS, c.GID.FS
	if real {
		uid, gid, caps = c.UID.Real, c.GID.Real, c.Permitted
	}
	same := func(i IDs, id int) bool { return i.Real == id && i.Effective == id && i.Saved == id }
	return same(u.Cred.UID, uid) && same(u.Cred.GID, gid) && u.Proc.Dumpable == 1 && u.Cred.Permitted&^caps == 0
}
