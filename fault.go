package ariadne

import (
	"fmt"
	"strings"
)

// NodeFault is a fault that hits a node: an Outage, a Jump, a Drift or a Kill. Each kind has a
// file, with its text and its encoding. Faults compare with ==, and nil is none.
type NodeFault interface {
	// Kind is what kind of fault it is, a word.
	Kind() string
	// What distinguishes the fault from others of its kind, as 15s of a crash or +30s of a jump.
	What() string
}

// Alternative is a fault as an alternative to how a step goes, as in crash:15s.
func Alternative(f NodeFault) string { return f.Kind() + ":" + f.What() }

// nodeFaults read what faults of a kind are among those of it, by kind.
var nodeFaults = map[string]func(what string) (NodeFault, error){}

// registerNodeFault enters a kind of fault, and the options by which its faults are encoded.
func registerNodeFault(kind string, parse func(what string) (NodeFault, error), encoded ...option[Input]) {
	if nodeFaults[kind] != nil {
		panic("two kinds of faults are called " + kind)
	}
	nodeFaults[kind] = parse
	inputOptions.add(encoded...)
}

// ParseNodeFault is the inverse of Alternative.
func ParseNodeFault(s string) (NodeFault, error) {
	kind, what, _ := strings.Cut(s, ":")
	parse := nodeFaults[kind]
	if parse == nil {
		return nil, fmt.Errorf("%q hits no node", s)
	}
	f, err := parse(what)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// faultOption is the option of an input by which a fault of type F is encoded, behind that there is
// one.
func faultOption[F NodeFault](number int, is func(F) bool, append func(F, []byte) []byte,
	read func(*decoder, F) F) option[Input] {
	return option[Input]{number,
		func(in *Input) bool {
			f, ok := in.Fault.(F)
			return ok && is(f)
		},
		func(in *Input, b []byte) []byte { return append(in.Fault.(F), b) },
		func(in *Input, d *decoder) {
			f, ok := in.Fault.(F)
			if in.Fault != nil && !ok {
				d.fail(errCanonical)
				return
			}
			in.Fault = read(d, f)
		}}
}
