package main

import (
	"fmt"
	"os/exec"
	"regexp"
	"strings"

	"github.com/ariadne-mc/ariadne/tools/harness"
)

// target is a real program with its spec, as the list has it.
type target struct {
	Spec    string // relative to the list's directory
	Program string
	Debian  string // package whose version is shown, or ""
	Ready   string // regular expression: a line of a client's log
	Short   bool
	Notes   string
	Root    string         // why an ordinary user cannot run it, or ""
	Triage  harness.Triage // of the violations of random walks and checks

	ready *regexp.Regexp
}

func readTargets(path string) ([]*target, error) {
	list, err := harness.ReadList[*target](path)
	if err != nil {
		return nil, err
	}
	for _, t := range list {
		if err := t.compile(); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", path, t.Spec, err)
		}
	}
	return list, nil
}

func (t *target) compile() (err error) {
	if t.Spec == "" || t.Program == "" || t.Ready == "" {
		return fmt.Errorf("spec, program and ready are needed")
	}
	if t.ready, err = regexp.Compile(t.Ready); err != nil {
		return err
	}
	return nil
}

// name is the spec's path without its ending: "etcd/etcd-3.5".
func (t *target) name() string { return strings.TrimSuffix(t.Spec, ".yaml") }

// version is that of the Debian package installed, or "".
func (t *target) version() string {
	if t.Debian == "" {
		return ""
	}
	out, err := exec.Command("dpkg-query", "-W", "-f", "${Version}", t.Debian).Output()
	if err != nil {
		return ""
	}
	return string(out)
}

// choose returns the targets whose spec matches.
func choose(all []*target, wanted *regexp.Regexp) []*target {
	var out []*target
	for _, t := range all {
		if wanted.MatchString(t.Spec) {
			out = append(out, t)
		}
	}
	return out
}
