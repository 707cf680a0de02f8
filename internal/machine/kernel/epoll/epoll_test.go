package epoll

import (
	"slices"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// source is a file whose events a test sets.
type source struct {
	ready   kernel.Events
	changed kernel.Queue
}

func (s *source) Ready() kernel.Events   { return s.ready }
func (s *source) Changed() *kernel.Queue { return &s.changed }
func (s *source) Release(*kernel.Node)   {}

// announce has events come: they hold from now on, and watchers hear of them.
func (s *source) announce(ev kernel.Events) {
	s.ready |= ev
	s.changed.Notify(ev)
}

func newSet(t *testing.T) (*kernel.Node, *Set) {
	t.Helper()
	n := kernel.NewNode(0, "n0", 1)
	n.Memory = 1 << 30
	_, th := n.NewProcess(nil)
	return n, New(th)
}

// watch adds a file to a set under a number, which is also its data.
func watch(t *testing.T, n *kernel.Node, ep *Set, f kernel.File, fd int, events uint32) *kernel.OpenFile {
	t.Helper()
	of := &kernel.OpenFile{File: f}
	if e := ep.Add(n, of, fd, Event{events, uint64(fd)}); e != 0 {
		t.Fatal(e)
	}
	return of
}

// reported are the numbers of the files that the set reports.
func reported(ep *Set, most int) (fds []int) {
	for _, ev := range ep.Collect(most) {
		fds = append(fds, int(ev.Data))
	}
	return fds
}

func expect(t *testing.T, what string, got, want []int) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

const in = uint32(kernel.In)

// TestTriggers: a level-triggered file is reported as long as an event holds, an edge-triggered one
// once for each announcement, and a one-shot one until it is set again.
func TestTriggers(t *testing.T) {
	n, ep := newSet(t)
	var level, edge, once source
	watch(t, n, ep, &level, 3, in)
	watch(t, n, ep, &edge, 4, in|edgeTriggered)
	shot := watch(t, n, ep, &once, 5, in|oneShot)
	expect(t, "nothing holds", reported(ep, 9), nil)
	for _, s := range []*source{&level, &edge, &once} {
		s.announce(kernel.In)
	}
	expect(t, "all were announced", reported(ep, 9), []int{3, 4, 5})
	expect(t, "only the level", reported(ep, 9), []int{3})
	edge.announce(kernel.In)
	once.announce(kernel.In)
	expect(t, "again", reported(ep, 9), []int{3, 4})
	if e := ep.Modify(shot, 5, Event{in | oneShot, 5}); e != 0 {
		t.Fatal(e)
	}
	expect(t, "set again", reported(ep, 9), []int{3, 5})
	level.ready = 0
	expect(t, "what holds no longer", reported(ep, 9), nil)
	if ep.Ready() != 0 {
		t.Error("the set is ready, and nothing holds")
	}
}

// TestFairness: who asks for one event at a time comes to all files.
func TestFairness(t *testing.T) {
	n, ep := newSet(t)
	var files [3]source
	for i := range files {
		watch(t, n, ep, &files[i], i, in)
		files[i].announce(kernel.In)
	}
	var got []int
	for range 6 {
		got = append(got, reported(ep, 1)...)
	}
	expect(t, "in turn", got, []int{0, 1, 2, 0, 1, 2})
}

// TestEvents: only wanted events are reported, and errors and hang-ups always.
func TestEvents(t *testing.T) {
	n, ep := newSet(t)
	var f source
	watch(t, n, ep, &f, 3, in)
	f.announce(kernel.Out)
	expect(t, "not wanted", reported(ep, 9), nil)
	f.announce(kernel.Hup)
	if got := ep.Collect(9); len(got) != 1 || got[0].Events != uint32(kernel.Hup) {
		t.Errorf("a hang-up: %v", got)
	}
}

// TestMembers: a file is in a set once for each number, until it is deleted or closed; each counts
// for the user who made the set.
func TestMembers(t *testing.T) {
	n, ep := newSet(t)
	var f source
	of := watch(t, n, ep, &f, 3, in)
	if e := ep.Add(n, of, 3, Event{in, 3}); e != unix.EEXIST {
		t.Errorf("the same again: %v", e)
	}
	if e := ep.Add(n, of, 4, Event{in, 4}); e != 0 {
		t.Errorf("another number: %v", e)
	}
	if e := ep.Delete(of, 5); e != unix.ENOENT {
		t.Errorf("a number that is not there: %v", e)
	}
	if e := ep.Modify(of, 5, Event{in, 5}); e != unix.ENOENT {
		t.Errorf("a number that is not there: %v", e)
	}
	f.announce(kernel.In)
	if e := ep.Delete(of, 3); e != 0 {
		t.Fatal(e)
	}
	expect(t, "one is deleted", reported(ep, 9), []int{4})
	if ep.users.watches[ep.user] != 1 {
		t.Errorf("%d watches are counted, of one", ep.users.watches[ep.user])
	}
	ep.Release(n)
	if len(ep.users.watches) != 0 {
		t.Errorf("watches %v of a closed set", ep.users.watches)
	}
	f.announce(kernel.In)
	expect(t, "closed", reported(ep, 9), nil)
}

// TestNesting: a set may watch sets, up to five levels and in no circle. The upper set sees events
// of the lower ones.
func TestNesting(t *testing.T) {
	n, _ := newSet(t)
	_, th := n.NewProcess(nil)
	var sets [maxLevels + 1]*Set
	for i := range sets {
		sets[i] = New(th)
	}
	for i := range maxLevels - 1 {
		watch(t, n, sets[i], sets[i+1], 3, in)
	}
	if e := sets[maxLevels-1].Add(n, &kernel.OpenFile{File: sets[0]}, 3, Event{in, 3}); e != unix.ELOOP {
		t.Errorf("a circle: %v", e)
	}
	var f source
	watch(t, n, sets[maxLevels-1], &f, 7, in)
	f.announce(kernel.In)
	expect(t, "five levels above", reported(sets[0], 9), []int{3})
	if e := sets[0].Add(n, &kernel.OpenFile{File: &f}, 3, Event{in | exclusive | oneShot, 3}); e != unix.EINVAL {
		t.Errorf("exclusive and one-shot: %v", e)
	}
}
