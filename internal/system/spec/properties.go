package spec

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/history"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/judge/stage"
	"github.com/ariadne-mc/ariadne/internal/leaf/readfile"

	"go.yaml.in/yaml/v3"
)

// Properties are what must hold of the system, and what nodes expose for that. They change nothing
// of what the system can do, so Spec.Digest does not cover them.
type Properties struct {
	Sources    expose.Sources
	Stages     []stage.Stage
	History    *expose.History // of clients' operations, or nil
	Predicates []property.Predicate
	Histories  []history.Claim
	Goals      []property.Goal
	// what looks at files and lines of all nodes when an execution has ended, with paths of the
	// host; or nil
	Finally     *Command
	Given       []string       // paths below Dir of the spec that its command line names
	Definitions string         // path of a file in Starlark, or ""
	Digest      ariadne.Digest // over all that they say; zero: there are none
}

// exposeText is what a node exposes, as written.
type exposeText struct {
	name, where string
	line        int
	text, until *regexp.Regexp
	key, nodes  []text
	stays       bool

	file, command text
	match         *regexp.Regexp // of the file's content, or of what the command writes

	function, untilFunction text
	variable                text
	returns                 bool
	names, values           []string // of fields, and what they are of the function's parameters
	untilNames, untilValues []text   // likewise, of the key and of untilFunction
}

// propertyText is what must hold, as written.
type propertyText struct {
	forms             map[string]text // by name of a field
	within, stableFor time.Duration
	window            int
	number            property.Number
	per               []text // fields
	line              int
}

var exposeFields = []field[exposeText]{
	{"line", "A regular expression: a line of a node that matches exposes a tuple, whose fields are the groups. Without it the program itself exposes the tuple (/dev/ariadne).", schema{"type": "string"},
		func(r *reader, e *exposeText, v *yaml.Node) { e.text = r.regexp(e.where, v) }},
	{"until", "A regular expression: a line of the node that matches ends the tuple. If it has the groups of the key, it ends the tuple with the same key.", schema{"type": "string"},
		func(r *reader, e *exposeText, v *yaml.Node) { e.until = r.regexp(e.where, v) }},
	textsField("key", "Names of groups that distinguish tuples: a node exposes one tuple for each key. Default none: it exposes one tuple at a time.", func(e *exposeText) *[]text { return &e.key }),
	textsField("nodes", "Names of the nodes whose lines count; default all.", func(e *exposeText) *[]text {
		return &e.nodes
	}),
	{"file", "A file of the node, relative to where its programs start: its content exposes a tuple while the file exists.", schema{"type": "string"},
		func(r *reader, e *exposeText, v *yaml.Node) { e.file = r.text(v) }},
	{"command", "A command that asks the node's programs, as redis-cli does. It runs in a copy of the node after each step of the node. Its standard output exposes a tuple if its status is 0.", schema{"type": "string"},
		func(r *reader, e *exposeText, v *yaml.Node) { e.command = r.text(v) }},
	{"match", "With file or command, a regular expression: the tuple's fields are its groups, and there is no tuple without a match. Default: the content is the only field.", schema{"type": "string"},
		func(r *reader, e *exposeText, v *yaml.Node) { e.match = r.regexp(e.where+": match", v) }},
	{"function", "A function of the node's programs that exposes a tuple when it is called, by its name in their debug information; in Go the name may begin at the package.", schema{"type": "string"},
		func(r *reader, e *exposeText, v *yaml.Node) { e.function = r.text(v) }},
	{"at", "With function: call, the default, or return: the tuple is exposed when the function returns.", schema{"enum": []string{"call", "return"}},
		func(r *reader, e *exposeText, v *yaml.Node) {
			t := r.text(v)
			if e.returns = t.string == "return"; !e.returns && t.string != "call" {
				r.fail(t.line, "%s: at is call or return", e.where)
			}
		}},
	{"variable", "A variable of the node's programs, or a part of one, by its name in their debug information. It exposes a tuple whenever a step has changed it.", schema{"type": "string"},
		func(r *reader, e *exposeText, v *yaml.Node) { e.variable = r.text(v) }},
	{"fields", "With function: the tuple's fields by their names, as expressions of the function's parameters, as in r.term, also through pointers. With at: return also of its results (result, result1, result2) and of the values before the call (old(r.term)). With variable: parts of it, as in peers[2].id; default: all of it.", schema{"type": "object", "additionalProperties": schema{"type": "string"}},
		func(r *reader, e *exposeText, v *yaml.Node) {
			r.each(e.where+": fields", v, func(name text, v *yaml.Node) {
				if !ariadne.IsExposable(name.string) || name.string == "node" || name.string == "values" {
					r.fail(name.line, "%s: a field cannot be called %q", e.where, name.string)
				}
				e.names, e.values = append(e.names, name.string), append(e.values, r.text(v).string)
			})
		}},
	{"until_function", "With function: a function that ends all tuples of the name at its node when it is called, or, with until_fields, one of them.", schema{"type": "string"},
		func(r *reader, e *exposeText, v *yaml.Node) { e.untilFunction = r.text(v) }},
	{"until_fields", "With until_function: the fields of the key, as expressions of that function's parameters. A call ends the tuple with this key, and no other one.", schema{"type": "object", "additionalProperties": schema{"type": "string"}},
		func(r *reader, e *exposeText, v *yaml.Node) {
			r.each(e.where+": until_fields", v, func(name text, v *yaml.Node) {
				e.untilNames, e.untilValues = append(e.untilNames, name), append(e.untilValues, r.text(v))
			})
		}},
	flagField("stays", "Whether the tuple stays when its node crashes, as a promise of the node does; default false.", func(e *exposeText) *bool { return &e.stays }),
}

// historyText is what lines say of clients' operations, as written.
type historyText struct {
	line  int // 0: it is not there
	nodes []text
	port  int
	expose.History
}

var historyFields = []field[historyText]{
	historyField("invoke", "A regular expression: with a line that matches, a client begins an operation. Its groups op, key and value describe the operation.", func(h *historyText) **regexp.Regexp { return &h.Invoke }),
	historyField("ok", "A regular expression: a line that matches ends the client's last operation. Its group value is the result of a read.", func(h *historyText) **regexp.Regexp { return &h.OK }),
	historyField("fail", "A regular expression: a line that matches ends an operation that certainly had no effect.", func(h *historyText) **regexp.Regexp { return &h.Fail }),
	textsField("nodes", "Names of the nodes whose lines or, with wire, connections count; default all, with wire the clients.", func(h *historyText) *[]text { return &h.nodes }),
	{"wire", "Operations are read from clients' connections, in the protocol resp (Redis), etcd (its gRPC) or http. With http, invoke matches requests, as in PUT /kv/x BODY, and ok and fail match responses, as in 200 BODY.", schema{"enum": history.ProtocolNames()},
		func(r *reader, h *historyText, v *yaml.Node) {
			if h.Wire = r.text(v).string; history.ProtocolNamed(h.Wire) == nil {
				r.fail(v.Line, "history: wire %q is none of %s", h.Wire, strings.Join(history.ProtocolNames(), ", "))
			}
		}},
	countField("port", "With wire: the port to which the connections go; default 6379 for resp, 2379 for etcd, 80 for http.", 1, 65535, func(h *historyText) *int { return &h.port }),
}

func historyField(name, doc string, at func(*historyText) **regexp.Regexp) field[historyText] {
	return field[historyText]{name, doc, schema{"type": "string"}, func(r *reader, h *historyText, v *yaml.Node) {
		*at(h) = r.regexp("history: "+name, v)
	}}
}

func setHistory(r *reader, s *specText, v *yaml.Node) {
	s.history.line = v.Line
	readFields(r, historyFields, &s.history, v)
	h := &s.history
	if p := history.ProtocolNamed(h.Wire); p != nil && !p.Lines {
		if h.Invoke != nil || h.OK != nil || h.Fail != nil {
			r.fail(v.Line, "history: with wire: %s the operations come from %s: remove invoke, ok and fail", p.Name, p.Of)
		}
		return
	}
	if h.Wire == "" && h.port > 0 {
		r.fail(v.Line, "history: port goes with wire")
	}
	if h.Invoke == nil || h.OK == nil {
		r.fail(v.Line, "history: invoke and ok are needed")
	} else if h.Invoke.SubexpIndex("op") < 0 {
		r.fail(v.Line, "history: invoke has no group (?P<op>...)")
	}
}

var propertyFields = []field[propertyText]{
	formField("always", "An expression in Starlark that must be true in every state, of lists of tuples by their names, and of up, the names of the nodes that are up."),
	formField("never", "An expression that must be false in every state."),
	formField("finally", "An expression that must be true when an execution ends by itself: the clients are done, or nothing is left to happen."),
	formField("agree", "The name of exposed tuples: those with the same key have the same fields, whichever node exposes them."),
	formField("one", "The name of exposed tuples: at most one node exposes one, or one node for each value of the fields that per names."),
	formField("rises", "The name of exposed tuples: their last field, a number, never becomes smaller for a node and key."),
	{"per", "With one: the name of a field, or a list of several.", textsSchema,
		func(r *reader, p *propertyText, v *yaml.Node) { p.per = r.texts(v) }},
	formField("durable", "Acknowledged operations survive: each read by itself could come from one copy of data with everything that was acknowledged before the read began."),
	formField("linearizable", "The results of clients' operations (history) could come from one copy of data, on which each operation happens at one moment between its beginning and its end: "+strings.Join(history.Names(), ", ")+", or a function of definitions. With keys, each key has a copy of its own."),
	formField("sequential", "As linearizable, but only the order of each client's own operations counts."),
	formField("eventually", "An expression that must always become true again after the last fault, however the system continues (docs/guides/liveness.md)."),
	formField("when", "With leads_to: an expression. Once it was true, that of leads_to must be true then or later."),
	formField("leads_to", "With when: an expression that must become true."),
	durationField("within", "With eventually or leads_to: within which virtual time it must become true, from the end of the last fault and from when. Default: at any time.", 1, func(p *propertyText) *time.Duration { return &p.within }),
	durationField("stable_for", "With eventually: how long it must then stay true, in virtual time. Default: it is true in one state.", 1, func(p *propertyText) *time.Duration { return &p.stableFor }),
	countField("window", "With always, never, finally or number: how many earlier snapshots the expression sees as earlier, the latest last. Only snapshots that differ in what it reads count.", 1, property.MaxWindow, func(p *propertyText) *int { return &p.window }),
	formField("number", "An expression that is a number, or None. Reports show its course over virtual time. With at_most and at_least it must stay between these in every state."),
	numberField("at_most", "With number: the greatest value; default no bound.", func(n *property.Number) **float64 {
		return &n.Most
	}),
	numberField("at_least", "With number: the least value; default no bound.", func(n *property.Number) **float64 {
		return &n.Least
	}),
	formField("initial", "With linearizable, sequential or durable: the data at the beginning; default none."),
}

func formField(name, doc string) field[propertyText] {
	return field[propertyText]{name, doc, schema{"type": "string"}, func(r *reader, p *propertyText, v *yaml.Node) {
		p.forms[name] = r.text(v)
	}}
}

func numberField(name, doc string, at func(*property.Number) **float64) field[propertyText] {
	return field[propertyText]{name, doc, schema{"type": "number"}, func(r *reader, p *propertyText, v *yaml.Node) {
		t, ok := r.scalar(v)
		n, err := strconv.ParseFloat(t.string, 64)
		if ok && (err != nil || math.IsNaN(n) || math.IsInf(n, 0)) {
			r.fail(t.line, "%s: %q is not a number", name, t.string)
		}
		*at(&p.number) = &n
	}}
}

// regexp reads a regular expression.
func (r *reader) regexp(where string, v *yaml.Node) *regexp.Regexp {
	t := r.text(v)
	x, err := regexp.Compile(t.string)
	if err != nil {
		r.fail(t.line, "%s: %s", where, err)
	} else if t.string == "" {
		r.fail(t.line, "%s: an empty expression matches every line", where)
	}
	return x
}

// each calls f with the names and values of a mapping.
func (r *reader) each(what string, v *yaml.Node, f func(name text, v *yaml.Node)) {
	if v.Kind != yaml.MappingNode {
		r.fail(v.Line, "%s: lines of \"name: value\" are needed here", what)
		return
	}
	seen := map[string]bool{}
	for i := 0; i < len(v.Content); i += 2 {
		name := text{v.Content[i].Value, v.Content[i].Line}
		if seen[name.string] {
			r.fail(name.line, "%s: %q is written twice", what, name.string)
		}
		seen[name.string] = true
		f(name, dereference(v.Content[i+1]))
	}
}

func setExpose(r *reader, s *specText, v *yaml.Node) {
	r.each("expose", v, func(name text, v *yaml.Node) {
		e := exposeText{name: name.string, where: "expose: " + name.string, line: name.line}
		if !ariadne.IsExposable(name.string) || slices.Contains(property.OwnNames, name.string) {
			r.fail(name.line, "expose: %q cannot be a name: letters, digits and _ are, but for %s", name.string, strings.Join(property.OwnNames, ", "))
		}
		if v.Kind == yaml.MappingNode {
			readFields(r, exposeFields, &e, v)
		} else {
			e.text = r.regexp(e.where, v)
		}
		byLine, byFunction, byVariable := e.text != nil || e.until != nil, e.function.string != "",
			e.variable.string != ""
		byFile, byCommand := e.file.string != "", e.command.string != ""
		ways := 0
		for _, by := range []bool{byLine, byFile, byCommand, byFunction, byVariable} {
			if by {
				ways++
			}
		}
		switch {
		case len(r.errs) > 0:
		case ways > 1:
			r.fail(name.line, "%s: one of line, file, command, function and variable is needed; until goes with line", e.where)
		case !byFunction && (e.names != nil && !byVariable || e.untilFunction.line > 0 || e.returns):
			r.fail(name.line, "%s: function is missing", e.where)
		case e.untilNames != nil && e.untilFunction.line == 0:
			r.fail(e.untilNames[0].line, "%s: until_function is missing", e.where)
		case !byFile && !byCommand && e.match != nil:
			r.fail(name.line, "%s: file or command is missing", e.where)
		case !byFile && !byCommand && !byFunction && !byVariable && e.text == nil &&
			(e.until != nil || e.key != nil || e.nodes != nil):
			r.fail(name.line, "%s: line is missing", e.where)
		}
		for _, by := range []text{e.file, e.command, e.function, e.variable} {
			if by.line > 0 && by.string == "" {
				r.fail(by.line, "%s: file, command, function or variable is empty", e.where)
			}
		}
		s.exposes = append(s.exposes, e)
	})
}

func setProperties(r *reader, s *specText, v *yaml.Node) {
	r.each("properties", v, func(name text, v *yaml.Node) {
		if v.Kind == yaml.ScalarNode || name.string == growing {
			r.readyOf(s, name, v)
			return
		}
		p := propertyText{forms: map[string]text{}, line: name.line}
		readFields(r, propertyFields, &p, v)
		hasPer := len(p.per) > 0
		initial, hasInitial := p.forms["initial"]
		when, hasWhen := p.forms["when"]
		delete(p.forms, "initial")
		delete(p.forms, "when")
		_, one := p.forms["one"]
		level := slices.IndexFunc(history.Levels, func(name string) bool { return p.forms[name].line > 0 })
		goal, live := p.forms["eventually"]
		leads, hasLeads := p.forms["leads_to"]
		if hasLeads {
			goal, live = leads, true
		}
		switch {
		case len(p.forms) == 0:
			r.fail(name.line, "property %q: one of always, never, finally, number, eventually, leads_to, agree, one, rises, linearizable, sequential and durable is needed", name.string)
			return
		case len(p.forms) > 1:
			r.fail(name.line, "property %q: has %s, and may have only one of them: write a property for each", name.string, strings.Join(slices.Sorted(maps.Keys(p.forms)), " and "))
			return
		case hasPer && !one:
			r.fail(name.line, "property %q: per goes with one", name.string)
			return
		case hasInitial && level < 0:
			r.fail(name.line, "property %q: initial goes with linearizable, sequential and durable", name.string)
			return
		case hasWhen != hasLeads:
			r.fail(name.line, "property %q: when and leads_to go together", name.string)
			return
		case p.window > 0 &&
			(p.forms["always"].line == 0 && p.forms["never"].line == 0 && p.forms["finally"].line == 0 &&
				p.forms["number"].line == 0):
			r.fail(name.line, "property %q: window goes with always, never, finally or number", name.string)
			return
		case p.number.Bounded() && p.forms["number"].line == 0:
			r.fail(name.line, "property %q: at_most and at_least go with number", name.string)
			return
		case p.number.Most != nil && p.number.Least != nil && *p.number.Most < *p.number.Least:
			r.fail(name.line, "property %q: at_most is less than at_least", name.string)
			return
		case p.within > 0 && !live || p.stableFor > 0 && (!live || hasLeads):
			r.fail(name.line, "property %q: within goes with eventually or leads_to, stable_for with eventually", name.string)
			return
		case live && len(s.Properties.Goals) == property.MaxGoals:
			r.fail(name.line, "property %q: there are more than %d of eventually and leads_to", name.string, property.MaxGoals)
			return
		case live:
			s.Properties.Goals = append(s.Properties.Goals,
				property.Goal{Name: name.string, When: when.string, Expr: goal.string, Within: p.within,
					StableFor: p.stableFor, Line: goal.line})
			return
		case level >= 0:
			of := p.forms[history.Levels[level]]
			s.Properties.Histories = append(s.Properties.Histories,
				history.Claim{Name: name.string, Line: of.line, Of: of.string, Initial: initial.string,
					Level: history.Level(level)})
			return
		}
		for form, t := range p.forms {
			q := property.Predicate{Name: name.string, Expr: t.string, Window: p.window, Line: t.line}
			switch {
			case slices.Contains(property.Forms, form):
				q.Form = property.Form(slices.Index(property.Forms, form))
			case form == "number":
				q.Number = &p.number
			case !ariadne.IsExposable(t.string) ||
				slices.ContainsFunc(p.per, func(t text) bool { return !ariadne.IsExposable(t.string) }):
				r.fail(t.line, "property %q: %s and per are followed by names", name.string, form)
			case form == "agree":
				q.Expr, q.Subsets = "agree("+t.string+")", t.string
			case form == "rises":
				q.Expr, q.Window, q.Subsets = "rising("+t.string+", earlier)", 1, t.string
			case hasPer:
				q.Expr, q.Subsets = oneExpr(t.string, p.per), t.string
			default:
				q.Expr, q.Subsets = "one("+t.string+")", t.string
			}
			s.Properties.Predicates = append(s.Properties.Predicates, q)
		}
	})
}

// oneExpr is that of a property that at most one node exposes something, for each combination of
// values of some fields.
func oneExpr(name string, per []text) string {
	expr := "one(" + name
	for _, t := range per {
		expr += fmt.Sprintf(", %q", t.string)
	}
	return expr + ")"
}

func setDefinitions(r *reader, s *specText, v *yaml.Node) {
	t := r.text(v)
	if s.Properties.Definitions = t.string; !filepath.IsAbs(t.string) {
		s.Properties.Definitions = filepath.Join(filepath.Dir(r.path), t.string)
	}
	if info, err := os.Stat(s.Properties.Definitions); err != nil {
		r.fail(t.line, "definitions %q: %s", t.string, cause(err))
	} else if !info.Mode().IsRegular() {
		r.fail(t.line, "definitions %q is not a regular file", t.string)
	}
}

// exposures makes sources of what is written of them.
func (r *reader) exposures(s *Spec, written *specText) {
	p := &s.Properties
	for _, w := range written.exposes {
		src := expose.Source{Name: w.name, Line: w.text, Until: w.until, Stays: w.stays,
			Nodes: r.namedNodes(w.where+": nodes", w.nodes, s.Nodes)}
		for _, g := range []string{"node", "values"} {
			if w.text != nil && w.text.SubexpIndex(g) >= 0 {
				r.fail(w.line, "%s: line has a group %q, which each tuple has besides", w.where, g)
			}
		}
		if w.function.string != "" || w.file.string != "" || w.command.string != "" || w.variable.string != "" {
			r.inside(s, &src, &w)
			p.Sources = append(p.Sources, src)
			continue
		}
		for _, k := range w.key {
			i := w.text.SubexpIndex(k.string)
			if i < 0 {
				r.fail(k.line, "%s: line has no group (?P<%s>...) for its key", w.where, k.string)
				continue
			}
			src.Key = append(src.Key, i)
			if w.until != nil {
				if i := w.until.SubexpIndex(k.string); i >= 0 {
					src.UntilKey = append(src.UntilKey, i)
				}
			}
		}
		if n := len(src.UntilKey); n > 0 && n < len(src.Key) {
			r.fail(w.line, "%s: until has some groups of the key and not all", w.where)
		}
		p.Sources = append(p.Sources, src)
	}
	if h := &written.history; h.line > 0 {
		h.History.Nodes = r.namedNodes("history: nodes", h.nodes, s.Nodes)
		if h.Wire != "" {
			h.History.Port = uint16(cmp.Or(h.port, history.ProtocolNamed(h.Wire).Port))
			if h.History.Nodes == nil {
				for i := range s.Nodes {
					if s.Nodes[i].Client {
						h.History.Nodes = append(h.History.Nodes, s.Nodes[i].ID)
					}
				}
				if h.History.Nodes == nil {
					r.fail(h.line, "history: no node is a client: name those whose connections count (nodes)")
				}
			}
		}
		p.History = &h.History
	}
	var drawn []ariadne.NodeID
	for i := range s.Nodes {
		if c := s.Nodes[i].Commands; len(c) > 0 && c[0].Name != "" {
			drawn = append(drawn, s.Nodes[i].ID)
		}
	}
	if drawn != nil && p.History == nil {
		h := workloadHistory
		h.Nodes, p.History = drawn, &h
	}
	for _, w := range written.readies {
		w.expand(&expansion{r, written}, s, w.of)
	}
	for i := range p.Histories {
		if c := &p.Histories[i]; c.Of == "bank" && c.Initial == "" && drawn != nil {
			c.Initial = accountsText
		}
	}
	for _, c := range p.Histories {
		if history.Named(c.Of) == nil && p.Definitions == "" {
			r.fail(c.Line, "property %q: %q is none of %s, and there are no definitions", c.Name, c.Of, strings.Join(history.Names(), ", "))
		}
	}
	if len(p.Histories) > 0 && p.History == nil {
		r.fail(p.Histories[0].Line, "property %q: history is missing", p.Histories[0].Name)
	}
	r.stages(s, written)
	r.finally(s, written)
	if len(p.Predicates)+len(p.Histories)+len(p.Goals)+len(p.Stages) == 0 && p.Finally == nil {
		// a property with a mistake may be why there is none
		if p.Definitions != "" && len(r.errs) == 0 {
			r.fail(0, "definitions need properties, and there are none")
		}
		return
	}
	h := sha256.New()
	for _, w := range written.exposes {
		fmt.Fprintf(h, "%q %v %v %q %q %v %q\n", w.name, w.text, w.until, texts(w.key), texts(w.nodes), w.stays,
			[]any{w.function, w.returns, w.untilFunction, texts(w.untilNames), texts(w.untilValues), w.variable,
				w.names, w.values, w.file, w.command, fmt.Sprint(w.match)})
	}
	for _, t := range p.Stages {
		fmt.Fprintf(h, "%q %q %q %q %q\n", t.Name, t.Of, t.Key, t.Execute, t.Change)
	}
	for _, w := range written.readies {
		fmt.Fprintf(h, "%q %q\n", w.name, w.of.string)
	}
	for _, q := range p.Predicates {
		fmt.Fprintf(h, "%q %d %q %d\n", q.Name, q.Form, q.Expr, q.Window)
		if q.Number != nil {
			fmt.Fprintln(h, q.Number)
		}
	}
	for _, q := range p.Goals {
		fmt.Fprintf(h, "%q %q %q %v %v\n", q.Name, q.When, q.Expr, q.Within, q.StableFor)
	}
	if p.History != nil {
		fmt.Fprintf(h, "%v %v %v %q %q %d\n", p.History.Invoke, p.History.OK, p.History.Fail,
			texts(written.history.nodes), p.History.Wire, p.History.Port)
	}
	for _, q := range p.Histories {
		fmt.Fprintf(h, "%q %q %q %v\n", q.Name, q.Of, q.Initial, q.Level)
	}
	if p.Finally != nil {
		fmt.Fprintf(h, "%q\n", p.Finally.Args)
		for _, name := range p.Given {
			// else it is no text of the user's
			if src, err := readfile.AtMost(filepath.Join(s.Dir, name), readfile.Spec); err == nil {
				fmt.Fprintf(h, "%q %x\n", name, sha256.Sum256(src))
			}
		}
	}
	if p.Definitions != "" {
		src, err := readfile.AtMost(p.Definitions, readfile.Spec)
		if err != nil {
			r.fail(0, "definitions: %s", cause(err))
		}
		h.Write(src)
	}
	p.Digest = ariadne.Digest(h.Sum(nil))
}

// finally enters what looks at ended executions.
func (r *reader) finally(s *Spec, written *specText) {
	t := written.finally
	if t.line == 0 {
		return
	}
	c := r.command(t)
	if len(c.Args) == 0 {
		return
	}
	if rel, ok := strings.CutPrefix(c.Args[0], "/spec/"); ok {
		c.Args[0] = filepath.Join(s.Dir, rel)
	}
	s.Properties.Finally, s.Properties.Given = &c, r.links([]text{t})
}

func texts(all []text) string {
	var s []string
	for _, t := range all {
		s = append(s, t.string)
	}
	return strings.Join(s, " ")
}

// Probe is a function or a variable of programs by which nodes expose something.
type Probe struct {
	Name     string
	Function string
	Variable string   // in its place
	Values   []string // expressions of its parameters, or of it
	Returns  bool     // it exposes when it returns, and not when it is called
	// it ends the tuple whose key is Values, or, without these, all of the name
	Ends  bool
	Nodes []ariadne.NodeID // nil: all
}

// What names it.
func (p *Probe) What() string {
	if p.Variable != "" {
		return "variable " + p.Variable
	}
	return "function " + p.Function
}

// At reports whether it counts at a node.
func (p *Probe) At(id ariadne.NodeID) bool { return p.Nodes == nil || slices.Contains(p.Nodes, id) }

// Look is a file that nodes expose, or what a command says in a copy of them.
type Look struct {
	Name    string
	File    string         // relative to where its programs start, or absolute
	Command *Command       // in its place
	Match   *regexp.Regexp // of its content, or of what the command writes; nil: all of it
	Nodes   []ariadne.NodeID
}

// What names it.
func (l *Look) What() string {
	if l.Command != nil {
		return "command " + strings.Join(l.Command.Args, " ")
	}
	return "file " + l.File
}

// At reports whether it counts at a node.
func (l *Look) At(id ariadne.NodeID) bool { return l.Nodes == nil || slices.Contains(l.Nodes, id) }

// Exposed is what a text of the file, or of the command, is exposed as; ok: it is.
func (l *Look) Exposed(text string) (values []string, ok bool) {
	if l.Match == nil {
		return []string{strings.TrimSpace(text)}, true
	}
	m := l.Match.FindStringSubmatch(text)
	switch {
	case m == nil:
		return nil, false
	case len(m) > 1:
		m = m[1:]
	}
	return m, true
}

// inside adds what is looked for inside of nodes for a source.
func (r *reader) inside(s *Spec, src *expose.Source, w *exposeText) {
	src.Fields = append([]string{}, w.names...)
	if w.match != nil {
		src.Fields = w.match.SubexpNames()[1:]
		for _, g := range []string{"node", "values"} {
			if w.match.SubexpIndex(g) >= 0 {
				r.fail(w.line, "%s: match has a group %q, which each tuple has besides", w.where, g)
			}
		}
	}
	if len(src.Fields) == 0 && (w.file.string != "" || w.command.string != "" || w.variable.string != "") {
		src.Fields = []string{""}
	}
	for _, k := range w.key {
		i := slices.Index(src.Fields, k.string)
		if i < 0 {
			r.fail(k.line, "%s: there is no field %s for its key", w.where, k.string)
		}
		src.Key = append(src.Key, i)
	}
	switch {
	case w.file.string != "":
		s.Looks = append(s.Looks, Look{Name: w.name, File: w.file.string, Match: w.match, Nodes: src.Nodes})
		s.Digest = sha256.Sum256(fmt.Appendf(s.Digest[:], "%q %q %v %v", w.name, w.file.string, w.match, src.Nodes))
		return
	case w.command.string != "":
		l := Look{Name: w.name, Match: w.match, Nodes: src.Nodes}
		c, links := r.command(w.command), r.links([]text{w.command})
		if l.Command = &c; len(c.Args) == 0 {
			return
		}
		for i := range s.Nodes {
			if n := &s.Nodes[i]; l.At(n.ID) {
				n.Links = slices.Compact(slices.Sorted(slices.Values(slices.Concat(n.Links, links))))
			}
		}
		s.Looks = append(s.Looks, l)
		s.Digest = sha256.Sum256(fmt.Appendf(s.Digest[:], "%q %q %v %v", w.name, c.Args, w.match, src.Nodes))
		return
	case w.untilFunction.string != "":
		s.Probes = append(s.Probes,
			Probe{Name: w.name, Function: w.untilFunction.string, Values: r.untilKey(w), Ends: true, Nodes: src.Nodes})
	}
	s.Probes = append(s.Probes,
		Probe{Name: w.name, Function: w.function.string, Variable: w.variable.string, Values: w.values,
			Returns: w.returns, Nodes: src.Nodes})
	// Unlike lines, which programs write in any case, these change what nodes are known to have
	// done.
	s.Digest = sha256.Sum256(fmt.Appendf(s.Digest[:], "%#v", s.Probes))
}

// untilKey are the expressions of the key of the tuple that a call of untilFunction ends, in the
// order of the key; nil: it ends all tuples of the name.
func (r *reader) untilKey(w *exposeText) []string {
	if w.untilNames == nil {
		return nil
	}
	for _, name := range w.untilNames {
		if !slices.ContainsFunc(w.key, func(k text) bool { return k.string == name.string }) {
			r.fail(name.line, "%s: until_fields: %s is no field of the key", w.where, name.string)
		}
	}
	var all []string
	for _, k := range w.key {
		at := slices.IndexFunc(w.untilNames, func(t text) bool { return t.string == k.string })
		if at < 0 {
			r.fail(w.untilNames[0].line, "%s: until_fields: %s is missing, which is in the key", w.where, k.string)
			return nil
		}
		all = append(all, w.untilValues[at].string)
	}
	return all
}
