package script

import (
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// guarded leads what may take much memory in one step to the functions of watch, which no
// script can name: x + y becomes "+"(x, y), x.name "method"(x.name), x[i:j] "copy"(x)[i:j],
// *args *"copy"(args), {...} "copy"({...}), and x += y x += "+="(x, y).
type guarded struct{ err error }

// watch are the functions that guarded leads to.
func watch() starlark.StringDict {
	all := starlark.StringDict{}
	enter := func(name string, f func(t *starlark.Thread, args starlark.Tuple) (starlark.Value, error)) {
		all[name] = starlark.NewBuiltin(name,
			func(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value,
				error) {
				return f(t, args)
			})
	}
	for op := range charged {
		enter(op.String(), func(t *starlark.Thread, args starlark.Tuple) (starlark.Value, error) {
			if err := chargeBinary(t, op, args[0], args[1]); err != nil {
				return nil, err
			}
			return starlark.Binary(op, args[0], args[1])
		})
		enter(op.String()+"=", func(t *starlark.Thread, args starlark.Tuple) (starlark.Value, error) {
			x := args[0]
			if _, ok := x.(*starlark.List); ok && op == syntax.PLUS {
				x = starlark.None // it is made longer where it is
			}
			if err := chargeBinary(t, op, x, args[1]); err != nil {
				return nil, err
			}
			return args[1], nil
		})
	}
	enter("method", func(_ *starlark.Thread, args starlark.Tuple) (starlark.Value, error) {
		return guardMethod(args[0]), nil
	})
	enter("copy", func(t *starlark.Thread, args starlark.Tuple) (starlark.Value, error) {
		return args[0], charge(t, size(args[0])+4*entry)
	})
	return all
}

// charged are the operators that may take much memory.
var charged = map[syntax.Token]bool{syntax.PLUS: true, syntax.STAR: true, syntax.PERCENT: true,
	syntax.PIPE: true, syntax.AMP: true, syntax.MINUS: true, syntax.CIRCUMFLEX: true}

// augmented are the operators of statements.
var augmented = map[syntax.Token]syntax.Token{syntax.PLUS_EQ: syntax.PLUS, syntax.STAR_EQ: syntax.STAR,
	syntax.PERCENT_EQ: syntax.PERCENT,
	syntax.PIPE_EQ:    syntax.PIPE, syntax.AMP_EQ: syntax.AMP, syntax.MINUS_EQ: syntax.MINUS,
	syntax.CIRCUMFLEX_EQ: syntax.CIRCUMFLEX}

func (g *guarded) stmts(list []syntax.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *syntax.AssignStmt:
			g.assign(s)
		case *syntax.DefStmt:
			g.params(s.Params)
			g.stmts(s.Body)
		case *syntax.ExprStmt:
			s.X = g.expr(s.X)
		case *syntax.ForStmt:
			s.Vars, s.X = g.target(s.Vars), g.expr(s.X)
			g.stmts(s.Body)
		case *syntax.WhileStmt:
			s.Cond = g.expr(s.Cond)
			g.stmts(s.Body)
		case *syntax.IfStmt:
			s.Cond = g.expr(s.Cond)
			g.stmts(s.True)
			g.stmts(s.False)
		case *syntax.ReturnStmt:
			s.Result = g.expr(s.Result)
		case *syntax.BranchStmt, *syntax.LoadStmt:
		default:
			g.unknown(s)
		}
	}
}

func (g *guarded) assign(s *syntax.AssignStmt) {
	op, ok := augmented[s.Op]
	if !ok {
		s.LHS, s.RHS = g.target(s.LHS), g.expr(s.RHS)
		return
	}
	if !plain(s.LHS) {
		g.fail(s, fmt.Sprintf("the left side of %v has a call in it: assign the result of the call to a name first", s.Op))
		return
	}
	s.RHS = call(op.String()+"=", s.OpPos, g.expr(copied(s.LHS)), g.expr(s.RHS))
	s.LHS = g.target(s.LHS)
}

// plain reports whether an expression may be looked at twice.
func plain(e syntax.Expr) bool {
	switch e := e.(type) {
	case *syntax.Ident, *syntax.Literal:
		return true
	case *syntax.ParenExpr:
		return plain(e.X)
	case *syntax.DotExpr:
		return plain(e.X)
	case *syntax.IndexExpr:
		return plain(e.X) && plain(e.Y)
	case *syntax.BinaryExpr:
		return plain(e.X) && plain(e.Y)
	case *syntax.UnaryExpr:
		return e.X != nil && plain(e.X)
	}
	return false
}

// copied is a copy of a plain expression: names are resolved in each place.
func copied(e syntax.Expr) syntax.Expr {
	switch e := e.(type) {
	case *syntax.Ident:
		c := *e
		return &c
	case *syntax.ParenExpr:
		c := *e
		c.X = copied(e.X)
		return &c
	case *syntax.DotExpr:
		c := *e
		c.X = copied(e.X)
		return &c
	case *syntax.IndexExpr:
		c := *e
		c.X, c.Y = copied(e.X), copied(e.Y)
		return &c
	case *syntax.BinaryExpr:
		c := *e
		c.X, c.Y = copied(e.X), copied(e.Y)
		return &c
	case *syntax.UnaryExpr:
		c := *e
		c.X = copied(e.X)
		return &c
	}
	return e
}

// target is what is assigned to.
func (g *guarded) target(e syntax.Expr) syntax.Expr {
	switch e := e.(type) {
	case *syntax.ParenExpr:
		e.X = g.target(e.X)
	case *syntax.TupleExpr:
		for i := range e.List {
			e.List[i] = g.target(e.List[i])
		}
	case *syntax.ListExpr:
		for i := range e.List {
			e.List[i] = g.target(e.List[i])
		}
	case *syntax.DotExpr:
		e.X = g.expr(e.X)
	case *syntax.IndexExpr:
		e.X, e.Y = g.expr(e.X), g.expr(e.Y)
	}
	return e
}

func (g *guarded) params(list []syntax.Expr) {
	for _, p := range list {
		if b, ok := p.(*syntax.BinaryExpr); ok {
			b.Y = g.expr(b.Y)
		}
	}
}

func (g *guarded) exprs(list []syntax.Expr) {
	for i := range list {
		list[i] = g.expr(list[i])
	}
}

func (g *guarded) expr(e syntax.Expr) syntax.Expr {
	switch e := e.(type) {
	case nil, *syntax.Ident, *syntax.Literal:
	case *syntax.ParenExpr:
		e.X = g.expr(e.X)
	case *syntax.BinaryExpr:
		e.X, e.Y = g.expr(e.X), g.expr(e.Y)
		if charged[e.Op] {
			return call(e.Op.String(), e.OpPos, e.X, e.Y)
		}
	case *syntax.UnaryExpr:
		e.X = g.expr(e.X)
	case *syntax.CallExpr:
		e.Fn = g.expr(e.Fn)
		g.args(e.Args)
	case *syntax.Comprehension:
		e.Body = g.expr(e.Body)
		for _, c := range e.Clauses {
			switch c := c.(type) {
			case *syntax.ForClause:
				c.Vars, c.X = g.target(c.Vars), g.expr(c.X)
			case *syntax.IfClause:
				c.Cond = g.expr(c.Cond)
			}
		}
		return call("copy", e.Lbrack, e)
	case *syntax.CondExpr:
		e.Cond, e.True, e.False = g.expr(e.Cond), g.expr(e.True), g.expr(e.False)
	case *syntax.DictEntry:
		e.Key, e.Value = g.expr(e.Key), g.expr(e.Value)
	case *syntax.DictExpr:
		g.exprs(e.List)
		return call("copy", e.Lbrace, e)
	case *syntax.DotExpr:
		e.X = g.expr(e.X)
		return call("method", e.Dot, e)
	case *syntax.IndexExpr:
		e.X, e.Y = g.expr(e.X), g.expr(e.Y)
	case *syntax.LambdaExpr:
		g.params(e.Params)
		e.Body = g.expr(e.Body)
	case *syntax.ListExpr:
		g.exprs(e.List)
	case *syntax.TupleExpr:
		g.exprs(e.List)
	case *syntax.SliceExpr:
		e.X, e.Lo, e.Hi, e.Step = call("copy", e.Lbrack, g.expr(e.X)), g.expr(e.Lo), g.expr(e.Hi), g.expr(e.Step)
	default:
		g.unknown(e)
	}
	return e
}

// args are a call's: name=value, *list and **dict are no expressions.
func (g *guarded) args(list []syntax.Expr) {
	for i, a := range list {
		switch a := a.(type) {
		case *syntax.BinaryExpr:
			if a.Op == syntax.EQ {
				a.Y = g.expr(a.Y)
				continue
			}
		case *syntax.UnaryExpr:
			if a.Op == syntax.STAR || a.Op == syntax.STARSTAR {
				a.X = call("copy", a.OpPos, g.expr(a.X))
				continue
			}
		}
		list[i] = g.expr(a)
	}
}

func (g *guarded) unknown(n syntax.Node) {
	g.fail(n, fmt.Sprintf("%T is not known here", n))
}

func (g *guarded) fail(n syntax.Node, text string) {
	if g.err == nil {
		start, _ := n.Span()
		g.err = &Error{Pos: start.String(), Text: text}
	}
}

func call(name string, at syntax.Position, args ...syntax.Expr) syntax.Expr {
	return &syntax.CallExpr{Fn: &syntax.Ident{NamePos: at, Name: name}, Lparen: at, Args: args, Rparen: at}
}
