//go:build linux

package node

import (
	"fmt"
	"maps"
	"slices"
	"sort"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/area"
	"github.com/ariadne-mc/ariadne/internal/machine/tracee"

	"golang.org/x/sys/unix"
)

// A Checkpoint is a frozen copy of a quiescent node: of each process a fork that never runs, and
// the pages in which it differs from that; of each thread its registers; of the node its state,
// with what its files hold. All but the forks is data. All copies of a node share its namespaces
// and its one file tree, which therefore shows the state of whichever ran last; before a copy runs,
// the tree is set to that copy's state (internal/machine/filetree). So at most one copy of a node
// runs at a time, and all belong to one executor.
type Checkpoint struct {
	setup
	home    *home
	state   *stateImage
	carried []int // the checkpoint's own descriptors of what the kernel carries
	forks   *forks
	threads []frozenThreads // by process, as all that follows
	pages   []pages         // in which the processes differ from the forks
	extras  []extras        // what they have mapped besides the mappings of the forks
	bytes   int64
	// compared: its pages were compared with those of the checkpoint before, and unchanged: no
	// content differs.
	compared, unchanged bool

	moved    *movedPages          // where the pages are, if not in memory
	portable *Portable            // or nil
	pairings map[*origin]*pairing // with nodes of other executors
}

// frozenThreads are those of a process, leader first.
type frozenThreads []frozenThread

// first is one that has not ended.
func (all frozenThreads) first() int {
	for _, ft := range all {
		if !ft.dead {
			return ft.tid
		}
	}
	return 0
}

type frozenThread struct {
	tid  int  // virtual
	dead bool // a leader that ended before the others
	ctx  *tracee.Context
	alt  kernel.AltStack
}

// Freeze copies the node, which is between two steps, and leaves it as it is.
func (n *Node) Freeze() (c *Checkpoint, err error) {
	defer recoverTool(n, &err)
	if n.home.treeFD == nil && len(n.threads) == 0 {
		// There is no process through which its files could be reached.
		return nil, fmt.Errorf("%w: no process is left", ariadne.ErrNotFreezable)
	}
	for _, th := range n.threads {
		if th.k.State == kernel.Runnable && !th.k.Call.InCall && th.k.Vfork == nil && th.tr.InCall() {
			return nil,
				fmt.Errorf("%w: thread %d has a call behind it and goes on from there", ariadne.ErrNotFreezable,
					th.k.TID)
		}
	}
	n.showFiles()
	n.captureFiles()
	procs := n.processes()
	for _, p := range procs {
		if p.fork == nil {
			return nil,
				fmt.Errorf("%w: no thread of process %d stands in a call", ariadne.ErrNotFreezable,
					p.threads[0].k.Proc.PID)
		}
	}
	n.k.Copied = true
	c = &Checkpoint{setup: n.setup, home: n.home, state: states.Image(&n.state)}
	for _, carried := range n.k.Carried {
		c.carried = append(c.carried, duplicate(carried.FD))
	}
	c.bytes = c.state.Bytes()
	n.home.users++
	for _, p := range procs {
		var threads frozenThreads
		for _, th := range p.threads {
			ctx, err := th.tr.Save()
			must(err)
			threads = append(threads,
				frozenThread{tid: th.k.TID, dead: th.k.State == kernel.Dead, ctx: ctx, alt: n.altStack(th)})
		}
		c.threads = append(c.threads, threads)
	}
	var bytes int64
	c.forks, c.pages, c.extras, bytes = n.freezePages(procs)
	c.bytes += bytes
	c.unchanged, c.compared = n.paging.comparison()
	c.portable = n.portable(c)
	return c, nil
}

func duplicate(fd int) int {
	fd, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
	must(err)
	return fd
}

// process is a live process as Freeze sees it.
type process struct {
	threads []*thread // leader first, then by virtual id
	fork    *thread   // one that stands in a call
}

// processes groups the node's threads, in order of virtual process ids.
func (n *Node) processes() []*process {
	byPID := map[*kernel.Process]*process{}
	var list []*process
	for _, th := range n.threads {
		p := byPID[th.k.Proc]
		if p == nil {
			p = &process{}
			byPID[th.k.Proc] = p
			list = append(list, p)
		}
		p.threads = append(p.threads, th)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].threads[0].k.Proc.PID < list[j].threads[0].k.Proc.PID })
	for _, p := range list {
		leads := func(th *thread) bool { return th.tr.TID == th.tr.PID }
		sort.Slice(p.threads, func(i, j int) bool {
			a, b := p.threads[i], p.threads[j]
			if leads(a) != leads(b) {
				return leads(a)
			}
			return a.k.TID < b.k.TID
		})
		for _, th := range p.threads {
			if th.tr.InCall() {
				p.fork = th
				break
			}
		}
	}
	return list
}

// Thaw makes a node that goes on from the checkpoint. The checkpoint stays.
func (c *Checkpoint) Thaw() (n *Node, err error) {
	defer c.recoverTool(&err)
	n = &Node{setup: c.setup, home: c.home}
	n.home.users++
	n.inhabit(c, c.state.Copy())
	return n, nil
}

// StartedAs reports whether a checkpoint is of the node or of a copy of it.
func (n *Node) StartedAs(c *Checkpoint) bool { return n.home == c.home }

// Restore makes a node go on from a checkpoint that was taken of it, or of a copy of it. Its
// present state is lost. The checkpoint stays. In place, if the node's processes differ from it in
// nothing but pages, registers and state. Of others there are copies afterwards.
func (n *Node) Restore(c *Checkpoint) (inPlace bool, err error) {
	if !n.StartedAs(c) {
		return false, fmt.Errorf("node %s: the checkpoint is of another node", n.cfg.Name)
	}
	defer func() {
		if err != nil {
			err = killed(err, c.forks.threads())
		}
	}()
	defer recoverTool(n, &err)
	return n.restoreInPlace(c), nil
}

// inhabit gives a node without processes a state, and those of a checkpoint.
func (n *Node) inhabit(c *Checkpoint, s *state) {
	n.setState(c, s)
	byTID := threadsOf(&n.state)
	for i := range c.threads {
		n.thawProcess(c, i, byTID)
	}
	n.settleForks(c, nil)
}

// setState gives the node a state, with the descriptors that its kernel carries, and no threads.
func (n *Node) setState(c *Checkpoint, s *state) {
	n.state, n.step, n.threads = *s, step{}, map[*kernel.Thread]*thread{}
	if n.home.treeFD != nil {
		n.k.Files.Tree = int(n.home.treeFD.Fd())
	}
	if n.home.tree != nil { // which has changed since
		n.k.Files.Recreated = n.home.tree.Recreated()
	}
	for i, fd := range c.carried {
		n.k.Carried[i].FD = duplicate(fd)
	}
}

// threadsOf are the threads of a state's kernel, by number.
func threadsOf(s *state) map[int]*kernel.Thread {
	all := map[int]*kernel.Thread{}
	for _, k := range s.k.AllThreads() {
		all[k.TID] = k
	}
	return all
}

// recoverTool is the node's for Thaw, which finds the frozen processes.
func (c *Checkpoint) recoverTool(err *error) {
	switch e := recover().(type) {
	case nil:
	case toolError:
		*err = fmt.Errorf("node %s: %w", c.cfg.Name, killed(e.error, c.forks.threads()))
	default:
		panic(e)
	}
}

// thawProcess forks a frozen process and rebuilds its threads.
func (n *Node) thawProcess(c *Checkpoint, i int, byTID map[int]*kernel.Thread) {
	threads := c.threads[i]
	first, err := c.forks.procs[i].tr.ForkProcess()
	must(err)
	changeMappings(first, &extras{}, &c.extras[i])
	writePages(first, c.pages[i])
	if n.cfg.Pages {
		n.changeAttributes(first, c.forks.procs[i].attributes, attributesOf(byTID[threads.first()].Proc))
	}
	trs := []*tracee.Thread{first}
	for range threads[1:] {
		tr, err := first.SpawnThread()
		must(err)
		trs = append(trs, tr)
	}
	for i, ft := range threads {
		th := n.loadThread(threads, i, trs[i], byTID)
		if i == 0 || ft.alt != (kernel.AltStack{}) {
			n.setAltStack(th, ft.alt)
		}
	}
}

// loadThread makes thread i of a frozen process of a real thread.
func (n *Node) loadThread(threads frozenThreads, i int, tr *tracee.Thread, byTID map[int]*kernel.Thread) *thread {
	ft := threads[i]
	k := byTID[ft.tid]
	if ft.dead {
		k = &kernel.Thread{TID: ft.tid, State: kernel.Dead, Proc: byTID[threads[i+1].tid].Proc}
	}
	if k == nil {
		must(fmt.Errorf("thread %d is not in the copied kernel", ft.tid))
	}
	th := n.addThread(k, tr)
	must(tr.Load(ft.ctx))
	return th
}

// setAltStack gives a rebuilt thread its alternate signal stack.
func (n *Node) setAltStack(th *thread, s kernel.AltStack) {
	if s == (kernel.AltStack{}) {
		s[8] = ssDisable
	}
	if !th.tr.InCall() {
		must(fmt.Errorf("%w: thread %d stands in no call", ariadne.ErrNotFreezable, th.k.TID))
	}
	if e := th.WriteMem(area.Scratch, s[:]); e != 0 {
		must(fmt.Errorf("thread %d: scratch memory: %w", th.k.TID, e))
	}
	// Nobody's stack is changed who stands on it, and the thread has that of the one from
	// which its process was forked.
	v, err := th.tr.InjectOffStack(unix.SYS_SIGALTSTACK, area.Scratch, 0)
	must(err)
	if v < 0 {
		must(fmt.Errorf("thread %d: alternate signal stack: %w", th.k.TID, unix.Errno(-v)))
	}
}

// altStack is the alternate signal stack of a thread. Where Linux may have changed it on
// the way into handlers and out of them, Linux is asked.
func (n *Node) altStack(th *thread) kernel.AltStack {
	if !th.k.AskAltStack {
		return th.k.AltStack
	}
	if !th.tr.InCall() {
		restore := th.tr.Borrow()
		defer func() { must(restore()) }()
	}
	n.inject(th, unix.SYS_SIGALTSTACK, 0, area.Scratch)
	var s kernel.AltStack
	if e := th.ReadMem(area.Scratch, s[:]); e != 0 {
		must(fmt.Errorf("thread %d: scratch memory: %w", th.k.TID, e))
	}
	s[8] &^= ssOnStack
	return s
}

// Flags of a stack_t, in its byte 8.
const (
	ssOnStack = 1
	ssDisable = 2
)

// Drop ends the frozen processes, unless other checkpoints need them.
func (c *Checkpoint) Drop() error {
	if c.moved != nil {
		c.moved.free()
	}
	first := c.forks.leave()
	for _, fd := range c.carried {
		if err := unix.Close(fd); err != nil && first == nil {
			first = err
		}
	}
	c.carried = nil
	if err := c.home.leave(); err != nil && first == nil {
		first = err
	}
	return first
}

// Bytes is about how much memory the checkpoint holds: what its processes do not
// share with the others is known only to Linux, and to ask costs more than a
// freeze, so this is a share of what they have in memory. Measured were 400 to 550 KB
// for memcached, Redis and an etcd node, of which the copy of the kernel is 60.
func (c *Checkpoint) Bytes() int64 { return c.bytes }

// Unchanged reports whether the processes' pages have the content that they had at the checkpoint
// before, or from which the node went on. Registers and the kernel's state may differ. Not known:
// there is a new fork among those of the checkpoint.
func (c *Checkpoint) Unchanged() (unchanged, known bool) { return c.unchanged, c.compared }

// Close ends the node's processes.
func (n *Node) Close() (err error) {
	defer recoverTool(n, &err)
	if n.watch != nil {
		n.watch.Stop()
	}
	first := n.leave()
	if err := n.home.leave(); err != nil && first == nil {
		first = fmt.Errorf("node %s: unmap: %w", n.cfg.Name, err)
	}
	return first
}

// leave ends the node's processes, and gives up what it holds of the host's besides its home.
func (n *Node) leave() error {
	n.leaveShared()
	n.closeHeld(nil)
	n.hideFiles()
	first := n.endAll(slices.Collect(maps.Keys(n.threads)))
	n.paging.leave()
	n.closeCarried()
	return first
}

// endAll ends processes, by their threads.
func (n *Node) endAll(threads []*kernel.Thread) (first error) {
	procs := map[*tracee.Process][]*tracee.Thread{}
	for _, k := range threads {
		tr := n.threads[k].tr
		procs[tr.Process()] = append(procs[tr.Process()], tr)
		delete(n.threads, k)
	}
	for _, all := range procs {
		n.paging.forget(all[0].PID)
		if err := tracee.Kill(all); err != nil && first == nil {
			first = err
		}
		for _, tr := range all {
			tr.Release()
		}
	}
	return first
}
