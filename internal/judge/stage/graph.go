package stage

import (
	"fmt"
	"slices"
	"strings"
)

// Graph are stages, none of which reads of itself, by whatever way. It does not change.
type Graph struct {
	Stages []Stage // each behind those that it reads of
	index  map[string]int
	reads  [][]string // by stage, names of what nodes expose that it reads by whatever way
}

// Bad says what is wrong with a stage.
type Bad struct {
	Stage *Stage
	Text  string
}

func (b *Bad) Error() string { return fmt.Sprintf("stage %q: %s", b.Stage.Name, b.Text) }

// NewGraph makes a graph of stages, where nodes expose what has the names for which exposes is
// true. Its error is a *Bad.
func NewGraph(stages []Stage, exposes func(name string) bool) (*Graph, error) {
	g := &Graph{index: map[string]int{}}
	by := map[string]*Stage{}
	for i := range stages {
		s := &stages[i]
		switch {
		case exposes(s.Name):
			return nil, &Bad{s, "expose has this name, too"}
		case by[s.Name] != nil:
			return nil, &Bad{s, "two stages have this name"}
		}
		by[s.Name] = s
	}
	under := map[string]bool{} // whose inputs are being looked at
	var enter func(s *Stage, way []string) error
	enter = func(s *Stage, way []string) error {
		if _, known := g.index[s.Name]; known {
			return nil
		}
		way = append(way, s.Name)
		if under[s.Name] {
			return &Bad{s, "it depends on itself: " + strings.Join(way[slices.Index(way, s.Name):], " reads ")}
		}
		under[s.Name] = true
		var reads []string
		for i, name := range s.Of {
			of := by[name]
			switch {
			case slices.Contains(s.Of[:i], name):
				return &Bad{s, fmt.Sprintf("%s is named twice", name)}
			case of != nil:
				if err := enter(of, way); err != nil {
					return err
				}
				reads = append(reads, g.reads[g.index[name]]...)
			case exposes(name):
				reads = append(reads, name)
			default:
				return &Bad{s, fmt.Sprintf("%q is neither a name of expose nor another stage", name)}
			}
		}
		slices.Sort(reads)
		g.index[s.Name] = len(g.Stages)
		g.Stages, g.reads = append(g.Stages, *s), append(g.reads, slices.Compact(reads))
		return nil
	}
	for i := range stages {
		if err := enter(&stages[i], nil); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// Has reports whether a stage has a name.
func (g *Graph) Has(name string) bool {
	if g == nil {
		return false
	}
	_, ok := g.index[name]
	return ok
}

// Reads are the names of what nodes expose of which the tuples of a name depend: what stages read,
// or the name itself.
func (g *Graph) Reads(name string) []string {
	if !g.Has(name) {
		return []string{name}
	}
	return g.reads[g.index[name]]
}
