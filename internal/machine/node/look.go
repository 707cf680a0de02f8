//go:build linux

package node

import (
	"errors"
	"io"
	"os"
	"path"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/node/config"

	"golang.org/x/sys/unix"
)

// Files and variables whose content nodes expose are read whenever a step ends, and helpers are
// asked (helper.go); what has become of them is an exposure of the output, as if a program had told
// it on /dev/ariadne.

// mostContent is how much of a file is read.
const mostContent = 64 << 10

// exposeLooks exposes what has changed in files and variables since the last step.
func (n *Node) exposeLooks() {
	files, probing := n.cfg.Looks, n.probing
	if files != nil && n.home.view != nil && n.alive() > 0 {
		asked := n.askHelpers()
		for i := range files {
			f := &files[i]
			if f.Ignored {
				continue
			}
			var now looked
			if f.Command != nil {
				if asked[i].ended {
					now = exposed(f, asked[i].text)
					n.exposeWellEnded(i, f)
				}
			} else if content, ok := n.readOwn(f.File); ok {
				now = exposed(f, content)
			}
			n.looks(i, f.Name, now)
		}
	}
	if probing == nil {
		return
	}
	for i := range probing.probes {
		q := &probing.probes[i]
		if q.Variable != "" && !n.cfg.Probes[i].Ignored {
			n.looks(len(files)+i, q.Name, n.variable(i))
		}
	}
}

// exposeWellEnded says of a command, once, that it has ended well.
func (n *Node) exposeWellEnded(i int, l *config.Look) {
	if n.anotherLook(len(n.cfg.Looks)+len(n.cfg.Probes)+i, looked{is: true}) {
		n.k.Notice(0, l.What())
	}
}

// looks exposes what there is, or the end of the tuples of its name when there is nothing, if it is
// something else than before. i tells what there is to look at apart.
func (n *Node) looks(i int, name string, now looked) {
	if n.anotherLook(i, now) {
		n.k.Expose(0, ariadne.Exposure{Name: name, Values: now.values, Ends: !now.is})
	}
}

// anotherLook notes what there is, and reports whether it is something else than before.
func (n *Node) anotherLook(i int, now looked) bool {
	var was looked
	if i < len(n.looked) {
		was = n.looked[i]
	}
	if now.equal(was) {
		return false
	}
	if i >= len(n.looked) {
		n.looked = append(n.looked, make([]looked, i+1-len(n.looked))...)
	}
	n.looked[i] = now
	return true
}

// variable is what a variable is exposed as: that of the first of the node's processes that has it.
func (n *Node) variable(query int) looked {
	var first *thread
	var of kernel.Variable
	for _, th := range n.threads {
		p := th.k.Proc
		if p.Dead || th.k.State == kernel.Dead || first != nil && first.k.Proc.PID <= p.PID {
			continue
		}
		for _, v := range p.Variables {
			if n.probing.site(v.Site).Query == query {
				first, of = th, v
				break
			}
		}
	}
	if first == nil {
		return looked{}
	}
	return looked{true, n.probing.site(of.Site).Rest(stopped{first}, of.Bias)}
}

// exposed is what the content of a file is exposed as.
func exposed(f *config.Look, content string) looked {
	values := []string{strings.TrimSpace(content)}
	if f.Match != nil {
		m := f.Match.FindStringSubmatch(content)
		if m == nil {
			return looked{}
		}
		if values = m; len(m) > 1 {
			values = m[1:]
		}
	}
	return looked{true, values}
}

// readOwn is what a file of the node holds, as its programs see it.
func (n *Node) readOwn(name string) (string, bool) {
	if !path.IsAbs(name) {
		name = path.Join("/node", name)
	}
	n.lookUp(name, ariadne.LookStat, ariadne.LookData)
	fd, err := unix.Openat2(n.home.view.root, name[1:],
		&unix.OpenHow{Flags: unix.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY | unix.O_CLOEXEC,
			Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS})
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
