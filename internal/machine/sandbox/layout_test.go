package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// printed shows a layout, one entry a line; host stands for the host directory.
func (l *layout) printed(host string) string {
	var s strings.Builder
	var walk func(name string, e *entry)
	walk = func(name string, e *entry) {
		kind := [...]string{"dir", "file", "link", "bind", "fifo"}[e.kind]
		data := strings.ReplaceAll(e.data, host, "HOST")
		fmt.Fprintf(&s, "%s %s %s\n", name, kind, data)
		for _, k := range sortedNames(e.kids) {
			walk(strings.TrimSuffix(name, "/")+"/"+k, e.kids[k])
		}
	}
	walk("/", l.root)
	for _, o := range l.over {
		fmt.Fprintf(&s, "over %s %v\n", o.path, o.writable)
	}
	if len(l.writable) > 0 {
		fmt.Fprintf(&s, "writable %s\n", strings.Join(l.writable, " "))
	}
	return strings.ReplaceAll(s.String(), " \n", "\n")
}

func TestLayout(t *testing.T) {
	host := t.TempDir()
	for _, d := range []string{"usr/lib/deep", "usr/share", "var/lib"} {
		must(t, os.MkdirAll(filepath.Join(host, d), 0o755))
	}
	must(t, os.WriteFile(filepath.Join(host, "usr/lib/file"), nil, 0o644))
	must(t, os.Symlink("../../run/there", filepath.Join(host, "usr/lib/link")))
	must(t, os.Symlink("usr/lib", filepath.Join(host, "lib")))

	newRoot := func() *layout {
		root, err := bindsIn(host)
		must(t, err)
		return &layout{root: root}
	}
	const plain = "/ dir\n/lib link usr/lib\n/usr bind HOST/usr\n/var bind HOST/var\n"
	for _, c := range []struct {
		what     string
		path     string
		writable bool
		want     string
	}{
		{"what exists is mounted over", "/usr/lib/file", false, plain + "over /usr/lib/file false\n"},
		{"links are followed", "/lib/file", true, plain + "over /usr/lib/file true\n"},
		{"links at the end too", "/usr/lib/link", false,
			"/ dir\n/lib link usr/lib\n/run dir\n/run/there file x\n/usr bind HOST/usr\n/var bind HOST/var\n"},
		{"what is missing opens the directories above", "/usr/lib/new/file", true,
			"/ dir\n/lib link usr/lib\n/usr dir\n/usr/lib dir\n/usr/lib/deep bind HOST/usr/lib/deep\n/usr/lib/file bind HOST/usr/lib/file\n" +
				"/usr/lib/link link ../../run/there\n/usr/lib/new dir\n/usr/lib/new/file file x\n/usr/share bind HOST/usr/share\n/var bind HOST/var\n" +
				"writable /usr/lib/new/file\n"},
		{"a new directory at the top", "/data", true, "/ dir\n/data file x\n/lib link usr/lib\n/usr bind HOST/usr\n/var bind HOST/var\nwritable /data\n"},
		{"in the place of a top directory", "/var", false, "/ dir\n/lib link usr/lib\n/usr bind HOST/usr\n/var file x\n"},
	} {
		l := newRoot()
		must(t, l.put(c.path, newFile("x"), c.writable))
		if got := l.printed(host); got != c.want {
			t.Errorf("%s: got\n%swant\n%s", c.what, got, c.want)
		}
	}

	l := newRoot()
	if err := l.put("/usr/lib/file/below", newFile(""), false); err == nil {
		t.Error("a file below a file")
	}
	must(t, os.Symlink("loop", filepath.Join(host, "loop")))
	if err := newRoot().put("/loop/x", newFile(""), false); err == nil {
		t.Error("a loop of links")
	}
}

func TestSyntheticFiles(t *testing.T) {
	m := synthetic()
	if e := m["/proc/sys/net/core/somaxconn"]; e == nil || e.data != "4096\n" {
		t.Errorf("somaxconn: %+v", e)
	}
	if e := m["/proc/mounts"]; e == nil || e.kind != linkEntry || e.data != "self/mounts" {
		t.Errorf("mounts: %+v", e)
	}
	for name, e := range m {
		if !strings.HasPrefix(name, "/") || strings.Contains(name, " ") || e.kind == fileEntry &&
			strings.HasPrefix(e.data, "==") {
			t.Errorf("%q: %q", name, e.data)
		}
	}
}
