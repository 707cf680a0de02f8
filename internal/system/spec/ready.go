package spec

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/history"
	"github.com/ariadne-mc/ariadne/internal/judge/property"

	"go.yaml.in/yaml/v3"
)

// ready is a ready-made property: one word in a spec for a property that many specs need. In the
// spec, a value may follow the word. Users could also write the property themselves.
type ready struct {
	name, doc string
	schema    schema
	// fields, when not nil, reads what stands behind the word when that is no text.
	fields func(r *reader, s *specText, v *yaml.Node)
	// expand enters what it stands for.
	expand func(x *expansion, s *Spec, of text)
}

// expansion is the reading of ready-made properties.
type expansion struct {
	*reader
	written *specText
}

// readyText is one as written.
type readyText struct {
	*ready
	of text
}

var textSchema = schema{"type": "string"}

// growing is the word for what must not grow, and the name of what nodes expose when something of
// them does.
const growing = "growth"

// Growth says what no process may have, in addition to what grows and grows.
type Growth struct {
	Descriptors int   // more than so many; 0: no bound
	Memory      int64 // bytes, likewise
}

var growthFields = []field[Growth]{
	countField("descriptors", "How many descriptors a process may have open, at most; default no bound.", 1, MaxInt, func(g *Growth) *int { return &g.Descriptors }),
	sizeField("memory", "How much writable memory of its own a process may have, at most, as in 512M; default no bound.", func(g *Growth) *int64 { return &g.Memory }),
}

// Serving is what nodes expose of the ports at which they take connections, and Served of those at
// which they did before they crashed.
const Serving, Served = "restarts", "restarts_before"

var readies = []ready{
	{name: "agreement", schema: textSchema, doc: "The decisions: a regular expression on lines, or a name of expose. All decisions with the same other groups must have the same last group, at all nodes and times. For a log, the groups are index and value. For a single value, there is one group.",
		expand: func(x *expansion, s *Spec, of text) {
			if name, own := x.exposes(s, "agreement", of); own {
				x.predicate(s, "agreement", of, "agree("+name+")")
			} else {
				x.predicate(s, "agreement", of, "decided("+name+")")
			}
		}},
	{name: "one_leader", schema: textSchema, doc: "The leaders: a regular expression on lines, whose last group, or the group term, is the term; or a name of expose with a field term. With a group or field named group, each group of nodes has terms of its own. A term has at most one leader, also over time and over crashes.",
		expand: func(x *expansion, s *Spec, of text) {
			name, own := x.exposes(s, "one_leader", of)
			term, grouped := "value", strings.Contains(of.string, "?P<group>")
			if own || strings.Contains(of.string, "?P<term>") {
				term = "term"
			}
			if i := slices.IndexFunc(x.written.exposes, func(e exposeText) bool {
				return own && e.name == name
			}); i >= 0 {
				line := x.written.exposes[i].text
				grouped = line != nil && line.SubexpIndex("group") >= 0
			}
			per := []text{{string: term}}
			if grouped {
				per = append([]text{{string: "group"}}, per...)
			}
			x.predicate(s, "one_leader", of, oneExpr(name, per))
		}},
	claimReady(history.Linearizable, "The data type of the operations (history). Clients must see one copy, on which each operation happens between its beginning and its end: "+strings.Join(history.Names(), ", ")+"."),
	claimReady(history.Sequential, "The data type of the operations (history). Clients must see one copy, on which each client's operations happen in their order."),
	claimReady(history.Durable, "The data type of the operations (history). Acknowledged writes must survive, and later reads must see them."),
	{name: "restarts", schema: schema{"type": []string{"string", "null"}}, doc: "A regular expression on a line that a node writes when it serves. Without one, a node serves when it takes connections at its TCP ports. Each node that has served and that a fault took down must serve again after it is up.",
		expand: func(x *expansion, s *Spec, of text) {
			same := "b.node in [t.node for t in restarts]"
			if of.string == "" {
				same = "(b.node, b.key) in [(t.node, t.key) for t in restarts]"
				s.Serves = true
				x.exposeOwn(s, "restarts", of, expose.Source{Name: Serving, Fields: []string{"port"}, Key: []int{0}})
				x.exposeOwn(s, "restarts", of,
					expose.Source{Name: Served, Fields: []string{"port"}, Key: []int{0}, Stays: true})
			} else {
				n := len(x.errs)
				if x.lines(s, Serving, of, false); len(x.errs) > n {
					return
				}
				x.lines(s, Served, of, true)
			}
			x.goal(s, "restarts", of, "", "all([b.node not in up or "+same+" for b in restarts_before])", 0)
		}},
	{name: growing, doc: "No process may take more and more descriptors or memory over 40 seconds of virtual time, and more than its node was sent. No process may exceed a bound that is given.",
		schema: schema{"anyOf": []schema{{"type": "null"}, {"$ref": "#/$defs/growth"}}},
		fields: func(r *reader, s *specText, v *yaml.Node) { readFields(r, growthFields, &s.growth, v) },
		expand: func(x *expansion, s *Spec, of text) {
			if of.string != "" {
				x.fail(of.line, "growth: write nothing behind it, or descriptors and memory")
			}
			s.Growth = &x.written.growth
			x.exposeOwn(s, growing, of,
				expose.Source{Name: growing, Fields: []string{"process", "of", "how"}, Key: []int{0, 1}})
			x.predicate(s, growing, of, "len(growth) == 0")
		}},
	{name: "answers", schema: durationSchema(0), doc: "A duration of virtual time. After all faults have ended, no operation of a client (history) may take longer while a majority of the nodes that are no clients is up.", expand: answers},
}

func claimReady(level history.Level, doc string) ready {
	name := history.Levels[level]
	return ready{name: name, doc: doc, schema: textSchema, expand: func(_ *expansion, s *Spec, of text) {
		s.Properties.Histories = append(s.Properties.Histories,
			history.Claim{Name: name, Line: of.line, Of: of.string, Level: level})
	}}
}

// answers: each operation of a client ends. A client does one after the other, so one that ends
// makes place for the next, and between the two there may be no state without any: what is waited
// for is that those with an even number end, and those with an odd one.
func answers(x *expansion, s *Spec, of text) {
	within, err := time.ParseDuration(of.string)
	if err != nil || within <= 0 || within > maxDuration {
		x.fail(of.line, "answers: %q is no duration, as in 10s", of.string)
		return
	}
	h := s.Properties.History
	if h == nil {
		x.fail(of.line, "answers: history is missing: it says what clients wait for")
		return
	}
	if h.Wire != "" {
		x.fail(of.line, "answers: clients that share a node cannot be told apart, and each connection (history: wire) is one")
		return
	}
	if h.Invoke.SubexpIndex("client") >= 0 {
		x.fail(of.line, "answers: clients that share a node (the group client of history) cannot be told apart")
		return
	}
	for k := range s.Network {
		if s.Faults[k] > 0 && slices.Contains(s.Network[k].For, ariadne.Ever) {
			x.fail(of.line, "answers: the network may be partitioned or slow for ever, so some clients never get an answer")
			return
		}
	}
	var servers, clients []string
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if !n.Client {
			servers = append(servers, n.Name)
		}
		if h.Nodes == nil && n.Client || slices.Contains(h.Nodes, n.ID) {
			clients = append(clients, n.Name)
		}
	}
	if len(clients) == 0 {
		x.fail(of.line, "answers: history names no nodes, and none is a client")
	}
	majority := fmt.Sprintf("2 * len([n for n in up if n in %s]) > %d", starlarkList(servers), len(servers))
	for _, c := range clients {
		for parity, ordinal := range []string{"even", "odd"} { // replays tell goals by their names
			waits := fmt.Sprintf("any([w.node == %q and int(w.n) %% 2 == %d for w in pending])", c, parity)
			x.goal(s, fmt.Sprintf("answers (%s, %s)", c, ordinal), of, waits+" and "+majority,
				"not ("+waits+" and "+majority+")", within)
		}
	}
}

func starlarkList(texts []string) string {
	var quoted []string
	for _, t := range texts {
		quoted = append(quoted, fmt.Sprintf("%q", t))
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// exposes enters what a property is about, and returns its name. own: the user has named something
// of expose.
func (x *expansion) exposes(s *Spec, name string, of text) (as string, own bool) {
	if x.has(of.string) {
		return of.string, true
	}
	if line := x.lines(s, name, of, true); line != nil && line.NumSubexp() == 0 {
		x.fail(of.line, "%s: %q has no group, as in (?P<value>\\w+), nor is it a name of expose", name, of.string)
	}
	return name, false
}

func (x *expansion) has(exposed string) bool {
	return slices.ContainsFunc(x.written.exposes, func(e exposeText) bool { return e.name == exposed })
}

// lines enters what lines expose by a regular expression: a tuple for each that differs. stays: it
// outlives its node's crash.
func (x *expansion) lines(s *Spec, name string, of text, stays bool) *regexp.Regexp {
	line, err := regexp.Compile(of.string)
	switch {
	case x.has(name):
		x.fail(of.line, "%s: expose has this name, too: rename it there", name)
		return nil
	case of.string == "":
		x.fail(of.line, "%s: a regular expression on lines of nodes is needed", name)
		return nil
	case err != nil:
		x.fail(of.line, "%s: %s", name, err)
		return nil
	}
	src := expose.Source{Name: name, Line: line, Stays: stays}
	for i := range line.NumSubexp() {
		src.Key = append(src.Key, i+1)
	}
	s.Properties.Sources = append(s.Properties.Sources, src)
	return line
}

// exposeOwn declares the tuples that a ready-made property needs.
func (x *expansion) exposeOwn(s *Spec, name string, of text, src expose.Source) {
	if x.has(src.Name) {
		x.fail(of.line, "%s: expose has the name %s, too: rename it there", name, src.Name)
	}
	s.Properties.Sources = append(s.Properties.Sources, src)
	// Unlike lines, which programs write in any case, this changes what nodes are known to have
	// done.
	s.Digest = sha256.Sum256(fmt.Appendf(s.Digest[:], "%q %v", src.Name, x.written.growth))
}

func (x *expansion) predicate(s *Spec, name string, of text, expr string) {
	s.Properties.Predicates = append(s.Properties.Predicates, property.Predicate{Name: name, Expr: expr, Line: of.line})
}

func (x *expansion) goal(s *Spec, name string, of text, when, expr string, within time.Duration) {
	if len(s.Properties.Goals) == property.MaxGoals {
		x.fail(of.line, "%s: with it there are more than %d of eventually and leads_to", name, property.MaxGoals)
		return
	}
	s.Properties.Goals = append(s.Properties.Goals,
		property.Goal{Name: name, When: when, Expr: expr, Within: within, Line: of.line})
}

// readyOf reads a ready-made property.
func (r *reader) readyOf(s *specText, name text, v *yaml.Node) {
	i := slices.IndexFunc(readies, func(y ready) bool { return y.name == name.string })
	if i < 0 {
		var names []string
		for _, y := range readies {
			names = append(names, y.name)
		}
		r.fail(name.line, "property %q: it is no ready-made property (%s), and has no always, never or the like", name.string, strings.Join(names, ", "))
		return
	}
	y := &readies[i]
	if y.fields != nil && v.Kind != yaml.ScalarNode {
		y.fields(r, s, v)
		s.readies = append(s.readies, readyText{y, text{line: name.line}})
		return
	}
	of := r.text(v)
	if v.Tag == "!!null" {
		of.string = ""
	}
	s.readies = append(s.readies, readyText{y, of})
}

// readySchema is that of properties: those that are ready-made, and others.
func readySchema() schema {
	properties := schema{}
	for _, y := range readies {
		p := schema{"description": y.doc}
		for k, v := range y.schema {
			p[k] = v
		}
		properties[y.name] = schema{"anyOf": []schema{p, {"$ref": "#/$defs/property"}}}
	}
	return schema{"type": "object", "properties": properties,
		"additionalProperties": schema{"$ref": "#/$defs/property"}}
}
