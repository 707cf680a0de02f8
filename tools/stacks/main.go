// Command stacks checks the storage stacks of the eXplode paper (Yang and others, OSDI 2006), as
// far as they can be had today, and writes the tables of docs/results/stacks.md.
//
//	go run ./tools/stacks [flags]
//
// A row of the list is a file system of the paper's table 2, or a system of its table 3. The file
// systems of the running kernel are checked by the ready-made checker of `ariadne disk`, once for
// each column. All others name specs. The tool keeps the results of a row below the work directory,
// so the tables always have all rows.
//
// Exit status 1: something fails, and the list has no explanation.
//
// Read next: run.go, page.go.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/ariadne-mc/ariadne/tools/child"
	"github.com/ariadne-mc/ariadne/tools/harness"
)

// row is a row of one of the tables.
type row struct {
	Name  string `yaml:"name"`
	Table int    `yaml:"table"` // 2 or 3
	// Then are the columns of table 2 that failed in 2006, or the number of bugs of table 3.
	Then []string `yaml:"then"`
	// Size and Mkfs are of a file system of the running kernel.
	Size string `yaml:"size"`
	Mkfs string `yaml:"mkfs"`
	// Specs are checked in the place of the ready-made checker. In table 2 it is one spec of a
	// guest kernel, for all columns.
	Specs []string `yaml:"specs"`
	// Notes say what is different today, what the failures are, or why there is nothing to check.
	Notes string `yaml:"notes"`
	// Fails says that failures are explained by the notes.
	Fails bool `yaml:"fails"`
}

// result is what a row showed, by the column or spec.
type result map[string]*cell

type options struct {
	list, work, page string
	only             *regexp.Regexp
	images, oneIn    int
	time             time.Duration
	ariadne          *harness.Ariadne
}

func main() {
	ctx, stop := child.UntilAsked()
	defer stop()
	o := options{ariadne: new(harness.Ariadne)}
	flag.StringVar(&o.list, "list", "examples/stacks.yaml", "the list of rows")
	flag.StringVar(&o.work, "work", "ariadne-runs/stacks", "directory of what rows showed")
	flag.StringVar(&o.page, "page", "docs/results/stacks.md", "the page whose tables are written")
	flag.StringVar(&o.ariadne.Binary, "ariadne", "bin/ariadne", "the binary")
	only := flag.String("only", "", "check the rows whose name matches this regular expression; what others showed is kept")
	flag.IntVar(&o.images, "images", 16, "images of one point, of the ready-made checker")
	flag.IntVar(&o.oneIn, "one-in", 60, "which part of the workloads of two operations is executed: one in so many")
	flag.DurationVar(&o.time, "time", 10*time.Minute, "time of each spec that is checked by ariadne check")
	flag.Parse()
	good, err := false, error(nil)
	if o.only, err = regexp.Compile(*only); err == nil {
		good, err = run(ctx, &o)
	}
	harness.End("stacks", good, err)
}

func run(ctx context.Context, o *options) (good bool, err error) {
	rows, err := harness.ReadList[*row](o.list)
	if err != nil {
		return false, err
	}
	if err := harness.Absolute(&o.work, &o.ariadne.Binary); err != nil {
		return false, err
	}
	if err := os.MkdirAll(o.work, 0o755); err != nil {
		return false, err
	}
	o.ariadne.Limit = o.time + time.Minute
	good = true
	results := map[*row]result{}
	for _, r := range rows {
		file := filepath.Join(o.work, regexp.MustCompile(`[^A-Za-z0-9]+`).ReplaceAllString(r.Name, "-")+".json")
		if o.only.MatchString(r.Name) {
			measured, err := r.check(ctx, o)
			if err != nil {
				return false, fmt.Errorf("%s: %w", r.Name, err)
			}
			if err := harness.Keep(file, measured); err != nil {
				return false, err
			}
		}
		kept, err := harness.Kept[result](file)
		if err != nil {
			return false, err
		}
		if kept != nil {
			results[r] = *kept
		}
		for name, c := range results[r] {
			if c.Failed > 0 && !r.Fails {
				fmt.Printf("%s: %s: fails, and is not explained\n", r.Name, name)
				good = false
			}
		}
	}
	earlier, err := harness.ReadPage(o.page)
	if err != nil {
		return false, err
	}
	text, err := replace(string(earlier), tables(rows, results, earlier))
	if err != nil {
		return false, fmt.Errorf("%s: %w", o.page, err)
	}
	return good, os.WriteFile(o.page, []byte(text), 0o644)
}
