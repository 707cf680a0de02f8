package record

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// take takes the run directory for as long as a command uses it, so that another one does
// not empty it meanwhile. Linux lets go of it when the process ends, however that is.
func (d *Dir) take() error {
	dir, err := os.Open(d.Path)
	if err != nil {
		return err
	}
	// A process that was killed may have left one that is about to end.
	for end := time.Now().Add(lockPatience); unix.Flock(int(dir.Fd()),
		unix.LOCK_EX|unix.LOCK_NB) == unix.EWOULDBLOCK; time.Sleep(lockPatience / 50) {
		if time.Now().After(end) {
			dir.Close()
			return fmt.Errorf("%s: another ariadne that is still running uses it: choose another directory with --out", d.Path)
		}
	}
	d.lock = dir // not every file system has locks; then nobody is kept out
	return nil
}

// lockPatience is how long a directory may take to be free.
const lockPatience = time.Second

// Close gives the directory back.
func (d *Dir) Close() {
	if d.lock != nil {
		unix.Flock(int(d.lock.Fd()), unix.LOCK_UN) // also of processes that have just been forked
		d.lock.Close()
		d.lock = nil
	}
}
