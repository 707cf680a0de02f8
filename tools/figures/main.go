// Command figures redoes figures 9 and 10 of the MODIST paper on examples/paxos with
// the ariadne binary, as a user would: what strategies have seen against the paths
// they took, as unique partial-order traces and as protocol states, in a small space
// and in a large one. It writes the plots, their numbers as CSV, and a table of how
// each search ended. And table 3: what 1,000 paths cost in time, of Berkeley DB too.
//
//	go run ./tools/figures [flags]
//
// All searches of a space share what they remember of the nodes, in the order in
// which they are listed; -cold says what one costs that remembers nothing.
//
// It knows no more of Ariadne than its command line, its reports and its CSV.
//
// And figure 2 of MaceMC: after how many steps random walks come to a live state.
//
// Read next: table3.go, live.go.
package main

import (
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne/internal/explore/coverage"
	"github.com/ariadne-mc/ariadne/tools/child"
	"github.com/ariadne-mc/ariadne/tools/harness"
)

// strategies are the lines of the figures, with the flags of each.
var strategies = []struct {
	name  string
	flags []string
}{
	{"DPOR", []string{"--strategy", "dpor"}},
	{bounded, []string{"--strategy", "dpor"}},
	{"random + bounded DPOR", []string{"--strategy", "rounds", "--backtracks", "100"}},
	{"random", []string{"--strategy", "walks"}},
	{"DFS", []string{"--strategy", "all-paths"}},
}

const bounded = "bounded DPOR"

// space is a system that is searched.
type space struct {
	name, title, spec string
	paths             int // of each search
	branch            int // steps among which bounded DPOR tries other orders: about half of a path
}

var spaces = []space{
	{"small", "two nodes, one decree, a client with two values", "paxos-small.yaml", 200_000, 9},
	{"large", "three nodes, elections by timeouts, two decrees", "paxos.yaml", 50_000, 18},
}

// protocol is what of a node's log is its protocol state.
const protocol = `state=(\S+) ballot=(\S+) decree=(\d+)`

// figures carries the options.
type figures struct {
	ctx                   context.Context
	ariadne               harness.Ariadne
	examples, out, work   string
	paths                 int
	time, cold            time.Duration
	tablePaths, tableRuns int
	table                 strings.Builder
}

func main() {
	ctx, stop := child.UntilAsked()
	defer stop()
	f := figures{ctx: ctx}
	f.ariadne.Starting = func(command string) { fmt.Fprintln(os.Stderr, command) }
	flag.StringVar(&f.ariadne.Binary, "ariadne", "bin/ariadne", "the binary")
	flag.StringVar(&f.examples, "examples", "examples/paxos", "where the specs are, with their programs in bin")
	flag.StringVar(&f.out, "out", "docs/results/figures", "directory of the figures")
	flag.StringVar(&f.work, "work", "ariadne-runs/figures", "directory of the runs")
	flag.IntVar(&f.paths, "paths", 0, "paths of each search; 0: as many as the paper has")
	flag.DurationVar(&f.time, "time", time.Hour, "real time of each search")
	flag.DurationVar(&f.cold, "cold", time.Minute, "real time of the searches that remember nothing; 0: none")
	only := flag.String("only", "", "this alone: small, large, table3 or live")
	flag.IntVar(&f.tablePaths, "table-paths", 1000, "paths of each search of table 3")
	flag.IntVar(&f.tableRuns, "table-runs", 3, "times that each search of table 3 is made")
	flag.Parse()
	f.ariadne.Limit = f.time + 10*time.Minute
	if err := f.run(*only); err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(1)
	}
}

func (f *figures) run(only string) error {
	if err := os.MkdirAll(f.out, 0o755); err != nil {
		return err
	}
	for _, s := range spaces {
		if only != "" && only != s.name {
			continue
		}
		f.table.Reset()
		f.table.WriteString(tableHeader)
		if f.paths > 0 {
			s.paths = f.paths
		}
		if err := f.space(&s); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(f.out, s.name+"-searches.csv"), []byte(f.table.String()),
			0o644); err != nil {
			return err
		}
	}
	var err error
	if only == "" || only == table3 {
		err = f.performance()
	}
	if err == nil && (only == "" || only == live) {
		err = f.live()
	}
	return err
}

// space searches a space with each strategy and draws what they have seen.
func (f *figures) space(s *space) error {
	traces := coverage.Plot{Title: s.title, XName: "paths", YName: "unique partial-order traces"}
	states := coverage.Plot{Title: s.title, XName: "paths", YName: "protocol states"}
	numbers := "strategy," + coverage.Header
	out := filepath.Join(f.work, s.name)
	limits := []string{"--executions", strconv.Itoa(s.paths), "--time", f.time.String()}
	for _, line := range strategies {
		flags := slices.Concat(line.flags, limits, []string{"--state", protocol})
		if line.name == bounded {
			flags = append(flags, "--branch", strconv.Itoa(s.branch))
		}
		if err := f.search(line.name, s.spec, out, flags); err != nil {
			return err
		}
		rows, err := readCSV(filepath.Join(out, "coverage.csv"))
		if err != nil {
			return err
		}
		for _, r := range rows {
			numbers += line.name + "," + strings.Join(r, ",") + "\n"
		}
		traces.Series = append(traces.Series, series(line.name, rows, column("traces")))
		states.Series = append(states.Series, series(line.name, rows, column("protocol_combinations")))
	}
	if err := f.search("DPOR with all remembered", s.spec, out, append(limits, "--strategy", "dpor")); err != nil {
		return err
	}
	if f.cold > 0 {
		flags := []string{"--strategy", "dpor", "--no-memo", "--no-checkpoints", "--time", f.cold.String()}
		if err := f.search("DPOR without memo and checkpoints", s.spec, out, flags); err != nil {
			return err
		}
	}
	return errors.Join(write(filepath.Join(f.out, s.name+"-traces.svg"), &traces),
		write(filepath.Join(f.out, s.name+"-states.svg"), &states),
		os.WriteFile(filepath.Join(f.out, s.name+".csv"), []byte(numbers), 0o644))
}

const tableHeader = "search,paths,traces,global_states,protocol_states,exhausted,seconds,transitions_executed,paths_per_second\n"

// search runs one check and enters it into the table.
func (f *figures) search(name, spec, out string, flags []string) error {
	r, err := f.ariadne.Run(f.ctx, out, "check", filepath.Join(f.examples, spec),
		append([]string{"--jobs", "1", "--keep-going"}, flags...)...)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if r.Outcome != harness.Nothing {
		return fmt.Errorf("%s: %s: %q", name, r.Outcome, slices.Concat(r.Doubts, r.Bugs))
	}
	c := r.Coverage
	fmt.Fprintf(&f.table, "%s,%d,%d,%d,%d,%v,%.1f,%d,%.0f\n", name, c.Paths, c.Traces, c.States, c.Combined,
		c.Exhausted,
		r.RealTime.Seconds(), c.Executed, float64(c.Paths)/r.RealTime.Seconds())
	return nil
}

// readCSV returns the lines after the header.
func readCSV(path string) ([][]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(rows) < 2 {
		return nil, fmt.Errorf("%s: nothing was measured", path)
	}
	return rows[1:], nil
}

// column is the index of a column of the CSV.
func column(name string) int {
	return slices.Index(strings.Split(strings.TrimSpace(coverage.Header), ","), name)
}

// series is a column against the paths.
func series(name string, rows [][]string, of int) coverage.Series {
	s := coverage.Series{Name: name}
	for _, r := range rows {
		x, _ := strconv.ParseFloat(r[column("paths")], 64)
		y, _ := strconv.ParseFloat(r[of], 64)
		if x > 0 && y > 0 {
			s.X, s.Y = append(s.X, x), append(s.Y, y)
		}
	}
	return s
}

func write(path string, p *coverage.Plot) error {
	var b strings.Builder
	if err := p.WriteSVG(&b); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}
