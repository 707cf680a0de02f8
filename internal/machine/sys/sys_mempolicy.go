package sys

import (
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// Memory policies are judged as Linux does (mm/mempolicy.c) on a machine of one memory node, and
// those of threads remembered.

const (
	mpolDefault    = 0
	mpolPreferred  = 1
	mpolBind       = 2
	mpolInterleave = 3
	mpolLocal      = 4
	mpolKinds      = 7

	mpolStatic   = 1 << 15
	mpolRelative = 1 << 14
	mpolBalance  = 1 << 13
	mpolFlags    = mpolStatic | mpolRelative | mpolBalance

	mpolOfNode  = 1 // what get_mempolicy is asked
	mpolOfAddr  = 2
	mpolAllowed = 4

	mpolMoveAll = 4
	mbindFlags  = 7
)

// readPolicy reads and judges a mode and a set of nodes.
func readPolicy(t *kernel.Thread, mode, mask, maxnode uint64) (p kernel.MemoryPolicy, e kernel.Errno) {
	flags, kind := mode&mpolFlags, uint32(mode)&^mpolFlags
	if kind >= mpolKinds || flags&mpolStatic != 0 && flags&mpolRelative != 0 || flags&mpolBalance != 0 &&
		kind != mpolBind {
		return p, unix.EINVAL
	}
	nodes, e := readNodes(t, mask, maxnode)
	if e != 0 {
		return p, e
	}
	switch {
	case kind == mpolDefault || kind == mpolLocal:
		if nodes != 0 || kind == mpolLocal && flags&(mpolStatic|mpolRelative) != 0 {
			return p, unix.EINVAL
		}
	case kind == mpolPreferred && nodes == 0:
		if flags&(mpolStatic|mpolRelative) != 0 {
			return p, unix.EINVAL
		}
		kind = mpolLocal
	case nodes&1 == 0: // none of the machine's
		return p, unix.EINVAL
	}
	if kind == mpolDefault {
		return p, 0
	}
	return kernel.MemoryPolicy{Mode: int(uint64(kind) | flags), Nodes: nodes & 1}, 0
}

// readNodes reads a set of nodes; those that no machine has make it bad.
func readNodes(t *kernel.Thread, mask, maxnode uint64) (nodes uint64, e kernel.Errno) {
	const most = 1024 // nodes that Linux knows of
	maxnode--
	switch {
	case maxnode == 0 || mask == 0:
		return 0, 0
	case maxnode > 4096*8:
		return 0, unix.EINVAL
	}
	for i := uint64(0); i < maxnode; i += 64 {
		w, e := readU64(t, mask+i/8)
		if e != 0 {
			return 0, e
		}
		if rest := maxnode - i; rest < 64 {
			w &= 1<<rest - 1
		}
		if i == 0 {
			nodes = w
		} else if w != 0 && i >= most {
			return 0, unix.EINVAL
		}
	}
	return nodes, 0
}

func sysSetMempolicy(t *kernel.Thread, a Args) kernel.Result {
	p, e := readPolicy(t, uint64(uint32(a[0])), a[1], a[2])
	if e != 0 {
		return kernel.Fail(e)
	}
	t.Policy = p
	return kernel.Ret(0)
}

func sysMbind(t *kernel.Thread, a Args) kernel.Result {
	if _, e := readPolicy(t, a[2], a[3], a[4]); e != 0 {
		return kernel.Fail(e)
	}
	switch {
	case a[5]&^uint64(mbindFlags) != 0:
		return kernel.Fail(unix.EINVAL)
	case a[5]&mpolMoveAll != 0 && !t.Capable(unix.CAP_SYS_NICE):
		return kernel.Fail(unix.EPERM)
	case a[0]%4096 != 0:
		return kernel.Fail(unix.EINVAL)
	}
	return kernel.Ret(0)
}

func sysGetMempolicy(t *kernel.Thread, a Args) kernel.Result {
	what, p := a[4], t.Policy
	switch {
	case a[1] != 0 && a[2] < 1, what&^uint64(mpolOfNode|mpolOfAddr|mpolAllowed) != 0,
		what&mpolAllowed != 0 && what != mpolAllowed, what&(mpolOfAddr|mpolAllowed) == 0 && a[3] != 0:
		return kernel.Fail(unix.EINVAL)
	case what&mpolAllowed != 0:
		p = kernel.MemoryPolicy{Nodes: 1}
	case what&mpolOfAddr != 0:
		if _, e := readBytes(t, a[3], 1); e != 0 {
			return kernel.Fail(e)
		}
		if what&mpolOfNode != 0 {
			p.Mode = 0 // the number of the node
		}
	case what&mpolOfNode != 0:
		if p.Mode&^mpolFlags != mpolInterleave {
			return kernel.Fail(unix.EINVAL)
		}
		p.Mode = 0 // the next node
	}
	if a[0] != 0 {
		if e := writeU32(t, a[0], uint32(p.Mode)); e != 0 {
			return kernel.Fail(e)
		}
	}
	if a[1] == 0 {
		return kernel.Ret(0)
	}
	size := (a[2] - 1 + 63) / 64 * 8
	switch {
	case size == 0:
		return kernel.Ret(0)
	case size > 4096:
		return kernel.Fail(unix.EINVAL)
	}
	return kernel.RetOr(0, t.M.WriteMem(a[1], append(le.AppendUint64(nil, p.Nodes), make([]byte, size-8)...)))
}
