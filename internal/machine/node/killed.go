//go:build linux

package node

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/tracee"

	"golang.org/x/sys/unix"
)

// A process of a node ends when the node layer ends it. One that is gone otherwise was
// killed from outside, and what it was asked to do failed for no reason of its own.

// explainKilled is killed, but for a process of n that used too much memory.
func (n *Node) explainKilled(err error, threads []*tracee.Thread) error {
	if n.watch != nil {
		if why := n.watch.Swollen(); why != "" {
			return &ariadne.KilledError{Err: errors.New(why)}
		}
	}
	return killed(err, threads)
}

// killed returns err, or why it is none of the tool's when one of the threads was killed
// from outside.
func killed(err error, threads []*tracee.Thread) error {
	for _, t := range threads {
		if !t.Gone() {
			continue
		}
		why := "by whom is not known; the host may have run out of memory"
		if oomKills() > oomKillsBefore() {
			why = "the host has run out of memory"
		}
		return &ariadne.KilledError{Err: fmt.Errorf("a process was killed from outside: %s (%w)", why, err)}
	}
	return err
}

// blameHost ends the step when a program is to be told that it has too many files open,
// and has not as many as it was told that it may have.
func (n *Node) blameHost(th *thread, e kernel.Errno) {
	if e == unix.EMFILE {
		var real unix.Rlimit
		must(unix.Prlimit(th.tr.PID, unix.RLIMIT_NOFILE, nil, &real))
		if told, _ := th.k.Proc.Rlimit(unix.RLIMIT_NOFILE); real.Cur >= told {
			return
		}
	}
	must(fmt.Errorf("process %d: %s: %w", th.k.Proc.PID, callName(th.k.Call.NR), e))
}

// oomKills is how many processes Linux has killed for want of memory since it was
// booted.
func oomKills() int {
	b, err := os.ReadFile("/proc/vmstat")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(b), "\noom_kill ")
	count, _, _ := strings.Cut(rest, "\n")
	n, _ := strconv.Atoi(count)
	return n
}

// oomKillsBefore is the same as of when the first node was made.
var oomKillsBefore = sync.OnceValue(oomKills)
