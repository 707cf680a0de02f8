// Package ipc is System V semaphores, message queues and shared memory (sysvipc(7)).
//
// Read next: sem.go, msgqueue.go, shm.go.
package ipc

import (
	"sort"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// Perm is who may use a System V object (struct ipc64_perm).
type Perm struct {
	ID, Key              int
	UID, GID, CUID, CGID int // owner and creator
	Mode                 uint32
	Changed              int64 // ns of CLOCK_REALTIME
}

// Flags of the get calls and of operations (sysvipc(7)).
const (
	Creat   = 0o1000
	Excl    = 0o2000
	NoWait  = 0o4000
	SemUndo = 0x1000
)

// Rights to ask for.
const (
	Read  = 0o444
	Write = 0o222
)

// Allows reports whether t has the rights (Read, Write, or the mode that
// it passed to a get call).
func (p *Perm) Allows(t *kernel.Thread, rights uint32) bool {
	c := &t.Cred
	asked := rights>>6 | rights>>3 | rights
	granted := p.Mode
	if c.UID.Effective == p.UID || c.UID.Effective == p.CUID {
		granted >>= 6
	} else if inGroup(c, p.GID) || inGroup(c, p.CGID) {
		granted >>= 3
	}
	return asked&^granted&7 == 0 || t.Capable(unix.CAP_IPC_OWNER)
}

// Owned reports whether t may change or remove the object.
func (p *Perm) Owned(t *kernel.Thread) bool {
	uid := t.Cred.UID.Effective
	return uid == p.UID || uid == p.CUID || t.Capable(unix.CAP_SYS_ADMIN)
}

func inGroup(c *kernel.Cred, gid int) bool {
	if c.GID.Effective == gid {
		return true
	}
	for _, g := range c.Groups {
		if g == gid {
			return true
		}
	}
	return false
}

// object is what an ipcTable holds.
type object interface{ perm() *Perm }

// table are the objects of one kind. Ids are given as Linux gives them: the
// lowest free index and, above it, a number that grows when indices are reused, unless a
// setting asks for an id.
type table[T object] struct {
	objects map[int]T // by index
	seq     int
	last    int // 1 more than the index given last
	low     int // no index below is free
	keys    map[int]T
}

const (
	indexBits    = 15
	ipcIndexMask = 1<<indexBits - 1
)

// add enters an object and gives it its id: what next says, once, if it is set.
func (t *table[T]) add(n *kernel.Node, next *kernel.Setting, o T) {
	i, seq := t.low, -1
	if id := int(next.Of(n)); id >= 0 {
		i, seq = id&ipcIndexMask, id>>indexBits
		next.Set(n, -1)
	}
	for _, used := t.objects[i]; used; _, used = t.objects[i] {
		i++
	}
	if t.objects == nil {
		t.objects, t.keys = map[int]T{}, map[int]T{}
	}
	if i == t.low {
		t.low++
	}
	if key := o.perm().Key; key != 0 {
		t.keys[key] = o
	}
	if seq < 0 {
		if i < t.last {
			t.seq++
		}
		t.last, seq = i+1, t.seq
	}
	t.objects[i] = o
	o.perm().ID = seq<<indexBits | i
}

func (t *table[T]) get(id int) (o T, ok bool) {
	o, ok = t.objects[id&ipcIndexMask]
	if !ok || o.perm().ID != id {
		var none T
		return none, false
	}
	return o, true
}

// At returns the object of an index, which may be part of an id.
func (t *table[T]) At(index int) (o T, ok bool) {
	o, ok = t.objects[index&ipcIndexMask]
	return o, ok
}

// Last is the highest index in use; 0 when there is none.
func (t *table[T]) Last() (last int) {
	for i := range t.objects {
		last = max(last, i)
	}
	return last
}

func (t *table[T]) remove(o T) {
	i := o.perm().ID & ipcIndexMask
	t.low = min(t.low, i)
	delete(t.objects, i)
	t.forgetKey(o)
}

// forgetKey makes an object one that has no key.
func (t *table[T]) forgetKey(o T) {
	delete(t.keys, o.perm().Key)
	o.perm().Key = 0
}

// All returns the objects by index.
func (t *table[T]) All() []T {
	var index []int
	for i := range t.objects {
		index = append(index, i)
	}
	sort.Ints(index)
	var s []T
	for _, i := range index {
		s = append(s, t.objects[i])
	}
	return s
}

// findObject finds the object that a get call names, or reports that it is to be made.
func (t *table[T]) findObject(th *kernel.Thread, key int, flags uint32) (o T, make bool, e kernel.Errno) {
	if key == 0 { // IPC_PRIVATE
		return o, true, 0
	}
	if x, ok := t.keys[key]; ok {
		switch {
		case flags&(Creat|Excl) == Creat|Excl:
			return o, false, unix.EEXIST
		case !x.perm().Allows(th, flags&0o777):
			return o, false, unix.EACCES
		default:
			return x, false, 0
		}
	}
	if flags&Creat == 0 {
		return o, false, unix.ENOENT
	}
	return o, true, 0
}

// NewPerm is that of an object made by t.
func NewPerm(t *kernel.Thread, key int, flags uint32) Perm {
	u, g := t.Cred.UID.Effective, t.Cred.GID.Effective
	return Perm{Key: key, UID: u, GID: g, CUID: u, CGID: g, Mode: flags & 0o777, Changed: t.Node().RealNow()}
}

// Touch notes that the object was changed now.
func (p *Perm) Touch(n *kernel.Node) { p.Changed = n.RealNow() }
