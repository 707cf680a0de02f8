package script

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ariadne-mc/ariadne"

	"go.starlark.net/starlark"
)

// View is what all views have in common: values that functions may only look at.
type View struct{}

func (View) Freeze()               {}
func (View) Truth() starlark.Bool  { return true }
func (View) Hash() (uint32, error) { return 0, errors.New("unhashable: use the fields that matter") }

// Attributes are those of a view of type T, by name.
type Attributes[T any] map[string]func(T) starlark.Value

// Attr is one of v's, or nil when it has none of this name: the interpreter knows what to say.
func (a Attributes[T]) Attr(v T, name string) (starlark.Value, error) {
	if get, ok := a[name]; ok {
		return get(v), nil
	}
	return nil, nil
}

// Names are theirs and more, in order.
func (a Attributes[T]) Names(more ...string) []string {
	names := slices.AppendSeq(more, maps.Keys(a))
	slices.Sort(names)
	return names
}

// Sequence is a list that is made item by item.
type Sequence struct {
	View
	N  int
	At func(i int) starlark.Value
}

func (s *Sequence) String() string             { return starlark.NewList(s.all()).String() }
func (*Sequence) Type() string                 { return "sequence" }
func (s *Sequence) Truth() starlark.Bool       { return s.N > 0 }
func (s *Sequence) Len() int                   { return s.N }
func (s *Sequence) Index(i int) starlark.Value { return s.At(i) }
func (s *Sequence) Iterate() starlark.Iterator { return &iterator{s, 0} }
func (s *Sequence) Slice(start, end, step int) starlark.Value {
	n := 0
	if step > 0 && end > start {
		n = (end - start + step - 1) / step
	} else if step < 0 && end < start {
		n = (start - end - step - 1) / -step
	}
	return &Sequence{N: n, At: func(i int) starlark.Value { return s.At(start + i*step) }}
}

func (s *Sequence) all() []starlark.Value {
	var items []starlark.Value
	for i := range s.N {
		items = append(items, s.At(i))
	}
	return items
}

type iterator struct {
	s *Sequence
	i int
}

func (it *iterator) Next(v *starlark.Value) bool {
	if it.i >= it.s.N {
		return false
	}
	*v = it.s.At(it.i)
	it.i++
	return true
}

func (*iterator) Done() {}

// Seconds of virtual time; None for never.
func Seconds(t ariadne.Time) starlark.Value {
	if t == ariadne.Never {
		return starlark.None
	}
	return starlark.Float(float64(t) / 1e9)
}

// Texts is a list of strings.
func Texts(all []string) starlark.Value {
	var values []starlark.Value
	for _, s := range all {
		values = append(values, starlark.String(s))
	}
	return Frozen(values)
}

// Frozen is a list that nobody may change.
func Frozen(all []starlark.Value) starlark.Value {
	list := starlark.NewList(all)
	list.Freeze()
	return list
}

// patterns are compiled, by text; so many are kept.
var (
	patterns     sync.Map
	patternsKept atomic.Int32
)

const maxPatterns = 1000

// match(pattern, text) is None, or what the pattern finds in the text: a tuple of all
// of it and its groups.
func match(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value,
	error) {
	var pattern, text string
	if err := starlark.UnpackPositionalArgs(b.Name(), args, kwargs, 2, &pattern, &text); err != nil {
		return nil, err
	}
	x, ok := patterns.Load(pattern)
	if !ok {
		compiled, err := regexp.Compile(pattern)
		if err != nil {
			return nil, fmt.Errorf("match: %w", err)
		}
		if x = compiled; patternsKept.Add(1) <= maxPatterns {
			x, _ = patterns.LoadOrStore(pattern, compiled)
		}
	}
	found := x.(*regexp.Regexp).FindStringSubmatch(text)
	if found == nil {
		return starlark.None, nil
	}
	var groups starlark.Tuple
	for _, s := range found {
		groups = append(groups, starlark.String(s))
	}
	return groups, nil
}
