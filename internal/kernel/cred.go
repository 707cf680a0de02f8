package kernel

import "golang.org/x/sys/unix"

// IDs are a process's user or group ids (credentials(7)).
type IDs struct{ Real, Effective, Saved, FS int }

// Cred is who a process is. It is virtual: what the program is really allowed
// in the node's file tree is decided by the node's own user.
type Cred struct {
	UID, GID IDs
	Groups   []int // replaced as a whole, never changed in place
	// Capabilities as 64-bit sets.
	Permitted, EffectiveCaps, Inheritable uint64
}

// AllCaps are the capabilities that root has.
const AllCaps = 1<<41 - 1

// SetUser makes p belong to a user and a group altogether, as login does.
func (p *Process) SetUser(uid, gid int) {
	p.UID, p.GID = uid, gid
	p.Cred = Cred{UID: IDs{uid, uid, uid, uid}, GID: IDs{gid, gid, gid, gid}, Groups: []int{gid}}
	if uid == 0 {
		p.Cred.Permitted, p.Cred.EffectiveCaps = AllCaps, AllCaps
	}
}

// SetUIDs changes the user ids, and the capabilities with them (capabilities(7),
// "Effect of user ID changes on capabilities").
func (p *Process) SetUIDs(ids IDs) {
	c := &p.Cred
	defer p.credChanged(*c)
	old := c.UID
	c.UID, p.UID = ids, ids.Effective
	root := func(i IDs) bool { return i.Real == 0 || i.Effective == 0 || i.Saved == 0 }
	if root(old) && !root(ids) && !p.KeepCaps {
		c.Permitted, c.EffectiveCaps = 0, 0
	}
	switch {
	case old.Effective == 0 && ids.Effective != 0:
		c.EffectiveCaps = 0
	case old.Effective != 0 && ids.Effective == 0:
		c.EffectiveCaps = c.Permitted
	}
}

// fileCaps are the capabilities over files: with the user id for files goes or
// comes the right to use them.
const fileCaps = 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH | 1<<unix.CAP_FOWNER |
	1<<unix.CAP_FSETID | 1<<unix.CAP_LINUX_IMMUTABLE | 1<<unix.CAP_MKNOD | 1<<unix.CAP_MAC_OVERRIDE

// SetFSUID changes the user id for files alone.
func (p *Process) SetFSUID(id int) {
	c := &p.Cred
	defer p.credChanged(*c)
	switch {
	case c.UID.FS == 0 && id != 0:
		c.EffectiveCaps &^= fileCaps
	case c.UID.FS != 0 && id == 0:
		c.EffectiveCaps |= fileCaps & c.Permitted
	}
	c.UID.FS = id
}

// SetGIDs changes the group ids.
func (p *Process) SetGIDs(ids IDs) {
	defer p.credChanged(p.Cred)
	p.Cred.GID, p.GID = ids, ids.Effective
}

// credChanged is called after a change of ids: who acts as another may have secrets in
// memory, and no parent is to signal him by his own choice (commit_creds).
func (p *Process) credChanged(old Cred) {
	c := &p.Cred
	if c.UID.Effective != old.UID.Effective || c.UID.FS != old.UID.FS || c.GID.Effective != old.GID.Effective || c.GID.FS != old.GID.FS {
		p.Dumpable, p.PDeathSig = 0, 0
	}
}

// Capable reports whether p has a capability (CAP_*).
func (p *Process) Capable(capability int) bool { return p.Cred.EffectiveCaps>>capability&1 != 0 }
