package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

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
	seek, err := seekOf(found, s)
	if err == nil {
		err = seek.Check(s)
	}
	if err != nil {
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
		var object json.RawMessage
		if err := d.Decode(&object); errors.Is(err, io.EOF) {
			return nil, errors.New("there is no violation in it: write it with ariadne watch SPEC --json")
		} else if err != nil {
			return nil, err
		}
		var of struct{ Event string }
		if err := json.Unmarshal(object, &of); err != nil {
			return nil, err
		}
		if of.Event != "violation" {
			continue
		}
		var f watch.Finding
		if err := json.Unmarshal(object, &f); err != nil {
			return nil, err
		}
		if f.Property == "" || len(f.History) == 0 {
			return nil, errors.New("the violation has no property or no history: it is not of ariadne watch")
		}
		return &f, nil
	}
}

// seekOf is what is to be looked for with a spec.
func seekOf(f *watch.Finding, of *spec.Spec) (*check.Seek, error) {
	s := &check.Seek{Property: f.Property}
	for i := range f.History {
		h := &f.History[i]
		at := slices.IndexFunc(of.Nodes, func(n spec.Node) bool { return n.Name == h.Node })
		if at < 0 {
			return nil, fmt.Errorf("the spec has no node %s", h.Node)
		}
		node := of.Nodes[at].ID
		if h.Kind == "up" || h.Kind == "down" {
			s.Changes = append(s.Changes, strategy.SoughtChange{Node: node, Up: h.Kind == "up", Down: h.Kind == "down"})
		}
		for _, x := range h.Exposes {
			s.Changes = append(s.Changes, strategy.SoughtChange{Node: node, Change: expose.Change{
				Tuple: expose.Tuple{Name: x.Name, Key: x.Key, Values: x.Values}, Ends: x.Ends, All: x.All}})
		}
	}
	return s, nil
}
