package script

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/lib/json"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
	"go.starlark.net/syntax"
)

// The interpreter bounds the steps of a script and not its memory, and one step may take
// any amount: an operator that repeats, a function that makes a list of a range, a text of
// a list that has the same list in it a million times. So each of these is looked at
// before it happens, and what it will take at most is charged to the call that the script
// is in. Operators and methods are led here by guarded (rewrite.go), functions by taking
// the place of the interpreter's own. What single steps take besides is little, and
// MaxSteps bounds it.

// MaxMemory is how many bytes a call may take in all, those included that it has no use for
// any more.
const MaxMemory = 512 << 20

var memory = MaxMemory // less in tests

const (
	maxDepth   = 1000    // of lists in lists, for what walks through them
	maxBits    = 1 << 20 // of a whole number
	maxPrinted = 16 << 20
	maxText    = 1 << 18 // of a whole number that is read
	element    = 32      // bytes of a list for each element, about
	entry      = 128     // of a dict or a set
)

// Prints is an error where a value is too large to be printed.
func Prints(v starlark.Value) error {
	if n, err := printed(v, maxPrinted, 0); err != nil || n > maxPrinted {
		return errors.New("the value is too large to be printed")
	}
	return nil
}

// budget is what a call may still take.
type budget struct{ left int }

const budgetKey = "budget"

func charge(t *starlark.Thread, bytes int) error {
	b := t.Local(budgetKey).(*budget)
	if bytes < 0 || bytes > b.left {
		b.left = 0
		return fmt.Errorf("the call takes too much memory: more than %d MB", memory>>20)
	}
	b.left -= bytes
	return nil
}

// times is a*b, or more than anybody has.
func times(a, b int) int {
	if a > 0 && b > MaxMemory/a {
		return MaxMemory + 1
	}
	return a * b
}

// length is how many elements a value has when it is gone through; 0 when it cannot be.
func length(v starlark.Value) int {
	switch v := v.(type) {
	case starlark.String:
		return len(v)
	case starlark.Bytes:
		return len(v)
	case interface{ Len() int }:
		return v.Len()
	case starlark.Iterable:
		it := v.Iterate()
		defer it.Done()
		n := 0
		for x := starlark.Value(nil); n <= MaxMemory && it.Next(&x); {
			n++
		}
		return n
	}
	return 0
}

// printed is how many bytes a value takes when it is printed, or the error that it is too
// deep; it stops counting at most.
func printed(v starlark.Value, most int, depth int) (int, error) {
	if depth > maxDepth {
		return 0, fmt.Errorf("lists more than %d deep", maxDepth)
	}
	switch v := v.(type) {
	case starlark.String:
		return 4*len(v) + 2, nil // quoted
	case starlark.Bytes:
		return 4*len(v) + 3, nil
	case starlark.Int:
		return v.BigInt().BitLen()/3 + 2, nil
	case starlark.IterableMapping:
		n := 2
		for _, item := range v.Items() {
			for _, x := range item {
				m, err := printed(x, most-n, depth+1)
				if n += m + 2; err != nil || n > most {
					return n, err
				}
			}
		}
		return n, nil
	case starlark.Iterable:
		if s, ok := v.(interface{ Len() int }); ok && times(s.Len(), 2) > most {
			return most + 1, nil
		}
		it := v.Iterate()
		defer it.Done()
		n := 8
		for x := starlark.Value(nil); it.Next(&x); {
			m, err := printed(x, most-n, depth+1)
			if n += m + 2; err != nil || n > most {
				return n, err
			}
		}
		return n, nil
	}
	return 200, nil
}

// chargePrinted charges for values that are printed so many times.
func chargePrinted(t *starlark.Thread, count int, values ...starlark.Value) error {
	for _, v := range values {
		n, err := printed(v, maxPrinted, 0)
		if err == nil && n > maxPrinted {
			err = fmt.Errorf("a text of more than %d MB", maxPrinted>>20)
		}
		if err == nil {
			err = charge(t, times(n, count))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// chargeBinary charges for x op y.
func chargeBinary(t *starlark.Thread, op syntax.Token, x, y starlark.Value) error {
	switch op {
	case syntax.STAR:
		if _, ok := x.(starlark.Int); ok {
			x, y = y, x
		}
		n, ok := y.(starlark.Int)
		if !ok {
			return nil
		}
		if i, ok := x.(starlark.Int); ok {
			return Bits(i.BigInt().BitLen() + n.BigInt().BitLen())
		}
		count, ok := n.Int64()
		if !ok || count > MaxMemory {
			count = MaxMemory + 1 // or there is no such repetition
		}
		return charge(t, times(size(x), max(int(count), 0)))
	case syntax.PERCENT:
		if s, ok := x.(starlark.String); ok {
			return chargePrinted(t, strings.Count(string(s), "%")+1, x, y)
		}
		return nil
	case syntax.PLUS:
		if i, ok := x.(starlark.Int); ok {
			if j, ok := y.(starlark.Int); ok {
				return Bits(max(i.BigInt().BitLen(), j.BigInt().BitLen()) + 1)
			}
			return nil
		}
	}
	return charge(t, size(x)+size(y))
}

// Bits is an error where a number has too many bits.
func Bits(n int) error {
	if n > maxBits {
		return fmt.Errorf("a number of more than %d bits", maxBits)
	}
	return nil
}

// size is about how many bytes a copy of a value takes.
func size(v starlark.Value) int {
	switch v := v.(type) {
	case starlark.String:
		return len(v)
	case starlark.Bytes:
		return len(v)
	case starlark.Int, starlark.Float, starlark.Bool, starlark.NoneType:
		return 0
	}
	return times(length(v), elementOf(v))
}

func elementOf(v starlark.Value) int {
	switch v.(type) {
	case *starlark.List, starlark.Tuple, starlark.String, starlark.Bytes:
		return element
	}
	return entry // or its elements are made as one goes through it
}

// before returns a function that does what f does, after it has been charged for.
func before(f *starlark.Builtin, check func(t *starlark.Thread, args starlark.Tuple) error) *starlark.Builtin {
	g := starlark.NewBuiltin(f.Name(),
		func(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value,
			error) {
			all := slices.Clone(args)
			for _, kv := range kwargs {
				all = append(all, kv[1])
			}
			if err := check(t, all); err != nil {
				return nil, fmt.Errorf("%s: %w", f.Name(), err)
			}
			return f.CallInternal(t, args, kwargs)
		})
	if f.Receiver() != nil {
		return g.BindReceiver(f.Receiver())
	}
	return g
}

// chargeElements charges for a list of all that is in the arguments.
func chargeElements(t *starlark.Thread, args starlark.Tuple) error {
	return chargeEach(t, args, element)
}

// chargeEntries charges for a dict or a set of all that is in the arguments.
func chargeEntries(t *starlark.Thread, args starlark.Tuple) error { return chargeEach(t, args, entry) }

func chargeEach(t *starlark.Thread, args starlark.Tuple, bytes int) error {
	n := 4 * entry
	for _, a := range args {
		n += times(length(a), max(bytes, elementOf(a)))
	}
	return charge(t, n)
}

func chargeTexts(t *starlark.Thread, args starlark.Tuple) error { return chargePrinted(t, 2, args...) }

// guards are the functions that the script finds in the place of the interpreter's own.
func guards() starlark.StringDict {
	all := starlark.StringDict{}
	for _, name := range starlark.Universe.Keys() {
		f, ok := starlark.Universe[name].(*starlark.Builtin)
		if !ok {
			continue
		}
		switch name {
		case "str", "repr", "print", "fail":
			all[name] = before(f, chargeTexts)
		case "getattr":
			all[name] = starlark.NewBuiltin(name,
				func(t *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple,
					kwargs []starlark.Tuple) (starlark.Value, error) {
					v, err := f.CallInternal(t, args, kwargs)
					return guardMethod(v), err
				})
		case "list", "tuple", "bytes", "enumerate", "sorted", "reversed", "zip":
			all[name] = before(f, chargeElements)
		case "dict", "set":
			all[name] = before(f, chargeEntries)
		case "int":
			all[name] = before(f, func(_ *starlark.Thread, args starlark.Tuple) error {
				for _, a := range args {
					if s, ok := a.(starlark.String); ok && len(s) > maxText {
						return fmt.Errorf("a number of more than %d digits", maxText)
					}
				}
				return nil
			})
		}
	}
	members := starlark.StringDict{}
	for name, v := range json.Module.Members {
		f := v.(*starlark.Builtin)
		switch name {
		case "encode":
			members[name] = before(f, chargeTexts)
		default: // decode and indent
			members[name] = before(f, chargeJSON)
		}
	}
	all["json"] = &starlarkstruct.Module{Name: "json", Members: members}
	return all
}

// chargeJSON charges for reading or indenting a text of JSON, at its deepest everywhere.
func chargeJSON(t *starlark.Thread, args starlark.Tuple) error {
	wide, deep := 1, 0
	for _, a := range args[min(1, len(args)):] {
		wide += length(a)
	}
	for _, a := range args[:min(1, len(args))] {
		s, ok := a.(starlark.String)
		if !ok {
			continue
		}
		now := 0
		for _, c := range []byte(s) {
			switch c {
			case '[', '{':
				now++
			case ']', '}':
				now--
			}
			deep = max(deep, now)
		}
		if deep > maxDepth {
			return fmt.Errorf("lists more than %d deep", maxDepth)
		}
		breaks := strings.Count(string(s), ",") + 2*strings.Count(string(s), "[") + 2*strings.Count(string(s), "{") + 1
		if err := charge(t, times(len(s), element)+times(times(breaks, deep+1), wide)); err != nil {
			return err
		}
	}
	return nil
}

// guardMethod is a method of one of the interpreter's own values that is charged for;
// anything else is as it is.
func guardMethod(v starlark.Value) starlark.Value {
	f, ok := v.(*starlark.Builtin)
	if !ok {
		return v
	}
	switch r := f.Receiver().(type) {
	case starlark.String:
		switch name := f.Name(); {
		case strings.HasPrefix(name,
			"is"), slices.Contains([]string{"startswith", "endswith", "find", "rfind", "index", "rindex", "count",
			"strip", "lstrip", "rstrip"}, name):
			return v
		case name == "join":
			return before(f, func(t *starlark.Thread, args starlark.Tuple) error { return chargeJoin(t, len(r), args) })
		case name == "replace":
			return before(f, func(t *starlark.Thread, args starlark.Tuple) error {
				return chargeReplace(t, string(r), args)
			})
		case name == "format":
			return before(f, func(t *starlark.Thread, args starlark.Tuple) error {
				return chargePrinted(t, strings.Count(string(r), "{")+1, append(args, r)...)
			})
		}
		per := 4
		if strings.HasSuffix(f.Name(), "split") || f.Name() == "splitlines" {
			per = element
		}
		return before(f, func(t *starlark.Thread, _ starlark.Tuple) error { return charge(t, times(len(r), per)) })
	case *starlark.List:
		if f.Name() == "extend" {
			return before(f, chargeElements)
		}
	case *starlark.Dict:
		switch f.Name() {
		case "items", "keys", "values":
			return before(f, func(t *starlark.Thread, _ starlark.Tuple) error {
				return charge(t, times(r.Len(), entry))
			})
		case "update":
			return before(f, chargeEntries)
		}
	case *starlark.Set:
		switch f.Name() {
		case "add", "clear", "discard", "pop", "remove":
		default:
			return before(f, func(t *starlark.Thread, args starlark.Tuple) error {
				return chargeEntries(t, append(args, r))
			})
		}
	}
	return v
}

func chargeJoin(t *starlark.Thread, separator int, args starlark.Tuple) error {
	n := 0
	for _, a := range args {
		list, ok := a.(starlark.Iterable)
		if !ok {
			continue
		}
		it := list.Iterate()
		defer it.Done()
		for x := starlark.Value(nil); n <= MaxMemory && it.Next(&x); {
			s, _ := x.(starlark.String)
			n += len(s) + separator + 1
		}
	}
	return charge(t, 2*n)
}

func chargeReplace(t *starlark.Thread, s string, args starlark.Tuple) error {
	n := len(s)
	if len(args) > 1 {
		was, _ := args[0].(starlark.String)
		is, _ := args[1].(starlark.String)
		n += times(strings.Count(s, string(was)), len(is))
	}
	return charge(t, n)
}
