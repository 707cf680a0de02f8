package run

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// lock takes a run directory for as long as a command uses it, so that another one does
// not empty it meanwhile. Linux lets go of it when the process ends, however that is.
func (y *system) lock(out string) error {
	if y.locked != nil {
		return nil
	}
	dir, err := os.Open(out)
	if err != nil {
		return err
	}
	// A process that was killed may have left one that is about to end.
	for end := time.Now().Add(lockPatience); unix.Flock(int(dir.Fd()), unix.LOCK_EX|unix.LOCK_NB) == unix.EWOULDBLOCK; time.Sleep(lockPatience / 50) {
		if time.Now().After(end) {
			dir.Close()
			return fmt.Errorf("%s: in use by another ariadne that is still running; choose another directory with --out", out)
		}
	}
	y.locked = dir // not every file system has locks; then nobody is kept out
	return nil
}

// lockPatience is how long a directory may take to be free.
const lockPatience = time.Second

// unlock gives it back.
func (y *system) unlock() {
	if y.locked != nil {
		unix.Flock(int(y.locked.Fd()), unix.LOCK_UN) // also of processes that have just been forked
		y.locked.Close()
		y.locked = nil
	}
}
