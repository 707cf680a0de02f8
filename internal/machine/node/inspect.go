package node

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/host/procmaps"
	"github.com/ariadne-mc/ariadne/internal/leaf/inspect"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/iface"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/net/socket"
	"github.com/ariadne-mc/ariadne/internal/machine/sys"
)

// A Node is an inspect.Machine between two of its steps.
var _ inspect.Machine = (*Node)(nil)

// Look implements inspect.Machine.
func (n *Node) Look() (v *inspect.View, err error) {
	defer recoverTool(n, &err)
	v = &inspect.View{Clock: n.drift().last(n.k.Now)}
	for _, pid := range n.k.PIDs() {
		v.Processes = append(v.Processes, look(n.k.Procs[pid]))
	}
	for _, t := range n.k.Timers() {
		v.Timers = append(v.Timers, inspect.Timer{At: t.When, Of: ended(t.Exp), Silent: t.Silent})
	}
	if n.home.tree != nil || len(n.threads) > 0 { // else its files cannot be reached
		n.showFiles()
		n.captureFiles()
		for _, f := range n.files.List() {
			v.Files = append(v.Files, inspect.File(f))
		}
	}
	return v, nil
}

func look(p *kernel.Process) inspect.Process {
	v := inspect.Process{PID: p.PID, Parent: p.ParentPID(), Command: p.Command, Exe: p.Exe, Args: p.Args, Cwd: p.Cwd,
		Zombie: p.Dead, Status: p.ExitStatus, Signal: p.ExitSignal}
	if p.Dead {
		return v
	}
	for _, t := range p.Threads {
		v.Threads = append(v.Threads, lookAtThread(t))
	}
	for _, fd := range p.FDs.Numbers() {
		v.Descriptors = append(v.Descriptors, lookAtFile(fd, p.FDs.Get(fd)))
	}
	return v
}

func lookAtThread(t *kernel.Thread) inspect.Thread {
	v := inspect.Thread{TID: t.TID, Name: t.Name, Until: ariadne.Never}
	if t.State != kernel.Blocked || !t.Call.InCall {
		return v
	}
	v.Call, v.Args = sys.Name(t.Call.NR), t.Call.Args
	if of := t.WaitsOn(); of != nil {
		v.On = describe(of)
	}
	if t.Wait.HasDeadline {
		v.Until = t.Wait.Deadline
	}
	return v
}

func lookAtFile(fd int, of *kernel.OpenFile) inspect.Descriptor {
	d := inspect.Descriptor{FD: fd, What: describe(of), Flags: of.Flags}
	if b, ok := of.File.(interface{ Buffered() int }); ok {
		d.Unread = b.Buffered()
	}
	if b, ok := of.File.(interface{ Unsent() int }); ok {
		d.Unsent = b.Unsent()
	}
	return d
}

// ended is what a timer ends, in words.
func ended(e kernel.Expirer) string {
	switch e := e.(type) {
	case *kernel.Thread:
		return fmt.Sprintf("thread %d", e.TID)
	case kernel.Describer:
		return e.Describe()
	}
	kind, _, _ := strings.Cut(strings.TrimPrefix(fmt.Sprintf("%T", e), "*"), ".")
	return kind
}

// Registers implements inspect.Machine.
func (n *Node) Registers(tid int) (r inspect.Registers, err error) {
	defer recoverTool(n, &err)
	th := n.find(func(k *kernel.Thread) bool { return k.TID == tid })
	if th == nil {
		return r, fmt.Errorf("no thread %d is alive", tid)
	}
	c, err := th.tr.Save()
	if err != nil {
		return r, err
	}
	g := c.Registers()
	if n.debugging != nil && !th.k.Call.InCall { // within a step: its call has returned
		g = c.Current()
	}
	r.Extended = c.Extended()
	r.Named = []inspect.Register{
		{Name: "rax", Value: g.Rax}, {Name: "rbx", Value: g.Rbx}, {Name: "rcx", Value: g.Rcx},
		{Name: "rdx", Value: g.Rdx},
		{Name: "rsi", Value: g.Rsi}, {Name: "rdi", Value: g.Rdi}, {Name: "rbp", Value: g.Rbp},
		{Name: "rsp", Value: g.Rsp},
		{Name: "r8", Value: g.R8}, {Name: "r9", Value: g.R9}, {Name: "r10", Value: g.R10}, {Name: "r11", Value: g.R11},
		{Name: "r12", Value: g.R12}, {Name: "r13", Value: g.R13}, {Name: "r14", Value: g.R14},
		{Name: "r15", Value: g.R15},
		{Name: "rip", Value: g.Rip}, {Name: "eflags", Value: g.Eflags}, {Name: "orig_rax", Value: g.Orig_rax},
		{Name: "cs", Value: g.Cs}, {Name: "ss", Value: g.Ss}, {Name: "ds", Value: g.Ds}, {Name: "es", Value: g.Es},
		{Name: "fs", Value: g.Fs}, {Name: "gs", Value: g.Gs},
		{Name: "fs_base", Value: g.Fs_base}, {Name: "gs_base", Value: g.Gs_base},
	}
	return r, nil
}

// process is a thread of a process, through which its memory can be read: any of them.
func (n *Node) process(pid int) (*thread, error) {
	th := n.find(func(k *kernel.Thread) bool { return k.Proc.PID == pid })
	if th == nil {
		return nil, fmt.Errorf("no process %d is alive", pid)
	}
	return th, nil
}

// Mappings implements inspect.Machine.
func (n *Node) Mappings(pid int) (all []inspect.Mapping, err error) {
	defer recoverTool(n, &err)
	th, err := n.process(pid)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(th.maps()) {
		m, ok := procmaps.Parse(line)
		if !ok {
			return nil, fmt.Errorf("cannot read the mapping %q", line)
		}
		all = append(all, inspect.Mapping{Start: m.Start, End: m.End, Offset: m.Offset, Shared: m.Shared(),
			Read: m.Readable(), Write: m.Writable(), Execute: m.Executable(), Name: m.Name})
	}
	return all, nil
}

// ReadMemory implements inspect.Machine.
func (n *Node) ReadMemory(pid int, address uint64, b []byte) (read int, err error) {
	defer recoverTool(n, &err)
	th, err := n.process(pid)
	if err != nil {
		return 0, err
	}
	// A page at a time: where one is not there the read ends before it.
	for read < len(b) {
		at := address + uint64(read)
		part := b[read:min(len(b), read+int(pageSize-at%pageSize))]
		if e := th.tr.Peek(at, part); e != 0 {
			if read == 0 {
				return 0, fmt.Errorf("process %d has nothing to read at %#x", pid, at)
			}
			break
		}
		n.debugging.hide(pid, at, part)
		read += len(part)
	}
	return read, nil
}

// Auxiliary implements inspect.Machine.
func (n *Node) Auxiliary(pid int) (b []byte, err error) {
	defer recoverTool(n, &err)
	th, err := n.process(pid)
	if err != nil {
		return nil, err
	}
	if b, err = os.ReadFile(fmt.Sprintf("/proc/%d/auxv", th.tr.TID)); err != nil {
		return nil, err
	}
	for at := 0; at+16 <= len(b); at += 16 {
		for _, x := range th.k.Proc.Aux {
			if x.Kind == binary.LittleEndian.Uint64(b[at:]) {
				binary.LittleEndian.PutUint64(b[at+8:], x.Value)
			}
		}
	}
	return b, nil
}

// ReadFile implements inspect.Machine.
func (n *Node) ReadFile(name string, offset int64, b []byte) (read int, err error) {
	defer recoverTool(n, &err)
	if n.home.treeFD == nil {
		return 0, errors.New("the machine was not switched on")
	}
	n.showFiles()
	base, _ := n.ownFiles()
	root, err := os.OpenRoot(base)
	if err != nil {
		return 0, err
	}
	defer root.Close()
	f, err := root.Open(strings.TrimPrefix(path.Clean("/"+name), "/"))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return 0, errors.Join(err, fmt.Errorf("%s is no regular file", name))
	}
	read, err = f.ReadAt(b, offset)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return read, err
}

// describe names an open file as /proc does, a socket with its addresses.
func describe(of *kernel.OpenFile) string {
	what := "anon_inode:[unknown]"
	if d, ok := of.File.(kernel.Describer); ok {
		what = d.Describe()
	}
	s, ok := of.File.(socket.Socket)
	if !ok {
		return what
	}
	if a, ok := address(s.LocalAddr()); ok {
		what += " " + a
	}
	if l, ok := s.(socket.Listener); ok && l.Listening() {
		what += " listening"
	}
	if remote, e := s.RemoteAddr(); e == 0 {
		if a, ok := address(remote); ok {
			what += " to " + a
		}
	}
	return what
}

// address is a sockaddr of the internet, as a text.
func address(b []byte) (string, bool) {
	a, e := iface.InetAddr(b)
	return a.String(), e == 0 && a.IsValid()
}
