package graph_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/record/causal"
	"github.com/ariadne-mc/ariadne/internal/record/graph"
)

// picture is one of an execution in which n1 sends n2 some texts.
func picture(texts []string) (*graph.Picture, *causal.Graph) {
	steps, names := execution(texts)
	g := causal.New(steps, names, nil)
	p := graph.New(g, &causal.Words{Names: names}, []string{"n1", "n2"}, map[int]string{2: "late"})
	p.Name, p.Sentence, p.Violation = texts[0], strings.Join(texts, " "), 2
	return p, g
}

// TestSVG: whatever programs send and write, the drawing has the same elements, none of which runs
// or loads anything.
func TestSVG(t *testing.T) {
	elements := func(texts []string) (all []string) {
		p, _ := picture(texts)
		var b bytes.Buffer
		if err := p.WriteSVG(&b); err != nil {
			t.Fatal(err)
		}
		for d := xml.NewDecoder(&b); ; {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				return all
			}
			if err != nil {
				t.Fatal(err)
			}
			if e, ok := token.(xml.StartElement); ok {
				all = append(all, e.Name.Local)
				for _, a := range e.Attr {
					if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "href" {
						t.Errorf("an element has %s", a.Name.Local)
					}
				}
			}
		}
	}
	plain := elements(slices.Repeat([]string{"hello"}, len(hostile)))
	if got := elements(hostile); !slices.Equal(got, plain) {
		t.Errorf("elements %q, want %q", got, plain)
	}
	arrows := 0
	for _, e := range plain {
		if e == "script" || e == "image" || e == "use" || e == "foreignObject" {
			t.Errorf("there is an element %s", e)
		}
		if e == "line" {
			arrows++
		}
	}
	if arrows != len(hostile)+2 { // and a life line each
		t.Errorf("%d lines for %d messages", arrows, len(hostile))
	}
}

// TestShiViz: ShiViz's own expression finds each step, and a clock is at most another one where the
// step comes before the other.
func TestShiViz(t *testing.T) {
	p, g := picture(hostile)
	var b bytes.Buffer
	if err := p.WriteShiViz(&b); err != nil {
		t.Fatal(err)
	}
	log, ok := strings.CutPrefix(b.String(), "\n\n")
	// js/shiviz.js: defaultParser
	found := regexp.MustCompile(`(?m)(?<event>.*)\n(?<host>\S*) (?<clock>{.*})`).FindAllStringSubmatch(log, -1)
	if !ok || len(found) != len(p.Steps) || strings.Count(log, "\n") != 2*len(p.Steps) {
		t.Fatalf("%d steps of %d are found in\n%s", len(found), len(p.Steps), &b)
	}
	clocks := make([]map[string]int, len(found))
	for i, m := range found {
		if err := json.Unmarshal([]byte(m[3]), &clocks[i]); err != nil {
			t.Fatal(err)
		}
		if clocks[i][m[2]] == 0 {
			t.Errorf("step %d has no time of its own host: %s", i+1, m[3])
		}
	}
	for i := range clocks {
		past := g.Past(i + 1)
		for j := range clocks {
			before := true
			for host, n := range clocks[j] {
				before = before && n <= clocks[i][host]
			}
			if before != past[j+1] {
				t.Errorf("step %d before step %d: %v by its clock, %v by its causes", j+1, i+1, before, past[j+1])
			}
		}
	}
}
