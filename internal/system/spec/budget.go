package spec

import (
	"regexp"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"

	"go.yaml.in/yaml/v3"
)

// budgetText is what kinds of faults have in common, as written: how many there may be, of what,
// and when. Those that say more embed it. A field that a kind does not have stays empty.
type budgetText struct {
	line         int // 0: the kind is not there
	count        int
	nodes, peers []text
	between      bool
	after        *regexp.Regexp
	afterOf      text // the node of which the line must be, or ""
}

func (b *budgetText) budget() *budgetText { return b }

// budgeted is a kind of fault as written.
type budgeted[T any] interface {
	*T
	budget() *budgetText
}

func timesField[T any, B budgeted[T]]() field[T] {
	return countField("count", "How many in one execution; default 1.", 0, world.MaxFaults, func(t *T) *int {
		return &B(t).budget().count
	})
}

// nodesField is which nodes are meant by nodes.
func nodesField[T any, B budgeted[T]](doc string) field[T] {
	return textsField("nodes", doc, func(t *T) *[]text { return &B(t).budget().nodes })
}

// faultyField is nodesField of what happens to nodes.
func faultyField[T any, B budgeted[T]]() field[T] {
	return nodesField[T, B]("Names of the nodes that the fault hits; default all but clients.")
}

// betweenField is for what happens within a step too, unless it is set; where, its doc says.
func betweenField[T any, B budgeted[T]](within string) field[T] {
	return flagField("between", "Only between two steps of the node; default also within a step, "+within+".", func(t *T) *bool { return &B(t).budget().between })
}

// afterField is what a line must look like that comes before a fault, and of which node it is. All
// kinds have it.
func afterField[T any, B budgeted[T]]() field[T] {
	return field[T]{"after", "A regular expression: the fault happens only after a line that matches. The line is of the node that the fault hits, of either end of a message, or of any node when the network is partitioned or slow. {node: NAME, line: EXPRESSION} names the node instead, as in {node: client, line: acked}. Default: from the beginning.",
		schema{"anyOf": []schema{{"type": "string"},
			{"type": "object", "additionalProperties": false, "required": []string{"node", "line"},
				"properties": schema{"node": schema{"type": "string"}, "line": schema{"type": "string"}}}}},
		func(r *reader, into *T, v *yaml.Node) {
			line := lineText{}
			if v.Kind == yaml.MappingNode {
				readFields(r, lineFields, &line, v)
				for _, lacks := range []struct {
					text
					name string
				}{{line.node, "node"}, {line.line, "line"}} {
					if lacks.line == 0 {
						r.fail(v.Line, "%s: %s is missing", strings.Join(r.fields, ": "), lacks.name)
						return
					}
				}
			} else {
				line.line = r.text(v)
			}
			t := line.line
			x, err := regexp.Compile(t.string)
			if err != nil {
				r.fail(t.line, "%s: %s", strings.Join(r.fields, ": "), err)
			} else if t.string == "" {
				r.fail(t.line, "%s: an empty expression matches every line", strings.Join(r.fields, ": "))
			}
			B(into).budget().after, B(into).budget().afterOf = x, line.node
		}}
}

// lineText is a line of a node, as written.
type lineText struct{ node, line text }

var lineFields = []field[lineText]{
	{"node", "The node that writes the line.", schema{"type": "string"}, func(r *reader, l *lineText, v *yaml.Node) {
		l.node = r.text(v)
	}},
	{"line", "A regular expression.", schema{"type": "string"}, func(r *reader, l *lineText, v *yaml.Node) {
		l.line = r.text(v)
	}},
}

// readBudget reads the fields of a kind of fault, or only a number of them.
func readBudget[T any, B budgeted[T]](r *reader, s *specText, k ariadne.ActionKind, fields []field[T], into *T,
	v *yaml.Node) {
	b := B(into).budget()
	b.line, b.count = v.Line, 1
	if v.Kind == yaml.MappingNode {
		readFields(r, fields, into, v)
	} else {
		b.count = r.count(v, 0, world.MaxFaults)
	}
	s.Faults[k], s.After[k], s.budgets[k] = uint8(b.count), b.after, *b
}

// hits is the row of a kind of fault that hits messages.
func hits(k ariadne.ActionKind) *fault {
	return &fault{definition: "messages", fields: func() schema { return object(hitFields) },
		set: func(r *reader, s *specText, v *yaml.Node) { readBudget(r, s, k, hitFields, &budgetText{}, v) }}
}

var hitFields = []field[budgetText]{
	timesField[budgetText](),
	nodesField[budgetText]("Names of the nodes whose messages the fault hits, sent or received; default any."),
	textsField("peers", "Names of the nodes at the other end; default any.", func(h *budgetText) *[]text {
		return &h.peers
	}),
	afterField[budgetText](),
}
