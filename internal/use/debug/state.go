package debug

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/leaf/inspect"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/area"
	"github.com/ariadne-mc/ariadne/internal/record/causal"
	"github.com/ariadne-mc/ariadne/internal/use/session"
)

// section is a part of what a node looks like.
type section string

const (
	general    section = "state"
	exposed    section = "exposed"
	processes  section = "process"
	threads    section = "thread"
	openFiles  section = "open"
	timers     section = "timer"
	ownFiles   section = "file"
	variables  section = "variable"
	unreadable         = "cannot be read"
)

// fact is a line of what a node looks like. Facts of two states with the same section and key are
// about the same thing.
type fact struct {
	section section
	key     string
	text    string
	socket  bool
}

// look says what a node looks like where the debugger stands. contents: also what its files hold.
func (d *Debugger) look(id ariadne.NodeID, contents bool) (facts []fact, err error) {
	n := d.session.Now().Node(id)
	add := func(s section, key, format string, args ...any) {
		facts = append(facts, fact{section: s, key: key, text: fmt.Sprintf(format, args...)})
	}
	add(general, "is", "%s", inWords(&n))
	if n.Started {
		add(general, "clock", "clock %v", n.Clock)
	}
	for _, t := range d.exposes(id) {
		add(exposed, t.Name+"["+t.Key+"]", "%s", t.String())
	}
	err = d.session.Visit(id, func(m inspect.Machine) error {
		v, err := m.Look()
		if err != nil {
			return err
		}
		for i := range v.Processes {
			p := &v.Processes[i]
			facts = append(facts, ofProcess(p, func(tid int) string { return d.inFunction(m, p, tid) })...)
		}
		for i, t := range v.Timers {
			silent := ""
			if t.Silent {
				silent = " (of a language runtime: causes nothing alone)"
			}
			add(timers, fmt.Sprintf("%s %d", t.Of, i), "%v ends %s%s", t.At, t.Of, silent)
		}
		for i := range v.Files {
			add(ownFiles, v.Files[i].Path, "%s", ofFile(m, &v.Files[i], contents))
		}
		return nil
	})
	return facts, err
}

// inWords says whether a node runs.
func inWords(n *session.Node) string {
	until := "for ever"
	if n.Back != ariadne.Never {
		until = fmt.Sprintf("until %v", n.Back)
	}
	switch {
	case n.Down == ariadne.Paused:
		return "is paused " + until
	case n.Down != ariadne.Up:
		return fmt.Sprintf("is down (%v) %s", n.Down, until)
	case !n.Started:
		return "was not switched on yet"
	case n.Done:
		return "no process is left"
	case n.Ended:
		return "its commands have ended, and other processes run"
	}
	return "runs"
}

// exposes is what a node exposes where the debugger stands.
func (d *Debugger) exposes(id ariadne.NodeID) []expose.Tuple {
	watch := expose.Watch{Sources: d.session.System().Spec.Properties.Sources}
	for i := range d.known[:d.Step()] {
		if s := &d.known[i]; s.Action.Node == id {
			watch.Step(s)
		}
	}
	return watch.Exposed(id).Tuples()
}

// ofProcess are the facts of a process. where says in which function a thread is.
func ofProcess(p *inspect.Process, where func(tid int) string) (facts []fact) {
	pid := strconv.Itoa(p.PID)
	text := fmt.Sprintf("process %d: %s", p.PID, abridge(strings.Join(p.Args, " "), 120))
	switch {
	case p.Zombie && p.Signal != 0:
		text += fmt.Sprintf(" (killed by signal %d, nobody has waited for it)", p.Signal)
	case p.Zombie:
		text += fmt.Sprintf(" (ended with status %d, nobody has waited for it)", p.Status)
	}
	facts = append(facts, fact{section: processes, key: pid, text: text})
	for _, t := range p.Threads {
		facts = append(facts,
			fact{section: threads, key: strconv.Itoa(t.TID), text: fmt.Sprintf("thread %v%s", t, where(t.TID))})
	}
	for _, f := range p.Descriptors {
		text := fmt.Sprintf("%d of process %d: %s", f.FD, p.PID, f.What)
		if f.Unread > 0 {
			text += fmt.Sprintf(", %d bytes to read", f.Unread)
		}
		if f.Unsent > 0 {
			text += fmt.Sprintf(", %d bytes not sent yet", f.Unsent)
		}
		facts = append(facts,
			fact{openFiles, pid + " " + strconv.Itoa(f.FD), text, strings.HasPrefix(f.What, "socket:")})
	}
	return facts
}

// mostContent is how much of a file is read to compare it.
const mostContent = 16 << 20

func ofFile(m inspect.Machine, f *inspect.File, contents bool) string {
	text := fmt.Sprintf("/%s %06o", strings.TrimPrefix(f.Path, "/"), f.Mode)
	switch {
	case f.Target != "":
		return text + " -> " + f.Target
	case f.Mode&0o170000 != 0o100000:
		return text
	}
	text += fmt.Sprintf(" %d bytes", f.Size)
	if !contents {
		return text
	}
	if f.Size > mostContent {
		return text + ", too large to compare what it holds"
	}
	b := make([]byte, f.Size)
	n, err := m.ReadFile(f.Path, 0, b)
	if err != nil {
		return text + ", " + unreadable
	}
	return text + fmt.Sprintf(", SHA-256 %x", sha256.Sum256(b[:n]))[:19]
}

// show lists facts of some sections.
func show(facts []fact, only func(*fact) bool) string {
	var b strings.Builder
	for i := range facts {
		if only(&facts[i]) {
			b.WriteString(printable(facts[i].text) + "\n")
		}
	}
	return b.String()
}

// showSection lists the facts of a section of a node.
func (d *Debugger) showSection(args string, s section, only func(*fact) bool, none string) (string, error) {
	id, err := d.node(args)
	if err != nil {
		return "", err
	}
	facts, err := d.look(id, false)
	if err != nil {
		return "", err
	}
	text := show(facts, func(f *fact) bool { return f.section == s && (only == nil || only(f)) })
	if text == "" {
		return fmt.Sprintf("%s: %s (%s)\n", args, none, facts[0].text), nil
	}
	return text, nil
}

func (d *Debugger) showThreads(args string) (string, error) {
	return d.showSection(args, threads, nil, "there is no thread")
}

func (d *Debugger) showSockets(args string) (string, error) {
	return d.showSection(args, openFiles, func(f *fact) bool { return f.socket }, "there is no socket")
}

func (d *Debugger) showOpen(args string) (string, error) {
	return d.showSection(args, openFiles, nil, "nothing is open")
}

func (d *Debugger) showTimers(args string) (string, error) {
	return d.showSection(args, timers, nil, "there is no timer")
}

func (d *Debugger) showFiles(args string) (string, error) {
	return d.showSection(args, ownFiles, nil, "there is no file of its own")
}

// someLines is how many lines are shown when nobody says how many.
const someLines = 10

// showNode shows what matters most of a node.
func (d *Debugger) showNode(args string) (string, error) {
	id, err := d.node(args)
	if err != nil {
		return "", err
	}
	facts, err := d.look(id, false)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	part := func(head, text string) {
		if text != "" {
			b.WriteString(head + "\n" + indented(text))
		}
	}
	of := func(s ...section) string {
		return show(facts, func(f *fact) bool { return slices.Contains(s, f.section) })
	}
	b.WriteString(args + " " + strings.ReplaceAll(strings.TrimSpace(of(general)), "\n", ", ") + "\n")
	part("exposed", of(exposed))
	part("last lines", d.lastLines(id, 5))
	part("processes and threads", of(processes, threads))
	part("sockets", show(facts, func(f *fact) bool { return f.socket }))
	part("timers", of(timers))
	return b.String(), nil
}

func indented(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n  ") + "\n"
}

func (d *Debugger) showNodes(string) (string, error) {
	var b strings.Builder
	for i, name := range d.names {
		n := d.session.Now().Node(ariadne.NodeID(i))
		fmt.Fprintf(&b, "%s %s", name, inWords(&n))
		if n.Started {
			fmt.Fprintf(&b, ", clock %v, %d steps", n.Clock, n.Steps)
			if n.Deadline != ariadne.Never {
				fmt.Fprintf(&b, ", next timer at %v", n.Deadline)
			}
		}
		b.WriteString("\n")
	}
	return b.String(), nil
}

func (d *Debugger) showExposed(args string) (string, error) {
	if args != "" {
		if _, err := d.node(args); err != nil {
			return "", err
		}
	}
	var b strings.Builder
	for i, name := range d.names {
		if args != "" && args != name {
			continue
		}
		for _, t := range d.exposes(ariadne.NodeID(i)) {
			fmt.Fprintf(&b, "%s %s\n", name, printable(t.String()))
		}
	}
	if b.Len() == 0 {
		return "nothing is exposed\n", nil
	}
	return b.String(), nil
}

func (d *Debugger) showLines(args string) (string, error) {
	name, number, _ := strings.Cut(args, " ")
	id, err := d.node(name)
	if err != nil {
		return "", err
	}
	count := someLines
	if number != "" {
		if count, err = strconv.Atoi(strings.TrimSpace(number)); err != nil || count < 1 {
			return "", fmt.Errorf("%q is no number of lines", number)
		}
	}
	if text := d.lastLines(id, count); text != "" {
		return text, nil
	}
	return name + " has written no line yet\n", nil
}

// lastLines are the last lines that a node has written, with their steps.
func (d *Debugger) lastLines(id ariadne.NodeID, most int) string {
	var all []string
	for i := range d.known[:d.Step()] {
		s := &d.known[i]
		if s.Action.Node != id {
			continue
		}
		for l := range s.Output.Record() {
			all = append(all, fmt.Sprintf("%5d %12v  %s\n", s.Index, l.At, printable(l.Text)))
		}
	}
	return strings.Join(all[max(0, len(all)-most):], "")
}

func (d *Debugger) showFlight(string) (string, error) {
	var b strings.Builder
	for _, m := range d.session.InFlight() {
		late := ""
		if m.Delayed {
			late = ", a timer has passed it"
		}
		from, to := d.session.System().World().Names().Node(m.From), d.session.System().World().Names().Node(m.To)
		fmt.Fprintf(&b, "%s -> %s %v %v>%v #%d %v, %d bytes, sent at %v, due at %v%s\n",
			from, to, m.Flow.Proto, m.Flow.Src.Port(), m.Flow.Dst.Port(), m.Seq, m.Flags, len(m.Data), m.Sent,
			m.Arrival, late)
	}
	if b.Len() == 0 {
		return "no message is under way\n", nil
	}
	return b.String(), nil
}

func (d *Debugger) showStep(args string) (string, error) {
	n := d.Step()
	if args != "" {
		var err error
		if n, err = strconv.Atoi(args); err != nil {
			return "", fmt.Errorf("%q is no step", args)
		}
	}
	if n < 1 || n > len(d.known) {
		return "", fmt.Errorf("there is no step %d: steps 1 to %d are known", n, len(d.known))
	}
	s, e := &d.known[n-1], &d.Events()[n-1]
	did, err := d.origins(n)
	if err != nil {
		return "", err
	}
	sent, err := d.origins(e.Sent.Step)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "step %d, %v: %s\n  %s  %s%s\n", n, s.At, s.Name, e.Place(), printable(e.Text),
		by(sent.Messages, e.Sent.Message))
	for _, o := range e.Outcomes {
		code := ""
		switch o.Kind {
		case causal.Line:
			code = by(did.Lines, o.Line)
		case causal.Exited:
			code = by(did.Exits, o.Line)
		}
		fmt.Fprintf(&b, "  %-8s %s%s\n", o.Kind, printable(o.Text), code)
	}
	for _, c := range did.Changes {
		fmt.Fprintf(&b, "  %-8s %s%s\n", "changes", printable(c.Operation), by([]string{c.Code}, 0))
	}
	for i := range s.Output.Messages {
		m := &s.Output.Messages[i]
		fmt.Fprintf(&b, "  sends    to %s %v %v>%v #%d %v, %d bytes%s\n", d.session.System().World().Names().Node(m.To),
			m.Flow.Proto, m.Flow.Src.Port(), m.Flow.Dst.Port(), m.Seq, m.Flags, len(m.Data), by(did.Messages, i))
	}
	fmt.Fprintf(&b, "  %d system calls, digest %v\n", s.Output.Calls, s.Output.Digest)
	return b.String(), nil
}

// origins says where in the code a step did what it did. Nothing is known of a step 0, of nodes
// that cannot be copied, and of those that were lost.
func (d *Debugger) origins(step int) (*session.Origins, error) {
	if o := d.looked[step]; o != nil {
		return o, nil
	}
	o := &session.Origins{}
	if step > 0 {
		found, err := d.session.Origins(step)
		if err != nil && !errors.Is(err, ariadne.ErrNotFreezable) {
			return nil, err
		}
		if found != nil {
			o = found
		}
	}
	d.looked[step] = o
	return o, nil
}

// by says which code did something, behind it, or is "".
func by(code []string, i int) string {
	if i >= len(code) || code[i] == "" {
		return ""
	}
	return ", by " + code[i]
}

// showDigest names all that a node is: what can be seen of it, and registers and memory of its
// programs.
func (d *Debugger) showDigest(args string) (string, error) {
	id, err := d.node(args)
	if err != nil {
		return "", err
	}
	sum, err := d.digest(id)
	return fmt.Sprintf("%s %x\n", args, sum[:8]), err
}

func (d *Debugger) digest(id ariadne.NodeID) (sum [sha256.Size]byte, err error) {
	facts, err := d.look(id, true)
	if err != nil {
		return sum, err
	}
	h := sha256.New()
	for _, f := range facts {
		fmt.Fprintln(h, f.section, f.key, f.text)
	}
	err = d.session.Visit(id, func(m inspect.Machine) error {
		v, err := m.Look()
		if err != nil {
			return err
		}
		for i := range v.Processes {
			if err := enter(h, m, &v.Processes[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return [sha256.Size]byte(h.Sum(nil)), err
}

// enter enters into h what a process is, without what Ariadne has put into its memory.
func enter(h io.Writer, m inspect.Machine, p *inspect.Process) error {
	if p.Zombie {
		return nil
	}
	for _, t := range p.Threads {
		r, err := m.Registers(t.TID)
		if err != nil {
			return err
		}
		fmt.Fprintln(h, t.TID, r.Named)
	}
	all, err := m.Mappings(p.PID)
	if err != nil {
		return err
	}
	for i := range all {
		a := &all[i]
		fmt.Fprintf(h, "%x-%x %v %v %v %s\n", a.Start, a.End, a.Read, a.Write, a.Execute, a.Name)
		if !a.Read || !a.Write || area.Holds(a.Start) {
			continue
		}
		b := make([]byte, a.End-a.Start)
		n, err := m.ReadMemory(p.PID, a.Start, b)
		if err != nil {
			return err
		}
		h.Write(b[:n])
	}
	return nil
}
