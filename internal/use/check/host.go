package check

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/system"
)

// hostDoubts says why nodes may have done something else than before when that is the
// doing of the host, or nothing. changed are the changes of files that are known
// otherwise.
func (c *check) hostDoubts(err error, changed []string) (doubts []string) {
	if c.memo != nil {
		changed = append(changed, c.system.Digests.Described(c.memo.Changed())...)
		var m *memo.Mismatch
		if len(changed) == 0 && errors.As(err, &m) && m.Stored {
			c.memo.Forget()
			doubts = append(doubts, fmt.Sprintf("node %s: it behaves otherwise than in an earlier check, each time: "+
				"something changed that Ariadne does not see. Remembered transitions are deleted: check again", c.system.Spec.Nodes[m.State.Node].Name))
		}
	}
	if len(changed) > 0 {
		doubts = append(doubts, system.Listed(whileRunning, changed))
	}
	return doubts
}

// watchEvery is how often a check looks whether files of the host have changed under its nodes.
const watchEvery = time.Second

// watchHost stops the check when a file has changed that nodes may have read since. Files for which
// nodes ask are compared at that time. This is for files that they have open. The returned function
// ends it.
func (c *check) watchHost() (done func()) {
	over := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() {
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		for {
			select {
			case <-over:
				return
			case <-tick.C:
			}
			if c.system.Digests.Leaked() != nil {
				c.ledger.stop(stopHost) // which file it is the end of the check says
				return
			}
		}
	})
	return func() {
		close(over)
		group.Wait()
	}
}

// whileRunning is the heading of what has changed under a check.
const whileRunning = "files that nodes have used changed while the check was running: check again"

// enterStale enters that the host is not as it was when earlier checks, or the earlier part of
// this one, used it.
func (x *explorer) enterStale(path string, resumed bool) {
	changed := x.check.system.Digests.Described(x.memo.Stale())
	if len(changed) == 0 {
		return
	}
	if _, violations := x.check.ledger.progress(); resumed && (!x.check.ledger.again || violations > 0) {
		x.check.ledger.addDoubts(system.Listed("files that nodes have used changed since the check was interrupted: its earlier results may not hold", changed))
		return
	}
	x.check.ledger.addNotes(system.Listed("transitions of earlier checks ("+filepath.Base(path)+") are not used, because files that nodes have used have changed", changed))
}
