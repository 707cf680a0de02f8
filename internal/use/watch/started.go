package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/system/native"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// started are the programs that the agent has started.
type started struct {
	lab, own *native.Lab  // of nodes with namespaces, and of those without; nil: there are none
	dir      string       // for files of the nodes, or ""
	remove   func() error // removes dir
	hosts    string
	running  []*launch
	tasks    sync.WaitGroup // of beside
	late     []func()       // what tasks have left that were done after the loop
	lateMu   sync.Mutex
	failed   error // of a task
}

// launch is the life of a node's programs.
type launch struct {
	node    *watched
	program *native.Running // nil: it does not run
	busy    bool            // it is being started, or ended
	again   ariadne.Time    // when to start it again
	starts  int
	waiting bool // it is to be started again
	killed  bool // it was killed, and has not been started again
	places  int  // for how many places of calls a strike waits at most; 0: nobody knows
}

// isStarted reports whether a node is started here, from its commands.
func (n *watched) isStarted() bool { return !n.native.Found || n.native.Start != nil }

// hasNetwork reports whether a node is started here with a network address of its own.
func (n *watched) hasNetwork() bool { return !n.native.Found }

// number is that of a node's machine.
func (n *watched) number() int { return int(n.def.ID) + 1 }

// startAll starts the nodes that are to be started.
func (a *Agent) startAll(_ context.Context) error {
	for _, n := range a.nodes {
		if !n.isStarted() {
			continue
		}
		r := &launch{node: n, waiting: true, again: a.now().Add(n.def.Start)}
		a.running = append(a.running, r)
		if err := a.prepare(n); err != nil {
			return fmt.Errorf("node %s: %w", n.def.Name, err)
		}
	}
	for _, r := range a.running {
		if err := a.startDue(r); err != nil {
			return err
		}
		for r.busy { // they begin in their order
			(<-a.calls)()
		}
	}
	return a.failed
}

// beside does what may take long, while the loop goes on: to end a program that has much memory, to
// make the network of a machine. Otherwise the lines of all other nodes would be read later, and
// the order of more events would be open. The loop calls then when it is done; nil: nothing.
func (a *Agent) beside(do, then func() error) {
	a.tasks.Go(func() {
		err := do()
		done := func() error {
			if then != nil {
				err = cmp.Or(err, then())
			}
			a.failed = cmp.Or(a.failed, err)
			return nil
		}
		if a.do(done) != nil {
			a.lateMu.Lock()
			a.late = append(a.late, func() { _ = done() })
			a.lateMu.Unlock()
		}
	})
}

// restart starts what is due.
func (a *Agent) restart() error {
	for _, r := range a.running {
		if err := a.startDue(r); err != nil {
			return err
		}
	}
	return a.failed
}

// startDue starts a node if that is due. A program that was killed may need longer to end than it
// is to be down: until its end is recorded, what it exposed still holds, and it has its address.
func (a *Agent) startDue(r *launch) error {
	if !r.waiting || a.now() < r.again || r.program != nil || r.busy {
		return nil
	}
	if err := a.start(r); err != nil {
		return fmt.Errorf("node %s: %w", r.node.def.Name, err)
	}
	return nil
}

// prepare makes what a node needs before it starts for the first time.
func (a *Agent) prepare(n *watched) (err error) {
	if n.native.Start != nil {
		if a.own == nil {
			a.own, err = native.NewLab(false)
		}
		return err
	}
	if a.lab == nil {
		if a.lab, err = native.NewLab(true); err != nil {
			return err
		}
		if a.dir, a.remove, err = native.TempDir(); err != nil {
			return err
		}
		a.hosts = filepath.Join(a.dir, "hosts")
		var names []string
		var addrs [][]netip.Addr
		for i := range a.spec.Nodes {
			names, addrs = append(names, a.spec.Nodes[i].Name), append(addrs, a.spec.Nodes[i].Addrs)
		}
		if err := native.Hosts(a.hosts, names, addrs); err != nil {
			return err
		}
	}
	return a.makeDir(n.def)
}

// dirOf is where a node's programs start.
func (a *Agent) dirOf(def *spec.Node) string { return filepath.Join(a.dir, "nodes", def.Name) }

// makeDir makes the working directory of a node, as it is under the checker.
func (a *Agent) makeDir(def *spec.Node) error {
	dir := a.dirOf(def)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if def.Dir != "" {
		if err := os.CopyFS(dir, copied{os.DirFS(def.Dir), a.spec.Copied(def.Dir)}); err != nil {
			return err
		}
	}
	for _, l := range def.Links {
		at := filepath.Join(dir, l)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return err
		}
		if err := os.Symlink(filepath.Join(a.spec.Dir, l), at); err != nil && !os.IsExist(err) {
			return err
		}
	}
	if def.User == 0 && def.Group == 0 {
		return nil
	}
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, def.User, def.Group)
	})
}

// copied is a directory without what nodes do not see of it.
type copied struct {
	fs.FS
	shown func(name string) bool
}

// ReadDir implements fs.ReadDirFS.
func (c copied) ReadDir(name string) ([]fs.DirEntry, error) {
	all, err := fs.ReadDir(c.FS, name)
	if name == "." {
		all = slices.DeleteFunc(all, func(e fs.DirEntry) bool { return !c.shown(e.Name()) })
	}
	return all, err
}

// start starts a node's programs, beside the loop.
func (a *Agent) start(r *launch) error {
	n := r.node
	pipe, out, err := native.NewPipe()
	if err != nil {
		return err
	}
	if err := a.addSource(n, pipe); err != nil {
		return errors.Join(err, out.Close())
	}
	before := a.now()
	begin := func(pid int) error {
		p, err := native.Attach(pid)
		if err != nil {
			return err
		}
		err = a.do(func() error { return a.enterProcess(n, p, before) })
		if errors.Is(err, errOver) {
			err = errors.Join(err, p.Close())
		}
		return err
	}
	var program *native.Running
	// The spec may change while the program is started.
	by, name, machine := n.native, n.def.Name, native.Machine{}
	if by.Start == nil {
		machine = a.machine(n, r.starts > 0)
	}
	boot := func() (err error) {
		defer out.Close()
		if by.Start != nil {
			program, err = a.own.Start(native.Program{Args: by.Start, Dir: by.Dir}, out, begin)
		} else {
			program, err = a.lab.Boot(machine, out, begin)
		}
		if err != nil {
			err = fmt.Errorf("node %s: %w", name, err)
		}
		return err
	}
	r.busy = true
	a.beside(boot, func() error {
		r.busy, r.program = false, program
		r.starts++
		r.waiting, r.killed = false, false
		if n.process == nil && program != nil {
			a.gone(n) // it has ended meanwhile
		}
		return nil
	})
	return nil
}

// machine is a node as the spec describes it.
func (a *Agent) machine(n *watched, again bool) native.Machine {
	def := n.def
	commands := def.Commands
	if again && def.Restart != nil {
		commands = def.Restart
	}
	m := native.Machine{Name: def.Name, Number: n.number(), Addrs: def.Addrs, Hosts: a.hosts}
	env := []string{"PATH=" + spec.Path, "HOME=" + a.dirOf(def), "LANG=C.UTF-8", "TZ=UTC"}
	for name, value := range def.Env {
		env = append(env, name+"="+value)
	}
	for _, c := range commands {
		p := native.Program{Dir: a.dirOf(def), Env: env, User: def.User, Group: def.Group}
		for _, arg := range c.Args {
			p.Args = append(p.Args, a.besideSpec(arg))
		}
		m.Programs = append(m.Programs, p)
	}
	return m
}

// besideSpec is a text in which paths below /spec, where nodes under the checker see the spec's
// directory, are those of this machine.
func (a *Agent) besideSpec(text string) string {
	const inside = "/spec/"
	var b strings.Builder
	for {
		i := strings.Index(text, inside)
		if i < 0 {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:i])
		if i > 0 && !strings.ContainsRune(" =:,'\"`;(|&><", rune(text[i-1])) {
			b.WriteString(inside)
		} else {
			b.WriteString(a.spec.Dir + "/")
		}
		text = text[i+len(inside):]
	}
}

// restartAfter is how long a node that has ended by itself stays down.
const restartAfter = 500 * time.Millisecond

// gone enters that a node that was started here has ended.
func (a *Agent) gone(n *watched) {
	for _, r := range a.running {
		if r.node == n && r.program != nil && !r.busy {
			a.end(r)
			if a.again && !r.waiting {
				r.waiting, r.again = true, a.now().Add(restartAfter)
			}
		}
	}
}

// end ends a program that was started, and all that it has started, beside the loop.
func (a *Agent) end(r *launch) {
	program := r.program
	r.busy = true
	a.beside(func() error {
		program.End()
		return nil
	}, func() error {
		r.busy, r.program = false, nil
		return nil
	})
}

// kill ends the programs of a node that was started here, and has them start again later.
func (r *launch) kill(again ariadne.Time) error {
	r.waiting, r.killed, r.again = true, true, again
	if r.node.process == nil {
		return nil // the end of its last process was seen already
	}
	if err := r.node.process.Kill(); !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil // it has just ended by itself
}

// stop ends all programs that the agent has started, and removes their directories.
func (a *Agent) stop() error {
	for a.tasks.Wait(); a.late != nil; a.tasks.Wait() {
		all := a.late
		a.late = nil
		for _, done := range all {
			done()
		}
	}
	var ending sync.WaitGroup
	for _, r := range a.running {
		if r.program != nil {
			ending.Go(r.program.End)
		}
	}
	ending.Wait()
	for _, l := range []*native.Lab{a.lab, a.own} {
		if l != nil {
			l.Close()
		}
	}
	if a.dir == "" {
		return nil
	}
	return a.remove()
}
