package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/use/check"
	"github.com/ariadne-mc/ariadne/internal/use/watch"
)

// seekIn has a check look for the first violation in a file of ariadne watch --json.
func seekIn(file string, s *spec.Spec, opts *check.Options) error {
	f, err := os.Open(file)
	if err != nil {
		return usageError{fmt.Errorf("--seek: %w", err)}
	}
	defer f.Close()
	found, err := firstFinding(f)
	if err != nil {
		return usageError{fmt.Errorf("--seek: %s: %w", file, err)}
	}
	seek := seekOf(found)
	if err := seek.Check(s); err != nil {
		return usageError{fmt.Errorf("--seek: %s is of another spec: %w", file, err)}
	}
	if row, _ := strategy.Named(opts.Search.Strategy); !row.Seeks {
		return usageError{fmt.Errorf("--seek: strategy %s cannot seek: leave --strategy out, or use novelty", row.Name)}
	}
	opts.Search.Seek = seek
	if opts.Until == nil {
		opts.Until = seek.Until()
	}
	return nil
}

// firstFinding reads objects up to the first violation.
func firstFinding(r io.Reader) (*watch.Finding, error) {
	for d := json.NewDecoder(r); ; {
		var f watch.Finding
		var object json.RawMessage
		err := d.Decode(&object)
		if errors.Is(err, io.EOF) {
			return nil, errors.New("there is no violation in it: write it with ariadne watch SPEC --json")
		}
		if err == nil {
			var of struct{ Event string }
			if err = json.Unmarshal(object, &of); err == nil && of.Event == "violation" {
				if err = json.Unmarshal(object, &f); err == nil && f.Property != "" && len(f.History) > 0 {
					return &f, nil
				} else if err == nil {
					err = errors.New("the violation has no property or no history: it is not of ariadne watch")
				}
			}
		}
		if err != nil {
			return nil, err
		}
	}
}

// seekOf is what is to be looked for.
func seekOf(f *watch.Finding) *check.Seek {
	s := &check.Seek{Property: f.Property}
	for i := range f.History {
		h := &f.History[i]
		switch h.Kind {
		case "up", "down":
			s.Changes = append(s.Changes, check.SeekChange{Node: h.Node, Up: h.Kind == "up", Down: h.Kind == "down"})
		}
		for _, x := range h.Exposes {
			s.Changes = append(s.Changes, check.SeekChange{Node: h.Node, Change: expose.Change{
				Tuple: expose.Tuple{Name: x.Name, Key: x.Key, Values: x.Values}, Ends: x.Ends, All: x.All}})
		}
	}
	return s
}
