//go:build linux

package node

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"sort"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/devices/console"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/devices/dialog"
	"github.com/ariadne-mc/ariadne/internal/machine/node/config"
	"github.com/ariadne-mc/ariadne/internal/machine/processor"
	"github.com/ariadne-mc/ariadne/internal/machine/sandbox"
	"github.com/ariadne-mc/ariadne/internal/machine/tracee"

	"golang.org/x/sys/unix"
)

// launch starts the i-th command of the node: the first builds the sandbox, the
// others join it.
func (n *Node) launch(i int, c config.Command) error {
	cfg := sandbox.Config{
		ID: n.cfg.ID, Name: n.cfg.Name, SpecDir: n.cfg.SpecDir, WorkDir: n.cfg.WorkDir, Links: n.cfg.Links,
		Shown: n.cfg.Beside.Copied, Writable: n.cfg.Writable, Run: n.cfg.Run,
		Hosts: n.k.Hosts, CPUs: n.k.CPUs, Processor: processor.Named(n.k.Processor), Memory: n.k.Memory, Args: c.Args,
		Env: n.environment(i), User: n.cfg.User, Group: n.cfg.Group,
	}
	var pid int
	var err error
	if spaces, done, e := n.spaces(); e != nil {
		return e
	} else if spaces != nil {
		pid, err = sandbox.Join(spaces, cfg)
		done()
	} else {
		pid, err = sandbox.Start(cfg)
	}
	if err != nil {
		return err
	}
	if n.joins && n.home.spaces == nil {
		if n.home.spaces, err = sandbox.SpacesOf(pid); err != nil {
			return err
		}
	}
	n.paging.noteProcess()
	tr, err := tracee.Attach(pid)
	if err != nil {
		return err
	}
	if err := n.mapArea(); err != nil {
		return err
	}
	if err := n.openView(pid); err != nil {
		return err
	}
	p, t := n.k.NewProcess(nil)
	p.Command = i
	p.SetUser(n.cfg.User, n.cfg.Group)
	p.Cwd = "/node"
	p.FDs = kernel.NewFDTable()
	n.standardFiles(p)
	th := n.addThread(t, tr)
	p.Exec(t, exePath(tr), c.Args[0], c.Args)
	n.askProgram(c.Args[0])
	n.failIfChanged()
	n.lookProgram(c.Args[0])
	maps := th.maps()
	n.useProgram(th, c.Args[0], maps)
	if n.setImage(th, maps) {
		n.k.MakeReady(t)
	}
	return nil
}

// spaces are the node's namespaces, until done is called; nil: there are none yet.
func (n *Node) spaces() (s *sandbox.Spaces, done func(), err error) {
	if n.home.spaces != nil {
		return n.home.spaces, func() {}, nil
	}
	member := n.member()
	if member == 0 {
		return nil, nil, nil
	}
	s, err = sandbox.SpacesOf(member)
	if err != nil {
		return nil, nil, err
	}
	return s, s.Close, nil
}

// member returns the real pid of a living process of the node, or 0.
func (n *Node) member() int {
	pid := 0
	for _, th := range n.threads {
		if pid == 0 || th.tr.PID < pid {
			pid = th.tr.PID
		}
	}
	return pid
}

// standardFiles gives a command its descriptors 0, 1 and 2.
func (n *Node) standardFiles(p *kernel.Process) {
	var in kernel.File = console.NewInput(n.cfg.Stdin, n.cfg.StdinOpen)
	if n.cfg.Stdin == "" && !n.cfg.StdinOpen {
		in = n.nullDevice()
	}
	p.FDs.Set(0, &kernel.OpenFile{File: in, Flags: unix.O_RDONLY}, false)
	for stream := 1; stream <= 2; stream++ {
		p.FDs.Set(stream, &kernel.OpenFile{File: console.NewOutput(stream), Flags: unix.O_WRONLY}, false)
	}
}

// nullDevice is the file that is a process's descriptor 0 from its start.
func (n *Node) nullDevice() *kernel.HostFile {
	var st unix.Stat_t
	must(unix.Fstatat(n.home.view.root, "dev/null", &st, 0))
	return &kernel.HostFile{Path: "/dev/null", Dev: st.Dev, Ino: st.Ino, Mode: st.Mode}
}

// environment is what the i-th command starts with: what all do, and what looks at the files that a
// fault has left is told of what the node's programs had said of their work by then.
func (n *Node) environment(i int) []string {
	env := environment(n.cfg.Machine)
	if i < len(n.cfg.Commands)+len(n.cfg.Restart) {
		return env
	}
	return append(env, dialog.EpochOf(n.k).Env()...)
}

// environment is what every command starts with; nothing of the host's leaks in.
func environment(m *config.Machine) []string {
	env := map[string]string{
		"PATH": m.Path, "HOME": "/node", "PWD": "/node", "LANG": "C.UTF-8", "TZ": "UTC",
		"HOSTNAME": m.Name,
		// LeakSanitizer traces its own process, and gives up where it cannot.
		"LSAN_OPTIONS": "detect_leaks=0",
	}
	for k, v := range m.Env {
		env[k] = v
	}
	var s []string
	for k, v := range env {
		s = append(s, k+"="+v)
	}
	sort.Strings(s)
	return s
}

// exePath is the program's path as the node sees it.
func exePath(tr *tracee.Thread) string {
	s, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", tr.TID))
	must(err)
	return s
}

// maxTasks bounds what a node's processes and threads take of the host's memory, and of its
// time: Linux looks for who has stopped among all of them.
const maxTasks = 4096

// clone makes a thread or a process. Linux makes it with the supervisor's flags:
// no exit signal, no waiting for a vfork child, no real ids written to memory.
func (n *Node) clone(th *thread, a kernel.CloneArgs) bool {
	const emulated = 0xff | unix.CLONE_VFORK | unix.CLONE_PARENT_SETTID | unix.CLONE_CHILD_SETTID |
		unix.CLONE_CHILD_CLEARTID | unix.CLONE_PTRACE | unix.CLONE_UNTRACED | unix.CLONE_DETACHED | unix.CLONE_PIDFD
	if len(n.threads) >= maxTasks {
		must(&ariadne.LimitError{Err: fmt.Errorf("a node has %d processes and threads, and Ariadne gives it no more", maxTasks)})
	}
	flags := a.Flags &^ emulated
	if flags&unix.CLONE_THREAD == 0 {
		// A child of Ariadne: whoever dies first, no real parent gets a signal.
		flags |= unix.CLONE_PARENT
	}
	if n.paging.noteProcess(); flags&unix.CLONE_VM != 0 {
		n.paging.noteChange(th.tr.PID)
	}
	must(th.tr.SetCall(unix.SYS_CLONE, flags, a.Stack, 0, 0, a.TLS))
	must(th.tr.ToExit())
	s, err := th.tr.Wait()
	must(err)
	if s.Kind == tracee.CallExit {
		must(th.tr.Refresh())
		v := th.tr.Result()
		if e := unix.Errno(-v); e == unix.EAGAIN || e == unix.ENOMEM {
			// A node has no limit of processes that it could have come to.
			must(fmt.Errorf("thread %d: %s: %w", th.k.TID, callName(th.k.Call.NR), e))
		}
		return n.finish(th, v)
	}
	if s.Kind != tracee.CloneEvent {
		must(fmt.Errorf("thread %d: %v stop in clone", th.k.TID, s.Kind))
	}
	ctr, err := tracee.Adopt(th.tr, s.Child, flags&unix.CLONE_THREAD != 0, flags&unix.CLONE_VM != 0)
	must(err)
	must(th.tr.ToExit())
	_, err = th.tr.Wait()
	must(err)
	if th.k.Proc.AdvisedFork && flags&unix.CLONE_VM == 0 {
		must(n.heedForkAdvice(ctr))
	}
	must(ctr.StartChild(th.tr))

	ck := n.k.Fork(th.k, a)
	child := n.addThread(ck, ctr)
	tid := binary.LittleEndian.AppendUint32(nil, uint32(ck.TID))
	if a.Flags&unix.CLONE_PARENT_SETTID != 0 {
		th.WriteMem(a.ParentTID, tid) // as Linux: a bad address is not an error
	}
	if a.Flags&unix.CLONE_CHILD_SETTID != 0 {
		child.WriteMem(a.ChildTID, tid)
	}
	n.k.MakeReady(ck)
	if a.Flags&unix.CLONE_VFORK != 0 {
		th.k.Vfork = ck.Proc
		th.k.Wait.Uninterruptible = true
		th.k.Park()
		return false
	}
	return n.finish(th, int64(ck.TID))
}

// endVfork lets a thread go on whose vfork child has executed or ended; of what
// else may wake it, only a fatal signal does more.
func (n *Node) endVfork(th *thread) bool {
	if th.k.Vfork.VforkParent == th.k {
		if th.k.HasSignal() && !n.deliverSignals(th) {
			return false
		}
		th.k.Wait.Uninterruptible = true
		th.k.Park()
		return false
	}
	pid := th.k.Vfork.PID
	th.k.Vfork = nil
	return n.finish(th, int64(pid))
}

// exec runs execve or execveat.
func (n *Node) exec(th *thread) bool {
	k := th.k
	name, args, program := k.Call.Program, execArgs(k), n.programOf(th)
	a := k.Call.Args
	n.paging.stopFollowing(th.tr.PID) // of memory that will be gone
	must(th.tr.SetCall(k.Call.NR, a[:]...))
	s := n.runExec(th)
	if s.Kind == tracee.CallExit {
		must(th.tr.Refresh())
		return n.finish(th, th.tr.Result())
	}
	n.record(th, 0)
	if s.Kind == tracee.Exited {
		if s.Signal != unix.SIGSEGV {
			panic(toolError{fmt.Errorf("process %d was ended from outside (signal %d)", k.Proc.PID, s.Signal)})
		}
		// The old image was gone already when Linux found the new one to be bad.
		n.endProcess(k.Proc, 0, int(s.Signal), true)
		return false
	}
	for _, o := range append([]*kernel.Thread(nil), k.Proc.Threads...) {
		if o != k {
			delete(n.threads, o)
		}
	}
	th.tr.TakeOver()
	must(th.tr.AfterExec())
	k.EndWait()
	k.Call.InCall = false
	if name == "" { // of a descriptor
		name = exePath(th.tr)
	}
	k.Proc.Exec(k, exePath(th.tr), name, args)
	n.debugging.forget(k.Proc.PID)
	maps := th.maps()
	n.useProgram(th, program, maps)
	return n.setImage(th, maps) && n.deliverSignals(th)
}

// runExec resumes th in execve until it has a new image or has failed. The other
// threads of the process end on the way.
func (n *Node) runExec(th *thread) tracee.Stop {
	must(th.tr.ToExit())
	var others []*tracee.Thread
	for _, o := range th.k.Proc.Threads {
		if tr := n.threads[o].tr; o != th.k && tr.TID != tr.PID {
			others = append(others, tr)
		}
	}
	if len(others) == 0 && th.tr.TID == th.tr.PID {
		s, err := th.tr.Wait()
		must(err)
		return s
	}
	s, err := th.tr.WaitExec(others)
	must(err)
	return s
}

// maxArgs is more than Linux takes of arguments and environment (execve(2)).
const maxArgs = 6 << 20

// execArgs reads the argument list that execve is given, for /proc/self/cmdline.
func execArgs(k *kernel.Thread) []string {
	at := k.Call.Args[1]
	if k.Call.NR == unix.SYS_EXECVEAT {
		at = k.Call.Args[2]
	}
	var args []string
	for size := 0; size < maxArgs; at += 8 {
		var b [8]byte
		if k.M.ReadMem(at, b[:]) != 0 {
			break
		}
		p := binary.LittleEndian.Uint64(b[:])
		if p == 0 {
			break
		}
		s := readString(k, p)
		size += len(s) + 1
		args = append(args, s)
	}
	return args
}

// readString reads a string of at most 128 KiB, as one argument may have.
func readString(k *kernel.Thread, at uint64) string {
	var s []byte
	for len(s) < 1<<17 {
		// Up to the end of a page: the next one may not be there.
		b := make([]byte, min(256, pageSize-at%pageSize))
		if k.M.ReadMem(at, b) != 0 {
			break
		}
		if i := bytes.IndexByte(b, 0); i >= 0 {
			return string(append(s, b[:i]...))
		}
		s = append(s, b...)
		at += uint64(len(b))
	}
	return string(s)
}

// endThread ends one thread; with the last one, the process.
func (n *Node) endThread(th *thread, status int) {
	p := th.k.Proc
	if len(p.Threads) == 1 {
		n.endProcess(p, status, 0, false)
		return
	}
	n.paging.noteChange(th.tr.PID)
	th.k.Exit()
	if th.tr.TID == th.tr.PID {
		// Linux keeps the leader until the last thread ends; so it stays stopped.
		return
	}
	delete(n.threads, th.k)
	if th.tr.Consumed() || th.k.Call.NR != unix.SYS_EXIT {
		must(th.tr.SetCall(unix.SYS_EXIT, 0))
	}
	must(th.tr.Continue(0))
	th.tr.Reap()
}

// endProcess ends p: by exit status or by a signal.
func (n *Node) endProcess(p *kernel.Process, status, signal int, core bool) {
	var threads []*tracee.Thread
	for k, th := range n.threads {
		if k.Proc == p {
			threads = append(threads, th.tr)
		}
	}
	n.workerEnds(p, status, signal)
	p.Exit(status, signal, core)
	for _, tr := range threads {
		n.paging.forget(tr.PID)
	}
	must(tracee.Kill(threads))
	for k, th := range n.threads {
		if k.Proc == p {
			th.tr.Release()
			delete(n.threads, k)
		}
	}
}
