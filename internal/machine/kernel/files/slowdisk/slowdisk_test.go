package slowdisk

import (
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/kerneltest"

	"golang.org/x/sys/unix"
)

// asker has the syncs of some files take time.
type asker struct {
	kernel.Tracee
	slow map[string]time.Duration
}

func (a *asker) Stall(file string) (time.Duration, bool) {
	length, ok := a.slow[file]
	return length, ok
}

// newThread is a thread of a node whose syncs of /f take 2 s, and of all files 1 s.
func newThread() *kernel.Thread {
	th := kerneltest.Caller(kerneltest.Network(1)[0])
	th.M = &asker{th.M, map[string]time.Duration{"/f": 2 * time.Second, "": time.Second}}
	th.Node().Files.Init()
	th.Call.InCall = true
	return th
}

// begin begins the sync of a file that the call of th makes, as a handler does.
func begin(t *testing.T, th *kernel.Thread, name, file string, ender Ender) *Sync {
	t.Helper()
	s := Ask(th, name, file)
	if s == nil || Of(th) != s || s.Begun() {
		t.Fatalf("%s of %q takes no time, or has begun", name, file)
	}
	s.Submit(th.Node(), disk.Op{Kind: disk.Fsync, Ino: 7})
	s.Begin(th, 5, ender)
	return s
}

// kinds are the kinds of the operations in a node's log.
func kinds(n *kernel.Node) (all []disk.Kind) {
	for _, op := range n.Files.Log.Ops() {
		all = append(all, op.Kind)
	}
	return all
}

// TestASyncEndsByItsMessage: the call waits, whatever signal comes, until the message that it sent
// to its own node arrives. The log of the files is entered then.
func TestASyncEndsByItsMessage(t *testing.T) {
	th := newThread()
	n := th.Node()
	n.Files.Whole = true
	s := begin(t, th, "fsync", "/f", nil)
	if len(n.Out) != 1 {
		t.Fatalf("%d messages", len(n.Out))
	}
	m := n.Out[0]
	if m.From != n.ID || m.To != n.ID || m.Flow.Proto != ariadne.Disk || string(m.Data) != "fsync of /f" ||
		time.Duration(m.Window) != 2*time.Second {
		t.Errorf("message %+v", m)
	}
	if r := s.Wait(th); r.Op != kernel.OpBlock || !th.Wait.Uninterruptible {
		t.Errorf("the call does not wait, or a signal ends it: %+v", r)
	}
	th.Park()
	if got := kinds(n); len(got) != 1 || got[0] != disk.Submit {
		t.Errorf("before its end the log has %v", got)
	}

	for name, wrong := range map[string]ariadne.Message{
		"of another sync":              {Flow: m.Flow, Seq: m.Seq + 1},
		"of before the last switch-on": {Flow: ariadne.OwnFlow(ariadne.Disk, n.Addrs[0], n.Boots+1), Seq: m.Seq},
	} {
		if Deliver(n, &wrong); th.State == kernel.Runnable || s.ended {
			t.Errorf("a message %s ends the sync", name)
		}
	}
	Deliver(n, &m)
	if th.State != kernel.Runnable {
		t.Fatal("the thread waits on")
	}
	if got := kinds(n); len(got) != 2 || got[1] != disk.Fsync {
		t.Errorf("after its end the log has %v", got)
	}
	if r := s.Wait(th); r.Op == kernel.OpBlock || r.Value != 5 || Of(th) != nil {
		t.Errorf("the call returns %+v", r)
	}
	if Deliver(n, &m); len(kinds(n)) != 2 {
		t.Error("the sync ended twice")
	}
}

// TestQuickSyncs: a file that nobody has chosen takes no time, nor does a tracee that asks nobody,
// nor a call that has written nothing after all.
func TestQuickSyncs(t *testing.T) {
	th := newThread()
	if Ask(th, "fsync", "/g") != nil || Of(th) != nil {
		t.Error("/g takes time")
	}
	if Ask(th, "sync", "") == nil {
		t.Error("all files take none")
	}
	if Drop(th); Of(th) != nil || len(th.Node().Out) > 0 {
		t.Error("what was dropped goes on")
	}
	if plain := kerneltest.Caller(th.Node()); Ask(plain, "fsync", "/f") != nil {
		t.Error("a sync takes time of which nobody was asked")
	}
}

// ends counts the syncs that have ended.
type ends struct{ count int }

func (e *ends) SyncEnded(*kernel.Node) { e.count++ }

// TestSyncsEndInAnyOrder: syncs that no call waits for end each by its own message, and their ender
// is told.
func TestSyncsEndInAnyOrder(t *testing.T) {
	th := newThread()
	n, e := th.Node(), &ends{}
	first := begin(t, th, "io_submit", "/f", e)
	if Of(th) != nil {
		t.Error("the call waits for it")
	}
	second := begin(t, th, "io_submit", "/f", e)
	if n.Out[0].Seq == n.Out[1].Seq {
		t.Fatal("both have one number")
	}
	if Deliver(n, &n.Out[1]); first.ended || !second.ended || e.count != 1 {
		t.Errorf("ended: %v and %v, told of %d", first.ended, second.ended, e.count)
	}
	if Deliver(n, &n.Out[0]); !first.ended || e.count != 2 {
		t.Errorf("ended: %v, told of %d", first.ended, e.count)
	}
}

// TestSyncOutlivesItsProcess: what was written is on the disk also when the process has been killed
// meanwhile.
func TestSyncOutlivesItsProcess(t *testing.T) {
	th := newThread()
	n := th.Node()
	n.Files.Whole = true
	s := begin(t, th, "fsync", "/f", nil)
	s.Wait(th)
	th.Park()
	th.Exit()
	th.Proc.Exit(0, int(unix.SIGKILL), false)
	Deliver(n, &n.Out[0])
	if got := kinds(n); len(got) != 2 || got[1] != disk.Fsync {
		t.Errorf("the log has %v", got)
	}
}
