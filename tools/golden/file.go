package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A golden file has a line per fact, each begun by what it is.
const (
	specLine      = "spec "
	usesLine      = "uses "
	runLine       = "run "
	preemptedLine = "preempted "
	checkLine     = "check "
)

func (g *golden) save(path string) error {
	var b strings.Builder
	fmt.Fprintln(&b, specLine+g.spec)
	fmt.Fprintln(&b, usesLine+g.uses)
	for _, s := range g.steps {
		fmt.Fprintln(&b, s)
	}
	if g.preempted > 0 {
		fmt.Fprintln(&b, preemptedLine+strconv.Itoa(g.preempted))
	}
	fmt.Fprintln(&b, runLine+g.run)
	for _, c := range g.checks {
		fmt.Fprintln(&b, checkLine+c)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

func load(path string) (*golden, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	g := &golden{}
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSuffix(line, "\n")
		var found bool
		for prefix, to := range map[string]*string{specLine: &g.spec, usesLine: &g.uses, runLine: &g.run} {
			if rest, ok := strings.CutPrefix(line, prefix); ok {
				*to, found = rest, true
			}
		}
		if rest, ok := strings.CutPrefix(line, checkLine); ok {
			g.checks, found = append(g.checks, rest), true
		}
		if rest, ok := strings.CutPrefix(line, preemptedLine); ok {
			if g.preempted, err = strconv.Atoi(rest); err != nil {
				return nil, fmt.Errorf("%s: %w", path, err)
			}
			found = true
		}
		if !found {
			g.steps = append(g.steps, line)
		}
	}
	if g.spec == "" || g.uses == "" || g.run == "" {
		return nil, fmt.Errorf("%s is no golden file", path)
	}
	return g, nil
}
