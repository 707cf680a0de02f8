package sys

import (
	"path"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
)

// pathArg says which argument of a call is a path, and which the directory that it
// begins at: none when it is negative.
type pathArg struct{ dir, at int }

// NamesFiles reports whether a call has paths among its arguments.
func NamesFiles(nr int) bool { return Of(nr).paths != nil }

// Paths calls visit with the paths by which the call that t stands in names files, made
// absolute. stat: it asks for more than whether and what there is. Those that cannot be
// read, or are of a file of /proc, are left out.
func Paths(t *kernel.Thread, visit func(name string, stat bool)) {
	row := Of(t.Call.NR)
	for _, p := range row.paths {
		dirfd := atCwd
		if p.dir >= 0 {
			dirfd = t.Call.Args[p.dir]
		}
		name, e := readPath(t, t.Call.Args[p.at])
		if e != 0 || name == "" {
			continue
		}
		if v, ok := virtualPath(t, dirfd, name); ok {
			name = behind(t, v)
		} else {
			name = absolute(t, dirfd, name)
		}
		if path.IsAbs(name) {
			visit(name, row.AsksSize)
		}
	}
}

// behind is the real path to which a virtual one leads, or "".
func behind(t *kernel.Thread, v string) string {
	o, e := lookupVirtual(t, v)
	if e != 0 {
		return ""
	}
	switch o.kind {
	case throughLink:
		return o.path
	case fdLink, pathLink:
		if target, e := virtualLink(t, v); e == 0 {
			return strings.TrimSuffix(target, " (deleted)")
		}
	}
	return ""
}
