// Command storage lets programs that store things be killed and lose their power at each point, by each
// persistence model, and writes the table of docs/storage.md from what came of it.
//
//	go run ./tools/storage [flags]
//
// What a program showed is kept below the work directory, so the table always has all of them: those not
// run now as they were last. What is broken or lost has a triage in the list, written by hand.
//
// Exit status 1: something broken or lost has no triage.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"ariadne/tools/child"
	"ariadne/tools/harness"
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
	Triage  string   `yaml:"triage"`
}

// models are of power losses; columns are what is in the table.
var (
	models  = []string{"prefix", "ordered", "any"}
	columns = append([]string{"kill"}, models...)
)

// shown is what is in a column.
type shown struct {
	Operations, Distinct, Failed int
	Statuses                     map[string]int
	Groups                       []struct{ Lost, Kept string }
}

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
	page := flag.String("page", "docs/storage.md", "the page whose table is written")
	binary := flag.String("ariadne", "bin/ariadne", "the binary")
	images := flag.Int("images", 64, "images of one point")
	flag.Parse()
	good, err := run(ctx, *list, *work, *only, *page, *binary, *images)
	if err != nil {
		fmt.Fprintln(os.Stderr, "storage:", err)
		os.Exit(2)
	}
	if !good {
		os.Exit(1)
	}
}

func run(ctx context.Context, list, work, only, page, binary string, images int) (good bool, err error) {
	programs, err := harness.ReadList[program](list)
	if err != nil {
		return false, err
	}
	bin, err := filepath.Abs(filepath.Join(filepath.Dir(list), "storage"))
	if err != nil {
		return false, err
	}
	for i := range programs {
		programs[i].at(bin)
	}
	wanted, err := regexp.Compile(only)
	if err != nil {
		return false, err
	}
	if binary, err = filepath.Abs(binary); err != nil {
		return false, err
	}
	origin, err := (&harness.Ariadne{Binary: binary}).Origin()
	if err != nil {
		return false, err
	}
	if err := os.MkdirAll(work, 0o755); err != nil {
		return false, err
	}
	var rows []row
	for _, p := range programs {
		kept := filepath.Join(work, regexp.MustCompile(`[^A-Za-z0-9]+`).ReplaceAllString(p.Name, "-")+".json")
		if wanted.MatchString(p.Name) {
			if _, err := exec.LookPath(p.Program); err != nil {
				fmt.Printf("%s: %v\n", p.Name, err)
				continue
			}
			fmt.Println(p.Name)
			r, err := p.try(ctx, binary, images)
			if err != nil {
				return false, fmt.Errorf("%s: %w", p.Name, err)
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
		rows = append(rows, row{p, r})
	}
	good = true
	for _, r := range rows {
		if r.result != nil && r.Triage == "" && r.bad() {
			fmt.Printf("%s: broken or lost, and no triage\n", r.Name)
			good = false
		}
	}
	earlier, err := harness.ReadPage(page)
	if err != nil {
		return false, err
	}
	text, err := replace(string(earlier), table(rows, earlier))
	if err != nil {
		return false, fmt.Errorf("%s: %w", page, err)
	}
	return good, os.WriteFile(page, []byte(text), 0o644)
}

// at says where our own programs are: PROGRAMS in the list.
func (p *program) at(dir string) {
	for _, text := range []*string{&p.Program, &p.Setup, &p.Command, &p.Check} {
		*text = strings.ReplaceAll(*text, "PROGRAMS", dir)
	}
}

// spec writes a spec in which another user than root runs the command in the directory work, and returns its name.
func (p *program) spec(top string) ([]string, error) {
	name := filepath.Join(top, "node.yaml")
	command, err := json.Marshal("sh -c '" + strings.ReplaceAll(p.Command, "'", `'\''`) + "'")
	if err != nil {
		return nil, err
	}
	text := fmt.Sprintf("nodes: [{name: node, dir: work, client: true, user: %d, command: %s}]\n", p.User, command)
	return []string{name}, os.WriteFile(name, []byte(text), 0o644)
}

// try lets a program lose its power.
func (p *program) try(ctx context.Context, binary string, images int) (*result, error) {
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
	cmd := exec.CommandContext(ctx, binary, append([]string{"crash", "--json", "--timeout", "1m", "--images", fmt.Sprint(images), "--model", strings.Join(models, ","), "--outside", "said",
		"--check", "sh -c '" + strings.ReplaceAll(p.Check, "'", `'\''`) + "'"}, what...)...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
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
