// Command storage lets programs that store things be killed and lose their power at each point, by
// each persistence model, has each of their calls on files fail, and writes the table of
// docs/results/storage.md from what came of it.
//
//	go run ./tools/storage [flags]
//
// It keeps the results of a program below the work directory, so the table always has all programs.
// A program that is not run now has its last results, and so have the columns that -columns leaves
// out. Each broken or lost file has a triage in the list, written by hand.
//
// Exit status 1: something broken or lost has no triage.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne/tools/child"
	"github.com/ariadne-mc/ariadne/tools/harness"
)

// program is one that stores something.
type program struct {
	Name    string   `yaml:"name"`
	Program string   `yaml:"program"` // without which it cannot be tried
	Build   []string `yaml:"build"`   // with OUT, the directory above that of setup
	Setup   string   `yaml:"setup"`
	Command string   `yaml:"command"`
	User    int      `yaml:"user"` // that runs the command: 0, or who owns all files
	Check   string   `yaml:"check"`
	Images  int      `yaml:"images"` // of one point; 0: as many as of the others
	Triage  string   `yaml:"triage"`
	Failed  string   `yaml:"failed"` // likewise, of failed calls
}

// The columns besides those of power losses.
const (
	kill  = "kill"
	calls = "calls"
)

// models are of power losses; columns are what is in the table, in the order in which it comes.
var (
	models  = []string{"prefix", "ordered", "any"}
	columns = slices.Concat([]string{kill}, models, []string{calls})
)

// shown is what is in a column.
type shown struct {
	Operations, Distinct, Failed, Undecided int
	Statuses                                map[string]int
	Groups                                  []struct {
		Lost, Kept string
		Images     int
	}
	Failures *failures // of failed calls
}

// failures are how executions in which a call fails have ended.
type failures struct{ Reported, Succeeded, Hung, Undecided int }

// result is what a program showed.
type result struct {
	Origin harness.Origin
	Models map[string]shown // by the columns
}

func main() {
	ctx, stop := child.UntilAsked()
	defer stop()
	list := flag.String("list", "examples/storage.yaml", "the list of programs")
	work := flag.String("work", "ariadne-runs/storage", "directory of what programs showed")
	only := flag.String("only", "", "try the programs whose name matches this regular expression; what others showed is kept")
	page := flag.String("page", "docs/results/storage.md", "the page whose table is written")
	binary := flag.String("ariadne", "bin/ariadne", "the binary")
	images := flag.Int("images", 64, "images of one point, of programs whose entry does not say how many")
	column := flag.String("columns", "", "keep the columns whose name matches this regular expression; of the others what was kept stays")
	calls := flag.Int("failures", 400, "failures of calls at most")
	flag.Parse()
	good, err := run(ctx, options{*list, *work, *only, *page, *binary, *column, *images, *calls})
	harness.End("storage", good, err)
}

type options struct {
	list, work, only, page, binary, columns string
	images, failures                        int
}

func run(ctx context.Context, o options) (good bool, err error) {
	programs, err := harness.ReadList[program](o.list)
	if err != nil {
		return false, err
	}
	bin, err := filepath.Abs(filepath.Join(filepath.Dir(o.list), "storage"))
	if err != nil {
		return false, err
	}
	for i := range programs {
		programs[i].at(bin)
	}
	wanted, err := regexp.Compile(o.only)
	if err != nil {
		return false, err
	}
	kept, err := regexp.Compile(o.columns)
	if err != nil {
		return false, err
	}
	if o.binary, err = filepath.Abs(o.binary); err != nil {
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
	for _, p := range programs {
		file := filepath.Join(o.work, regexp.MustCompile(`[^A-Za-z0-9]+`).ReplaceAllString(p.Name, "-")+".json")
		_, missing := exec.LookPath(p.Program)
		switch {
		case !wanted.MatchString(p.Name):
		case missing != nil:
			fmt.Printf("%s: %v\n", p.Name, missing)
		default:
			fmt.Println(p.Name)
			r, err := p.try(ctx, &o)
			if err != nil {
				return false, fmt.Errorf("%s: %w", p.Name, err)
			}
			r.Origin = origin
			if err := r.merge(file, kept); err != nil {
				return false, err
			}
			if err := harness.Keep(file, r); err != nil {
				return false, err
			}
		}
		r, err := harness.Kept[result](file)
		if err != nil {
			return false, err
		}
		rows = append(rows, row{p, r})
	}
	good = true
	for _, r := range rows {
		for _, m := range r.unexplained() {
			fmt.Printf("%s: %s: broken or lost, and no triage\n", r.Name, m)
			good = false
		}
	}
	earlier, err := harness.ReadPage(o.page)
	if err != nil {
		return false, err
	}
	text, err := replace(string(earlier), table(rows, earlier))
	if err != nil {
		return false, fmt.Errorf("%s: %w", o.page, err)
	}
	return good, os.WriteFile(o.page, []byte(text), 0o644)
}

// at says where our own programs are: PROGRAMS in the list.
func (p *program) at(dir string) {
	for _, text := range []*string{&p.Program, &p.Setup, &p.Command, &p.Check} {
		*text = strings.ReplaceAll(*text, "PROGRAMS", dir)
	}
}

// spec writes a spec in which another user than root runs the command in the directory work, and
// returns its name.
func (p *program) spec(top string) ([]string, error) {
	name := filepath.Join(top, "node.yaml")
	command, err := json.Marshal("sh -c '" + strings.ReplaceAll(p.Command, "'", `'\''`) + "'")
	if err != nil {
		return nil, err
	}
	text := fmt.Sprintf("nodes: [{name: node, dir: work, client: true, user: %d, command: %s}]\n", p.User, command)
	return []string{name}, os.WriteFile(name, []byte(text), 0o644)
}

// merge leaves out the columns that are not to be kept, and takes what is kept of them in a file,
// if it is there.
func (r *result) merge(file string, kept *regexp.Regexp) error {
	earlier, err := harness.Kept[result](file)
	if err != nil {
		return err
	}
	for _, m := range columns {
		if kept.MatchString(m) {
			continue
		}
		delete(r.Models, m)
		if earlier == nil {
			continue
		}
		if s, ok := earlier.Models[m]; ok {
			r.Models[m] = s
		}
	}
	return nil
}

// try lets a program lose its power, and its calls fail.
func (p *program) try(ctx context.Context, o *options) (*result, error) {
	top, err := os.MkdirTemp("", "ariadne-storage-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(top)
	if len(p.Build) > 0 {
		args := make([]string, len(p.Build))
		for i, a := range p.Build {
			args[i] = strings.ReplaceAll(a, "OUT", top)
		}
		if out, err := exec.CommandContext(ctx, args[0], args[1:]...).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%w: %s", err, out)
		}
	}
	dir := filepath.Join(top, "work")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	setup := exec.CommandContext(ctx, "sh", "-c", p.Setup)
	setup.Dir = dir
	if out, err := setup.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("setup: %w: %s", err, out)
	}
	what := []string{"--", "sh", "-c", p.Command}
	if p.User != 0 {
		if what, err = p.spec(top); err != nil {
			return nil, err
		}
	}
	images := cmp.Or(p.Images, o.images)
	cmd := exec.CommandContext(ctx, o.binary,
		append([]string{"crash", "--json", "--timeout", "1m", "--images", fmt.Sprint(images), "--model",
			strings.Join(models, ","), "--outside", "said",
			"--fail", "files", "--failures", fmt.Sprint(o.failures),
			"--check", "sh -c '" + strings.ReplaceAll(p.Check, "'", `'\''`) + "'"}, what...)...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1 && exit.ExitCode() != 3) {
		return nil, fmt.Errorf("%w: %s%s", err, stderr.String(), out)
	}
	r := &result{Models: map[string]shown{}}
	d := json.NewDecoder(bytes.NewReader(out))
	for _, m := range columns {
		var s shown
		if err := d.Decode(&s); err != nil {
			return nil, fmt.Errorf("model %s: %w", m, err)
		}
		r.Models[m] = s
	}
	return r, nil
}
