package judge

import (
	"slices"

	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/judge/script"
	"github.com/ariadne-mc/ariadne/internal/judge/stage"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// Division says how tuples that a property reads fall into groups, each of which is judged by
// itself: the property holds of all tuples if it holds of each group (D3S, section 2.4). So several
// judges may each judge some groups.
type Division struct {
	by map[string][]string // by name of tuples: the fields whose values tell groups apart
}

// Group returns the name of the group that a tuple of a node is in.
func (d *Division) Group(node string, t *expose.Tuple) string {
	own := stage.Tuple{Node: node, Tuple: *t}
	var texts []string
	for _, field := range d.by[t.Name] {
		text, _ := own.Field(field) // whoever judges it says that there is none
		texts = append(texts, text)
	}
	return expose.Key(texts)
}

// Part returns in which of n parts, from 0, a tuple of a node is. It is the same on every machine.
func (d *Division) Part(node string, t *expose.Tuple, n int) int {
	return int(hash.OfText(d.Group(node, t)).Hi % uint64(n))
}

// Division returns how the one property that p has is divided, or nil if it can only be judged as a
// whole.
func (p *Properties) Division() *Division {
	if len(p.list) != 1 || len(p.goals)+len(p.past) > 0 {
		return nil
	}
	return p.list[0].division
}

// divide says how the tuples that a property's expression reads are divided; nil: they are not.
// Only forms are known of which it is certain: agree, one with fields and rising of what nodes
// expose, and that a stage with a key has no tuples.
func (p *Properties) divide(q *property.Predicate, expr syntax.Expr, known starlark.StringDict) *Division {
	if q.Form == property.Finally || q.Number != nil {
		return nil
	}
	expr = unparen(expr)
	if call, ok := expr.(*syntax.CallExpr); ok && q.Form == property.Always {
		name, args := called(call)
		if len(args) == 0 || !p.Exposes(args[0]) || known[name] != builtins[name] {
			return nil
		}
		return p.divideCall(q, name, args[0], args[1:])
	}
	s := p.stageNamed(empty(expr, q.Form, known))
	if s == nil || s.Key == nil || !all(s.Of, p.Exposes) {
		return nil
	}
	d := &Division{by: map[string][]string{}}
	for _, name := range s.Of {
		d.by[name] = s.Key
	}
	return d
}

// divideCall is how a call of a builtin divides the tuples of a name.
func (p *Properties) divideCall(q *property.Predicate, builtin, name string, args []string) *Division {
	src := p.Sources[slices.IndexFunc(p.Sources, func(s expose.Source) bool { return s.Name == name })]
	switch {
	case builtin == "agree" && len(args) == 0 && (len(src.Key) > 0 || src.Line == nil && src.Fields == nil):
		return &Division{map[string][]string{name: {"key"}}}
	case builtin == "one" && len(args) > 0 && !slices.Contains(args, "values"):
		return &Division{map[string][]string{name: args}}
	case builtin == "rising" && slices.Equal(args, []string{earlier}) && q.Window == 1:
		return &Division{map[string][]string{name: {"node", "key"}}}
	}
	return nil
}

// called are the names of a function and of its arguments, which are names and texts; nil: there
// are others.
func called(call *syntax.CallExpr) (name string, args []string) {
	name = identifier(call.Fn)
	for i, a := range call.Args {
		text := identifier(a)
		if l, ok := a.(*syntax.Literal); ok && i > 0 && l.Token == syntax.STRING {
			text, _ = l.Value.(string)
		}
		if text == "" {
			return "", nil
		}
		args = append(args, text)
	}
	return name, args
}

// empty is the name of which a property of a form says that there are no tuples, as in "not x" and
// "len(x) == 0"; "": it says something else.
func empty(expr syntax.Expr, form property.Form, known starlark.StringDict) string {
	if not, ok := expr.(*syntax.UnaryExpr); ok && not.Op == syntax.NOT && form == property.Always {
		return identifier(unparen(not.X))
	}
	b, ok := expr.(*syntax.BinaryExpr)
	if !ok {
		return ""
	}
	call, ok := b.X.(*syntax.CallExpr)
	zero, isLiteral := b.Y.(*syntax.Literal)
	if !ok || !isLiteral || zero.Raw != "0" || identifier(call.Fn) != "len" ||
		known["len"] != script.Predeclared["len"] || len(call.Args) != 1 {
		return ""
	}
	if form == property.Always && b.Op == syntax.EQL ||
		form == property.Never && (b.Op == syntax.GT || b.Op == syntax.NEQ) {
		return identifier(call.Args[0])
	}
	return ""
}

func identifier(e syntax.Expr) string {
	if id, ok := e.(*syntax.Ident); ok {
		return id.Name
	}
	return ""
}

func unparen(e syntax.Expr) syntax.Expr {
	for {
		p, ok := e.(*syntax.ParenExpr)
		if !ok {
			return e
		}
		e = p.X
	}
}

// stageNamed is a stage by its name, or nil.
func (p *Properties) stageNamed(name string) *stage.Stage {
	all := p.stages.Graph.Stages
	if i := slices.IndexFunc(all, func(s stage.Stage) bool { return s.Name == name }); i >= 0 {
		return &all[i]
	}
	return nil
}

func all[T any](of []T, is func(T) bool) bool {
	return !slices.ContainsFunc(of, func(x T) bool { return !is(x) })
}
