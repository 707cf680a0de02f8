package session

import (
	"sync"

	"github.com/ariadne-mc/ariadne/internal/judge/script"
	"github.com/ariadne-mc/ariadne/internal/leaf/payload"
	"github.com/ariadne-mc/ariadne/internal/leaf/readfile"
	"github.com/ariadne-mc/ariadne/internal/record/causal"
	"github.com/ariadne-mc/ariadne/internal/system"
)

// Words are the words for steps of the session's system. decoder is the file of a script that says
// what messages carry (script.Decoder), or "".
func (s *Session) Words(decoder string) (w causal.Words, err error) {
	y := s.system
	w = causal.Words{Names: y.World().Names(), Latency: y.Spec.Latency, Commands: system.CommandName(y.Spec),
		Schema: sync.OnceValue(s.schema)}
	if decoder == "" {
		return w, nil
	}
	src, err := readfile.AtMost(decoder, readfile.Spec)
	if err != nil {
		return w, err
	}
	w.Decode, err = script.Decoder(decoder, src, w.Names.Node)
	return w, err
}

// schema has the names of protobuf's fields that the programs of the nodes hold. A program that
// cannot be read has no names.
func (s *Session) schema() *payload.Schema {
	names, known := payload.NewSchema(), map[string]bool{}
	for _, p := range s.system.Programs {
		host := s.OnHost(p.Path)
		if host == "" || known[host] {
			continue
		}
		known[host] = true
		if b, err := readfile.AtMost(host, readfile.Record); err == nil {
			names.Add(b)
		}
	}
	return names
}
