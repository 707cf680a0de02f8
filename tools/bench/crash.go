package main

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ariadne-mc/ariadne/internal/use/crash"
)

//go:embed testdata/crash.c
var crashSource []byte

//go:embed testdata/etcd.sh
var etcdScript []byte

// storages are programs whose files lose power, on one processor. A small C program that syncs
// nothing has the most images; SQLite and git have checkers that take their time; etcd's checker
// starts a server, on files of 64 MB.
var storages = []struct {
	name, program  string
	setup, command string
	check, model   string
}{
	{"", "gcc", "gcc -O2 -o crash ../crash.c", "./crash", "../crash check", "any"},
	{".sqlite", "sqlite3", `sqlite3 db 'create table t(a)'`, `for i in 1 2 3; do sqlite3 db "insert into t values($i)"; done`, `test "$(sqlite3 db 'pragma integrity_check')" = ok`, "any"},
	{".git", "git", "git init -q . && git config user.name a && git config user.email a@b && echo a >a && git add a && git commit -qm 1", "echo b >a && git commit -qam 2", "git fsck", "ordered"},
	{".etcd", "sh", "../etcd.sh put && : >said", "", "../etcd.sh check", "ordered"},
}

// readyEtcd makes the specs and files that a server of etcd needs beside its directory.
func (b *bench) readyEtcd() bool {
	const from = "examples/etcd/bin"
	if !b.fetch("examples/etcd/etcd-3.5.yaml") {
		return false
	}
	err := errors.Join(os.CopyFS(filepath.Join(b.dir, "bin"), os.DirFS(from)),
		os.WriteFile(filepath.Join(b.dir, "etcd.sh"), etcdScript, 0o755),
		os.WriteFile(filepath.Join(b.dir, "etcd.yaml"), []byte("nodes: [{name: etcd, dir: storage.etcd, client: true, command: ./etcd.sh put}]\n"), 0o644))
	if err != nil {
		b.missing = append(b.missing, fmt.Sprintf("crash_images_per_s.etcd: %v", err))
	}
	return err == nil
}

// measureCrash measures how many images of a power loss are formed, put into a directory and
// checked in a second, on one processor, and where the time goes. A second of processor time is
// that of the whole command, with the program that stores and all checkers: what else runs on the
// machine does not count.
func (b *bench) measureCrash() error {
	source := filepath.Join(b.dir, "crash.c")
	if err := os.WriteFile(source, crashSource, 0o644); err != nil {
		return err
	}
	if out, err := b.command("gcc", "-O2", "-static", "-o", filepath.Join(b.dir, "crash"),
		source).CombinedOutput(); err != nil {
		b.missing = append(b.missing, fmt.Sprintf("crash_images_per_s: gcc: %v %s", err, out))
		return nil
	}
	binary, err := filepath.Abs(b.ariadne.Binary)
	if err != nil {
		return err
	}
	free, err := onOneProcessor()
	if err != nil {
		return err
	}
	defer free()
	for _, s := range storages {
		if _, err := exec.LookPath(s.program); err != nil {
			b.missing = append(b.missing, fmt.Sprintf("crash_images_per_s%s: %v", s.name, err))
			continue
		}
		what := []string{"--", "sh", "-c", s.command}
		if s.command == "" {
			if !b.readyEtcd() {
				continue
			}
			what = []string{"--images", "1", "--outside", "said", "--timeout", "1m", "../etcd.yaml"}
		}
		dir := filepath.Join(b.dir, "storage"+s.name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			return err
		}
		setup := b.command("sh", "-c", s.setup)
		setup.Dir = dir
		if out, err := setup.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", s.setup, err, out)
		}
		parts, perCPU := map[string][]float64{}, []float64(nil)
		rates, err := b.repeated(func() (float64, error) {
			cmd := b.command(binary,
				append([]string{"crash", "--json", "--jobs", "1", "--model", s.model, "--check", s.check}, what...)...)
			cmd.Dir = dir
			out, err := cmd.Output()
			var exit *exec.ExitError
			// 1: images fail, as they do
			if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
				return 0, err
			}
			sums := map[string]float64{} // of what kills leave, and power losses
			for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
				var r crash.Result
				if err := d.Decode(&r); err != nil {
					return 0, err
				}
				for name, v := range map[string]time.Duration{"seconds": r.RealTime, "forming": r.Forming,
					"writing": r.Writing, "checking": r.Checking} {
					sums[name] += v.Seconds()
				}
				sums["checked"] += float64(r.Checked)
			}
			for _, name := range []string{"forming", "writing", "checking"} {
				parts[name] = append(parts[name], sums[name]/sums["seconds"])
			}
			used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
			perCPU = append(perCPU, sums["checked"]/used.Seconds())
			rate := sums["checked"] / sums["seconds"]
			alone, err := b.spawned(dir, s.check)
			parts["vs_checker_alone"] = append(parts["vs_checker_alone"], rate/alone)
			return rate, err
		})
		if err != nil {
			return err
		}
		b.keep("crash_images_per_s"+s.name, "1/s", rates)
		b.keep("crash_images_per_cpu_s"+s.name, "1/s", perCPU)
		for name, shares := range parts {
			b.keep("crash_images"+s.name+"."+name, "", shares)
		}
	}
	return nil
}

// onOneProcessor keeps all threads and processes that start before free is called on one processor.
// Images are formed while others are checked, so a single worker may use two processors.
func onOneProcessor() (free func(), err error) {
	runtime.LockOSThread()
	var all, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return nil, err
	}
	for cpu := range len(one) * 64 {
		if all.IsSet(cpu) {
			one.Set(cpu)
			break
		}
	}
	return func() {
		unix.SchedSetaffinity(0, &all)
		runtime.UnlockOSThread()
	}, unix.SchedSetaffinity(0, &one)
}

// spawned is how many times in a second a checker can be run, one after the other, where nothing is
// formed, written or removed.
func (b *bench) spawned(dir, check string) (float64, error) {
	args := []string{"sh", "-c", check}
	if !strings.ContainsAny(check, `"'$`) { // then no shell is wanted
		args = strings.Fields(check)
	}
	program := args[0]
	if !strings.Contains(program, "/") {
		var err error
		if program, err = exec.LookPath(program); err != nil {
			return 0, err
		}
	}
	const times = 50
	began := time.Now()
	for range times {
		pid, err := syscall.ForkExec(program, args, &syscall.ProcAttr{Dir: dir, Env: os.Environ()})
		if err != nil {
			return 0, err
		}
		if _, err := syscall.Wait4(pid, nil, 0, nil); err != nil {
			return 0, err
		}
	}
	return times / time.Since(began).Seconds(), nil
}
