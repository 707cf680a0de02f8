//go:build linux

package node

import (
	"fmt"
	"os"
	"testing"
)

// followInTests is whether the nodes of tests follow their pages, so that checkpoints may list
// pages and nodes may go back in place.
var followInTests bool

// TestMain runs all tests with checkpoints that are forks, and in long tests once more with
// checkpoints that list pages. ARIADNE_PAGES=1 runs them with the latter only.
func TestMain(m *testing.M) {
	followInTests = os.Getenv("ARIADNE_PAGES") != ""
	status := m.Run()
	if os.Getenv("ARIADNE_LONG") != "" && !followInTests && status == 0 {
		followInTests = true
		fmt.Println("once more, with checkpoints that list pages")
		status = m.Run()
	}
	os.Exit(status)
}
