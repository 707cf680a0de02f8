package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/ariadne-mc/ariadne/tools/harness"
)

// column is a column of table 2: which workloads are executed, and with which options of the mount.
type column struct {
	name    string
	without []string
	options string
}

// changes are the operations of the ready-made checker other than writes with O_SYNC.
var changes = []string{"creat", "mkdir", "link", "unlink", "rmdir", "rename", "write", "truncate"}

// columns are those of table 2.
var columns = []column{
	{"sync", []string{"fsync", "fdatasync", "sync write"}, ""},
	{"mount sync", nil, "sync"},
	{"fsync", []string{"sync", "sync write"}, ""},
	{"O_SYNC", changes, ""},
}

// cell is what came of one check.
type cell struct {
	Executions int
	// Images is how many were recovered and examined, or 0 where whole executions were.
	Images, Failed, Undecided int
	// All says that every state within the bounds of the spec was explored.
	All bool
	// Why is the first failure.
	Why string
	// Blamed is the layer without which the stack does not fail, or "".
	Blamed string
}

// check checks what a row names.
func (r *row) check(ctx context.Context, o *options) (result, error) {
	all := result{}
	if r.Size != "" {
		for _, c := range columns {
			fmt.Printf("%s, %s\n", r.Name, c.name)
			measured, err := r.ready(ctx, o, c)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
			all[c.name] = measured
		}
	}
	for _, spec := range r.Specs {
		fmt.Printf("%s, %s\n", r.Name, spec)
		path := filepath.Join(filepath.Dir(o.list), spec)
		var err error
		switch {
		case r.Table == 2:
			all, err = waysOf(ctx, o, path)
		case strings.HasPrefix(spec, "guest/"):
			all[spec], _, err = guestOf(ctx, o, path)
		default:
			all[spec], err = stackOf(ctx, o, path)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", spec, err)
		}
	}
	return all, nil
}

// spec is a spec of the ready-made checker for a column.
func (r *row) spec(oneIn int, c column) ([]byte, error) {
	files := map[string]any{"workloads": 2, "one_in": oneIn, "without": c.without}
	if len(c.without) == len(changes) { // few are left
		files["one_in"] = 1
	}
	return json.Marshal(map[string]any{"name": r.Name, "files": files, "stack": []map[string]string{
		{"name": "disk", "device": r.Size},
		{"name": "top", "filesystem": r.Name, "mkfs": r.Mkfs, "options": c.options}}})
}

// ready runs the ready-made checker for a column.
func (r *row) ready(ctx context.Context, o *options, c column) (*cell, error) {
	text, err := r.spec(o.oneIn, c)
	if err != nil {
		return nil, err
	}
	name := filepath.Join(o.work, "spec.yaml") // JSON is YAML
	if err := os.WriteFile(name, text, 0o644); err != nil {
		return nil, err
	}
	return stackOf(ctx, o, name)
}

// stackOf runs `ariadne disk` on a spec.
func stackOf(ctx context.Context, o *options, spec string) (*cell, error) {
	cmd := exec.CommandContext(ctx, o.ariadne.Binary, "disk", spec, "--json", "--quiet",
		"--images", fmt.Sprint(o.images))
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1 && exit.ExitCode() != 3) {
		return nil, fmt.Errorf("%w: %s%s", err, complaints.String(), out)
	}
	var report struct {
		Executions, Checked, Failed, Undecided int
		Groups                                 []struct {
			Why    string
			Blamed []string
		}
	}
	if err := json.Unmarshal(out, &report); err != nil {
		return nil, err
	}
	c := &cell{Executions: report.Executions, Images: report.Checked, Failed: report.Failed,
		Undecided: report.Undecided}
	if len(report.Groups) > 0 {
		c.Why = harness.OneLine(report.Groups[0].Why)
		c.Blamed = strings.Join(report.Groups[0].Blamed, ", ")
	}
	return c, nil
}

// guestOf runs `ariadne check` on a spec of a guest kernel, once its script has fetched the guest.
// It also returns the messages of the violations.
func guestOf(ctx context.Context, o *options, spec string, flags ...string) (*cell, []string, error) {
	if err := harness.Fetch(ctx, spec); err != nil {
		return nil, nil, err
	}
	out := filepath.Join(o.work, strings.TrimSuffix(filepath.Base(spec), ".yaml"))
	r, err := o.ariadne.Cold(ctx, out, "check", spec, append(flags, "--time", o.time.String())...)
	if err != nil {
		return nil, nil, err
	}
	c := &cell{Executions: r.Executions, Failed: len(r.Violations), All: r.Coverage != nil && r.Coverage.Exhausted}
	if c.Failed == 0 && r.Outcome != harness.Nothing {
		return nil, nil, fmt.Errorf("no verdict: %v", r.Outcome)
	}
	var messages []string
	for _, v := range r.Violations {
		messages = append(messages, harness.OneLine(v.Message))
	}
	if c.Failed > 0 {
		c.Why = messages[0]
	}
	return c, messages, nil
}

// waysOf runs guestOf on the spec of a file system. In each execution the search chooses the way to
// make files durable, so one check fills all columns.
func waysOf(ctx context.Context, o *options, spec string) (result, error) {
	whole, messages, err := guestOf(ctx, o, spec, "--keep-going")
	if err != nil {
		return nil, err
	}
	return byWay(whole, messages), nil
}

// byWay gives each column the violations whose message names its way, or names none.
func byWay(whole *cell, messages []string) result {
	all := result{}
	for _, column := range columns {
		way := "by(way=" + strings.ReplaceAll(column.name, " ", "-") + ")"
		c := *whole
		c.Failed, c.Why = 0, ""
		for _, m := range messages {
			if strings.Contains(m, "by(way=") && !strings.Contains(m, way) {
				continue
			}
			if c.Failed++; c.Failed == 1 {
				c.Why = m
			}
		}
		all[column.name] = &c
	}
	return all
}
