package main

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// systems are the examples whose checks are measured, by name.
var systems = []struct{ name, spec string }{
	{"raftkv", "examples/raftkv/raftkv.yaml"},
	{"redis", "examples/redis/replication.yaml"},
	{"etcd", "examples/etcd/etcd-3.5.yaml"},
}

// idle is a system of etcd's that nobody talks to.
//
//go:embed testdata/idle.yaml
var idle []byte

// measureSystems measures what a check gets through and what Ariadne itself takes
// of memory meanwhile.
func (b *bench) measureSystems() error {
	for _, s := range systems {
		if !b.fetch(s.spec) {
			continue
		}
		var executions, events, memory []float64
		for range b.repeat {
			r, err := b.report("check", s.spec, "--strategy", "random", "--time", b.budget.String(), "--keep-going")
			if err != nil {
				return err
			}
			executions = append(executions, float64(r.Executions)/r.RealTime)
			events = append(events, float64(r.Steps)/r.RealTime)
			memory = append(memory, r.memoryMB)
		}
		b.keep("executions_per_s."+s.name, "1/s", executions)
		b.keep("events_per_s."+s.name, "1/s", events)
		b.keep("supervisor_mb."+s.name, "MB", memory)
		if worst, ok := b.results["supervisor_mb"]; !ok || median(memory) > worst.Value {
			b.keep("supervisor_mb", "MB", memory)
		}
	}
	return b.measureIdle()
}

// measureIdle measures how fast virtual time passes where little happens. etcd
// has been fetched by now, if it can be had.
func (b *bench) measureIdle() error {
	program, err := os.ReadFile("examples/etcd/bin/etcd")
	if err != nil {
		b.missing = append(b.missing, "virtual_over_real.etcd_idle: "+err.Error())
		return nil
	}
	path := filepath.Join(b.dir, "idle.yaml")
	if err := errors.Join(os.WriteFile(path, idle, 0o644), os.WriteFile(filepath.Join(b.dir, "etcd"), program, 0o755)); err != nil {
		return err
	}
	ratios, err := b.repeated(func() (float64, error) {
		r, err := b.report("run", path)
		if err != nil {
			return 0, err
		}
		return r.VirtualTime / r.RealTime, nil
	})
	if err == nil {
		b.keep("virtual_over_real.etcd_idle", "", ratios)
	}
	return err
}

// fetch brings the programs of an example.
func (b *bench) fetch(spec string) bool {
	script := filepath.Join(filepath.Dir(spec), "fetch")
	if out, err := b.command(script).CombinedOutput(); err != nil {
		b.missing = append(b.missing, fmt.Sprintf("%s: %s: %v\n%s", spec, script, err, out))
		return false
	}
	return true
}

// report is what ariadne says at its end.
type report struct {
	Outcome     string  `json:"outcome"`
	ExitStatus  int     `json:"exit_status"`
	Executions  int     `json:"executions"`
	Steps       int     `json:"steps"`
	VirtualTime float64 `json:"virtual_time"`
	RealTime    float64 `json:"real_time"`
	Stopped     string  `json:"stopped"`
	Coverage    search  `json:"coverage"` // of a search in memory
	memoryMB    float64 // largest resident size of ariadne alone
}

// search is what a search in memory has seen and done; times are seconds.
type search struct {
	Exhausted  bool    `json:"exhausted"`
	Digest     string  `json:"states_digest"`
	States     int     `json:"states"`
	Paths      int     `json:"paths"`
	Traces     int     `json:"traces"`
	Executed   int     `json:"executed"`
	Remembered int     `json:"remembered"`
	Replayed   int     `json:"replayed"`
	Boots      int     `json:"boots"`
	Thaws      int     `json:"thaws"`
	Freezes    int     `json:"freezes"`
	Stepping   float64 `json:"stepping"`
	Replaying  float64 `json:"replaying"`
	Booting    float64 `json:"booting"`
	Thawing    float64 `json:"thawing"`
	Freezing   float64 `json:"freezing"`
	Ending     float64 `json:"ending"`
}

// report runs ariadne and returns its report. Whatever it found is fine.
func (b *bench) report(args ...string) (*report, error) {
	return b.run(append(args, "--out", filepath.Join(b.dir, "run"))...)
}

// cold is report for a command that must not find what an earlier one remembered.
func (b *bench) cold(command string, args ...string) (*report, error) {
	out := filepath.Join(b.dir, "cold")
	if err := os.RemoveAll(out); err != nil {
		return nil, err
	}
	return b.run(append([]string{command, "--out", out}, args...)...)
}

// run is report for a command that says where to write.
func (b *bench) run(args ...string) (*report, error) {
	args = append(args, "--json", "--quiet")
	cmd := b.command(b.ariadne, args...)
	var out, complaints strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	memory := watchMemory(cmd.Process.Pid)
	err := cmd.Wait()
	r := &report{memoryMB: memory()}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	if err := json.Unmarshal([]byte(out.String()), r); err != nil {
		return nil, fmt.Errorf("ariadne %v: %s%s", args, out.String(), complaints.String())
	}
	return r, nil
}

// watchMemory looks at a process's largest resident size until it is asked for it.
func watchMemory(pid int) (largest func() float64) {
	done := make(chan struct{})
	var mb float64
	var watcher sync.WaitGroup
	watcher.Go(func() {
		for {
			if now := residentMB(pid); now > mb {
				mb = now
			}
			select {
			case <-done:
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	})
	return func() float64 { close(done); watcher.Wait(); return mb }
}

// residentMB is VmHWM of /proc/pid/status, or 0 when the process is gone.
func residentMB(pid int) float64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "VmHWM:" {
			kb, _ := strconv.ParseFloat(f[1], 64)
			return kb / 1024
		}
	}
	return 0
}
