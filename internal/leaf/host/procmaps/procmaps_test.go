package procmaps

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestParse(t *testing.T) {
	for line, want := range map[string]Mapping{
		"7f3a00000000-7f3a00021000 rw-s 00003000 fd:12 4711      /tmp/a file (deleted)\n": {
			0x7f3a00000000, 0x7f3a00021000, 0x3000, unix.Mkdev(0xfd, 0x12), 4711, "rw-s", "/tmp/a file (deleted)"},
		"00400000-00401000 r-xp 00000000 00:00 0": {0x400000, 0x401000, 0, 0, 0, "r-xp", ""},
		"ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]": {
			0xffffffffff600000, 0xffffffffff601000, 0, 0, 0, "--xp", "[vsyscall]"},
	} {
		if got, ok := Parse(line); !ok || got != want {
			t.Errorf("%q: %+v, %t", line, got, ok)
		}
	}
	for _, line := range []string{"", "\n", "Size:                  4 kB\n", "VmFlags: rd wr\n", "1-2 rw-p",
		"1-2 rw-p 0 0:0 x", "1-2 rwp 0 0:0 0", "00400000 r-xp 00000000 00:00 0", "g-2 rw-p 0 0:0 0",
		"THPeligible:           0", "-2 rw-p 0 0:0 0"} {
		if got, ok := Parse(line); ok {
			t.Errorf("%q: %+v", line, got)
		}
	}
}

// TestAll compares with fmt's scanner, on this process's own mappings.
func TestAll(t *testing.T) {
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	for m := range All(string(text)) {
		var want Mapping
		var major, minor uint32
		n, _ := fmt.Sscanf(lines[0], "%x-%x %s %x %x:%x %d %s", &want.Start, &want.End, &want.Perms, &want.Offset,
			&major,
			&minor, &want.Inode, &want.Name)
		want.Dev = unix.Mkdev(major, minor)
		if n < 7 || m != want {
			t.Errorf("%q: %+v and not %+v", lines[0], m, want)
		}
		var st unix.Stat_t
		if m.Inode != 0 && unix.Stat(m.Name, &st) == nil && st.Ino == m.Inode && st.Dev != m.Dev {
			t.Errorf("%s: stat has the device %x and not %x", m.Name, st.Dev, m.Dev)
		}
		lines = lines[1:]
	}
	if len(lines) != 1 || lines[0] != "" {
		t.Errorf("not read: %q", lines)
	}
}

func BenchmarkAll(b *testing.B) {
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		for range All(string(text)) {
		}
	}
}
