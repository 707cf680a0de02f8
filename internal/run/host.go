package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"ariadne/internal/memo"
	"ariadne/internal/readfile"
	"ariadne/internal/spec"
	"ariadne/internal/trace"

	"golang.org/x/sys/unix"
)

// What nodes do rests on the host too, which others change. When something is not as it
// was, and a node does something else than before, that is why, and no bug of anybody's.

// thisMachine names the processor and the kernel, which programs may look at past Ariadne.
var thisMachine = sync.OnceValue(func() string {
	var u unix.Utsname
	release := "Linux"
	if unix.Uname(&u) == nil {
		release += " " + unix.ByteSliceToString(u.Release[:])
	}
	info, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(info)) {
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
			return release + ", " + strings.TrimSpace(value)
		}
	}
	return release
})

// facts are what a replay should find as it was, besides files.
func facts(s *spec.Spec) []trace.Fact {
	all := []trace.Fact{{Name: "machine", Value: thisMachine()}}
	for i := range s.Nodes {
		all = append(all, trace.Fact{Name: "links in /node of " + s.Nodes[i].Name, Value: strings.Join(s.Nodes[i].Links, " ")})
	}
	return all
}

// host is what an execution learnt of the machine besides what its trace holds for.
func (u used) host() []byte {
	return trace.FormatHost(&trace.Host{Facts: facts(u.digests.spec), Files: u.others(), Lists: u.lists()})
}

// hostChanges says what is not as it was when the trace at path was made, of what the
// trace does not hold for.
func (y *system) hostChanges(path string) []string {
	path += trace.HostSuffix
	b, err := readfile.AtMost(path, readfile.Record)
	if errors.Is(err, fs.ErrNotExist) {
		return []string{path + " is missing, so what else has changed on the host cannot be told"}
	}
	if err != nil {
		return []string{err.Error()}
	}
	h, err := trace.ParseHost(b)
	if err != nil {
		return []string{fmt.Sprintf("%s: %v", path, err)}
	}
	var lines []string
	now := facts(y.spec)
	for _, f := range h.Facts {
		i := slices.IndexFunc(now, func(g trace.Fact) bool { return g.Name == f.Name })
		switch {
		case i < 0:
			lines = append(lines, f.Name+": gone")
		case now[i].Value != f.Value:
			lines = append(lines, fmt.Sprintf("%s: %q, and it was %q", f.Name, now[i].Value, f.Value))
		}
	}
	return append(lines, y.digests.changed(h.Files)...)
}

// maxChanges is how many changes a message lists.
const maxChanges = 10

// listed is a list of changes below a heading.
func listed(heading string, lines []string) string {
	lines = distinct(lines)
	if n := len(lines) - maxChanges; n > 0 {
		lines = append(lines[:maxChanges], fmt.Sprintf("and %d more", n))
	}
	return heading + ":\n  " + strings.Join(lines, "\n  ")
}

// distinct is a copy of a list without what is in it already.
func distinct(lines []string) (d []string) {
	for _, l := range lines {
		if !slices.Contains(d, l) {
			d = append(d, l)
		}
	}
	return d
}

// changed says what is not as it was when the execution learnt of it.
func (u used) changed() []string { return u.digests.changed(append(u.binding(), u.others()...)) }

// described says what is not as a search has learnt it.
func (d *digests) described(changed []memo.Dependency) []string {
	var files []trace.File
	for _, c := range changed {
		files = append(files, trace.File{File: c.File, Digest: c.Digest})
	}
	return d.changed(files)
}

// hostDoubts says why nodes may have done something else than before when that is the
// doing of the host, or nothing. changed are the changes of files that are known
// otherwise.
func (c *check) hostDoubts(err error, changed []string) (doubts []string) {
	if x := c.explorer; x != nil && x.memo != nil {
		changed = append(changed, c.digests.described(x.memo.Changed())...)
		var m *memo.Mismatch
		if len(changed) == 0 && errors.As(err, &m) && m.Stored {
			x.memo.Forget()
			doubts = append(doubts, fmt.Sprintf("node %s: what it did in an earlier check is not what it does now, each time the same: "+
				"something has changed that Ariadne does not know of; what was remembered is forgotten, so check again", c.spec.Nodes[m.State.Node].Name))
		}
	}
	if len(changed) > 0 {
		doubts = append(doubts, listed(whileRunning, changed))
	}
	return doubts
}

// whileRunning is the heading of what has changed under a check.
const whileRunning = "files that nodes have used changed while the check was running, so check again"

// stopHost is why a check stops for which the host is no longer the same.
const stopHost = "the host has changed"

// stale enters that the host is not as it was when earlier checks, or the earlier part of
// this one, used it.
func (x *explorer) stale(path string, resumed bool) {
	changed := x.digests.described(x.memo.Stale())
	if len(changed) == 0 {
		return
	}
	if resumed && (!x.cover.Again || len(x.report.Violations) > 0) {
		x.report.doubt(listed("files that nodes have used changed since the check was interrupted, and what it found until then may not hold", changed))
		return
	}
	x.report.note(listed("nothing of earlier checks is remembered ("+filepath.Base(path)+"), because files that nodes have used have changed", changed))
}
