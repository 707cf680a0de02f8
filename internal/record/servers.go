package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// Servers watches what becomes of the servers in one execution. A client that waits in vain
// shows; that its server has ended with status 0, or that nobody listens where the client asks,
// shows only to whoever reads all of the timeline.
type Servers struct {
	spec    *spec.Spec
	name    func(ariadne.NodeID, int) string // of a command
	ended   []ended                          // by node
	started []bool                           // by node
	ready   []bool                           // by node
	asked   map[ariadne.Flow]bool            // connections that were asked for and not answered yet
	// who asked in vain, of ports where nobody was ever found
	refused map[port]map[ariadne.NodeID]bool
	found   map[port]bool // somebody was
}

// ended is how a node's commands have ended.
type ended struct {
	command int
	at      ariadne.Time
	well    bool   // all with status 0
	done    bool   // no process is left
	said    string // the line of its last step that tells best why, or ""
}

type port struct {
	node ariadne.NodeID
	port uint16
}

// NewServers returns a watch for one execution.
func NewServers(s *spec.Spec) *Servers {
	return &Servers{spec: s, name: system.CommandName(s), ended: make([]ended, len(s.Nodes)),
		started: make([]bool, len(s.Nodes)), ready: make([]bool, len(s.Nodes)), asked: map[ariadne.Flow]bool{},
		refused: map[port]map[ariadne.NodeID]bool{}, found: map[port]bool{}}
}

// Step looks at the next step.
func (w *Servers) Step(s *ariadne.Step) {
	id := s.Action.Node
	if id == ariadne.NoNode {
		return
	}
	w.started[id], w.ready[id] = true, w.ready[id] || s.Output.Ready
	e := &w.ended[id]
	for _, x := range s.Output.Exits {
		e.well = x.Status == 0 && x.Signal == 0 && (e.well || e.at == 0)
		e.command, e.at, e.said = x.Command, x.At, property.LastWords(s.Output.Logs)
	}
	if s.Output.Down != ariadne.Up {
		*e = ended{} // it is switched on again
	}
	e.done = s.Output.Done
	for i := range s.Output.Messages {
		m := &s.Output.Messages[i]
		if m.Flow.Proto != ariadne.TCP {
			continue
		}
		back := m.Flow
		back.Src, back.Dst, back.Epoch = m.Flow.Dst, m.Flow.Src, 0
		there := port{m.From, m.Flow.Src.Port()}
		switch asks := m.Flow; {
		case m.Flags&(ariadne.SYN|ariadne.ACK) == ariadne.SYN:
			asks.Epoch = 0
			w.asked[asks] = true
		case !w.asked[back]:
		case m.Flags&ariadne.SYN != 0:
			w.found[there] = true
			delete(w.asked, back)
		case m.Flags&ariadne.RST != 0:
			if w.refused[there] == nil {
				w.refused[there] = map[ariadne.NodeID]bool{}
			}
			w.refused[there][m.To] = true
			delete(w.asked, back)
		}
	}
}

// Lines say which servers have ended by themselves, who waits for a node that was never ready, and
// where nobody listens although others ask, one line for each node.
func (w *Servers) Lines() (lines []string) {
	clients := slices.ContainsFunc(w.spec.Nodes, func(n spec.Node) bool { return n.Client })
	for i := range w.spec.Nodes {
		def := &w.spec.Nodes[i]
		var parts []string
		for _, other := range def.After {
			if !w.started[i] && !w.ready[other] {
				parts = append(parts, fmt.Sprintf("it was not switched on: it waits for %s, which was never ready (%v)", w.spec.Nodes[other].Name, w.spec.Nodes[other].Ready))
			}
		}
		// Without clients nobody is a server: a node has done what it was to do.
		if e := w.ended[i]; e.done && e.well && clients && !def.Client && len(def.Commands) > 0 {
			part := fmt.Sprintf("%s ended at %v with status 0, and no process is left", w.name(def.ID, e.command), e.at)
			if e.said != "" {
				part += fmt.Sprintf(" (it wrote %q)", e.said)
			}
			parts = append(parts, part)
		}
		var ports []port
		for p := range w.refused {
			if p.node == def.ID && !w.found[p] {
				ports = append(ports, p)
			}
		}
		slices.SortFunc(ports, func(a, b port) int { return cmp.Compare(a.port, b.port) })
		for _, p := range ports {
			var who []string
			for j := range w.spec.Nodes {
				if w.refused[p][ariadne.NodeID(j)] {
					who = append(who, w.spec.Nodes[j].Name)
				}
			}
			parts = append(parts,
				fmt.Sprintf("no program listens on port %d, which %s tried to reach", p.port, strings.Join(who, ", ")))
		}
		if parts != nil {
			lines = append(lines, "node "+def.Name+": "+strings.Join(parts, "; "))
		}
	}
	return lines
}
