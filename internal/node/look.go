//go:build linux

package node

import (
	"errors"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"ariadne"
	"ariadne/internal/spec"

	"golang.org/x/sys/unix"
)

// Files whose content nodes expose are read whenever a step ends, and what has become of them is a line of the output,
// as if a program had written it to /dev/ariadne.

// mostContent is how much of a file is read.
const mostContent = 64 << 10

// lookAtFiles exposes what has changed in files since the last step.
func (n *Node) lookAtFiles() {
	files := n.cfg.Spec.Looks
	if files == nil || n.home.view == nil || n.alive() == 0 {
		return
	}
	looked := n.looked
	for i := range files {
		f := &files[i]
		if f.Nodes != nil && !slices.Contains(f.Nodes, n.def.ID) {
			continue
		}
		line := ""
		if content, ok := n.readOwn(f.File); ok {
			line = exposed(f, content)
		}
		if looked == nil {
			looked = make([]string, len(files))
		}
		if line == looked[i] {
			continue
		}
		looked = slices.Clone(looked) // copies of the node share it
		if looked[i] = line; line == "" {
			line = "conceal " + f.Name
		}
		n.k.Logs = append(n.k.Logs, ariadne.LogLine{At: n.k.Now, Stream: ariadne.Exposed, Text: line})
	}
	n.looked = looked
}

// exposed is the line for the content of a file; "": there is nothing of it to be exposed.
func exposed(f *spec.Look, content string) string {
	values := []string{strings.TrimSpace(content)}
	if f.Match != nil {
		m := f.Match.FindStringSubmatch(content)
		if m == nil {
			return ""
		}
		if values = m; len(m) > 1 {
			values = m[1:]
		}
	}
	return exposeLine(f.Name, values)
}

// readOwn is what a file of the node holds, as its programs see it.
func (n *Node) readOwn(name string) (string, bool) {
	if !path.IsAbs(name) {
		name = path.Join("/node", name)
	}
	fd, err := unix.Openat2(n.home.view.root, name[1:], &unix.OpenHow{Flags: unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS})
	if err != nil {
		return "", false
	}
	file := os.NewFile(uintptr(fd), name)
	defer file.Close()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	b, err := io.ReadAll(io.LimitReader(file, mostContent))
	if err != nil && !errors.Is(err, io.EOF) {
		return "", false
	}
	return string(b), true
}
