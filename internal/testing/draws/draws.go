// Package draws fixes what property tests draw: the tests of a commit draw the same each time, so
// that they fail where the commit is wrong, and not by the luck of a draw. With ARIADNE_LONG set
// (make test-long), or with -rapid.seed, the draws differ from run to run. Tests that use rapid
// import this package for its effect alone.
package draws

import (
	"flag"
	"os"

	_ "pgregory.net/rapid" // defines the flag
)

func init() {
	if os.Getenv("ARIADNE_LONG") != "" {
		return
	}
	if err := flag.Set("rapid.seed", "1"); err != nil {
		panic(err)
	}
}
