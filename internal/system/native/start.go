package native

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

// Program is one to be started.
type Program struct {
	Args []string `json:"args"`
	Dir  string   `json:"dir"`
	Env  []string `json:"env"` // NAME=value; nil: that of this process
	// User and Group are those of the program; 0 is root.
	User  int `json:"user"`
	Group int `json:"group"`
}

// Machine is a node that is started in namespaces of its own.
type Machine struct {
	Name string `json:"name"`
	// Number tells machines of a Lab apart. One that starts again keeps its hardware address by it:
	// others would send to the old one for a minute.
	Number   int          `json:"number"`
	Addrs    []netip.Addr `json:"addrs"`
	Hosts    string       `json:"hosts"` // path of what it sees as /etc/hosts
	Programs []Program    `json:"programs"`
}

// Lab starts programs, which end at the latest when the Lab does, and when this process does. It is
// for any goroutine. Machines of a Lab have a network of their own.
type Lab struct {
	do    chan func()
	hub   bool
	links int            // how many were made; on the lab's thread, as the rest
	link  map[int]string // of each machine that has started, by its number; the last one
	cuts
}

// NewLab returns a Lab. With network, machines can be started, which needs root.
func NewLab(network bool) (*Lab, error) {
	l := &Lab{do: make(chan func()), link: map[int]string{}, cuts: cuts{lost: map[Way]int{}, filters: map[int]bool{}}}
	ready := make(chan error)
	go func() {
		// Programs end with the thread that has started them (PR_SET_PDEATHSIG). It is not
		// unlocked: so it ends with this function, and with it the namespace that it is in.
		runtime.LockOSThread()
		err := l.prepare(network)
		if ready <- err; err != nil {
			return
		}
		for f := range l.do {
			f()
		}
	}()
	if err := <-ready; err != nil {
		return nil, err
	}
	return l, nil
}

// bridge is the name of what connects the machines, in the lab's own network.
const bridge = "ariadne"

func (l *Lab) prepare(network bool) error {
	if l.hub = network; !network {
		return nil
	}
	if err := syscall.Unshare(syscall.CLONE_NEWNET); err != nil {
		return fmt.Errorf("a network for the nodes needs root: %w", err)
	}
	return errors.Join(ip("link", "add", bridge, "type", "bridge"), ip("link", "set", bridge, "up"))
}

// Close ends all programs.
func (l *Lab) Close() { close(l.do) }

// run runs f on the thread of the lab.
func (l *Lab) run(f func() error) error {
	done := make(chan error)
	l.do <- func() { done <- f() }
	return <-done
}

// ip runs the command ip.
func ip(args ...string) error {
	out, err := exec.Command("ip", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// Start starts a program in the namespaces of this process, whose output goes to out. started is
// called while the program has not begun: what watches it sees all. All that the program starts
// ends with it, and with this process.
func (l *Lab) Start(p Program, out *os.File, started func(pid int) error) (*Running, error) {
	if l.hub {
		return nil, errors.New("this lab starts machines only")
	}
	return keep(p, out, started)
}

func command(p Program, out *os.File) *exec.Cmd {
	cmd := exec.Command(p.Args[0], p.Args[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = p.Dir, p.Env, out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if p.User != 0 || p.Group != 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(p.User), Gid: uint32(p.Group)}
	}
	return cmd
}

// machineName is what the process is called that starts the programs of a machine, in its
// namespaces.
const machineName = "ariadne-machine"

// Boot starts a machine. Its programs begin after started has returned.
func (l *Lab) Boot(m Machine, out *os.File, started func(pid int) error) (*Running, error) {
	if !l.hub {
		return nil, errors.New("this lab starts no machines")
	}
	text, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	from, to, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer from.Close()
	defer to.Close()
	cmd := exec.Command("/proc/self/exe")
	cmd.Args = []string{machineName}
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = out, out, []*os.File{from}
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true, Cloneflags: syscall.CLONE_NEWNET |
		syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC}
	err = l.run(func() error {
		if err := cmd.Start(); err != nil {
			return err
		}
		if err := l.remove(m.Number); err != nil {
			return errors.Join(err, cmd.Process.Kill(), cmd.Wait())
		}
		l.links++
		link, pid := fmt.Sprintf("node%d", l.links), fmt.Sprint(cmd.Process.Pid)
		l.link[m.Number], l.filters[m.Number] = link, false
		err := ip("link", "add", link, "type", "veth", "peer", "name", "eth0", "address", m.hardware(), "netns", pid)
		if err == nil {
			err = l.filter(m.Number) // before the first packet
		}
		if err == nil {
			err = ip("link", "set", link, "up", "master", bridge)
		}
		if err == nil {
			err = started(cmd.Process.Pid)
		}
		if err == nil {
			_, err = to.Write(text)
		}
		if err != nil {
			return errors.Join(err, cmd.Process.Kill(), cmd.Wait())
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &Running{cmd: cmd}, nil
}

// remove removes the link of a machine that has ended. Its network lives on as long as its kernel
// has something to send to a machine that does not answer, and would have the address of the next
// one.
func (l *Lab) remove(number int) error {
	if !l.linked(number) {
		return nil
	}
	err := ip("link", "delete", l.link[number])
	if !l.linked(number) {
		return nil // it has gone by itself
	}
	return err
}

// linked reports whether a machine has a link, which goes with the machine.
func (l *Lab) linked(number int) bool {
	_, err := net.InterfaceByName(l.link[number])
	return err == nil
}

// hardware is the machine's hardware address: a locally administered one.
func (m *Machine) hardware() string {
	return fmt.Sprintf("02:61:72:00:%02x:%02x", m.Number>>8&255, m.Number&255)
}

// IsStarter reports whether this process is to start programs of a node. Then main calls
// RunStarter, and does nothing else.
func IsStarter() bool {
	return os.Args[0] == machineName && os.Getpid() == 1 || os.Args[0] == keeperName
}

// RunStarter is the first process of a machine, or the keeper of a program. It returns the status
// with which it is to end.
func RunStarter() int {
	run := runMachine
	if os.Args[0] == keeperName {
		run = runKeeper
	}
	if err := run(); err != nil {
		fmt.Fprintf(os.Stderr, "ariadne: %v\n", err)
		return 1
	}
	return 0
}

func runMachine() error {
	text, err := io.ReadAll(os.NewFile(3, "machine"))
	if err != nil {
		return err
	}
	var m Machine
	if err := json.Unmarshal(text, &m); err != nil {
		return fmt.Errorf("machine: %w", err)
	}
	if err := m.settle(); err != nil {
		return fmt.Errorf("node %s: %w", m.Name, err)
	}
	runtime.LockOSThread() // for PR_SET_PDEATHSIG
	var running []*exec.Cmd
	for _, p := range m.Programs {
		cmd := command(p, os.Stdout)
		if err := cmd.Start(); err != nil {
			return fmt.Errorf("node %s: %w", m.Name, err)
		}
		running = append(running, cmd)
	}
	left := len(running)
	for left > 0 {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil) // also orphans
		if err == syscall.EINTR {
			continue
		} else if err != nil {
			return err
		}
		for _, cmd := range running {
			if cmd.Process.Pid == pid {
				left--
			}
		}
	}
	return nil
}

// settle makes the namespaces those of the node.
func (m *Machine) settle() error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("mounts: %w", err)
	}
	if err := syscall.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return fmt.Errorf("mount /proc: %w", err)
	}
	if err := syscall.Mount(m.Hosts, "/etc/hosts", "", syscall.MS_BIND, ""); err != nil {
		return fmt.Errorf("mount /etc/hosts: %w", err)
	}
	if err := syscall.Sethostname([]byte(m.Name)); err != nil {
		return fmt.Errorf("host name: %w", err)
	}
	all := ip("link", "set", "lo", "up")
	for _, a := range m.Addrs {
		all = errors.Join(all, ip("address", "add", fmt.Sprintf("%s/%d", a, a.BitLen()), "dev", "eth0"))
	}
	all = errors.Join(all, ip("link", "set", "eth0", "up"), ip("route", "add", "default", "dev", "eth0"))
	for _, a := range m.Addrs {
		if a.Is6() {
			return errors.Join(all, ip("-6", "route", "add", "default", "dev", "eth0"))
		}
	}
	return all
}

// Hosts writes a file of the names and addresses of machines.
func Hosts(path string, names []string, addrs [][]netip.Addr) error {
	var b strings.Builder
	b.WriteString("127.0.0.1 localhost\n::1 localhost\n")
	for i, name := range names {
		for _, a := range addrs[i] {
			fmt.Fprintf(&b, "%s %s\n", a, name)
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}
