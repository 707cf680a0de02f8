package sys

import (
	"path"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// sysChroot has Linux change the root directory: paths then begin there in Linux's eyes
// and in ours (fromRoot). As on Linux the privileged can climb out again, up to the
// node's own root directory and no further.
func sysChroot(t *kernel.Thread, a Args) kernel.Result {
	name, e := readPath(t, a[0])
	if e != 0 {
		return kernel.Fail(e)
	}
	st, e := unix.Stat_t{}, kernel.Errno(0)
	if v, ok := virtualPath(t, atCwd, name); ok {
		st, e = statVirtual(t, v, true)
	} else {
		st, _, e = lookUp(t, atCwd, name, true)
	}
	switch {
	case e != 0:
		return kernel.Fail(e)
	case st.Mode&unix.S_IFMT != unix.S_IFDIR:
		return kernel.Fail(unix.ENOTDIR)
	case !isNodeUser(t) && askerOf(t).permits(&st, kernel.MayExec) != 0:
		return kernel.Fail(unix.EACCES)
	case askerOf(t).permits(&st, kernel.MayExec) != 0:
		return kernel.Fail(unix.EACCES)
	case !t.Capable(unix.CAP_SYS_CHROOT):
		return kernel.Fail(unix.EPERM)
	}
	where := path.Clean(absolute(t, atCwd, name))
	for _, dir := range []string{"/proc", "/sys", "/dev"} {
		if where == dir || strings.HasPrefix(where, dir+"/") {
			t.Node().Refuse(t, "chroot to "+where, "", false)
			return kernel.Fail(unix.EACCES)
		}
	}
	r := run(t)
	if r == 0 {
		t.Proc.Root = readLink(threadPath(t, "root"))
		if t.Proc.Root == "/" {
			t.Proc.Root = ""
		}
	}
	return kernel.Ret(r)
}
