package sys

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestFormatArgs(t *testing.T) {
	a := Args{1, 2, 3, 4, 5, 6}
	for nr, want := range map[int]string{
		unix.SYS_GETPID: "()", unix.SYS_CLOSE: "(0x1)", unix.SYS_PKEY_ALLOC: "(0x1, 0x2)",
		unix.SYS_OPENAT: "(0x1, 0x2, 0x3, 0x4)",
		unix.SYS_MMAP:   "(0x1, 0x2, 0x3, 0x4, 0x5, 0x6)", 9999: "(0x1, 0x2, 0x3, 0x4, 0x5, 0x6)",
	} {
		if got := formatArgs(nr, a); got != want {
			t.Errorf("%s%s, want %s", Name(nr), got, want)
		}
	}
}

// TestArgCounts: calls that are counted are in the table, and have the arguments with paths that it
// knows.
func TestArgCounts(t *testing.T) {
	rows := map[string]*Row{}
	for i := range Table {
		rows[Table[i].Name] = &Table[i]
	}
	for n, list := range takes {
		for name := range strings.FieldsSeq(list) {
			if rows[name] == nil || argCounts[name] != n {
				t.Errorf("%s: no such call, or it is there twice", name)
				continue
			}
			for _, p := range rows[name].paths {
				if max(p.dir, p.at) >= n {
					t.Errorf("%s has %d arguments, and a path in number %d", name, n, max(p.dir, p.at))
				}
			}
		}
	}
}

// TestArgsAsStrace compares the arguments of calls that a program makes with those that strace
// shows.
func TestArgsAsStrace(t *testing.T) {
	out, err := exec.Command("strace", "-e", "raw=all", "ls", "-l", "/dev/null").CombinedOutput()
	if err != nil {
		t.Skipf("no strace: %v", err)
	}
	compared := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^(\w+)\(([^()\n]*)\) += `).FindAllStringSubmatch(string(out), -1) {
		n, known := argCounts[m[1]]
		if got := len(strings.Fields(m[2])); known && got != n {
			t.Errorf("%s has %d arguments, want %d", m[1], n, got)
		}
		compared[m[1]] = known
	}
	if len(compared) < 15 {
		t.Errorf("only %v", compared)
	}
}
