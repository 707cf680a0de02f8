package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// window is a part of a system's executions that is small enough to be explored
// without remembering anything.
type window struct {
	name, spec string
	from       string
	depth      int
}

// windows are the systems on which searches in memory are compared with our own slow
// mode. Each begins with a client's write and has all orders of messages, and up to
// two timers out of turn.
var windows = []window{
	{"raftkv", "examples/raftkv/raftkv.yaml", "/wrote and read x=5/", 12},
	{"etcd", "examples/etcd/one-write.yaml", "/^writing/", 18},
}

// measureWindows measures how much longer it takes to see the same states when
// nothing is remembered and nodes are never frozen.
func (b *bench) measureWindows() error {
	for _, w := range windows {
		if !b.fetch(w.spec) {
			continue
		}
		slow, err := b.explore(w, "--no-checkpoints", "--no-memo")
		if err != nil {
			return err
		}
		b.search("slow."+w.name, []*report{slow})
		var fast []*report
		var ratios []float64
		for range b.repeat {
			r, err := b.explore(w)
			if err != nil {
				return err
			}
			if r.Coverage.Digest != slow.Coverage.Digest || r.Coverage.States != slow.Coverage.States {
				return fmt.Errorf("%s: %d states with memo and checkpoints, %d without, or not the same ones", w.spec, r.Coverage.States, slow.Coverage.States)
			}
			fast = append(fast, r)
			ratios = append(ratios, slow.RealTime/r.RealTime)
		}
		b.search("fast."+w.name, fast)
		b.keep("ratio_vs_stateless."+w.name, "", ratios)
	}
	return nil
}

// explore explores a window to its end, in a fresh directory, so that nothing is
// remembered from before.
func (b *bench) explore(w window, args ...string) (*report, error) {
	r, err := b.cold("check", append([]string{w.spec, "--strategy", "depth-first", "--jobs", "1", "--keep-going", "--time", "1h",
		"--from", w.from, "--timers", "2", "--depth", strconv.Itoa(w.depth)}, args...)...)
	if err == nil && !r.Coverage.Exhausted {
		err = fmt.Errorf("%s: not all was explored: %s, stopped: %s", w.spec, r.Outcome, r.Stopped)
	}
	return r, err
}

// search keeps what searches did and where their time went.
func (b *bench) search(name string, reports []*report) {
	for _, column := range []struct {
		name, unit string
		of         func(*report) float64
	}{
		{"seconds", "s", func(r *report) float64 { return r.RealTime }},
		{"states", "", func(r *report) float64 { return float64(r.Coverage.States) }},
		{"paths", "", func(r *report) float64 { return float64(r.Coverage.Paths) }},
		{"executed", "", func(r *report) float64 { return float64(r.Coverage.Executed) }},
		{"replayed", "", func(r *report) float64 { return float64(r.Coverage.Replayed) }},
		{"boots", "", func(r *report) float64 { return float64(r.Coverage.Boots) }},
		{"thaws", "", func(r *report) float64 { return float64(r.Coverage.Thaws) }},
		{"freezes", "", func(r *report) float64 { return float64(r.Coverage.Freezes) }},
		{"replays_per_new", "", func(r *report) float64 { return float64(r.Coverage.Replayed) / float64(r.Coverage.Executed) }},
		{"stepping", "s", func(r *report) float64 { return r.Coverage.Stepping }},
		{"replaying", "s", func(r *report) float64 { return r.Coverage.Replaying }},
		{"booting", "s", func(r *report) float64 { return r.Coverage.Booting }},
		{"thawing", "s", func(r *report) float64 { return r.Coverage.Thawing }},
		{"freezing", "s", func(r *report) float64 { return r.Coverage.Freezing }},
		{"ending", "s", func(r *report) float64 { return r.Coverage.Ending }},
		{"rest", "s", func(r *report) float64 {
			c := r.Coverage
			return r.RealTime - c.Stepping - c.Replaying - c.Booting - c.Thawing - c.Freezing - c.Ending
		}},
	} {
		var samples []float64
		for _, r := range reports {
			samples = append(samples, column.of(r))
		}
		b.keep(name+"."+column.name, column.unit, samples)
	}
}

// measureRemembered measures transitions that are looked up: in a small system in
// memory alone, and at the command line, where a search takes every path of a system
// of which all is known.
func (b *bench) measureRemembered() error {
	perS, err := b.repeated(func() (float64, error) {
		lines, err := b.goBenchmark("./internal/space", "BenchmarkRemembered", "1s")
		if err != nil {
			return 0, err
		}
		return lines["BenchmarkRemembered"]["transitions/s"], nil
	})
	if err != nil {
		return err
	}
	b.keep("remembered_per_s", "1/s", perS)
	const spec = "examples/paxos/paxos-tiny.yaml"
	if !b.fetch(spec) {
		return nil
	}
	out := filepath.Join(b.dir, "paxos")
	args := []string{"check", spec, "--strategy", "all-paths", "--jobs", "1", "--keep-going", "--time", "10m", "--out", out}
	if _, err := b.run(args...); err != nil {
		return err
	}
	perS, err = b.repeated(func() (float64, error) {
		r, err := b.run(args...)
		switch {
		case err != nil:
			return 0, err
		case r.Coverage.Executed > 0 || r.Coverage.Remembered == 0:
			return 0, fmt.Errorf("%s: not all was known", spec)
		}
		return float64(r.Coverage.Remembered) / r.RealTime, nil
	})
	if err == nil {
		b.keep("remembered_per_s.all_paths", "1/s", perS)
	}
	return err
}

// nodes are the examples whose transitions are measured, by the name of the Go
// benchmark.
var nodes = []struct{ benchmark, name, spec string }{
	{"memcached", "memcached", "examples/memcached/memcached.yaml"},
	{"replication", "redis", "examples/redis/replication.yaml"},
	{"raftkv", "raftkv", "examples/raftkv/raftkv.yaml"},
	{"etcd-3.5", "etcd", "examples/etcd/etcd-3.5.yaml"},
}

// measureTransitions measures what it costs to make one transition that nobody has
// seen, of a node that stands elsewhere: to thaw it, let it step and freeze it.
func (b *bench) measureTransitions() error {
	for _, n := range nodes {
		if !b.fetch(n.spec) {
			continue
		}
		parts := map[string][]float64{}
		for range b.repeat {
			lines, err := b.goBenchmark("./internal/node", "BenchmarkTransition/"+n.benchmark+"$", "500x")
			if err != nil {
				return err
			}
			m := lines["BenchmarkTransition/"+n.benchmark]
			all := 0.0
			for _, part := range []string{"thaw", "step", "freeze"} {
				ms, ok := m[part+"-µs"]
				if !ok {
					return fmt.Errorf("benchmark of %s: no figure for %s", n.name, part)
				}
				parts["."+part] = append(parts["."+part], ms/1e3)
				all += ms / 1e3
			}
			parts[""] = append(parts[""], all)
		}
		for part, ms := range parts {
			b.keep("new_transition_ms."+n.name+part, "ms", ms)
		}
	}
	return nil
}

// benchmarkLine is a line of a Go benchmark's output; figures come as value and unit.
var benchmarkLine = regexp.MustCompile(`(?m)^(Benchmark\S*?)(?:-\d+)?[ \t]+\d+\t(.*)$`)

// goBenchmark runs Go benchmarks; figures are by benchmark and unit. The test binary is
// a child of ours and not of the go command's, and ends with us.
func (b *bench) goBenchmark(pkg, pattern, time string) (map[string]map[string]float64, error) {
	binary, err := filepath.Abs(filepath.Join(b.dir, filepath.Base(pkg)+".test"))
	if err != nil {
		return nil, err
	}
	if out, err := b.command("go", "test", "-c", "-o", binary, pkg).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", pkg, err, out)
	}
	cmd := b.command(binary, "-test.run", "^$", "-test.bench", pattern, "-test.benchtime", time)
	cmd.Dir = pkg
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%v: %w\n%s", cmd.Args, err, out)
	}
	return parseBenchmarks(string(out))
}

func parseBenchmarks(out string) (map[string]map[string]float64, error) {
	lines := map[string]map[string]float64{}
	for _, m := range benchmarkLine.FindAllStringSubmatch(out, -1) {
		figures := map[string]float64{}
		words := strings.Fields(m[2])
		for i := 0; i+1 < len(words); i += 2 {
			v, err := strconv.ParseFloat(words[i], 64)
			if err != nil {
				return nil, fmt.Errorf("benchmark %s: %w", m[1], err)
			}
			figures[words[i+1]] = v
		}
		lines[m[1]] = figures
	}
	if len(lines) == 0 {
		return nil, errors.New("no benchmark in: " + out)
	}
	return lines, nil
}
