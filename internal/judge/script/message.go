package script

import (
	"maps"
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/history"

	"go.starlark.net/lib/json"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
)

// Message is one that was sent.
type Message struct {
	View
	expose.Message
	Node func(ariadne.NodeID) string // its name
	says Says
}

func (m *Message) String() string      { return m.Name() }
func (m *Message) Type() string        { return "message" }
func (m *Message) AttrNames() []string { return m.says.Names(m.Message.Message, messageAttrs.Names()) }

// Attr implements starlark.HasAttrs.
func (m *Message) Attr(name string) (starlark.Value, error) {
	if v, err := messageAttrs.Attr(m, name); v != nil || err != nil {
		return v, err
	}
	return m.says.Attr(m.Message.Message, name), nil
}

var messageAttrs = Attributes[*Message]{
	"sender":   func(m *Message) starlark.Value { return starlark.String(m.Node(m.From)) },
	"receiver": func(m *Message) starlark.Value { return starlark.String(m.Node(m.To)) },
	"text":     func(m *Message) starlark.Value { return starlark.String(m.Data) },
	"size":     func(m *Message) starlark.Value { return starlark.MakeInt(len(m.Data)) },
	"port":     func(m *Message) starlark.Value { return starlark.MakeInt(int(m.Flow.Dst.Port())) },
	"flags":    func(m *Message) starlark.Value { return starlark.String(m.Flags.String()) },
	"sent":     func(m *Message) starlark.Value { return Seconds(m.Sent) },
	"time":     func(m *Message) starlark.Value { return Seconds(m.Arrival) },
	"delayed":  func(m *Message) starlark.Value { return starlark.Bool(m.Delayed) },
}

// Says is what a message says: the fields of an application event, which is an object of JSON, and
// what decoders make of another. It is found out when somebody asks.
type Says struct{ event starlark.StringDict }

// Names are the attributes by which a message, or nil, says something, with others, in order.
func (s *Says) Names(m *ariadne.Message, others []string) []string {
	names := slices.AppendSeq(others, maps.Keys(decoders))
	names = slices.AppendSeq(names, maps.Keys(s.fields(m)))
	slices.Sort(names)
	return slices.Compact(names)
}

// Attr is what a message, or nil, says by an attribute; nil: it has none of this name.
func (s *Says) Attr(m *ariadne.Message, name string) starlark.Value {
	decode, ok := decoders[name]
	switch {
	case !ok:
		if v, ok := s.fields(m)[name]; ok {
			return v
		}
		return nil
	case m == nil || len(m.Data) == 0:
		return starlark.None
	}
	if v := decode(m.Data); v != nil {
		return v
	}
	return starlark.None
}

// fields are those of an application event.
func (s *Says) fields(m *ariadne.Message) starlark.StringDict {
	if m == nil || m.Flow.Proto != ariadne.App || s.event != nil {
		return s.event
	}
	s.event = starlark.StringDict{}
	v, err := starlark.Call(&starlark.Thread{}, json.Module.Members["decode"], starlark.Tuple{starlark.String(m.Data)},
		nil)
	if d, ok := v.(*starlark.Dict); ok && err == nil {
		d.Freeze()
		for _, item := range d.Items() {
			name, _ := starlark.AsString(item[0])
			s.event[name] = item[1]
		}
	}
	return s.event
}

// decoders take apart what a message says, which has no other message's bytes; nil: it does not say
// such a thing.
var decoders = map[string]func(text []byte) starlark.Value{
	"json": func(text []byte) starlark.Value {
		thread := &starlark.Thread{}
		thread.SetMaxExecutionSteps(MaxSteps)
		thread.SetLocal(budgetKey, &budget{left: memory})
		given := starlark.Tuple{starlark.String(text)}
		if chargeJSON(thread, given) != nil {
			return nil
		}
		v, err := starlark.Call(thread, json.Module.Members["decode"], given, nil)
		if err != nil {
			return nil
		}
		v.Freeze()
		return v
	},
	"resp": func(text []byte) starlark.Value {
		all, ok := history.Values(text)
		if !ok {
			return nil
		}
		return textsValue(history.Texts{List: all, Many: true})
	},
	"http": func(text []byte) starlark.Value {
		all, ok := history.Parts(text)
		if !ok {
			return nil
		}
		var values []starlark.Value
		for _, p := range all {
			fields := starlark.StringDict{"method": starlark.None, "target": starlark.None, "status": starlark.None,
				"body": starlark.String(p.Body)}
			if p.Method != "" {
				fields["method"], fields["target"] = starlark.String(p.Method), starlark.String(p.Target)
			} else {
				fields["status"] = starlark.MakeInt(p.Status)
			}
			values = append(values, starlarkstruct.FromStringDict(starlarkstruct.Default, fields))
		}
		return Frozen(values)
	},
}

func textsValue(t history.Texts) starlark.Value {
	if !t.Many {
		return starlark.String(t.Text)
	}
	var values []starlark.Value
	for _, e := range t.List {
		values = append(values, textsValue(e))
	}
	return Frozen(values)
}
