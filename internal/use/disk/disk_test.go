//go:build linux

package disk

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk/block"
	"github.com/ariadne-mc/ariadne/internal/record/report"
	"github.com/ariadne-mc/ariadne/internal/system/stack"
)

func TestMain(m *testing.M) {
	if stack.IsWorker() {
		stack.Work()
	}
	if dir := os.Getenv(killedVar); dir != "" {
		checkForever(dir)
	}
	os.Exit(m.Run())
}

// able skips a test where no stack can be mounted, or programs are missing.
func able(t *testing.T, programs ...string) {
	t.Helper()
	if err := Able(); err != nil {
		t.Skip(err)
	}
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			t.Skip(err)
		}
	}
}

// parse is a spec that must be right.
func parse(t *testing.T, text string) *Spec {
	t.Helper()
	s, err := Parse(filepath.Join(t.TempDir(), "test.yaml"), []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// check checks a stack, which must be possible.
func check(t *testing.T, o Options) *Report {
	t.Helper()
	if o.Workers == 0 {
		o.Workers = 4
	}
	o.Temp = t.TempDir()
	r, err := Check(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// printed is a report as people see it.
func printed(r *Report) string {
	var b bytes.Buffer
	Print(&b, r, report.Style{})
	return b.String()
}

const ext4Stack = `
stack:
- {name: disk, device: 8MB}
- {name: ext4, filesystem: ext4, mkfs: -b 1024}
`

// notes is a checker whose workload makes notes, and promises each.
func notes(sync string) string {
	return ext4Stack + `
checker:
  mutate: 'for i in 1 2; do echo text > tmp; sync tmp; mv tmp note$i; ` + sync + ` echo promise note$i > /dev/ariadne; done'
  check: 'for n in $ARIADNE_PROMISES; do grep -qs text $n || { echo $n is lost; exit 1; }; done'
`
}

func TestNotes(t *testing.T) {
	able(t, "mkfs.ext4")
	r := check(t, Options{Spec: parse(t, notes("sync .;"))})
	if r.Failed+r.Undecided > 0 || r.Passed < 20 {
		t.Error(printed(r))
	}
}

// TestLostNote: a note that is promised before its name is durable is lost. The trace of the
// failing image replays.
func TestLostNote(t *testing.T) {
	able(t, "mkfs.ext4")
	s := parse(t, notes(""))
	r := check(t, Options{Spec: s})
	if r.Failed == 0 || len(r.Groups) != 1 || !strings.Contains(r.Groups[0].Why, "note1 is lost") {
		t.Fatal(printed(r))
	}
	dir := t.TempDir()
	if err := r.Keep(s, dir); err != nil {
		t.Fatal(err)
	}
	kept := r.Groups[0].Dir
	trace, err := ReadTrace(filepath.Join(kept, "trace"))
	if err != nil {
		t.Fatal(err)
	}
	again := check(t, Options{Spec: s, Replay: trace})
	if again.Checked != 1 || again.Failed != 1 || again.Groups[0].Why != r.Groups[0].Why {
		t.Errorf("the trace replays as\n%s", printed(again))
	}
	if again.Groups[0].Example.Last != r.Groups[0].Example.Last {
		t.Errorf("the power is lost after %s, and should be after %s", again.Groups[0].Example.Last,
			r.Groups[0].Example.Last)
	}
	image, err := os.ReadFile(filepath.Join(kept, "device1.img"))
	if err != nil || int64(len(image)) != s.Devices()[0] {
		t.Errorf("the kept image has %d bytes: %v", len(image), err)
	}
	trace.Failing = nil
	whole := check(t, Options{Spec: s, Replay: trace})
	if whole.Failed != r.Failed || whole.Checked != r.Checked {
		t.Errorf("the log replays as\n%sand was\n%s", printed(whole), printed(r))
	}
}

// TestChoices: all choices of a workload are executed, and signatures that are known end an
// execution.
func TestChoices(t *testing.T) {
	able(t, "mkfs.ext4")
	r := check(t, Options{Spec: parse(t, ext4Stack+`
images: 1
checker:
  init: 'echo base > base'
  mutate: 'exec 3<>/dev/ariadne; echo choose a b >&3; read -r x <&3; echo choose 2 >&3; read -r y <&3; echo $x$y > chosen; sync chosen; if [ $x$y = b1 ]; then echo begin >&3; echo promise later >&3; fi; : > later'
  check: 'grep -q base base || exit 1; [ -z "$ARIADNE_PROMISES" ] || [ -e later ] || { echo begun $ARIADNE_BEGUN; exit 1; }'
  finish: 'ls chosen'
`)})
	if r.Executions != 4 || r.Failed == 0 || !strings.Contains(printed(r), "choices [1 1]") ||
		!strings.Contains(printed(r), "begun 1") {
		t.Error(printed(r))
	}
}

// TestSignatures: an execution ends where its state is known. The mutations add one of two bits to
// a sum, so of the 16 sequences only those go on that lead to new sums.
func TestSignatures(t *testing.T) {
	able(t, "mkfs.ext4")
	text := ext4Stack + `
images: 1
checker:
  init: 'echo 0 > sum'
  mutate: 'exec 3<>/dev/ariadne; echo choose 2 >&3; read -r x <&3; echo $(($(cat sum) + x)) > sum; sync sum'
  check: 'test -e sum'
  mutations: 4
`
	all := check(t, Options{Spec: parse(t, text)})
	if all.Executions != 16 || all.Equal > 0 {
		t.Error(printed(all))
	}
	some := check(t, Options{Spec: parse(t, text+"  signature: 'cat sum'\n")})
	if some.Executions >= 10 || some.Equal == 0 || some.Failed > 0 {
		t.Error(printed(some))
	}
}

// TestCrashNow: images are formed only where the workload asks for them.
func TestCrashNow(t *testing.T) {
	able(t, "mkfs.ext4")
	r := check(t, Options{Spec: parse(t, ext4Stack+`
checker:
  mutate: 'for i in 1 2 3; do echo $i > f; sync f; done; echo crash now > /dev/ariadne; sync'
  check: 'grep -q 3 f'
`)})
	if r.Points != 1 || !r.Pointed || r.Failed > 0 || r.Passed == 0 {
		t.Error(printed(r))
	}
}

// TestErrors: what cannot be checked is an error that says why.
func TestErrors(t *testing.T) {
	able(t, "mkfs.ext4")
	for want, text := range map[string]string{
		"the checker rejects what is left without a loss of power: check: exit status 1": ext4Stack + "checker: {mutate: 'true', check: 'false'}",
		"mutate: exit status 7": ext4Stack + "checker: {mutate: '(exit 7)', check: 'true'}",
		"the stack cannot be made: ext4: init: exit status 1": `
stack:
- {device: 8MB}
- {name: ext4, filesystem: ext4, mkfs: -b 77}
checker: {mutate: 'true', check: 'true'}`,
		"the stack cannot be made: ext4: mount: invalid argument": `
stack:
- {device: 8MB}
- {name: ext4, filesystem: ext4, options: nosuchoption}
checker: {mutate: 'true', check: 'true'}`,
		"exit status 1: mkfs.ext4: invalid block size": `
stack:
- {device: 8MB}
- {name: ext4, filesystem: ext4, mkfs: -b 77}
checker: {mutate: 'true', check: 'true'}`,
	} {
		_, err := Check(context.Background(), Options{Spec: parse(t, text), Workers: 1, Temp: t.TempDir()})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, and should contain %q", err, want)
		}
	}
}

// TestComplaint: where the kernel's log can be read, a mount that fails says why.
func TestComplaint(t *testing.T) {
	able(t, "mkfs.ext4")
	log, err := os.Open("/dev/kmsg")
	if err != nil {
		t.Skip(err)
	}
	log.Close()
	s := parse(t, "stack: [{device: 8MB}, {filesystem: ext4, options: nosuchoption}]\n"+
		"checker: {mutate: 'true', check: 'true'}")
	_, err = Check(context.Background(), Options{Spec: s, Workers: 1, Temp: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "nosuchoption") {
		t.Error(err)
	}
}

// TestUndecided: a checker that takes too long, or that rejects an image once, decides nothing.
func TestUndecided(t *testing.T) {
	able(t, "mkfs.ext4")
	counter := filepath.Join(t.TempDir(), "counter")
	for name, command := range map[string]string{
		"slow":  "[ -e f ] || sleep 100",
		"flaky": "[ -e f ] || { [ -e " + counter + " ] || { : > " + counter + "; exit 1; }; }",
	} {
		r := check(t, Options{Spec: parse(t, ext4Stack+`
images: 1
checker:
  mutate: 'echo > f; sync'
  check: '`+command+`'
  timeout: 4s
`), Workers: 2})
		if r.Failed > 0 || r.Undecided == 0 {
			t.Errorf("%s: %s", name, printed(r))
		}
	}
}

// smallfs builds the file system with planted bugs, and returns the stack with one of them.
func smallfs(t *testing.T, bug string) string {
	t.Helper()
	able(t)
	program := filepath.Join(t.TempDir(), "smallfs")
	if out, err := exec.Command("go", "build", "-o", program, "../../testing/smallfs").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Setenv("SMALLFS_BUG", bug)
	return fmt.Sprintf(`
stack:
- {name: disk, device: 4MB}
- name: smallfs
  init: %[1]s mkfs $ARIADNE_BELOW
  mount: %[1]s mount $ARIADNE_BELOW $ARIADNE_MOUNT
  unmount: %[1]s unmount $ARIADNE_BELOW $ARIADNE_MOUNT
`, program)
}

// TestPlantedBugs: the ready-made checker finds each bug that is planted in a small file system. A
// FUSE file system of this kind gets no sync from the kernel, so workloads leave sync out.
func TestPlantedBugs(t *testing.T) {
	few := "[sync, mkdir, rmdir, unlink, link, truncate, rename, sync write]" // not: creat, write
	for bug, c := range map[string]struct{ without, oneIn, recovery, want string }{
		"":                 {few, "3", "true", ""},
		"missing-flush":    {few, "3", "false", "smallfs: mount: exit status 1: smallfs: transaction"},
		"reordered-commit": {few, "3", "false", "smallfs: mount: exit status 1: smallfs: transaction"},
		"lost-entry":       {few, "3", "false", "is missing"},
		"torn-superblock":  {few, "3", "false", "power is lost after write of 8192 bytes at 0"},
		"twice":            {few, "3", "true", "bytes, and should have"},
		"failed-call":      {"[creat, mkdir, unlink, link, truncate, rename, write, sync write]", "1", "false", "rmdir B fails and has an effect: B/bar is missing"},
	} {
		t.Run(bug, func(t *testing.T) {
			r := check(t, Options{Spec: parse(t, smallfs(t, bug)+`
images: 12
recovery: `+c.recovery+`
files: {rule: in_order, one_in: `+c.oneIn+`, without: `+c.without+`}
`)})
			text := printed(r)
			switch {
			case bug == "" && (r.Failed+r.Undecided > 0 || r.Passed < 30 || r.During == 0):
				t.Error(text)
			case bug != "" && (r.Failed == 0 || !strings.Contains(text, c.want)):
				t.Error(text)
			}
		})
	}
}

// TestFileSystems: the kernel's file systems keep what was synced, by the ready-made checker.
func TestFileSystems(t *testing.T) {
	for kind, size := range map[string]string{"ext2": "8MB", "ext3": "8MB", "ext4": "8MB", "xfs": "300MB",
		"btrfs": "109MB"} {
		t.Run(kind, func(t *testing.T) {
			able(t, "mkfs."+kind)
			r := check(t, Options{Spec: parse(t, `
stack:
- {device: `+size+`}
- {name: fs, filesystem: `+kind+`}
images: 6
files: {one_in: 10}
`)})
			if r.Failed+r.Undecided > 0 || r.Executions != 8 || r.Passed < 50 {
				t.Error(printed(r))
			}
		})
	}
}

// furtherCalls are all calls that workloads have only where they are asked for.
const furtherCalls = "[symlink, fallocate, punch hole, setxattr, removexattr]"

// TestFurtherCalls: the kernel's file systems keep what was synced of further calls.
func TestFurtherCalls(t *testing.T) {
	for kind, c := range map[string]struct{ size, also string }{
		"ext2": {"8MB", "[symlink, setxattr, removexattr]"},
		"ext3": {"8MB", "[symlink, punch hole, setxattr, removexattr]"},
		"ext4": {"8MB", furtherCalls}, "xfs": {"300MB", furtherCalls}, "btrfs": {"109MB", furtherCalls},
	} {
		t.Run(kind, func(t *testing.T) {
			able(t, "mkfs."+kind)
			// The operations of which every workload has one are the further ones.
			r := check(t, Options{Spec: parse(t, `
stack:
- {device: `+c.size+`}
- {name: fs, filesystem: `+kind+`}
images: 6
files:
  also: `+c.also+`
  without: [creat, mkdir, link, unlink, rmdir, rename, write, sync write, truncate]
`)})
			if r.Failed+r.Undecided > 0 || r.Executions < 10 || r.Passed < 50 {
				t.Error(printed(r))
			}
		})
	}
}

// TestFurtherCallsLost: a device that lies loses what further calls have synced. A file system that
// lacks a call is an error, and no failure.
func TestFurtherCallsLost(t *testing.T) {
	able(t, "mkfs.ext4", "mkfs.ext2")
	text := func(also, kind, rest string) string {
		return `
stack:
- {device: 8MB` + rest + `}
- {name: fs, filesystem: ` + kind + `}
images: 4
files:
  also: ` + also + `
  without: [creat, mkdir, link, unlink, rmdir, rename, write, sync write, truncate]
`
	}
	for _, c := range []struct{ also, want string }{
		{"[symlink]", "A/new is missing"},
		{"[fallocate]", "bytes, and should have"},
		{"[punch hole]", "has a wrong byte at"},
		{"[setxattr]", "a wrong value of the attribute user.a"},
		{"[setxattr]", "lacks the attribute user.b"},
		{"[removexattr]", "has a wrong value of the attribute user.a"},
	} {
		r := check(t, Options{Spec: parse(t, text(c.also, "ext4", ", lies: true"))})
		if !strings.Contains(printed(r), c.want) {
			t.Errorf("%s: no %q in\n%s", c.also, c.want, printed(r))
		}
	}
	_, err := Check(context.Background(), Options{Spec: parse(t, text("[fallocate]", "ext2", "")), Workers: 1,
		Temp: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), `does not have the call "fallocate": leave it out`) {
		t.Error(err)
	}
}

// TestMountOptions: what ends is durable with the options sync and dirsync. XFS has no such promise
// that a test could tell from luck, so ext4 stands for all.
func TestMountOptions(t *testing.T) {
	able(t, "mkfs.ext4")
	for _, options := range []string{"sync", "dirsync"} {
		r := check(t, Options{Spec: parse(t, `
stack:
- {device: 8MB}
- {name: fs, filesystem: ext4, options: '`+options+`'}
images: 6
files: {one_in: 10}
`)})
		if r.Failed+r.Undecided > 0 || r.Passed < 50 {
			t.Errorf("%s: %s", options, printed(r))
		}
	}
}

// TestNoBarrier: ext4 that sends no flushes loses what was synced.
func TestNoBarrier(t *testing.T) {
	able(t, "mkfs.ext4")
	r := check(t, Options{Spec: parse(t, `
stack:
- {device: 8MB}
- {name: fs, filesystem: ext4, options: nobarrier}
images: 8
files: {}
`), Executions: 3})
	if r.Failed == 0 {
		t.Error(printed(r))
	}
}

// TestLies: a device that makes nothing durable when it is flushed is found out, with each file
// system that has a journal.
func TestLies(t *testing.T) {
	for kind, size := range map[string]string{"ext4": "8MB", "xfs": "300MB", "btrfs": "109MB"} {
		t.Run(kind, func(t *testing.T) {
			able(t, "mkfs."+kind)
			r := check(t, Options{Spec: parse(t, `
stack:
- {device: `+size+`, lies: true}
- {name: fs, filesystem: `+kind+`}
images: 4
files: {}
`), Executions: 3})
			if r.Failed == 0 {
				t.Error(printed(r))
			}
		})
	}
}

// TestTrace: a trace is read as it was written, and a file that is none is refused.
func TestTrace(t *testing.T) {
	d, err := block.NewDisk(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	d.Write([]byte("text"), 5000)
	name := filepath.Join(t.TempDir(), "trace")
	want := &Trace{Name: "x", base: []*block.Disk{d},
		Log:     []block.Op{{Kind: block.Write, Offset: 512, Length: 3, Data: []byte("abc")}},
		Failing: &Loss{At: 1, Lost: []block.Loss{{Op: 0, Lo: 512, Hi: 515, All: true}}}}
	if err := want.Write(name); err != nil {
		t.Fatal(err)
	}
	got, err := ReadTrace(name)
	if err != nil {
		t.Fatal(err)
	}
	if got.base[0].Sum() != d.Sum() || got.Log[0].String() != want.Log[0].String() ||
		!reflect.DeepEqual(got.Failing, want.Failing) {
		t.Errorf("%+v", got)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for n, bad := range [][]byte{nil, []byte("other\n"), b[:len(b)/2],
		append([]byte("ariadne disk trace 9\n"), b[len(traceHeader):]...)} {
		if err := os.WriteFile(name, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadTrace(name); err == nil {
			t.Errorf("bad trace %d is read", n)
		}
	}
}

// TestSpecErrors lists specs that are wrong, with what is said of them.
func TestSpecErrors(t *testing.T) {
	const checker = "\nchecker: {mutate: 'true', check: 'true'}"
	for _, c := range []struct{ text, want string }{
		{"", "it is empty"},
		{"stack: []" + checker, "stack is missing"},
		{"stack: [{device: 8MB}]" + checker, "the last layer is a device"},
		{"stack: [{device: 8}]" + checker, `"8" is no size`},
		{"stack: [{device: 8MB, mount: x}]" + checker, "a device has a name, a size and lies, and nothing else"},
		{"stack: [{device: 8MB, threads: ['true']}, {filesystem: ext4}]" + checker,
			"a device has a name, a size and lies, and nothing else"},
		{"stack: [{device: 8MB}, {filesystem: ext4, threads: ['true', '']}]" + checker, "threads: command 2: it is empty"},
		{"stack: [{device: 8MB}, {filesystem: ext4, threads: [no-such-program]}]" + checker,
			"threads: command 1: exec: \"no-such-program\""},
		{"stack: [{device: 8MB}, {filesystem: ext4, threads: sync}]" + checker,
			"line 1: \"sync\" is a text, and must be a list"},
		{"stack: [{device: 5KB}, {filesystem: ext4}]" + checker, "5KB is not a multiple of 4096 bytes"},
		{"stack: [{filesystem: ext4}]" + checker, "nothing is below it"},
		{"stack: [{device: 8MB}, {filesystem: ntfs}]" + checker, `"ntfs" is none of btrfs, ext2, ext3, ext4, xfs`},
		{"stack: [{device: 8MB}, {filesystem: xfs}]" + checker, "xfs needs a device of 300 MB"},
		{"stack: [{device: 8MB}, {name: a/b, filesystem: ext4}]" + checker, `the name "a/b"`},
		{"stack: [{device: 8MB}, {on: [x], filesystem: ext4}]" + checker, `there is no layer "x" below it`},
		{"stack: [{device: 8MB}, {init: 'true'}]" + checker, "it needs the command mount"},
		{"stack: [{device: 8MB}, {filesystem: ext4}]", "it has neither checker nor files"},
		{"stack: [{device: 8MB}, {filesystem: ext4}]\nchecker: {mutate: 'true'}", "it needs the commands mutate and check"},
		{"stack: [{device: 8MB}, {filesystem: ext4}]\nfiles: {rule: best}", `"best" is neither in_order, names nor posix`},
		{"stack: [{device: 8MB}, {filesystem: ext4}]\nfiles: {without: [open]}", `"open" is none of`},
		{"stack: [{device: 8MB}, {filesystem: ext4}]\nfiles: {also: [rename]}", `also: "rename" is none of symlink, `},
		{"stack: [{device: 8MB}, {filesystem: ext4}]\nfiles: {also: [symlink, symlink]}", `"symlink" is there twice`},
		{"stack: [{device: 8MB}, {filesystem: ext4}]\nfiles: {workloads: 4}", "4 is not a number from 1 to 3"},
		{"stack: [{device: 8MB}, {mount: 'true'}]\nfiles: {}", "rule is missing"},
		{"stack: [{device: 8MB}, {filesystem: ext4}]\nsectors: 7" + checker, `"7" is neither 512, 4096 nor whole`},
		{"stack: [{device: 8MB}, {filesystem: ext4}]\nmoments: x" + checker, `"x" is neither barriers nor requests`},
		{"stack: [{device: 8MB}, {filesystem: ext4}]\nimages: -1" + checker, "-1 is not a number"},
		{"stack: [{device: 8MB}, {filesystem: ext4}]\nimage: 1" + checker, "line 2: field image not found"},
		{"stack: [{device: 8MB}, {filesystem: ext4}]\nfiles: {also: symlink}",
			"line 2: \"symlink\" is a text, and must be a list"},
		{"stack: [{device: 8MB}, {filesystem: ext4}]\nfiles: {workloads: many}",
			"line 2: \"many\" is a text, and must be a whole number"},
		{"stack: [{device: 8MB}, {filesystem: ext4}]\nfiles: 3",
			"line 2: \"3\" is a whole number, and must be a mapping"},
		{"stack: [{device: 8MB}, {filesystem: [ext4]}]" + checker, "line 1: this is a list, and must be a text"},
		{"stack: [{device: 8MB}, {filesystem: ext4}]\nfiles: {one_in: -1}",
			"files: one_in: -1 is not a number of 1 or more"},
		{"stack: [{device: 8MB}, {filesystem: ext4}]\nfiles: {one_in: 0}", "one_in: 0 is not a number of 1 or more"},
		{"stack: [{device: 8MB}, {filesystem: ext4}]\nfiles: {workloads: 0}", "0 is not a number from 1 to 3"},
		{"stack: [{device: 8MB}, {filesystem: ext4}]\nimages: 0" + checker,
			"images: 0 is not a number from 1 to 1048576"},
		{"stack: [{device: 8MB}, {filesystem: ext4}]\nfaults: {write: 1}\nfailures: 0" + checker,
			"failures: 0 is not a number of 1 or more"},
		{"stack: [{device: 8MB}, {filesystem: ext4}]\nchecker: {mutate: 'true', check: 'true', mutations: 0}",
			"mutations: 0 is not a number of 1 or more"},
		{"stack: [{name: a, device: 8MB}, {device: 8MB}, {filesystem: ext4}]" + checker, `nothing is on the layer "a"`},
		{"stack: [{device: 8MB}, {name: fs, filesystem: ext4}, {device: 8MB}, {filesystem: ext4}]" + checker,
			`nothing is on the layer "fs"`},
		{"stack: [{device: 8MB}, {filesystem: ext4}]\ntimeout: soon" + checker, `"soon" is no duration above 0`},
	} {
		_, err := Parse("x.yaml", []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, and should contain %q", c.text, err, c.want)
		}
	}
}

// TestFurtherDevice: a command may use a device that no layer is on, by its variable.
func TestFurtherDevice(t *testing.T) {
	parse(t, "stack: [{name: a, device: 8MB}, {name: b, device: 8MB}, {on: [b], filesystem: ext4}]\n"+
		"checker: {mutate: 'echo $ARIADNE_DEVICES', check: 'true'}")
}

// TestInterrupt: a check that is interrupted ends at once, and says what it has.
func TestInterrupt(t *testing.T) {
	able(t, "mkfs.ext4")
	ctx, cancel := context.WithCancel(context.Background())
	o := Options{Spec: parse(t, ext4Stack+"files: {}"), Workers: 2, Temp: t.TempDir(),
		Progress: func(r *Report) {
			if r.Checked > 20 {
				cancel()
			}
		}}
	began := time.Now()
	r, err := Check(ctx, o)
	if !Interrupted(err) || r.Checked == 0 || time.Since(began) > time.Minute {
		t.Errorf("%v after %v: %s", err, time.Since(began), printed(r))
	}
}

// TestFsck: the checker of a file system runs on the device that was unmounted, and what it finds
// rejects the image.
func TestFsck(t *testing.T) {
	able(t, "mkfs.ext4")
	for fsck, want := range map[string]string{
		"fsck: true":                      "",
		"verify: '[ -b $ARIADNE_BELOW ]'": "",
		"verify: 'debugfs -R \"ls\" $ARIADNE_BELOW | grep -qw f'": "ext4: verify: exit status 1",
	} {
		r := check(t, Options{Spec: parse(t, "stack: [{device: 8MB}, {name: ext4, filesystem: ext4, "+fsck+"}]\n"+
			"images: 2\nchecker: {mutate: 'echo text >f; sync f .', check: 'echo more >more'}\n")})
		text := printed(r)
		if r.Passed+r.Failed < 4 || (want == "") != (r.Failed == 0) || !strings.Contains(text, want) {
			t.Errorf("%s: %s", fsck, text)
		}
	}
}
