//go:build linux

package check

import "github.com/ariadne-mc/ariadne/internal/explore/memo/pagefile"

// openPages opens the file for pages of checkpoints, in the run directory, and returns how it is
// closed. It takes no more than the check may use of memory. Where there can be none, checkpoints
// are dropped when memory is short.
func (x *explorer) openPages() (closes func()) {
	if x.row.Lives || x.check.opts.Search.NoCheckpoints {
		return func() {}
	}
	f, err := pagefile.Open(x.check.dir.Path, x.shares.all)
	if err != nil {
		return func() {}
	}
	x.pages = f
	return func() { f.Close() }
}
