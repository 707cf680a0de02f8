package sys

import (
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// sysGetrandom gives bytes of the node's own generator; they never run out.
func sysGetrandom(t *kernel.Thread, a Args) kernel.Result {
	const both = unix.GRND_RANDOM | unix.GRND_INSECURE
	flags := a[2] & 0xffffffff
	if flags&^(unix.GRND_NONBLOCK|both) != 0 || flags&both == both {
		return kernel.Fail(unix.EINVAL)
	}
	n := min(a[1], 1<<25-1) // as much as Linux gives at once
	const chunk = 1 << 16
	b := make([]byte, min(n, chunk))
	for done := uint64(0); done < n; {
		part := b[:min(chunk, n-done)]
		t.Node().Rand.Fill(part)
		if e := t.M.WriteMem(a[0]+done, part); e != 0 {
			if done > 0 {
				return kernel.Ret(int64(done))
			}
			return kernel.Fail(e)
		}
		done += uint64(len(part))
	}
	return kernel.Ret(int64(n))
}
