package sys

import (
	"slices"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"

	"golang.org/x/sys/unix"
)

// fileSystems are the kinds that a node has.
var fileSystems = []string{"sysfs", "tmpfs", "proc", "cgroup2", "pipefs", "devpts", "ext4", "mqueue"}

// sysSysfs numbers them: the number of a name, the name of a number, how many there are.
func sysSysfs(t *kernel.Thread, a Args) kernel.Result {
	switch int32(a[0]) {
	case 1:
		name, e := readPath(t, a[1])
		if e != 0 {
			return kernel.Fail(e)
		}
		if i := slices.Index(fileSystems, name); i >= 0 {
			return kernel.Ret(int64(i))
		}
	case 2:
		if i := uint64(uint32(a[1])); i < uint64(len(fileSystems)) {
			return kernel.RetOr(0, t.M.WriteMem(a[2], append([]byte(fileSystems[i]), 0)))
		}
	case 3:
		return kernel.Ret(int64(len(fileSystems)))
	}
	return kernel.Fail(unix.EINVAL)
}

// sysUstat says how much room there is on a device.
func sysUstat(t *kernel.Thread, a Args) kernel.Result {
	name := ""
	switch uint32(a[0]) {
	case inode.DevHost, inode.DevNode:
		name = "/"
	case inode.DevProc, inode.DevMem, inode.DevSock, inode.DevPts, inode.DevPipe, inode.DevAnon:
		name = "/proc" // as little
	default:
		return kernel.Fail(unix.EINVAL)
	}
	const freeBlocks, freeFiles, size = 24, 48, 32 // places in struct statfs, size of struct ustat
	fs, b := statfsOf(t, name), make([]byte, size)
	copy(b, fs[freeBlocks:freeBlocks+4])
	copy(b[8:16], fs[freeFiles:])
	return kernel.RetOr(0, t.M.WriteMem(a[1], b))
}
