// Command timers lists the implicit timers of real programs by `ariadne timers`, and writes
// docs/results/timers.md from them and from what people found in the programs' sources. It also
// looks for the bugs in examples/timers.
//
//	go run ./tools/timers [flags]
//
// Results are kept below the work directory, so the page has all targets: those that are not run
// this time as they were last. Exit status 1: nobody has judged a place, or a search has missed a
// planted bug, or found one where there is none.
//
// Read next: page.go, planted.go.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne/internal/use/timers"
	"github.com/ariadne-mc/ariadne/tools/child"
	"github.com/ariadne-mc/ariadne/tools/harness"
)

// target is a system whose timers are listed.
type target struct {
	Spec   string   // below the list's directory
	What   string   // for the page
	Judged []judged `yaml:"judged"`
	// Flags are more ones of the command.
	Flags []string
	// Known are timers that the source is known to have, whether or not they were found.
	Known []known
}

// known is a timer of a program, by its function and condition, and what became of it in the runs.
type known struct{ Timer, Text string }

// judged is what the source says of places.
type judged struct {
	Place harness.Pattern
	Text  string // begins with true, runtime or not one
}

// result is what a target showed.
type result struct {
	timers.List
	Origin harness.Origin
}

type options struct {
	list, work, page string
	only             *regexp.Regexp
	limit            time.Duration
	schedules        int
	window           time.Duration
	seeds            int
	budget           time.Duration // of a search for a planted bug
	ariadne          harness.Ariadne
}

func main() {
	ctx, stop := child.UntilAsked()
	defer stop()
	var o options
	flag.StringVar(&o.list, "list", "examples/timers.yaml", "the list of targets")
	flag.StringVar(&o.work, "work", "ariadne-runs/timers", "directory of what targets showed")
	flag.StringVar(&o.page, "page", "docs/results/timers.md", "the page to write")
	flag.StringVar(&o.ariadne.Binary, "ariadne", "bin/ariadne", "the binary")
	flag.DurationVar(&o.limit, "time", 5*time.Minute, "real time for each target")
	flag.IntVar(&o.schedules, "schedules", 3, "schedules of each target, at most")
	flag.DurationVar(&o.window, "window", time.Hour, "how much later a step is tried at most")
	flag.IntVar(&o.seeds, "seeds", 3, "searches for each planted bug")
	flag.DurationVar(&o.budget, "budget", time.Minute, "real time for each of these searches")
	only := flag.String("only", "", "run the targets whose spec matches this regular expression")
	flag.Parse()
	var err error
	good := false
	if o.only, err = regexp.Compile(*only); err == nil {
		good, err = o.run(ctx)
	}
	harness.End("timers", good, err)
}

// run lists the timers of the targets, and writes the page. It reports whether all are judged.
func (o *options) run(ctx context.Context) (good bool, err error) {
	targets, err := harness.ReadList[target](o.list)
	if err != nil {
		return false, err
	}
	origin, err := o.ariadne.Origin()
	if err != nil {
		return false, err
	}
	if err := os.MkdirAll(o.work, 0o755); err != nil {
		return false, err
	}
	all := make([]*result, len(targets))
	good = true
	for i := range targets {
		t := &targets[i]
		kept := filepath.Join(o.work, strings.ReplaceAll(t.Spec, "/", "_")+".json")
		if o.only.MatchString(t.Spec) {
			fmt.Println(t.Spec)
			r, err := o.find(ctx, t)
			if err != nil {
				return false, fmt.Errorf("%s: %w", t.Spec, err)
			}
			r.Origin = origin
			if err := harness.Keep(kept, r); err != nil {
				return false, err
			}
		}
		if all[i], err = harness.Kept[result](kept); err != nil {
			return false, err
		}
		good = good && all[i] != nil && allJudged(t, all[i])
	}
	earlier, err := harness.ReadPage(o.page)
	if err != nil {
		return false, err
	}
	planted, allFound, err := o.seek(ctx)
	if err != nil {
		return false, err
	}
	return good && allFound, os.WriteFile(o.page, page(targets, all, planted, earlier), 0o644)
}

// find runs the command on a target.
func (o *options) find(ctx context.Context, t *target) (*result, error) {
	spec := filepath.Join(filepath.Dir(o.list), t.Spec)
	if err := harness.Fetch(ctx, spec); err != nil {
		return nil, err
	}
	args := []string{"timers", spec, "--json", "--quiet", "--time", o.limit.String(), "--schedules",
		fmt.Sprint(o.schedules), "--window", o.window.String()}
	cmd := child.Command(ctx, o.ariadne.Binary, append(args, t.Flags...)...)
	var said, complaints strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &complaints
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%v: %w: %s", cmd.Args, err, complaints.String())
	}
	r := &result{}
	if err := json.Unmarshal([]byte(said.String()), &r.List); err != nil {
		return nil, fmt.Errorf("what %v printed: %w", cmd.Args, err)
	}
	return r, nil
}
