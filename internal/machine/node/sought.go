//go:build linux

package node

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// A program may look in a directory of the node's own for a file that the host has and the
// node does not: a module that lies beside the spec, or something below the host's /tmp. The
// node answers that there is no such file, as it must. These names are kept apart from all
// outputs, so that a report can say what its reader would not guess.

// sought is where the programs of a node, and of its copies, have looked in vain.
type sought struct {
	names  map[string]bool // own names asked for, to whether only the host had them
	listed map[string]bool // own directories that were listed
	busy   map[string]bool // where threads computed for long
	fallen map[string]bool // how workers ended that failed
	more   bool            // since Sought was last called
}

// seekable are the directories in which programs may miss what the host has.
var seekable = []string{"/node", "/tmp", "/var/tmp"}

// maxSought bounds sought.names: programs may make up names.
const maxSought = 1 << 14

// Sought is where programs have looked for what only the host has, sorted. Paths are the
// node's.
type Sought struct {
	Names  []string // they were asked for, and are still missing
	Listed []string // directories of the node's own that were listed
	// Busy is where threads have computed for seconds without a system call: program and function.
	Busy []string
	// Fallen is how processes ended that failed, of those that run the program of the process that
	// started them: workers of a server.
	Fallen []string
}

// seek notes that a program asks for the path name.
func (n *Node) seek(name string) {
	name = path.Clean(name) // /node/.. is no name in /node
	if !slices.ContainsFunc(seekable, func(dir string) bool { return strings.HasPrefix(name, dir+"/") }) {
		return
	}
	s := &n.home.view.sought
	if len(s.names) >= maxSought {
		return
	}
	if _, known := s.names[name]; known {
		return
	}
	if s.names == nil {
		s.names = map[string]bool{}
	}
	only := n.onHostOnly(name)
	s.names[name], s.more = only, s.more || only
}

// seekIn notes that a program lists a directory of the node's own.
func (n *Node) seekIn(dir string) {
	s := &n.home.view.sought
	if !below(dir, []string{"/node"}) || s.listed[dir] || len(s.listed) >= maxSought {
		return
	}
	if s.listed == nil {
		s.listed = map[string]bool{}
	}
	s.listed[dir], s.more = true, true
}

// computes notes that th has computed for long without a system call.
func (n *Node) computes(th *thread) {
	v := n.home.view
	if v == nil || len(v.busy) >= maxBusy {
		return
	}
	if v.busy == nil {
		v.busy = map[string]bool{}
	}
	v.busy[n.whereIs(th)], v.more = true, true
}

// maxBusy bounds sought.busy and sought.fallen.
const maxBusy = 10

// workerEnds notes that p, which ends so, is a worker that fails. Shells fork for parts of a
// command, of which any status is as good as another; who is killed or told to end is no failure.
func (n *Node) workerEnds(p *kernel.Process, status, signal int) {
	v := n.home.view
	ordered := signal == int(unix.SIGKILL) || signal == int(unix.SIGTERM) || signal == int(unix.SIGINT)
	if v == nil || p.Parent == nil || p.Parent.Dead || p.Parent.Exe != p.Exe || status == 0 && signal == 0 || ordered ||
		len(v.fallen) >= maxBusy {
		return
	}
	if slices.Contains([]string{"sh", "dash", "bash"}, path.Base(p.Exe)) {
		return
	}
	if v.fallen == nil {
		v.fallen = map[string]bool{}
	}
	how := ariadne.Exit{Status: status, Signal: signal}.How()
	if text := p.Leader.Name + " " + how; !v.fallen[text] {
		v.fallen[text], v.more = true, true
	}
}

// onHostOnly reports whether the host has what the node misses at one of its own names.
func (n *Node) onHostOnly(name string) bool {
	host := name
	if rel, ok := strings.CutPrefix(name, "/node/"); ok {
		host = filepath.Join(n.cfg.SpecDir, rel)
		if n.cfg.Beside.Hides(host) {
			return false
		}
	}
	if _, err := os.Lstat(host); err != nil {
		return false
	}
	return !n.has(name)
}

// has reports whether the node has a file of that name.
func (n *Node) has(name string) bool {
	var st unix.Stat_t
	return unix.Fstatat(n.home.view.root, name[1:], &st, unix.AT_SYMLINK_NOFOLLOW) == nil
}

// Sought says where programs of the node, and of its copies, have looked in vain so far, when
// there is more of that than when it was last asked. It is called between two steps.
func (n *Node) Sought() (out Sought, more bool) {
	if n.home.view == nil || !n.home.view.more {
		return out, false
	}
	s := &n.home.view.sought
	s.more = false
	for name, only := range s.names {
		// What a program has made since is its own, and so is what it looks for in a directory
		// that it has made: the host's may be left from a run without Ariadne.
		if dir := path.Dir(name); only && n.onHostOnly(name) && (slices.Contains(seekable, dir) || !n.has(dir)) {
			out.Names = append(out.Names, name)
		}
	}
	for dir := range s.listed {
		out.Listed = append(out.Listed, dir)
	}
	for where := range s.busy {
		out.Busy = append(out.Busy, where)
	}
	for how := range s.fallen {
		out.Fallen = append(out.Fallen, how)
	}
	slices.Sort(out.Busy)
	slices.Sort(out.Fallen)
	slices.Sort(out.Names)
	slices.Sort(out.Listed)
	return out, true
}
