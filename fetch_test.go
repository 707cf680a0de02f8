package ariadne_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// apt stands in for apt-get. Like it, it does not download an older version of a package that is
// installed: what is installed stands in the file of the option Dir::State::status, or else in the
// machine's own.
const apt = `#!/bin/sh
if [ "$1" = indextargets ]; then
	echo http://mirror.example/debian
	exit
fi
status=$MACHINE
for a in "$@"; do
	case $a in Dir::State::status=*) status=${a#*=} ;; esac
	last=$a
done
case " $* " in
*" download "*)
	if grep -qx "Package: $last" "$status"; then
		echo "E: Can't find a source to download version of '$last'" >&2
		exit 100
	fi
	: >"$last.deb" ;;
esac
`

// TestFetchOtherRelease: a fetch script gets a package of another release, also where a version of
// it is installed already.
func TestFetchOtherRelease(t *testing.T) {
	for _, installed := range []string{"", "Package: libraft-dev\nStatus: install ok installed\nVersion: 0.17.1-1\n"} {
		dir := t.TempDir()
		functions, err := filepath.Abs("examples/fetch.sh")
		if err != nil {
			t.Fatal(err)
		}
		write := func(name, text string) string {
			name = filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(text), 0o755); err != nil {
				t.Fatal(err)
			}
			return name
		}
		write("tools/apt-get", apt)
		machine := write("status", installed)
		cmd := exec.Command("/bin/sh",
			write("raft/fetch", ". "+functions+"\nother_release trixie download libraft-dev\n"))
		cmd.Env = append(os.Environ(), "PATH="+filepath.Join(dir, "tools")+":"+os.Getenv("PATH"), "MACHINE="+machine)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("installed: %q: %v\n%s", installed, err, out)
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, "raft", "libraft-dev.deb")); err != nil {
			t.Errorf("installed: %q: %v\n%s", installed, err, out)
		}
		sources, err := os.ReadFile(filepath.Join(dir, "raft/.fetch/trixie/sources.list"))
		if err != nil || !strings.Contains(string(sources), "http://mirror.example/debian trixie main") {
			t.Errorf("the packages of the other release come from\n%s%v", sources, err)
		}
	}
}
