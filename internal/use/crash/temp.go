package crash

import (
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// atTheEnd ends what still runs in the directory $1, and removes it, when its input ends.
// Those who see the directory's images at another place have them mounted there.
const atTheEnd = `read -r end
for p in $(find /proc/[0-9]*/cwd -maxdepth 0 -lname "$1/*" 2>/dev/null) $(grep -ls -- "/${1##*/}/checker-" /proc/[0-9]*/mountinfo); do
	p=${p#/proc/}
	kill -9 "${p%/*}"
done 2>/dev/null
chmod -R u+rwX -- "$1"
rm -rf -- "$1"`

// TempDir makes a directory for images, in memory if there is room for it. A process of its own
// waits for remove, or for Ariadne's end, so nothing stays behind when Ariadne is killed: no files,
// and no checkers or what these have started.
func TempDir() (dir string, remove func(), err error) {
	where := ""
	var st unix.Statfs_t
	if unix.Statfs("/dev/shm", &st) == nil && st.Flags&unix.ST_NOEXEC == 0 && int64(st.Bavail)*st.Bsize > 1<<30 &&
		unix.Access("/dev/shm", unix.W_OK) == nil {
		where = "/dev/shm"
	}
	if dir, err = os.MkdirTemp(where, "ariadne-crash-"); err != nil {
		return "", nil, err
	}
	after := exec.Command("/bin/sh", "-c", atTheEnd, "sh", dir)
	after.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // not interrupted with Ariadne
	end, err := after.StdinPipe()
	if err == nil {
		err = after.Start()
	}
	if err != nil {
		os.RemoveAll(dir)
		return "", nil, err
	}
	return dir, func() {
		end.Close()
		after.Wait()
	}, nil
}
