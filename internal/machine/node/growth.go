//go:build linux

package node

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/tcp"
)

// Whether the descriptors or the memory of a process grow without bound is judged here, and only
// the verdict is exposed: numbers that change with each step would make all steps different to who
// searches.

const (
	// growthWindow is a stretch of virtual time of which the least number counts: what is given
	// back by the end of it is no growth.
	growthWindow = ariadne.Time(5e9)
	// growthRises is how many windows in a row must have a greater one than the window before.
	growthRises = 6
	// growthDescriptors is by how many descriptors at least these have grown by then, growthMemory
	// by how many bytes.
	growthDescriptors = 24
	growthMemory      = 8 << 20
	// keptShare: a process may keep so many times the bytes that its node was sent meanwhile.
	keptShare = 16
	// stackRoom is what a thread besides the first may take of memory for its stack.
	stackRoom = 8 << 20
)

// trend follows a number over virtual time. It is a value: copies go their own ways. The first
// window, in which a program starts, does not count.
type trend struct {
	began  ariadne.Time
	window int   // the how many-th it is
	now    int64 // since the last sample
	given  int64 // bytes that the node was sent by then
	floor  int64 // the least number of the window so far
	floors [growthRises + 1]int64
	gifts  [growthRises + 1]int64 // given at the end of each
	closed int                    // windows in floors, or more
}

// newTrend begins with a first sample.
func newTrend(at ariadne.Time, number, given int64) trend {
	return trend{began: at, now: number, given: given, floor: number}
}

// add enters what the number is from a time on, and what the node was sent by then. grows: some
// window that has ended since the last sample was the last of enough that rose, by more than least
// and what a process may keep.
func (t *trend) add(at ariadne.Time, number, given, least, share int64) (grows bool) {
	window := int((at - t.began) / growthWindow)
	for k := 0; t.window < window; k++ {
		if k > growthRises+1 { // nothing has changed for longer than is looked at
			t.window = window
			break
		}
		if t.window > 0 {
			copy(t.floors[:], t.floors[1:])
			copy(t.gifts[:], t.gifts[1:])
			t.floors[growthRises], t.gifts[growthRises] = t.floor, t.given
			t.closed++
			grows = grows || t.rises(least, share)
		}
		t.window++
		t.floor = t.now
	}
	t.now, t.given, t.floor = number, given, min(t.floor, number)
	return grows
}

// rises reports whether the windows that were looked at last rose enough.
func (t *trend) rises(least, share int64) bool {
	if t.closed <= growthRises {
		return false
	}
	for i := range growthRises {
		if t.floors[i+1] <= t.floors[i] {
			return false
		}
	}
	return t.floors[growthRises]-t.floors[0] >= least+share*(t.gifts[growthRises]-t.gifts[0])
}

// String is the least number of each window, the latest last.
func (t *trend) String() string {
	var all []string
	for _, n := range t.floors {
		all = append(all, fmt.Sprint(n))
	}
	return strings.Join(all, ", ")
}

// exposing is what a node has exposed of itself, so that only what is new is exposed.
type exposing struct {
	grows  []growth // what each of its processes has had so far, as of the last step
	given  int64    // bytes that it was sent since it was switched on
	serves []string // ports at which it takes connections, as of the last step
	looked []looked // for files, variables and commands, as of the last step
}

// looked is what is exposed of something that is looked at.
type looked struct {
	is     bool // something is
	values []string
}

func (l looked) equal(m looked) bool { return l.is == m.is && slices.Equal(l.values, m.values) }

// countDelivered notes a message that the node gets.
func (n *Node) countDelivered(m *ariadne.Message) { n.given += int64(len(m.Data)) }

// growth is what was seen of a process so far.
type growth struct {
	pid                 int
	descriptors, memory trend
	told                [2]bool
}

// exposeGrowth looks at how much the node's processes have at the end of a step, and exposes which
// has too much.
func (n *Node) exposeGrowth() {
	bounds := n.cfg.Growth
	if bounds == nil || n.step.over() {
		return
	}
	var all []growth
	for _, pid := range n.k.PIDs() {
		p := n.k.Procs[pid]
		if p.Dead {
			continue
		}
		held, open := descriptors(p)
		memory := n.mapped(p)
		i := slices.IndexFunc(n.grows, func(g growth) bool { return g.pid == pid })
		if i < 0 {
			all = append(all,
				growth{pid: pid, descriptors: newTrend(n.k.Now, held, n.given),
					memory: newTrend(n.k.Now, memory-int64(len(p.Threads)-1)*stackRoom, n.given)})
		} else {
			all = append(all, n.grows[i])
		}
		g := &all[len(all)-1]
		more := g.descriptors.add(n.k.Now, held, n.given, growthDescriptors, 0)
		n.grown(p, &g.told[0], "descriptors", open, int64(bounds.Descriptors), more, &g.descriptors)
		more = g.memory.add(n.k.Now, memory-int64(len(p.Threads)-1)*stackRoom, n.given, growthMemory, keptShare)
		n.grown(p, &g.told[1], "memory", memory, bounds.Memory, more, &g.memory)
	}
	n.grows = all
}

// grown exposes, once, that a process has too much of something: more than a bound, if that is not
// 0, or more and more.
func (n *Node) grown(p *kernel.Process, told *bool, of string, has, bound int64, more bool, t *trend) {
	how := ""
	switch {
	case *told:
		return
	case bound > 0 && has > bound:
		how = fmt.Sprintf("%d, more than %d", has, bound)
	case more:
		how = fmt.Sprintf("more in each window of %v: at least %v", growthWindow, t)
	default:
		return
	}
	*told = true
	n.k.Expose(p.PID,
		ariadne.Exposure{Name: "growth", Values: []string{fmt.Sprintf("%s/%d", path.Base(p.Exe), p.PID), of, how}})
}

// descriptors is how many of them a process has open, and how many of these are its own to close: a
// connection that it has accepted and that its peer has not ended is not.
func descriptors(p *kernel.Process) (held, open int64) {
	for _, fd := range p.FDs.Numbers() {
		open++
		if c, ok := p.FDs.Get(fd).File.(*tcp.Socket); !ok || !c.Served() {
			held++
		}
	}
	return held, open
}

// mapped is how much memory a process may write that is its own, in bytes, touched or not: how much
// it has touched differs between copies of it.
func (n *Node) mapped(p *kernel.Process) int64 {
	for _, th := range n.threads {
		if th.k.Proc != p || th.k.State == kernel.Dead {
			continue
		}
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", th.tr.PID))
		var pages int64
		if err == nil {
			_, err = fmt.Sscan(string(b), new(int64), new(int64), new(int64), new(int64), new(int64), &pages)
		}
		must(err)
		return pages * pageSize
	}
	return 0
}
