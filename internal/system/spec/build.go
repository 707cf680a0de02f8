package spec

import (
	"errors"
	"net/netip"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/ariadne-mc/ariadne"
)

// build makes nodes of what was written: templates expanded, names, programs,
// directories and addresses resolved.
func (r *reader) build(written []nodeText) []Node {
	all := 0
	for _, w := range written {
		if all += max(w.count, 1); all > MaxNodes {
			r.fail(w.line, "more than %d nodes", MaxNodes)
			return nil
		}
	}
	var nodes []Node
	for _, w := range written {
		for _, copy := range w.copies(len(nodes)) {
			nodes = append(nodes, r.buildNode(ariadne.NodeID(len(nodes)), copy))
		}
	}
	r.node = ""
	r.checkUnique(nodes)
	r.checkAwaited(nodes)
	return nodes
}

// copies returns the nodes that a description stands for; the first of them is
// the node of the given index.
func (w nodeText) copies(index int) []nodeText {
	if w.name.string == "" {
		w.name = text{"n" + strconv.Itoa(index+1), w.line}
		if w.count > 0 {
			w.name.string = "n{i}"
		}
	}
	if w.count == 0 {
		return []nodeText{w}
	}
	if !strings.Contains(w.name.string, "{i}") {
		w.name.string += "{i}"
	}
	var out []nodeText
	for i := 1; i <= w.count; i++ {
		out = append(out, w.substitute(i))
	}
	return out
}

// substitute returns the i-th copy of a template.
func (w nodeText) substitute(i int) nodeText {
	number := strconv.Itoa(i)
	w.name.string = strings.ReplaceAll(w.name.string, "{i}", number)
	replacer := strings.NewReplacer("{i}", number, "{name}", w.name.string)
	replace := func(t text) text { return text{replacer.Replace(t.string), t.line} }
	replaceAll := func(ts []text) []text {
		ts = slices.Clone(ts)
		for i := range ts {
			ts[i] = replace(ts[i])
		}
		return ts
	}
	w.waits = replaceAll(w.waits)
	w.commands, w.restart, w.after, w.addrs, w.dir, w.envFile = replaceAll(w.commands), replaceAll(w.restart),
		replaceAll(w.after), replaceAll(w.addrs), replace(w.dir), replace(w.envFile)
	env := map[string]text{}
	for k, v := range w.env {
		env[k] = replace(v)
	}
	w.env = env
	return w
}

var hostName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]{0,62}$`)

func (r *reader) buildNode(id ariadne.NodeID, w nodeText) Node {
	n := w.Node
	n.ID, n.Name, n.Line = id, w.name.string, w.line
	r.node = n.Name
	if !hostName.MatchString(n.Name) || n.Name == "localhost" {
		r.fail(w.name.line, "%q cannot be a node's name: a letter, then letters, digits, dots and dashes", n.Name)
	}
	drawn := w.workload.line > 0
	if len(w.commands) == 0 && !drawn && !r.isWatched(n.Name) {
		if len(r.watches) > 0 {
			r.fail(w.line, "no command, and watch: nodes does not name it")
		} else {
			r.fail(w.line, "no command")
		}
	} else if len(w.commands) > 0 && drawn {
		r.fail(w.workload.line, "command and workload exclude each other")
	}
	for _, c := range w.commands {
		n.Commands = append(n.Commands, r.command(c))
	}
	for _, c := range w.restart {
		n.Restart = append(n.Restart, r.command(c))
	}
	for _, c := range w.after {
		n.AfterCrash = append(n.AfterCrash, r.command(c))
	}
	r.startsAfter(w.waits)
	n.Commands, n.Restart = r.await(w.waits, n.Commands), r.await(w.waits, n.Restart)
	n.Links = r.links(slices.Concat(w.commands, w.restart, w.after))
	if drawn {
		c, links := r.workload(&w.workload, n.Name, r.drawnBy)
		n.Commands, n.Links = append(n.Commands, r.await(w.waits, []Command{c})...), append(n.Links, links...)
	}
	n.Dir = r.workingDir(w.dir)
	n.Writable = r.writable(w.writable)
	n.Env = map[string]string{}
	r.envFile(n.Env, w.envFile)
	for name, value := range w.env {
		n.Env[name] = value.string
	}
	n.Run = r.runDirs(w.run)
	n.Addrs = r.addresses(int(id)+1, w.addrs)
	if w.readyLine > 0 && !n.Ready.Said() {
		r.fail(w.readyLine, "ready: a port or a line is needed")
	}
	return n
}

// workingDir returns the absolute template directory, or "" when none is written.
func (r *reader) workingDir(t text) string {
	if t.string == "" {
		return ""
	}
	dir := r.absolute(t.string)
	switch info, err := os.Stat(dir); {
	case os.IsNotExist(err):
		r.fail(t.line, "no such directory %q", t.string)
	case err != nil:
		r.fail(t.line, "directory %q: %s", t.string, cause(err))
	case !info.IsDir():
		r.fail(t.line, "%q is not a directory", t.string)
	}
	return dir
}

// absolute returns the host's path for a path that is relative to the spec.
func (r *reader) absolute(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(r.dir, name)
}

// private are the directories of which each node has its own: the host's
// content does not show there.
var private = []string{"/tmp", "/var/tmp", "/run", "/dev", "/proc", "/sys", "/node", "/spec"}

func below(dir, name string) bool { return name == dir || strings.HasPrefix(name, dir+"/") }

func (r *reader) writable(ts []text) []string {
	var out []string
	for _, t := range ts {
		p := path.Clean(t.string)
		switch {
		case !path.IsAbs(t.string):
			r.fail(t.line, "writable %q: an absolute path is needed", t.string)
		case p == "/" || below("/proc", p) || below("/sys", p) || below("/spec", p):
			r.fail(t.line, "writable %q: this directory cannot be made writable", t.string)
		case slices.ContainsFunc(private, func(dir string) bool { return below(dir, p) }):
			r.fail(t.line, "writable %q: the node has a writable one of its own already", t.string)
		default:
			r.checkDirectory(t, p)
		}
		out = append(out, p)
	}
	return out
}

// checkDirectory sees that p is a directory of the host's, or can be one of the node's
// own: an empty one, when it or directories above it are missing.
func (r *reader) checkDirectory(t text, p string) {
	for dir := p; ; dir = path.Dir(dir) {
		info, err := os.Stat(dir)
		_, there := os.Lstat(dir)
		switch {
		case err == nil && info.IsDir():
			return
		case err == nil && dir == p:
			r.fail(t.line, "writable %q: this is not a directory", t.string)
			return
		case err == nil || there == nil && os.IsNotExist(err):
			r.fail(t.line, "writable %q: %s is not a directory; one can be made below a directory only", t.string, dir)
			return
		case !os.IsNotExist(err) && !errors.Is(err, syscall.ENOTDIR):
			r.fail(t.line, "writable %q: %s", t.string, cause(err))
			return
		}
	}
}

func isDir(p string) bool {
	info, err := os.Stat(p)
	return err == nil && info.IsDir()
}

// addresses returns what is written, or the default of the number-th node. It is
// an IPv4 address alone: a name with two addresses resolves to IPv6 first, where
// servers told to listen on 0.0.0.0 are not.
func (r *reader) addresses(number int, ts []text) []netip.Addr {
	if len(ts) == 0 {
		return []netip.Addr{netip.AddrFrom4([4]byte{10, 0, 0, byte(number)})}
	}
	var out []netip.Addr
	for _, t := range ts {
		a, err := netip.ParseAddr(t.string)
		broadcast := netip.AddrFrom4([4]byte{255, 255, 255, 255})
		switch {
		case err != nil || a.Zone() != "":
			r.fail(t.line, "bad address %q: an IP address such as 10.0.0.1 is needed", t.string)
			continue
		case a.IsLoopback() || a.IsUnspecified() || a.IsMulticast() || a.Unmap() == broadcast:
			r.fail(t.line, "address %s: not one that a machine can have in a network", a)
			continue
		}
		out = append(out, a.Unmap())
	}
	return out
}

// checkUnique sees that no two nodes share a name or an address.
func (r *reader) checkUnique(nodes []Node) {
	names, addrs := map[string]int{}, map[netip.Addr]string{}
	for _, n := range nodes {
		r.node = n.Name
		if line, twice := names[strings.ToLower(n.Name)]; twice {
			r.fail(n.Line, "the node of line %d has this name too", line)
		}
		names[strings.ToLower(n.Name)] = n.Line
		for _, a := range n.Addrs {
			if owner, twice := addrs[a]; twice {
				r.fail(n.Line, "address %s is that of node %s too", a, owner)
			}
			addrs[a] = n.Name
		}
	}
	r.node = ""
}
