package kernel

import (
	"slices"
	"testing"
)

type noted struct {
	n      int
	thread *Thread
}

var (
	ofNode   = NewSlot[*Node, noted]()
	ofThread = NewSlot[*Thread, noted]()
)

// TestSlotsAreCopied: a copy of a node has values of its own in all slots, and they refer to the
// copy.
func TestSlotsAreCopied(t *testing.T) {
	n := NewNode(0, "n0", 1)
	_, th := n.NewProcess(nil)
	if ofNode.Peek(n) != nil {
		t.Error("a value that nobody asked for")
	}
	ofNode.Of(n).n, ofNode.Of(n).thread = 1, th
	ofThread.Of(th).n = 2
	c := n.Image().Copy()
	ofNode.Of(n).n, ofThread.Of(th).n = 3, 4
	v := ofNode.Peek(c)
	if v == nil || v.n != 1 || v.thread == th || v.thread.Node() != c || ofThread.Of(v.thread).n != 2 {
		t.Errorf("the copy has %+v", v)
	}
}

// TestHooksAreInTheOrderOfNames: where packages lie has no part in who is told first.
func TestHooksAreInTheOrderOfNames(t *testing.T) {
	before := hooks
	defer func() { hooks = before }()
	hooks = nil
	var told []string
	note := func(name string) Hooks {
		return Hooks{Forks: func(_, _ *Process, _ uint64) { told = append(told, name) }}
	}
	Register("pipe", note("pipe"))
	Register("ipc", note("ipc 1"))
	Register("", note("core"))
	Register("ipc", note("ipc 2"))
	for _, h := range hooks {
		h.Forks(nil, nil, 0)
	}
	if want := []string{"core", "ipc 1", "ipc 2", "pipe"}; !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
}
