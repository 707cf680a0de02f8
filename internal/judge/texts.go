package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/script"

	"go.starlark.net/syntax"
)

// withNumbers are the operators that fail with a text and a number, or have always the same result.
var withNumbers = []syntax.Token{syntax.EQL, syntax.NEQ, syntax.LT, syntax.LE, syntax.GT, syntax.GE, syntax.PLUS,
	syntax.MINUS}

// textAsNumber says which field of a tuple, all of which are texts, an expression takes for a
// number; "": none. src is the expression.
func (p *Properties) textAsNumber(expr syntax.Expr, src string) (wrong string) {
	tuples := p.variables(expr)
	syntax.Walk(expr, func(n syntax.Node) bool {
		e, ok := n.(*syntax.BinaryExpr)
		if !ok || wrong != "" || !slices.Contains(withNumbers, e.Op) {
			return wrong == ""
		}
		text, number := e.X, e.Y
		if !p.isText(text, tuples) {
			text, number = number, text
		}
		if p.isText(text, tuples) && isNumber(number) {
			field := sourceOf(src, text)
			if dot := unwrapped(text).(*syntax.DotExpr); p.hasField(dot.Name.Name) {
				wrong = fmt.Sprintf("%s: %s is a text, and %s is a number: write int(%s)", sourceOf(src, e), field,
					sourceOf(src, number), field)
			} else {
				wrong = fmt.Sprintf("%s: no field under expose is called %s: write int(%s.value) for a value without a name",
					sourceOf(src, e), dot.Name.Name, sourceOf(src, dot.X))
			}
		}
		return true
	})
	return wrong
}

// variables are those that stand for tuples of what nodes expose, or of stages, wherever an
// expression has them.
func (p *Properties) variables(expr syntax.Expr) map[string]bool {
	tuples := map[string]bool{}
	syntax.Walk(expr, func(n syntax.Node) bool {
		if c, ok := n.(*syntax.ForClause); ok {
			syntax.Walk(c.Vars, func(n syntax.Node) bool {
				if v, ok := n.(*syntax.Ident); ok {
					of, known := tuples[v.Name]
					tuples[v.Name] = (of || !known) && n == c.Vars && p.isTuples(c.X)
				}
				return true
			})
		}
		return true
	})
	return tuples
}

// isTuples reports whether an expression is the list of the tuples of a name.
func (p *Properties) isTuples(e syntax.Expr) bool {
	id, ok := unwrapped(e).(*syntax.Ident)
	return ok && (p.Exposes(id.Name) || p.stages.Has(id.Name)) && !slices.Contains(ownNames(), id.Name)
}

// isText reports whether an expression is a field of a tuple.
func (p *Properties) isText(e syntax.Expr, tuples map[string]bool) bool {
	dot, ok := unwrapped(e).(*syntax.DotExpr)
	if !ok || dot.Name.Name == "values" {
		return false
	}
	switch x := unwrapped(dot.X).(type) {
	case *syntax.Ident:
		return tuples[x.Name]
	case *syntax.IndexExpr:
		return p.isTuples(x.X)
	}
	return false
}

// hasField reports whether tuples may have a field of a name.
func (p *Properties) hasField(name string) bool {
	return slices.Contains((&script.Tuple{}).AttrNames(), name) || len(p.stages.Graph.Stages) > 0 ||
		slices.ContainsFunc(p.Sources, func(s expose.Source) bool { return slices.Contains(s.Names(), name) })
}

// isNumber reports whether an expression certainly is a number.
func isNumber(e syntax.Expr) bool {
	switch e := unwrapped(e).(type) {
	case *syntax.Literal:
		return e.Token == syntax.INT || e.Token == syntax.FLOAT
	case *syntax.UnaryExpr:
		return e.Op == syntax.MINUS || e.Op == syntax.PLUS
	case *syntax.CallExpr:
		f, ok := e.Fn.(*syntax.Ident)
		return ok && slices.Contains([]string{"int", "float", "len"}, f.Name)
	}
	return false
}

// unwrapped is an expression without parentheses.
func unwrapped(e syntax.Expr) syntax.Expr {
	for {
		paren, ok := e.(*syntax.ParenExpr)
		if !ok {
			return e
		}
		e = paren.X
	}
}

// sourceOf is the text of a part of an expression, in one line.
func sourceOf(src string, n syntax.Node) string {
	start, end := n.Span()
	lines := strings.Split(src, "\n")[start.Line-1 : end.Line]
	last := len(lines) - 1
	lines[last] = string([]rune(lines[last])[:end.Col-1])
	lines[0] = string([]rune(lines[0])[start.Col-1:])
	return strings.Join(strings.Fields(strings.Join(lines, " ")), " ")
}
