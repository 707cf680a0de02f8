package spec

import (
	"flag"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestRead(t *testing.T) {
	s, err := Read("testdata/good/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dir, _ := filepath.Abs("testdata/good")
	want := Spec{
		Path: "testdata/good/full.yaml", Dir: dir, Digest: s.Digest,
		Name: "everything", Seed: 7, Date: time.Date(2026, 11, 21, 23, 50, 0, 0, time.UTC),
		Latency: 2 * time.Millisecond, ClockError: 50 * time.Microsecond, Delays: 3,
		Limits: Limits{Steps: 500, Time: 90 * time.Second, Divergence: time.Minute, Finally: time.Minute, Calls: 1000},
		Nodes: []Node{
			{
				ID: 0, Name: "store1", Line: 14,
				Commands: []Command{{Args: []string{"/spec/server", "-id", "1", "-name", "store1", "two words"},
					Line: 16}},
				Dir: filepath.Join(dir, "data"), Writable: []string{"/usr/share"},
				Env: map[string]string{"WHO": "store1", "N": "3", "EMPTY": ""}, Stdin: "hello\n",
				User: 1000, Group: 1000, MayFail: true, CPUs: 2, Addrs: addrs("192.168.7.1"),
			},
			{
				ID: 1, Name: "store2", Line: 14,
				Commands: []Command{{Args: []string{"/spec/server", "-id", "2", "-name", "store2", "two words"},
					Line: 16}},
				Dir: filepath.Join(dir, "data"), Writable: []string{"/usr/share"},
				Env: map[string]string{"WHO": "store2", "N": "3", "EMPTY": ""}, Stdin: "hello\n",
				User: 1000, Group: 1000, MayFail: true, CPUs: 2, Addrs: addrs("192.168.7.2"),
			},
			{
				ID: 2, Name: "client", Line: 29,
				Commands: []Command{
					{Args: []string{"/bin/sh", "-c", "echo put | cat >log; exit 0"}, Line: 31},
					{Args: []string{"/spec/server", "a;b", "$x"}, Line: 32},
				},
				Env: map[string]string{}, StdinOpen: true, Client: true, CPUs: 1,
				Addrs: addrs("10.1.0.9", "fd01::9"), Start: 1500 * time.Millisecond,
			},
			{
				ID: 3, Name: "n4", Line: 37,
				Commands: []Command{{Args: []string{"/bin/sh"}, Line: 37}},
				Env:      map[string]string{}, CPUs: 1, Addrs: addrs("10.0.0.4"),
			},
		},
	}
	// A shell is in /usr/bin or in /bin, whichever the host has.
	s.Nodes[3].Commands[0].Args[0] = strings.TrimPrefix(s.Nodes[3].Commands[0].Args[0], "/usr")
	want.Power, want.MaxDelay, want.Watch = DefaultPower, MaxDelay, watchOf(4)
	compare(t, *s, want)
}

// watchOf is how so many nodes are watched of which a spec says nothing.
func watchOf(nodes int) Watch {
	w := DefaultWatch
	w.Native = make([]Native, nodes)
	return w
}

func TestReadColumns(t *testing.T) {
	for _, path := range []string{"testdata/good/figure2.txt", "testdata/good/figure2"} {
		s, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		dir, _ := filepath.Abs("testdata/good")
		want := defaults()
		want.Path, want.Dir, want.Digest, want.Name = path, dir, s.Digest, "figure2"
		want.EndsByTime = true
		want.Nodes = []Node{
			{ID: 0, Name: "n1", Line: 2, Commands: []Command{{Args: []string{"/spec/server", "-id", "1"}, Line: 2}},
				Dir: filepath.Join(dir, "data"), Env: map[string]string{}, MayFail: true, CPUs: 1,
				Addrs: addrs("10.0.0.1")},
			{ID: 1, Name: "n2", Line: 4, Commands: []Command{{Args: []string{"/spec/server"}, Line: 4}},
				Env: map[string]string{}, CPUs: 1, Addrs: addrs("10.0.0.2")},
		}
		want.Watch = watchOf(2)
		compare(t, *s, want)
	}
}

// TestBad: each file below testdata/bad has its errors, one a line, in a file beside it.
func TestBad(t *testing.T) {
	files, _ := filepath.Glob("testdata/bad/*.yaml")
	columns, _ := filepath.Glob("testdata/bad/*.txt")
	files = append(files, columns...)
	if len(files) < 10 {
		t.Errorf("only %d bad specs", len(files))
	}
	here, err := filepath.Abs("testdata/bad")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		_, err := Read(path)
		if err == nil {
			t.Errorf("%s: no error", path)
			continue
		}
		got := strings.ReplaceAll(err.Error(), here, "HERE")
		got = strings.ReplaceAll(got, "testdata/bad/", "") + "\n"
		golden := path + ".golden"
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s: got\n%swant\n%s", path, got, want)
		}
	}
}

func TestReadMissing(t *testing.T) {
	_, err := Read("testdata/none.yaml")
	if got, want := err.Error(), "testdata/none.yaml: cannot be read: no such file or directory"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSplit(t *testing.T) {
	tests := []struct {
		line  string
		words []string
		shell bool
		bad   bool
	}{
		{line: ``},
		{line: `a`, words: []string{"a"}},
		{line: " a\t b  ", words: []string{"a", "b"}},
		{line: `a 'b c'd"e f"`, words: []string{"a", "b cde f"}},
		{line: `a '' ""`, words: []string{"a", "", ""}},
		{line: `a \  \'b`, words: []string{"a", " ", "'b"}},
		{line: `a "b\"c\d"`, words: []string{"a", `b"c\d`}},
		{line: `a '$x' '*;|' "a;b" x=1 b~ b#`, words: []string{"a", "$x", "*;|", "a;b", "x=1", "b~", "b#"}},
		{line: `a "\$x"`, words: []string{"a", "$x"}},
		{line: "a b\\\nc", words: []string{"a", "bc"}},
		{line: `a {i} 100% @x !`, words: []string{"a", "{i}", "100%", "@x", "!"}},
		{line: `X=1 a`, shell: true},
		{line: `a "$x"`, shell: true},
		{line: "a `b`", shell: true},
		{line: `a | b`, shell: true},
		{line: `a && b`, shell: true},
		{line: `exec a b`, shell: true},
		{line: `! test -f x`, shell: true},
		{line: `a ! b`, words: []string{"a", "!", "b"}},
		{line: `a >b`, shell: true},
		{line: `a *.c`, shell: true},
		{line: `a b?`, shell: true},
		{line: `a [b]`, shell: true},
		{line: `a ~/b`, shell: true},
		{line: `a # b`, shell: true},
		{line: "a\nb", shell: true},
		{line: `(a)`, shell: true},
		{line: `a 'b`, bad: true},
		{line: `a "b`, bad: true},
		{line: `a \`, bad: true},
	}
	for _, tt := range tests {
		words, shell, err := split(tt.line)
		if (err != nil) != tt.bad || shell != tt.shell || !tt.shell && !tt.bad && !reflect.DeepEqual(words, tt.words) {
			t.Errorf("split(%q) = %q, %v, %v", tt.line, words, shell, err)
		}
	}
}

func TestFormat(t *testing.T) {
	elf := func(class, machine byte) []byte {
		head := make([]byte, 64)
		copy(head, "\x7fELF")
		head[4], head[18] = class, machine
		return head
	}
	tests := []struct {
		head []byte
		want string
	}{
		{elf(2, 62), ""},
		{elf(1, 3), "it is not built for x86-64"},
		{elf(2, 183), "it is not built for x86-64"},
		{[]byte("#!/bin/sh -e\n"), ""},
		{[]byte("#!\n"), "its #! line names no interpreter"},
		{[]byte("#!/no/such/shell\n"), "its interpreter /no/such/shell is missing"},
		{[]byte("echo\n"), "it is neither an ELF file nor a script (which begins with #!)"},
		{nil, "it is neither an ELF file nor a script (which begins with #!)"},
	}
	for _, tt := range tests {
		got := ""
		if err := format(tt.head); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("format(%q) = %q, want %q", tt.head, got, tt.want)
		}
	}
}

// TestProgramOutOfSight: a program that the node cannot see is refused even though the host has it.
func TestProgramOutOfSight(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "server")
	if !below("/tmp", outside) {
		t.Skip("the temporary directory is not below /tmp")
	}
	if err := os.WriteFile(outside, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := Parse("testdata/good/x.yaml", []byte("nodes: [{command: "+outside+"}]"))
	if err == nil || !strings.Contains(err.Error(), "testdata/good, which they see as /spec") {
		t.Errorf("got %v", err)
	}
	s, err := Parse(filepath.Join(filepath.Dir(outside), "x.yaml"), []byte("nodes: [{command: "+outside+"}]"))
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Nodes[0].Commands[0].Args[0]; got != "/spec/server" {
		t.Errorf("beside the spec: %q", got)
	}
}

func compare[T any](t *testing.T, got, want T) {
	t.Helper()
	g, w := reflect.ValueOf(got), reflect.ValueOf(want)
	for i := range g.NumField() {
		if !reflect.DeepEqual(g.Field(i).Interface(), w.Field(i).Interface()) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", g.Type().Field(i).Name, g.Field(i), w.Field(i))
		}
	}
}

func addrs(ss ...string) []netip.Addr {
	var out []netip.Addr
	for _, s := range ss {
		out = append(out, netip.MustParseAddr(s))
	}
	return out
}

// TestFail: a number stands for the usual calls and errors; what is named takes their place.
func TestFail(t *testing.T) {
	for text, want := range map[string]Fail{
		"fail: 2":          DefaultFail(),
		"fail: {count: 2}": DefaultFail(),
		"fail: {errors: EIO, count: 2}": {Errors: map[string][]string{"write": {"EIO"}, "writev": {"EIO"},
			"pwrite64": {"EIO"}, "pwritev": {"EIO"},
			"pwritev2": {"EIO"}, "fsync": {"EIO"}, "fdatasync": {"EIO"}}},
		"fail: {count: 2, calls: [accept, fsync], errors: [ENFILE, ENOSPC], paths: '*.log', nodes: b, combined: 3}": {
			Errors: map[string][]string{"accept": {"ENFILE"}, "fsync": {"ENOSPC"}}, Paths: []string{"*.log"},
			Nodes: []ariadne.NodeID{1}, Combined: 3},
		"fail: {count: 2, calls: [open, unlink], after: '^go', programs: [sh]}": {
			Errors: map[string][]string{"open": {"EMFILE"}, "unlink": {"EIO"}}, Programs: []string{"sh"}},
		"fail: {count: 2, functions: {malloc: 0, send_it: -0x10}}": {Errors: map[string][]string{},
			Functions: map[string]int64{"malloc": 0, "send_it": -16}},
		"fail: {count: 2, calls: [write, names], errors: [FULL, EROFS]}": {
			Errors: map[string][]string{"write": {"FULL"}, "open": {"EROFS"}, "openat": {"EROFS"}, "openat2": {"EROFS"},
				"creat": {"EROFS"}, "mkdir": {"EROFS"},
				"mkdirat": {"EROFS"}, "mknod": {"EROFS"}, "mknodat": {"EROFS"}, "rename": {"EROFS"},
				"renameat": {"EROFS"}, "renameat2": {"EROFS"}, "link": {"EROFS"},
				"linkat": {"EROFS"}, "symlink": {"EROFS"}, "symlinkat": {"EROFS"}, "unlink": {"EROFS"},
				"unlinkat": {"EROFS"}, "rmdir": {"EROFS"}}},
	} {
		s, err := Parse("x.yaml", []byte("faults:\n  "+text+"\nnodes:\n  - {name: a, command: /bin/true}\n  - {name: b, command: /bin/true}\n"))
		if err != nil {
			t.Error(err)
			continue
		}
		if s.Faults[world.Fail] != 2 || !reflect.DeepEqual(s.Fail, want) {
			t.Errorf("%s: %d of %+v, want %+v", text, s.Faults[world.Fail], s.Fail, want)
		}
	}
}

// TestRestart: commands for another start are templates, have their links, and make nodes differ.
func TestRestart(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"server", "conf"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(dir, "s.yaml")
	s, err := Parse(path, []byte("nodes: [{count: 2, command: ./server, restart: ['./server --again {i} conf', 'echo {name}']}, {command: ./server}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	n := s.Nodes[1]
	if got := n.Programs(); len(n.Commands) != 1 || len(got) != 3 ||
		!slices.Equal(got[1].Args, []string{"/spec/server", "--again", "2", "conf"}) || got[2].Args[1] != "n2" {
		t.Errorf("it runs %v, then %v", n.Commands, n.Restart)
	}
	if !slices.Contains(n.Links, "conf") || s.Nodes[2].Restart != nil {
		t.Errorf("links %q; another node runs %v then", n.Links, s.Nodes[2].Restart)
	}
	const two = "nodes:\n- {name: a, command: 'true', restart: sleep 5}\n- {name: b, command: 'true', restart: sleep 7}\nexplore: {symmetric: [[a, b]]}\n"
	if _, err := Parse(path, []byte(two)); err == nil ||
		!strings.Contains(err.Error(), `not interchangeable: "5" and "7" in their commands`) {
		t.Errorf("symmetric: %v", err)
	}
}

// TestWhen: every kind of fault may have to come after a line, and those that hit messages may be
// those between some nodes.
func TestWhen(t *testing.T) {
	for _, k := range world.Kinds() {
		kind := world.KindOf(k)
		if kind.Fault == "" {
			continue
		}
		text := "faults:\n  " + kind.Name + ": {after: '^go'"
		if kind.Messages {
			text += ", nodes: [a], peers: [b, c]"
		}
		s, err := Parse("x.yaml", []byte(text+"}\nclock_error: 12ms\nnodes:\n  - {name: a, command: /bin/true}\n  - {name: b, command: /bin/true}\n  - {name: c, command: /bin/true}\n"))
		if err != nil {
			t.Error(err)
			continue
		}
		if s.Faults[k] != 1 || s.After[k] == nil || s.After[k].String() != "^go" {
			t.Errorf("%s: %d after %v", kind.Name, s.Faults[k], s.After[k])
		}
		if of, ok := s.AfterOf[k]; ok {
			t.Errorf("%s: the line is of node %d", kind.Name, of)
		}
		text = strings.Replace(text, "'^go'", "{line: '^go', node: b}", 1)
		other, err := Parse("x.yaml", []byte(text+"}\nclock_error: 12ms\nnodes:\n  - {name: a, command: /bin/true}\n  - {name: b, command: /bin/true}\n  - {name: c, command: /bin/true}\n"))
		if err != nil {
			t.Error(err)
		} else if of, ok := other.AfterOf[k]; !ok || of != 1 || other.After[k] == nil ||
			other.After[k].String() != "^go" {
			t.Errorf("%s: after %v of node %d", kind.Name, other.After[k], of)
		}
		if ends := s.Where[k]; kind.Messages && (len(ends.Nodes) != 1 || len(ends.Peers) != 2 || ends.Peers[1] != 2) {
			t.Errorf("%s: between %v", kind.Name, ends)
		}
	}
}
