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
	"strings"
	"syscall"
	"time"
)

//go:embed testdata/crash.c
var crashSource []byte

// storages are programs whose files lose power, on one processor. A small C program that syncs nothing has the
// most images; SQLite and git have checkers that take their time.
var storages = []struct {
	name, program  string
	setup, command string
	check, model   string
}{
	{"", "gcc", "gcc -O2 -o crash ../crash.c", "./crash", "../crash check", "any"},
	{".sqlite", "sqlite3", `sqlite3 db 'create table t(a)'`, `for i in 1 2 3; do sqlite3 db "insert into t values($i)"; done`, `test "$(sqlite3 db 'pragma integrity_check')" = ok`, "any"},
	{".git", "git", "git init -q . && git config user.name a && git config user.email a@b && echo a >a && git add a && git commit -qm 1", "echo b >a && git commit -qam 2", "git fsck", "ordered"},
}

// measureCrash measures how many images of a power loss are formed, put into a directory and checked in a
// second, on one processor, and where the time goes.
func (b *bench) measureCrash() error {
	source := filepath.Join(b.dir, "crash.c")
	if err := os.WriteFile(source, crashSource, 0o644); err != nil {
		return err
	}
	if out, err := b.command("gcc", "-O2", "-static", "-o", filepath.Join(b.dir, "crash"), source).CombinedOutput(); err != nil {
		b.missing = append(b.missing, fmt.Sprintf("crash_images_per_s: gcc: %v %s", err, out))
		return nil
	}
	binary, err := filepath.Abs(b.ariadne.Binary)
	if err != nil {
		return err
	}
	for _, s := range storages {
		if _, err := exec.LookPath(s.program); err != nil {
			b.missing = append(b.missing, fmt.Sprintf("crash_images_per_s%s: %v", s.name, err))
			continue
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
		parts := map[string][]float64{}
		rates, err := b.repeated(func() (float64, error) {
			cmd := b.command(binary, "crash", "--json", "--jobs", "1", "--model", s.model, "--check", s.check, "--", "sh", "-c", s.command)
			cmd.Dir = dir
			out, err := cmd.Output()
			var exit *exec.ExitError
			if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) { // 1: images fail, as they do
				return 0, err
			}
			sums := map[string]float64{} // of what kills leave, and power losses
			for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
				var r struct{ Checked, Seconds, Forming, Writing, Checking, Removing float64 }
				if err := d.Decode(&r); err != nil {
					return 0, err
				}
				for name, v := range map[string]float64{"checked": r.Checked, "seconds": r.Seconds, "forming": r.Forming, "writing": r.Writing, "checking": r.Checking, "removing": r.Removing} {
					sums[name] += v
				}
			}
			for _, name := range []string{"forming", "writing", "checking", "removing"} {
				parts[name] = append(parts[name], sums[name]/sums["seconds"])
			}
			rate := sums["checked"] / sums["seconds"]
			alone, err := b.spawned(dir, s.check)
			parts["vs_checker_alone"] = append(parts["vs_checker_alone"], rate/alone)
			return rate, err
		})
		if err != nil {
			return err
		}
		b.keep("crash_images_per_s"+s.name, "1/s", rates)
		for name, shares := range parts {
			b.keep("crash_images"+s.name+"."+name, "", shares)
		}
	}
	return nil
}

// spawned is how many times in a second a checker can be run, one after the other, where nothing is formed, written or
// removed.
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
