package strategy

import (
	"container/heap"
	"fmt"

	"ariadne/internal/space"
)

// Scripted lets somebody else choose: it asks at every new state what to try next,
// and tries first what has the least priority anywhere, and of equals what was named
// first. It does not go on from a state in which it was before.
type Scripted struct {
	// Ask names events of the last state of a path, none of them twice. What it does
	// not name is left out.
	Ask func(p *space.Path) []Choice
	// Bytes is about how much memory the paths to be tried may take; 0: no bound. What
	// finds no room is left out.
	Bytes int64

	tree  tree
	queue choices
	named int
	now   int32 // the prefix that is being tried
	left  int   // events left out by who was asked
	lost  int   // events left out for lack of memory
	follow
	began bool
}

// Choice is an event that is to be tried.
type Choice struct {
	Event    int // index in Enabled
	Priority float64
}

// Begin implements Explorer.
func (s *Scripted) Begin(p *space.Path) (keep int, ok bool) {
	if !s.began {
		s.began = true
		return 0, true
	}
	if len(s.queue) == 0 {
		return 0, false
	}
	s.now = heap.Pop(&s.queue).(queued).place
	s.prefix = s.tree.events(s.now, s.prefix[:0])
	return s.begin(p), true
}

// Next implements Explorer.
func (s *Scripted) Next(p *space.Path) (event int, ok bool) {
	if event, ok = s.next(p); ok {
		return event, true
	}
	if p.Last().Seen {
		return 0, false
	}
	asked := s.Ask(p)
	s.left += len(p.Last().Enabled) - len(asked)
	for _, c := range asked {
		if s.Bytes > 0 && int64(len(s.tree.nodes)+1)*choiceBytes > s.Bytes {
			s.lost++
			continue
		}
		s.named++
		heap.Push(&s.queue, queued{c.Priority, s.named, s.tree.add(s.now, c.Event)})
	}
	if len(s.queue) == 0 || s.tree.nodes[s.queue[0].place].parent != s.now {
		return 0, false
	}
	// What comes first goes on from here.
	s.now = heap.Pop(&s.queue).(queued).place
	event = int(s.tree.nodes[s.now].event)
	s.prefix = append(s.prefix, int32(event))
	return event, true
}

// choiceBytes is about what a choice takes: its place in the tree, and in the queue,
// both of which are moved when they grow.
const choiceBytes = 2 * (8 + 24)

// End implements Explorer.
func (*Scripted) End(*space.Path, End) error { return nil }

// Missed implements Exhaustive.
func (s *Scripted) Missed() string {
	why := ""
	if s.left > 0 {
		why = fmt.Sprintf("explore() left out %d action%s", s.left, plural(s.left))
	}
	if s.lost > 0 {
		if why != "" {
			why += "; "
		}
		why += fmt.Sprintf("%d action%s found no room in memory", s.lost, plural(s.lost))
	}
	return why
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// queued is a prefix that is to be tried.
type queued struct {
	priority float64
	number   int // among all
	place    int32
}

// choices implements heap.Interface.
type choices []queued

func (c choices) Len() int { return len(c) }
func (c choices) Less(i, j int) bool {
	return c[i].priority < c[j].priority || c[i].priority == c[j].priority && c[i].number < c[j].number
}
func (c choices) Swap(i, j int) { c[i], c[j] = c[j], c[i] }
func (c *choices) Push(x any)   { *c = append(*c, x.(queued)) }
func (c *choices) Pop() any {
	last := (*c)[len(*c)-1]
	*c = (*c)[:len(*c)-1]
	return last
}
