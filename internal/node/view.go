package node

import (
	"fmt"

	"ariadne"
	"ariadne/internal/filetree"
	"ariadne/internal/kernel"
	"ariadne/internal/kernel/net/iface"
	"ariadne/internal/kernel/net/socket"
	"ariadne/internal/sys"
)

// View is what a node is between two steps, for people to look at. Numbers are those that
// its programs see.
type View struct {
	Clock     ariadne.Time
	Processes []ProcessView   // by id
	Files     []filetree.Name // of its own, by path
}

// ProcessView is a process of a node.
type ProcessView struct {
	PID, Parent int
	Command     int // of the spec, or -1
	Exe         string
	Args        []string
	Cwd         string
	// Zombie: it has ended, by a signal unless that is 0, and nobody has waited for it.
	Zombie         bool
	Status, Signal int
	Threads        []ThreadView
	Descriptors    []DescriptorView // by number
}

// ThreadView is a thread of a node.
type ThreadView struct {
	TID  int
	Name string
	// Call is the system call in which it waits, and Args are its arguments; "": it stands in
	// no call, and goes on with the node's next step.
	Call string
	Args [6]uint64
	// On says what it waits on, if that is an open file; Until is when it stops waiting, or
	// Never.
	On    string
	Until ariadne.Time
}

// DescriptorView is an open descriptor of a process.
type DescriptorView struct {
	FD    int
	What  string // a path, or what /proc shows of it, with addresses
	Flags int    // of open(2)
}

// View looks at the node, which is between two steps, and leaves it as it is.
func (n *Node) View() (v *View, err error) {
	defer recoverTool(n, &err)
	v = &View{Clock: n.drift().last(n.k.Now)}
	for _, pid := range n.k.PIDs() {
		v.Processes = append(v.Processes, viewProcess(n.k.Procs[pid]))
	}
	if n.home.tree != nil || len(n.threads) > 0 { // else its files cannot be reached
		n.enter()
		n.captureFiles()
		v.Files = n.files.List()
	}
	return v, nil
}

func viewProcess(p *kernel.Process) ProcessView {
	v := ProcessView{PID: p.PID, Parent: p.ParentPID(), Command: p.Command, Exe: p.Exe, Args: p.Args, Cwd: p.Cwd,
		Zombie: p.Dead, Status: p.ExitStatus, Signal: p.ExitSignal}
	if p.Dead {
		return v
	}
	for _, t := range p.Threads {
		v.Threads = append(v.Threads, viewThread(t))
	}
	for _, fd := range p.FDs.Numbers() {
		of := p.FDs.Get(fd)
		v.Descriptors = append(v.Descriptors, DescriptorView{FD: fd, What: describe(of), Flags: of.Flags})
	}
	return v
}

func viewThread(t *kernel.Thread) ThreadView {
	v := ThreadView{TID: t.TID, Name: t.Name, Until: ariadne.Never}
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

// String is the thread in a line.
func (v ThreadView) String() string {
	text := fmt.Sprintf("%d %s: ", v.TID, v.Name)
	switch {
	case v.Call == "":
		return text + "goes on"
	case v.On != "":
		text += fmt.Sprintf("%s on %s", v.Call, v.On)
	default:
		text += fmt.Sprintf("%s(%#x, %#x, %#x)", v.Call, v.Args[0], v.Args[1], v.Args[2])
	}
	if v.Until != ariadne.Never {
		text += fmt.Sprintf(" until %v", v.Until)
	}
	return text
}
