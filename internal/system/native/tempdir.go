package native

import (
	"os"
	"os/exec"
	"syscall"
)

// atTheEnd removes the directory $1 when its input ends. Programs in it end at about the same time,
// and may still write.
const atTheEnd = `read -r end
rm -rf -- "$1" && exit
sleep 1
rm -rf -- "$1"`

// TempDir makes a directory that others may enter. A process of its own waits for remove, or for
// the end of this process, so it stays behind in no case.
func TempDir() (dir string, remove func() error, err error) {
	if dir, err = os.MkdirTemp("", "ariadne-watch-"); err != nil {
		return "", nil, err
	}
	after := exec.Command("/bin/sh", "-c", atTheEnd, "sh", dir)
	after.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // not interrupted with this process
	end, err := after.StdinPipe()
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err == nil {
		err = after.Start()
	}
	if err != nil {
		os.RemoveAll(dir)
		return "", nil, err
	}
	return dir, func() error {
		end.Close()
		return after.Wait()
	}, nil
}
