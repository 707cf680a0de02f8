// Command sweep fails each place of real programs at which a system call can fail, once, alone, and
// writes docs/results/sweep.md from what came of it: whether anybody noticed, whether the program
// ended with a message, or crashed, or everybody waited for ever.
//
//	go run ./tools/sweep [flags]
//
// A place is a call at a place in the program's code, on a file (numbers in its name do not count),
// of the first node that comes there in the natural schedule; the rest of the execution is natural
// again. It keeps the results of a target below the work directory, so the page always has all
// targets. A target that is not run now has its last results. Each bad result has a triage in the
// list, written by hand.
//
// It is no search: of a place that is passed often only the first time is tried, and no two
// failures together. Exit status 1: a crash or a hang has no triage.
//
// Read next: sweep.go, then page.go.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/tools/child"
	"github.com/ariadne-mc/ariadne/tools/harness"
)

// target is a system to be swept.
type target struct {
	Spec     string   `yaml:"spec"` // below the list's directory
	What     string   `yaml:"what"`
	Programs []string `yaml:"programs"` // whose calls fail
	// Functions fail besides, at each place that calls them.
	Functions map[string]int64 `yaml:"functions"`
	Triage    []triage         `yaml:"triage"`
}

// triage explains outcomes of a kind.
type triage struct {
	Outcome outcome         `yaml:"outcome"`
	Place   harness.Pattern `yaml:"place"`
	Text    string          `yaml:"text"` // begins with real, benign, ours or open
}

func main() {
	ctx, stop := child.UntilAsked()
	defer stop()
	list := flag.String("list", "examples/sweep.yaml", "the list of targets")
	work := flag.String("work", "ariadne-runs/sweep", "directory of what targets showed")
	only := flag.String("only", "", "sweep the targets whose spec matches this regular expression; what others showed is kept")
	limit := flag.Duration("time", 10*time.Minute, "real time for each target; places that are left are counted")
	memory := flag.Int64("memory", 1<<30, "bytes of memory for each target")
	page := flag.String("page", "docs/results/sweep.md", "the page to write")
	binary := flag.String("ariadne", "bin/ariadne", "the binary, which is asked for its version only")
	flag.Parse()
	ok, err := run(ctx, options{*list, *work, *only, *page, *binary, *limit, *memory})
	harness.End("sweep", ok, err)
}

type options struct {
	list, work, only, page, binary string
	limit                          time.Duration
	memory                         int64
}

func run(ctx context.Context, o options) (good bool, err error) {
	if flag.NArg() > 0 {
		return false, fmt.Errorf("unexpected %q; targets are chosen by -only", flag.Arg(0))
	}
	targets, err := harness.ReadList[target](o.list)
	if err != nil {
		return false, err
	}
	wanted, err := regexp.Compile(o.only)
	if err != nil {
		return false, err
	}
	origin, err := (&harness.Ariadne{Binary: o.binary}).Origin()
	if err != nil {
		return false, err
	}
	if err := os.MkdirAll(o.work, 0o755); err != nil {
		return false, err
	}
	var rows []row
	good = true
	for _, t := range targets {
		kept := filepath.Join(o.work, strings.ReplaceAll(t.Spec, "/", "_")+".json")
		if wanted.MatchString(t.Spec) {
			fmt.Println(t.Spec)
			s, err := spec.Read(filepath.Join(filepath.Dir(o.list), t.Spec))
			if err != nil {
				return false, err
			}
			r, err := sweep(ctx, s, t, o.limit, o.memory)
			if err != nil {
				return false, fmt.Errorf("%s: %w", t.Spec, err)
			}
			r.Origin = origin
			if err := harness.Keep(kept, r); err != nil {
				return false, err
			}
		}
		r, err := harness.Kept[result](kept)
		if err != nil {
			return false, err
		}
		rows = append(rows, row{t, r})
		good = good && r != nil && len(unexplained(t, *r)) == 0
	}
	earlier, err := harness.ReadPage(o.page)
	if err != nil {
		return false, err
	}
	return good, os.WriteFile(o.page, writePage(rows, earlier), 0o644)
}
