// Package script runs functions of users in Starlark, within bounds, and has the values that they
// see.
//
// Starlark has no clock, no randomness and no input, a script's globals cannot be changed once it
// is loaded, and what a function is given it may only look at: so a function's result follows from
// its arguments. Each call may take MaxSteps steps and MaxMemory bytes.
//
// Read next: internal/judge, whose functions say what must hold, and internal/explore/steer, whose
// functions say what to try next.
package script

import (
	"errors"
	"maps"
	"regexp"
	"strings"

	starmath "go.starlark.net/lib/math"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// MaxSteps is how many steps of Starlark a call may take: a second or so.
const MaxSteps = 10_000_000

// Error is what is wrong with a script, with where, and how it came there.
type Error struct {
	Pos       string // file:line:column, or file
	Text      string
	Backtrace string // the calls that led there, several lines, or ""
}

func (e *Error) Error() string {
	s := e.Pos + ": " + e.Text
	if e.Backtrace != "" {
		s += "\n" + e.Backtrace
	}
	return s
}

// options are those of the language: sets and while loops too, since steps are
// bounded anyway.
var options = &syntax.FileOptions{Set: true, While: true, TopLevelControl: true}

// ParseExpr parses an expression of the text of a file.
func ParseExpr(path, text string) (syntax.Expr, error) { return options.ParseExpr(path, text, 0) }

// Exec executes a script, which may use what is known beforehand, with all that may take much
// memory guarded.
func Exec(thread *starlark.Thread, path string, src any, known starlark.StringDict) (starlark.StringDict, error) {
	f, err := options.Parse(path, src, 0)
	if err != nil {
		return nil, err
	}
	var g guarded
	if g.stmts(f.Stmts); g.err != nil {
		return nil, g.err
	}
	program, err := starlark.FileProgram(f, known.Has)
	if err != nil {
		return nil, err
	}
	return program.Init(thread, known)
}

// Predeclared are the names that each script knows. It is not to be changed.
var Predeclared = func() starlark.StringDict {
	all := guards()
	maps.Copy(all, watch())
	all["math"] = starmath.Module
	all["match"] = starlark.NewBuiltin("match", match)
	return all
}()

// Located makes an error of the interpreter one that says where.
func Located(path string, err error) *Error {
	var e *starlark.EvalError
	var se syntax.Error
	var own *Error
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &e):
		pos := path
		for i := range e.CallStack { // the innermost one that is not built in
			if p := e.CallStack.At(i).Pos; p.Line > 0 {
				pos = p.String()
				break
			}
		}
		return &Error{Pos: pos, Text: plainer(e.Msg), Backtrace: strings.TrimRight(e.CallStack.String(), "\n")}
	case errors.As(err, &se):
		return &Error{Pos: se.Pos.String(), Text: se.Msg}
	}
	text := err.Error()
	// Errors of names come with their place.
	if pos, rest, ok := strings.Cut(text, ": "); ok && strings.HasPrefix(pos, path) {
		return &Error{Pos: pos, Text: rest}
	}
	return &Error{Pos: path, Text: text}
}

// mixed is what the interpreter says where a text is compared with a number.
var mixed = regexp.MustCompile(`^(string|int|float) [<>]=? (string|int|float) not implemented$`)

// plainer says what to do where a text is taken for a number, as what nodes expose is text.
func plainer(text string) string {
	if mixed.MatchString(text) {
		return "a text is compared with a number: write int(...) around the text: " + text
	}
	return text
}

// NewThread returns what one goroutine calls functions on. print, when not nil, is told the lines
// that they print.
func NewThread(name string, print func(line string)) *starlark.Thread {
	t := &starlark.Thread{Name: name, Print: func(_ *starlark.Thread, line string) {
		if print != nil {
			print(line)
		}
	}}
	t.SetMaxExecutionSteps(MaxSteps)
	t.SetLocal(budgetKey, &budget{left: memory})
	return t
}

// Call calls a function with the steps and the memory of one call. Its error is an *Error.
func Call(t *starlark.Thread, f *starlark.Function, args starlark.Tuple) (starlark.Value, error) {
	t.Steps = 0
	t.Local(budgetKey).(*budget).left = memory
	v, err := starlark.Call(t, f, args, nil)
	if err != nil {
		return nil, Located(f.Position().Filename(), err)
	}
	return v, nil
}
