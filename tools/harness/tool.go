package harness

import (
	"fmt"
	"os"
	"path/filepath"
)

// End ends a tool, unless it has done its work and all is as it should be: with exit status 1 when
// something is not, 2 when the tool has failed.
func End(tool string, good bool, err error) {
	switch {
	case err != nil:
		fmt.Fprintf(os.Stderr, "%s: %v\n", tool, err)
		os.Exit(2)
	case !good:
		os.Exit(1)
	}
}

// Absolute makes paths independent of the working directory.
func Absolute(paths ...*string) error {
	for _, p := range paths {
		if *p == "" {
			continue
		}
		abs, err := filepath.Abs(*p)
		if err != nil {
			return err
		}
		*p = abs
	}
	return nil
}
