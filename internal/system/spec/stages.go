package spec

import (
	"errors"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/judge/stage"

	"go.yaml.in/yaml/v3"
)

// stageText is a stage as written.
type stageText struct {
	name            text
	of, key         []text
	execute, change text
}

var stageFields = []field[stageText]{
	textsField("of", "The names of expose, or of stages, that it reads.", func(s *stageText) *[]text { return &s.of }),
	textsField("key", "Names of fields, or node: the functions are called once for each value of these, with the tuples that have it. Default: once, with all tuples.", func(s *stageText) *[]text { return &s.key }),
	{"execute", "A function of definitions. It is called with a list of tuples for each name that it reads, and returns the list of its tuples.", schema{"type": "string"},
		func(r *reader, s *stageText, v *yaml.Node) { s.execute = r.text(v) }},
	{"change", "A function of definitions that makes the same tuples from a change: from before (the tuples that it made last), added and removed (how the tuples that it reads differ, as in added.NAME).", schema{"type": "string"},
		func(r *reader, s *stageText, v *yaml.Node) { s.change = r.text(v) }},
}

func setStages(r *reader, s *specText, v *yaml.Node) {
	r.each("stages", v, func(name text, v *yaml.Node) {
		t := stageText{name: name}
		if !ariadne.IsExposable(name.string) || slices.Contains(property.OwnNames, name.string) {
			r.fail(name.line, "stages: %q cannot be a name: letters, digits and _ are, but for %s", name.string, strings.Join(property.OwnNames, ", "))
		}
		readFields(r, stageFields, &t, v)
		if len(r.errs) == 0 && (t.of == nil || t.execute.line == 0) {
			r.fail(name.line, "stage %q: of and execute are needed", name.string)
		}
		s.stages = append(s.stages, t)
	})
}

// stages enters the stages, of what nodes expose.
func (r *reader) stages(s *Spec, written *specText) {
	p := &s.Properties
	source := func(name string) *expose.Source {
		i := slices.IndexFunc(p.Sources, func(s expose.Source) bool { return s.Name == name })
		if i < 0 {
			return nil
		}
		return &p.Sources[i]
	}
	for _, w := range written.stages {
		if p.Definitions == "" {
			r.fail(w.execute.line, "stage %q: definitions are missing: they must have the function %s", w.name.string, w.execute.string)
		}
		t := stage.Stage{Name: w.name.string, Execute: w.execute.string, Change: w.change.string, Line: w.name.line}
		for _, of := range w.of {
			t.Of = append(t.Of, of.string)
			for _, k := range w.key {
				if src := source(of.string); src != nil && !slices.Contains(stage.OwnFields, k.string) &&
					!slices.Contains(src.Names(), k.string) {
					r.fail(k.line, "stage %q: %s has no field %s for its key", t.Name, of.string, k.string)
				}
			}
		}
		for _, k := range w.key {
			t.Key = append(t.Key, k.string)
		}
		p.Stages = append(p.Stages, t)
	}
	var bad *stage.Bad
	if _, err := stage.NewGraph(p.Stages, func(name string) bool { return source(name) != nil }); errors.As(err, &bad) {
		r.fail(bad.Stage.Line, "%s", bad)
	}
}
