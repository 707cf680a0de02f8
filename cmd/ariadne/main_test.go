package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/machine/tracee"
	"github.com/ariadne-mc/ariadne/internal/system/doctor"
	"github.com/ariadne-mc/ariadne/internal/system/native"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/system/stack"
	"github.com/ariadne-mc/ariadne/internal/use/disk"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
)

var update = flag.Bool("update", false, "rewrite what the scripts compare with")

func TestMain(m *testing.M) {
	if stack.IsWorker() {
		stack.Work()
	}
	if native.IsStarter() {
		os.Exit(native.RunStarter())
	}
	testscript.Main(m, map[string]func(){"ariadne": main})
}

// TestScripts: each file below testdata/script is a session on the command line. Those that
// execute something use testdata/race, which stands as $RACE,
// or its source, $RACE_C. $FIRSTCHECK is the service of docs/first-check.md.
func TestScripts(t *testing.T) {
	race := buildRace(t)
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Condition: func(name string) (bool, error) {
			switch name {
			case "execute":
				return race != "" && canExecute(), nil
			case "cpuid":
				return tracee.CanTrapCPUID(), nil
			case "ext4":
				_, err := exec.LookPath("mkfs.ext4")
				return err == nil && disk.Able() == nil, nil
			case "root":
				return os.Getuid() == 0, nil
			case "others": // root can run Ariadne as an ordinary user
				return os.Getuid() == 0 &&
					exec.Command("setpriv", "--reuid", "65533", "unshare", "-U", "true").Run() == nil, nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Setup: func(env *testscript.Env) error {
			env.Setenv("RACE", race)
			source, err := filepath.Abs("testdata/race/race.c")
			env.Setenv("RACE_C", source)
			for name, example := range map[string]string{"FIRSTCHECK": "firstcheck", "DISK": "disk", "STORE": "store",
				"TRANSPORT": "transport"} {
				if dir, err := filepath.Abs("../../examples/" + example); err == nil {
					env.Setenv(name, dir)
				}
			}
			// for scripts that build in Go
			for _, name := range []string{"GOCACHE", "GOMODCACHE"} {
				if dir, err := exec.Command("go", "env", name).Output(); err == nil {
					env.Setenv(name, strings.TrimSpace(string(dir)))
				}
			}
			if root, err := filepath.Abs("../.."); err == nil {
				env.Setenv("ARIADNE_SOURCE", root)
			}
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"status": status, "jsonlines": jsonLines,
			"waitfor": waitFor, "shows": shows},
	})
}

// buildRace returns the path of the program of testdata/race, or "" where there
// is no C compiler.
func buildRace(t *testing.T) string {
	if _, err := exec.LookPath("gcc"); err != nil {
		return ""
	}
	path := filepath.Join(t.TempDir(), "race")
	if out, err := exec.Command("gcc", "-O1", "-o", path, "testdata/race/race.c").CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v\n%s", err, out)
	}
	return path
}

// canExecute reports whether the doctor finds nothing wrong with this machine.
func canExecute() bool {
	return !slices.ContainsFunc(doctor.Judge(doctor.Look()), func(c doctor.Check) bool { return !c.OK })
}

// status runs a command and wants the exit status that it is given first, or one
// of several: status 0,3 command.
func status(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N command ...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := "0"
	if err != nil {
		got = strings.TrimPrefix(err.Error(), "exit status ")
	}
	if !slices.Contains(strings.Split(args[0], ","), got) {
		ts.Fatalf("exit status %s, want %s", got, args[0])
	}
}

// waitFor waits until a file is there.
func waitFor(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: waitfor file")
	}
	const patience = 30 * time.Second
	watch, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	ts.Check(err)
	defer unix.Close(watch)
	file, late := ts.MkAbs(args[0]), time.Now().Add(patience)
	for {
		dir := existing(filepath.Dir(file))
		_, err := unix.InotifyAddWatch(watch, dir, unix.IN_CREATE|unix.IN_MOVED_TO)
		ts.Check(err)
		switch left := time.Until(late); {
		case existing(file) == file:
			return
		case left <= 0:
			ts.Fatalf("%s is not there after %v", args[0], patience)
		case existing(filepath.Dir(file)) == dir:
			unix.Poll([]unix.PollFd{{Fd: int32(watch), Events: unix.POLLIN}}, int(left.Milliseconds())+1)
			unix.Read(watch, make([]byte, 4096)) // the loop looks at what is there
		}
	}
}

// existing returns the last file on a path that exists.
func existing(path string) string {
	for {
		if _, err := os.Stat(path); err == nil {
			return path
		}
		path = filepath.Dir(path)
	}
}

// shows wants of stdout what a page shows as the output of a command: shows PAGE COMMAND. It
// compares the violation, and the rows of the timeline in their order, without times. The page may
// leave rows out.
func shows(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: shows page command")
	}
	page, err := os.ReadFile(filepath.Join("../../docs", args[0]))
	ts.Check(err)
	rows := shownRows(string(page), args[1])
	if len(rows) < 3 {
		ts.Fatalf("%s shows %d rows of %s", args[0], len(rows), args[1])
	}
	printed := outputRows(ts.ReadFile("stdout"))
	for _, row := range rows {
		at := slices.Index(printed, row)
		if at < 0 {
			ts.Fatalf("%s shows of %s a row that was not printed (there): %s", args[0], args[1], row)
		}
		printed = printed[at+1:]
	}
}

// shownRows are the rows of the block that follows a command on a page.
func shownRows(page, command string) []string {
	_, rest, _ := strings.Cut(page, "\n    "+command+"\n")
	var block strings.Builder
	for line := range strings.Lines(rest) {
		text, indented := strings.CutPrefix(line, "    ")
		if !indented && strings.TrimSpace(line) != "" && block.Len() > 0 {
			break
		}
		if indented {
			block.WriteString(text)
		}
	}
	return outputRows(block.String())
}

// virtualTime is a time in a timeline. Versions of a compiler make more system calls or fewer, and
// so move it by microseconds.
var virtualTime = regexp.MustCompile(`\d+\.\d+m?s`)

// outputRows are the violation and the rows of the timeline, without their times.
func outputRows(output string) (rows []string) {
	for line := range strings.Lines(output) {
		line = strings.TrimSpace(line)
		if at := virtualTime.FindStringIndex(line); at != nil && at[0] == 0 || strings.HasPrefix(line, "violation: ") {
			rows = append(rows, strings.Join(strings.Fields(virtualTime.ReplaceAllString(line, "")), " "))
		}
	}
	return rows
}

// jsonLines wants each line of a file, or of stdout, to be a JSON value.
func jsonLines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: jsonlines file")
	}
	text := ts.ReadFile(args[0])
	if text == "" {
		ts.Fatalf("%s is empty", args[0])
	}
	for line := range strings.Lines(text) {
		if !json.Valid([]byte(line)) {
			ts.Fatalf("not JSON: %s", line)
		}
	}
}

// TestPagesAreFresh: the generated pages say what the code says; go generate ./cmd/ariadne renews
// them.
func TestPagesAreFresh(t *testing.T) {
	for name, want := range (&app{}).pages() {
		got, err := os.ReadFile(filepath.Join("../../docs/reference", name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("docs/reference/%s is stale: run go generate ./cmd/ariadne", name)
		}
	}
}

// TestHelpFits: the help of each subcommand fits 100 columns.
func TestHelpFits(t *testing.T) {
	var commands [][]string
	var list func(c *cobra.Command, names []string)
	list = func(c *cobra.Command, names []string) {
		commands = append(commands, names)
		for _, s := range c.Commands() {
			list(s, append(slices.Clone(names), s.Name()))
		}
	}
	list((&app{}).root(), nil)
	if len(commands) < 10 {
		t.Fatalf("only %d commands", len(commands))
	}
	for _, names := range commands {
		var out bytes.Buffer
		a := &app{out: &out, err: &out}
		if a.main(append(names, "--help")); out.Len() == 0 {
			t.Errorf("%v: no help", names)
		}
		for line := range strings.Lines(out.String()) {
			if line = strings.TrimSuffix(line, "\n"); len([]rune(line)) > 100 && len(strings.Fields(line)) > 1 {
				t.Errorf("%v: %d columns: %s", names, len([]rune(line)), line)
			}
		}
	}
}

// TestVersion: the first entry of the changelog is that of the version.
func TestVersion(t *testing.T) {
	text, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "\n## ")
	if first, _, _ := strings.Cut(rest, ","); first != version {
		t.Errorf("the first entry is of %q, the version is %s", first, version)
	}
}

// TestShort: the spec that init writes is short, fits 100 columns, and is valid.
func TestShort(t *testing.T) {
	text := newSpec(short, "dir/my.yaml", time.Now())
	s, err := spec.Parse("short.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Nodes) != 3 || !s.Nodes[2].Client {
		t.Errorf("nodes: %+v", s.Nodes)
	}
	if n := bytes.Count(text, []byte("\n")); n < 15 || n > 25 {
		t.Errorf("%d lines", n)
	}
	for line := range strings.Lines(string(text)) {
		if len(line) > 101 {
			t.Errorf("%d columns: %s", len(line)-1, line)
		}
	}
	if !bytes.Contains(text, []byte("ariadne run my.yaml")) {
		t.Error("the comments do not name the file")
	}
}

// TestTemplate: the spec that init --full writes is valid, and says something of every field.
func TestTemplate(t *testing.T) {
	s, err := spec.Parse("template.yaml", newSpec(template, "template.yaml", time.Now()))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Nodes) != 3 || !s.Nodes[2].Client {
		t.Errorf("nodes: %+v", s.Nodes)
	}
	var schema struct {
		Properties map[string]any
		Defs       map[string]struct{ Properties map[string]any } `json:"$defs"`
	}
	if err := json.Unmarshal(spec.Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	fields := []map[string]any{schema.Properties, schema.Defs["node"].Properties, schema.Defs["limits"].Properties}
	for _, properties := range fields {
		for name := range properties {
			if name != "addresses" && !bytes.Contains(template, []byte(name+":")) {
				t.Errorf("nothing of %s", name)
			}
		}
	}
}
