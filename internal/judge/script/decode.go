package script

import (
	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"

	"go.starlark.net/starlark"
)

// Decoder is the function decode(message) of the script src, which was read at path, which says
// what a message carries: a string, or None where it does not know. If a call fails, the error is
// the text of that message. Only one goroutine may use it. Its error is a *Error.
func Decoder(path string, src []byte, node func(ariadne.NodeID) string) (func(*ariadne.Message) (text string, ok bool),
	error) {
	thread := NewThread(path, nil)
	globals, err := Exec(thread, path, src, Predeclared)
	if err != nil {
		return nil, Located(path, err)
	}
	globals.Freeze()
	fn, ok := globals["decode"].(*starlark.Function)
	if !ok || fn.NumParams() != 1 || fn.HasVarargs() || fn.HasKwargs() {
		return nil, &Error{Pos: path, Text: "a decoder has a function decode(message)"}
	}
	return func(m *ariadne.Message) (string, bool) {
		message := &Message{Node: node, Message: expose.Message{Message: m, Arrival: ariadne.Never,
			Name: func() string { return "" }}}
		v, err := Call(thread, fn, starlark.Tuple{message})
		if err != nil {
			return err.Error(), true
		}
		switch v := v.(type) {
		case starlark.NoneType:
			return "", false
		case starlark.String:
			return string(v), true
		}
		return v.String(), true
	}, nil
}
