//go:build linux

package node

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"
	"github.com/ariadne-mc/ariadne/internal/machine/sys"

	"golang.org/x/sys/unix"
)

// What a node does depends on files of the host: programs, their interpreters and
// libraries, and what they read. They do not change while it runs, but a trace and
// remembered transitions outlive that, so each step tells which it used.

// programOf is the path of the program that th is about to execute, "" when it is not
// named by a path. It may be a script, which its interpreter only reads.
func (n *Node) programOf(th *thread) string {
	if th.k.Call.NR != unix.SYS_EXECVE {
		return ""
	}
	var b []byte
	for at := th.k.Call.Args[0]; len(b) < unix.PathMax &&
		bytes.IndexByte(b, 0) < 0; at = th.k.Call.Args[0] + uint64(len(b)) {
		more := make([]byte, min(64, pageSize-at%pageSize)) // behind the page there may be nothing
		if th.tr.ReadMem(at, more) != 0 {
			return ""
		}
		b = append(b, more...)
	}
	name, _, _ := strings.Cut(string(b), "\x00")
	if name == "" {
		return name
	} else if path.IsAbs(name) {
		return th.k.Proc.Root + name
	}
	cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", th.tr.TID))
	if err != nil {
		return ""
	}
	return path.Join(cwd, name)
}

// useProgram notes the program that th has begun to execute, which was named so, and
// what Linux has mapped of code for it, from /proc/<pid>/maps: the program itself or a
// script's interpreter, and the loader.
func (n *Node) useProgram(th *thread, name, maps string) {
	paths, up := []string{name}, ""
	if th.k.Proc.Root != "" {
		up = sys.ToNodeRoot
	}
	for line := range strings.Lines(maps) {
		// 7f0000000000-7f0000001000 r-xp 00000000 fe:00 1234    /usr/bin/true
		f := strings.SplitN(strings.TrimSpace(line), " ", 6)
		if len(f) == 6 && strings.Contains(f[1], "x") {
			paths = append(paths, strings.TrimSpace(f[5]))
		}
	}
	for _, p := range paths {
		var st unix.Stat_t
		if !path.IsAbs(p) || unix.Stat(fmt.Sprintf("/proc/%d/root%s%s", th.tr.TID, up, p), &st) != nil {
			continue
		}
		n.k.NoteUsed(kernel.UsedFile{Path: p, Key: inode.Key{Dev: st.Dev, Ino: st.Ino}, Use: ariadne.FileCode})
	}
	n.takeUsed()
}

// usedFiles takes what the step has learnt of the host's files and was not told before.
func (n *Node) usedFiles() []ariadne.File {
	files := n.step.files
	slices.SortFunc(files, func(a, b ariadne.File) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Use, b.Use))
	})
	return files
}
