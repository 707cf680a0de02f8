package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/ariadne-mc/ariadne/tools/harness"
)

// window is a part of a system's executions that is small enough to be explored
// without remembering anything.
type window struct {
	name, spec string
	from       string
	depths     []int // the ratio grows with the depth
}

// windows are the systems on which searches in memory are compared with our own slow
// mode. Each begins with a client's write and has all orders of messages, and up to
// two timers out of turn.
var windows = []window{
	{"raftkv", "examples/raftkv/raftkv.yaml", "/wrote and read x=5/", []int{8, 12}},
	{"etcd", "examples/etcd/one-write.yaml", "/^writing/", []int{12, 18}},
}

// measureWindows measures how much longer it takes to see the same states when
// nothing is remembered and nodes are never frozen. Slow and fast searches take turns.
func (b *bench) measureWindows() error {
	for _, w := range windows {
		if !b.fetch(w.spec) {
			continue
		}
		for _, depth := range w.depths {
			name := fmt.Sprintf("%s.%d", w.name, depth)
			var slow, fast []*harness.Run
			var ratios []float64
			for range min(b.repeat, 3) {
				s, err := b.explore(w, depth, "--no-checkpoints", "--no-memo")
				if err != nil {
					return err
				}
				f, err := b.explore(w, depth)
				if err != nil {
					return err
				}
				if f.Coverage.Digest != s.Coverage.Digest || f.Coverage.States != s.Coverage.States {
					return fmt.Errorf("%s: %d states with memo and checkpoints, %d without, or not the same ones", w.spec, f.Coverage.States, s.Coverage.States)
				}
				slow, fast, ratios = append(slow, s), append(fast, f),
					append(ratios, s.RealTime.Seconds()/f.RealTime.Seconds())
			}
			b.search("slow."+name, slow)
			b.search("fast."+name, fast)
			b.keep("ratio_vs_stateless."+name, "", ratios)
		}
	}
	return nil
}

// explore explores a window to its end, with nothing remembered from before.
func (b *bench) explore(w window, depth int, args ...string) (*harness.Run, error) {
	r, err := b.cold("check", w.spec,
		append([]string{"--strategy", "depth-first", "--jobs", "1", "--keep-going", "--time", "1h",
			"--from", w.from, "--timers", "2", "--depth", strconv.Itoa(depth)}, args...)...)
	if err == nil && !r.Coverage.Exhausted {
		err = fmt.Errorf("%s: not all was explored: %s, stopped: %s", w.spec, r.Outcome, r.Stopped)
	}
	return r, err
}

// search keeps what searches did and where their time went.
func (b *bench) search(name string, reports []*harness.Run) {
	for _, column := range []struct {
		name, unit string
		of         func(*harness.Run) float64
	}{
		{"seconds", "s", func(r *harness.Run) float64 { return r.RealTime.Seconds() }},
		{"states", "", func(r *harness.Run) float64 { return float64(r.Coverage.States) }},
		{"paths", "", func(r *harness.Run) float64 { return float64(r.Coverage.Paths) }},
		{"executed", "", func(r *harness.Run) float64 { return float64(r.Coverage.Executed) }},
		{"replayed", "", func(r *harness.Run) float64 { return float64(r.Coverage.Replayed) }},
		{"boots", "", func(r *harness.Run) float64 { return float64(r.Coverage.Boots) }},
		{"thaws", "", func(r *harness.Run) float64 { return float64(r.Coverage.Thaws) }},
		{"freezes", "", func(r *harness.Run) float64 { return float64(r.Coverage.Freezes) }},
		{"replays_per_new", "", func(r *harness.Run) float64 {
			return float64(r.Coverage.Replayed) / float64(r.Coverage.Executed)
		}},
		{"stepping", "s", func(r *harness.Run) float64 { return r.Coverage.Stepping.Seconds() }},
		{"replaying", "s", func(r *harness.Run) float64 { return r.Coverage.Replaying.Seconds() }},
		{"booting", "s", func(r *harness.Run) float64 { return r.Coverage.Booting.Seconds() }},
		{"thawing", "s", func(r *harness.Run) float64 { return r.Coverage.Thawing.Seconds() }},
		{"freezing", "s", func(r *harness.Run) float64 { return r.Coverage.Freezing.Seconds() }},
		{"ending", "s", func(r *harness.Run) float64 { return r.Coverage.Ending.Seconds() }},
		{"rest", "s", func(r *harness.Run) float64 {
			return (r.RealTime - r.Coverage.InNodes()).Seconds()
		}},
	} {
		var samples []float64
		for _, r := range reports {
			samples = append(samples, column.of(r))
		}
		b.keep(name+"."+column.name, column.unit, samples)
	}
}

// measureRemembered measures transitions that are looked up, by searches of systems of
// which all is known.
func (b *bench) measureRemembered() error {
	for _, s := range systems {
		if !b.fetch(s.spec) {
			continue
		}
		known, err := b.ariadne.Know(b.ctx, filepath.Join(b.dir, "known"), s.spec)
		if err != nil {
			return err
		}
		perS, err := b.repeated(func() (float64, error) { return known.Rate(b.ctx, b.budget) })
		if err != nil {
			return err
		}
		b.keep("remembered_per_s."+s.name, "1/s", perS)
	}
	return nil
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
// seen, of a node that stands elsewhere: to thaw it, let it step, freeze it, and end the
// copy.
func (b *bench) measureTransitions() error {
	for _, n := range nodes {
		if !b.fetch(n.spec) {
			continue
		}
		parts := map[string][]float64{}
		for range b.repeat {
			lines, err := b.goBenchmark("./internal/machine/node", "BenchmarkTransition/"+n.benchmark+"$", "500x")
			if err != nil {
				return err
			}
			m := lines["BenchmarkTransition/"+n.benchmark]
			all := 0.0
			for _, part := range []string{"thaw", "step", "freeze", "end"} {
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
