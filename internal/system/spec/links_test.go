package spec

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestLinks(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"server.py", "srv", "a b", "x/y", "x/z", "x/deep/w", "lib/a.jar", "lib/b.jar",
		"c.conf", "log"} {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		command string
		want    []string
	}{
		{"./srv -v", nil}, // it is found without
		{"python3 server.py", []string{"server.py"}},
		{"valgrind ./srv", []string{"srv"}},
		{"cd x && ./y", []string{"x/deep", "x/y", "x/z"}},
		{"cd x/deep && cat w ../y ../../c.conf ../../../srv", []string{"c.conf", "x/deep/w", "x/y"}},
		{"x/../srv --config=c.conf", []string{"c.conf"}},
		{"java -cp lib/a.jar:lib/b.jar Main", []string{"lib/a.jar", "lib/b.jar"}},
		{"java -cp 'lib/*' Main", []string{"lib/a.jar", "lib/b.jar"}},
		{"cat *.conf", []string{"c.conf"}},
		{"cat 'a b'", []string{"a b"}},
		{"sh -c 'exec ./srv -f c.conf'", []string{"c.conf", "srv"}},
		{"while :; do ./srv; done >log 2>>log", []string{"srv"}},
		{"cat <log", []string{"log"}},
		{"curl -d @c.conf http://srv/log", []string{"c.conf"}},
		{"cat . .. ../srv /srv x/nothing '' [", nil},
		{"$(cat c.conf)", []string{"c.conf"}},
	} {
		r := &reader{dir: dir}
		if got := r.links([]text{{string: c.command}}); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.command, got, c.want)
		}
	}
}
