package report

import (
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

// losses are the partitions and the stopped machines by which messages are lost, as far as steps
// show them. Package world says which messages are lost.
type losses struct {
	cuts []parting
	back map[ariadne.NodeID]ariadne.Time // when a machine is switched on again, or Never
	lost map[messageKey]ariadne.Message
}

// parting is a partition by the names of its nodes.
type parting struct {
	name     string
	from, to []string
	oneWay   bool
}

// partingOf reads the name of a partition: n1|n2+n3 for 15s, or n1>n2 for 15s.
func partingOf(name string) parting {
	what, _, _ := strings.Cut(name, " for ")
	i := max(0, strings.IndexAny(what, "|>"))
	p := parting{name: name, from: strings.Split(what[:i], "+"), oneWay: strings.HasPrefix(what[i:], ">")}
	if i > 0 {
		p.to = strings.Split(what[i+1:], "+")
	}
	return p
}

func (p *parting) blocks(from, to string) bool {
	return slices.Contains(p.from, from) && slices.Contains(p.to, to) || !p.oneWay && slices.Contains(p.to, from) &&
		slices.Contains(p.from, to)
}

// lose enters what a step does to messages under way, those that it has sent included.
func (t *Timeline) lose(s *ariadne.Step) {
	l := &t.losses
	// what it had sent itself never comes
	if d := s.Output.Down; d != ariadne.Up && d != ariadne.Paused {
		for key, m := range t.sent {
			if m.To == s.Action.Node &&
				(m.Flow.Proto == ariadne.App || m.Flow.Proto == ariadne.Disk && s.Output.Down.Off()) {
				delete(t.sent, key)
			}
		}
	}
	switch {
	case s.Action.Kind == world.Cut:
		l.cuts = append(l.cuts, partingOf(s.Action.What))
	case s.Action.Kind == world.Heal:
		l.cuts = slices.DeleteFunc(l.cuts, func(p parting) bool { return p.name == s.Action.What })
	case s.Output.Down.Off():
		l.back[s.Action.Node] = s.Output.Back
	case s.Action.Kind == ariadne.ActStart:
		delete(l.back, s.Action.Node)
	}
	if len(l.cuts) == 0 && len(l.back) == 0 {
		return
	}
	for key, m := range t.sent {
		back, off := l.back[m.To]
		away := off && t.due(m) < back
		cut := slices.ContainsFunc(l.cuts, func(p parting) bool {
			return t.known(m.From) && t.known(m.To) && p.blocks(t.nodes[m.From], t.nodes[m.To])
		})
		if (away || cut) && world.Unrepeated(&m) {
			delete(t.sent, key)
			l.lost[key] = m
		}
	}
}

func (t *Timeline) known(id ariadne.NodeID) bool { return id >= 0 && int(id) < len(t.nodes) }
