package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/ariadne-mc/ariadne/tools/harness"
)

// bug is a documented bug of a real program, as the list has it.
type bug struct {
	Name      string
	Program   string // with its version, and what it is written in
	Bug       string // a sentence
	Reference string // where it is documented
	Needs     string // what it takes besides an order of messages and timers
	Spec      string // relative to the list's directory
	Sibling   string // the same without the bug
	Beside    string // what the sibling is: a version, a setting
	Violation string // regular expression: what the violation says
	Short     bool   // also looked for by the tests

	violation *regexp.Regexp
}

// readBugs reads a list of bugs.
func readBugs(path string) ([]*bug, error) {
	list, err := harness.ReadList[*bug](path)
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, b := range list {
		err := b.compile()
		if err == nil && names[b.Name] {
			err = errors.New("there are two of this name")
		}
		if err != nil {
			return nil, fmt.Errorf("%s: bug %q: %w", path, b.Name, err)
		}
		names[b.Name] = true
	}
	return list, nil
}

func (b *bug) compile() (err error) {
	for field, value := range map[string]string{"name": b.Name, "program": b.Program, "bug": b.Bug,
		"reference": b.Reference, "spec": b.Spec,
		"sibling": b.Sibling, "beside": b.Beside, "violation": b.Violation} {
		if value == "" {
			err = errors.Join(err, fmt.Errorf("%s is needed", field))
		}
	}
	if err != nil {
		return err
	}
	if strings.ContainsAny(b.Name, "/_ ") {
		return errors.New("the name must be one of a file, without _")
	}
	b.violation, err = regexp.Compile(b.Violation)
	return err
}

// path is where a spec of the list is.
func (o *options) path(spec string) string { return filepath.Join(filepath.Dir(o.list), spec) }
