//go:build linux

package node

import (
	"path"
	"slices"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/devices/dialog"
	"github.com/ariadne-mc/ariadne/internal/machine/node/config"
	"github.com/ariadne-mc/ariadne/internal/machine/sys"

	"golang.org/x/sys/unix"
)

// failing is how the calls of a node may fail, by number.
type failing map[int]*ways

// ways are those of one call.
type ways struct {
	could []func(t *kernel.Thread, a sys.Args) (on string, ok bool)
	// others are the alternatives by which of them are possible, a bit for each: the same slice
	// each time. For root they are those but ENFILE: the last of the system's open files are
	// kept for it (CAP_SYS_ADMIN).
	others, root [][]string
	// waits are the alternatives where the call waits.
	waits []string
}

// failures are those of calls that may fail.
func failures(f *config.Fail) failing {
	if f.Errors == nil {
		return nil
	}
	all := failing{}
	for nr := range sys.Table {
		var others []string
		for _, name := range f.Errors[sys.Table[nr].Name] {
			others = append(others, ariadne.CallFails+":"+name)
		}
		if others != nil {
			all[nr] = waysOf(sys.Table[nr].Fails, others)
		}
	}
	return all
}

func waysOf(fails []sys.Failure, others []string) *ways {
	w := &ways{others: [][]string{nil}, root: [][]string{nil}}
	for _, f := range fails {
		fit := slices.DeleteFunc(slices.Clone(others), func(a string) bool {
			_, name, _ := strings.Cut(a, ":")
			return !slices.Contains(f.Errors, name)
		})
		switch {
		case len(fit) == 0:
		case f.Could == nil:
			w.waits = append(w.waits, fit...)
		default:
			w.could = append(w.could, f.Could)
			for _, before := range w.others {
				w.others = append(w.others, slices.Concat(before, fit))
			}
			fit = slices.DeleteFunc(fit, func(a string) bool { return strings.HasSuffix(a, ":ENFILE") })
			for _, before := range w.root {
				w.root = append(w.root, slices.Concat(before, fit))
			}
		}
	}
	return w
}

// possible are the alternatives of the call that k stands in, and on which file it is.
func (n *Node) possible(k *kernel.Thread, w *ways) (on string, others []string) {
	which := 0
	for i, could := range w.could {
		if file, ok := could(k, k.Call.Args); ok && n.meant(k, file) {
			on, which = file, which|1<<i
		}
	}
	if k.Capable(unix.CAP_SYS_ADMIN) {
		return on, w.root[which]
	}
	return on, w.others[which]
}

// meant reports whether the spec means calls on a file, "" for none, and on connections like that
// of the call that k stands in.
func (n *Node) meant(k *kernel.Thread, file string) bool {
	f := &n.cfg.Faults.Fail
	if f.Peers == nil {
		return f.On(file)
	}
	at, ok := sys.Peer(k)
	return ok && slices.Contains(f.Peers, at)
}

// vary enters the call at whose entry th stands as a place of the step, if something else may
// happen there, and says with which error it is to fail; 0: it is made. A call that waits is a
// place when it begins.
func (n *Node) vary(th *thread) kernel.Errno {
	k := th.k
	if k.Call.Passed {
		return 0
	}
	k.Call.Passed = true
	w := n.failing[k.Call.NR]
	if w == nil || len(w.could) == 0 || !n.mayFail(k) {
		return 0
	}
	on, others := n.possible(k, w)
	if others == nil {
		return 0
	}
	what := n.take(th, callName(k.Call.NR), on, others)
	switch what {
	case "":
		return 0
	case ariadne.CallShort:
		sys.Shorten(k)
		return 0
	case ariadne.CallFull:
		sys.Fill(k)
		return 0
	case ariadne.CallReset:
		sys.Reset(k)
		return 0
	}
	e, ok := sys.Errno(what)
	if !ok {
		panic(toolError{unix.EINVAL})
	}
	if k.Call.NR == unix.SYS_IO_SUBMIT {
		k.Call.Fails = e
		return 0
	}
	return e
}

// take enters a place and returns what is to happen there, or "".
func (n *Node) take(th *thread, call, on string, others []string) string {
	if n.cfg.Faults.Fail.Sites {
		on += "<" + n.siteOf(th)
	}
	_, what, _ := strings.Cut(n.step.course.At(th.k.TID, call, on, others), ":")
	return what
}

// mayFail reports whether calls of a thread's program may fail now.
func (n *Node) mayFail(k *kernel.Thread) bool {
	f := &n.cfg.Faults.Fail
	return (f.Programs == nil || slices.ContainsFunc(f.Programs, func(name string) bool { return runs(k, name) })) &&
		n.isPrecededFor(ariadne.CallFails) && !dialog.Spared(n.k)
}

// runs reports whether a thread runs the program of that name: its file's, or the one by which it
// was started, a link's say.
func runs(k *kernel.Thread, name string) bool {
	return path.Base(k.Proc.Exe) == name || len(k.Proc.Args) > 0 && path.Base(k.Proc.Args[0]) == name
}

// varyWait enters the call in which th is about to wait as a place of the step, if it may be
// interrupted there, and reports whether it is, and its thread does not go on: a handler has
// its turn first, when that is how.
func (n *Node) varyWait(th *thread, r kernel.Result) (interrupted, goesOn bool) {
	k := th.k
	w := n.failing[k.Call.NR]
	if w == nil || w.waits == nil || k.Call.Waited {
		return false, false
	}
	k.Call.Waited = true
	by, ok := sys.Interruption(k, r.Restart)
	if !ok || !n.meant(k, "") || !n.mayFail(k) || n.take(th, callName(k.Call.NR)+"/wait", "", w.waits) == "" {
		return false, false
	}
	if by.Signo == 0 {
		return true, n.finish(th, -int64(unix.EINTR))
	}
	k.Park()
	k.Send(by)
	return true, false
}

// Choose implements dialog.Asker: the question is a place of the step.
func (th *thread) Choose(question string, alternatives []string) int {
	taken := th.n.step.course.At(th.k.TID, dialog.Kind, question, alternatives)
	return slices.Index(alternatives, taken) + 1
}

// Stall implements slowdisk.Asker: a call that has files written to the disk is a place of the
// step.
func (th *thread) Stall(file string) (length time.Duration, ok bool) {
	n := th.n
	if !n.cfg.Faults.Stall.On(file) || !n.isPrecededFor(ariadne.SyncStalls) || dialog.Spared(n.k) {
		return 0, false
	}
	taken := slices.Index(n.stalls, n.step.course.At(th.k.TID, callName(th.k.Call.NR)+"/disk", file, n.stalls))
	if taken < 0 {
		return 0, false
	}
	return n.cfg.Faults.Stall.For[taken], true
}

// stallsFor are the alternatives by which a sync takes time; nil: none does.
func stallsFor(lengths []time.Duration) (alternatives []string) {
	for _, l := range lengths {
		alternatives = append(alternatives, ariadne.SyncStalls+":"+l.String())
	}
	return alternatives
}

// failCall ends a call that was never made.
func (n *Node) failCall(th *thread, e kernel.Errno) bool {
	v := -int64(e)
	if th.k.Call.NR == unix.SYS_BRK {
		v = int64(sys.Break(th.k))
	}
	n.record(th, v)
	must(th.tr.Return(v))
	return n.leaveCall(th)
}
