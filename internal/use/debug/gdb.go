package debug

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/leaf/gdb"
	"github.com/ariadne-mc/ariadne/internal/leaf/inspect"
	"github.com/ariadne-mc/ariadne/internal/use/session"

	"golang.org/x/sys/unix"
)

// Client is what speaks gdb's remote protocol with the debugger.
type Client int

// The clients of the protocol, each with its own dialect.
const (
	GDB Client = iota
	// Delve takes Ariadne for rr: the ends of what is known are signals, and there are commands
	// that are rr's own. github.com/go-delve/delve, pkg/proc/gdbserial.
	Delve
)

// ServeGDB shows a process of a node where the debugger stands to a client that writes to r and
// reads from w, until it leaves. pid is its number as the node sees it; 0: the node has only one.
// The process goes on, and back, along the steps of the line that the node does from there on. The
// client cannot change it.
func (d *Debugger) ServeGDB(r io.Reader, w io.Writer, client Client, node string, pid int) error {
	id, err := d.node(node)
	if err != nil {
		return err
	}
	p, err := d.oneProcess(id, node, pid)
	if err != nil {
		return err
	}
	return d.session.Lend(id, func(at memo.Frozen, ahead []session.Ahead) error {
		t := target{client: client, conn: gdb.NewConn(r, w), process: p, program: d.session.OnHost(p.Exe)}
		t.rerun = rerun{pid: p.PID, command: p.Command, ahead: ahead, starts: []memo.Frozen{at},
			breaks: map[uint64]bool{}, watches: map[uint64][]byte{}, thread: p.Threads[0].TID, stopped: t.serve,
			interrupt: t.conn.Interrupted}
		return t.rerun.run()
	})
}

// Program is the path on the host of what a process of a node executes where the debugger stands;
// pid as in ServeGDB.
func (d *Debugger) Program(node string, pid int) (string, error) {
	id, err := d.node(node)
	if err != nil {
		return "", err
	}
	p, err := d.oneProcess(id, node, pid)
	if err != nil {
		return "", err
	}
	program := d.session.OnHost(p.Exe)
	if program == "" {
		return "", fmt.Errorf("node %s executes %s, which is not on the host", node, p.Exe)
	}
	return program, nil
}

// oneProcess is the process of a node with a number, or the only one if that is 0.
func (d *Debugger) oneProcess(id ariadne.NodeID, node string, pid int) (p *inspect.Process, err error) {
	err = d.session.Visit(id, func(m inspect.Machine) error {
		v, err := m.Look()
		if err != nil {
			return err
		}
		var numbers []string
		for i := range v.Processes {
			if x := &v.Processes[i]; len(x.Threads) > 0 {
				numbers = append(numbers, strconv.Itoa(x.PID))
				if pid == 0 || pid == x.PID {
					p = x
				}
			}
		}
		switch {
		case len(numbers) == 0:
			return nil
		case p == nil:
			return fmt.Errorf("node %s has no process %d behind step %d: there are %s", node, pid, d.Step(),
				strings.Join(numbers, ", "))
		case pid == 0 && len(numbers) > 1:
			return fmt.Errorf("node %s has several processes behind step %d, and a debugger sees one: choose it with --pid: %s", node, d.Step(), strings.Join(numbers, ", "))
		}
		return nil
	})
	if err == nil && p == nil {
		n := d.session.Now().Node(id)
		err = fmt.Errorf("node %s has no process behind step %d: %s", node, d.Step(), inWords(&n))
	}
	return p, err
}

// target is a process that gdb looks at.
type target struct {
	client  Client
	rerun   rerun
	conn    *gdb.Conn
	process *inspect.Process
	program string
	thread  int  // whose registers gdb asks for
	waits   bool // gdb waits for a stop
	said    int  // the step of the node that was told last
	goes    int  // the thread that gdb wants to go on (Hc); 0: any
}

// Answers of the remote protocol.
const (
	okay    = "OK"
	unknown = "" // the command is not supported
	failed  = "E01"
)

// serve tells gdb that the process has stopped, and answers packets until gdb wants it to go on.
func (t *target) serve(w why) (request, error) {
	t.thread = t.rerun.thread
	if p, ok := t.rerun.copy.Process(t.process.PID); ok && len(p.Threads) > 0 {
		t.process = &p
		if !slices.Contains(t.threads(), strconv.FormatInt(int64(t.thread), 16)) {
			t.thread = p.Threads[0].TID
		}
	}
	if t.waits {
		if err := t.reportStop(w); err != nil {
			return leave, err
		}
	}
	for {
		packet, err := t.conn.Read()
		if errors.Is(err, io.EOF) {
			return leave, nil
		}
		if err != nil {
			return leave, err
		}
		if packet == "" {
			packet = "?"
		}
		if packet[0] == 'k' { // has no answer
			return leave, nil
		}
		if next, ok := t.resumes(packet); ok &&
			(w != exits || t.client == Delve && next != proceed && next != stepThread) {
			t.waits = true
			return next, nil
		}
		if err := t.conn.Write(t.answer(packet, w)); err != nil {
			return leave, err
		}
		switch {
		case packet == "QStartNoAckMode":
			t.conn.Trusted = true
		case packet[0] == 'D' || strings.HasPrefix(packet, "vKill"):
			return leave, nil
		}
	}
}

// reportStop says where the process has stopped, and in which step of the execution that is.
func (t *target) reportStop(w why) error {
	text := ""
	if at := t.rerun.at; at.step < len(t.rerun.ahead) && at.stretch > 0 && t.said != t.step() {
		t.said = t.step()
		text = fmt.Sprintf("Ariadne: in step %d\n", t.said)
	}
	if t.client == Delve && w == ends { // it will say that the process has ended
		text = fmt.Sprintf("Ariadne: no step is known behind step %d\n", t.last())
	}
	if text != "" {
		if err := t.conn.Write("O" + hex.EncodeToString([]byte(text))); err != nil {
			return err
		}
	}
	return t.conn.Write(t.stop(w))
}

// stop is the packet that says why the process has stopped.
func (t *target) stop(w why) string {
	if t.client == Delve {
		switch w {
		case begins:
			return fmt.Sprintf("T00thread:%x;", t.thread)
		case ends, exits: // as of a process that is about to be killed, which can go back
			return fmt.Sprintf("T09thread:%x;", t.thread)
		}
	}
	switch w {
	case interrupted:
		return fmt.Sprintf("T02thread:%x;", t.thread)
	case broke:
		return fmt.Sprintf("T05thread:%x;swbreak:;", t.thread)
	case changed:
		return fmt.Sprintf("T05thread:%x;watch:%x;", t.thread, t.rerun.hit)
	case begins:
		return fmt.Sprintf("T05thread:%x;replaylog:begin;", t.thread)
	case ends:
		return fmt.Sprintf("T05thread:%x;replaylog:end;", t.thread)
	case exits:
		p, ok := t.rerun.copy.Process(t.process.PID)
		status, signal := p.Status, p.Signal
		switch e := t.rerun.exit; {
		case e != nil:
			status, signal = e.Status, e.Signal
		case !ok && t.rerun.command >= 0: // a fault has killed it: that is no end of a command
			signal = int(unix.SIGKILL)
		}
		if signal != 0 {
			return fmt.Sprintf("X%02x", signal)
		}
		return fmt.Sprintf("W%02x", status)
	}
	return fmt.Sprintf("T05thread:%x;", t.thread)
}

// resumes reports whether a packet wants the process to go on, and how.
func (t *target) resumes(packet string) (next request, ok bool) {
	one := func(thread int) (request, bool) {
		if thread == 0 {
			thread = t.thread
		}
		t.rerun.single = thread
		return stepThread, true
	}
	switch actions, cont := strings.CutPrefix(packet, "vCont;"); {
	case cont:
		for action := range strings.SplitSeq(actions, ";") {
			what, thread, _ := strings.Cut(action, ":")
			if what != "" && (what[0] == 's' || what[0] == 'S') {
				tid, _ := strconv.ParseInt(threadOf(thread), 16, 64)
				return one(int(max(tid, 0)))
			}
		}
		return proceed, true
	case packet == "bs":
		return reverseStep, true
	case packet == "bc":
		return reverse, true
	case strings.HasPrefix(packet, "vRun;"):
		return restart, true
	case packet[0] == 'c' || packet[0] == 'C':
		return proceed, true
	case packet[0] == 's' || packet[0] == 'S':
		return one(t.goes)
	}
	return leave, false
}

// answer is what a packet is answered with.
func (t *target) answer(packet string, w why) string {
	name, args, _ := strings.Cut(packet, ":")
	switch {
	case packet == "?":
		return t.stop(w)
	case name == "qSupported":
		return fmt.Sprintf("PacketSize=%x;QStartNoAckMode+;swbreak+;vContSupported+;ReverseStep+;ReverseContinue+;", gdb.Most) +
			"qXfer:features:read+;qXfer:threads:read+;qXfer:auxv:read+;qXfer:exec-file:read+"
	case packet == "vCont?":
		return "vCont;c;C;s;S"
	case packet == "QStartNoAckMode", packet[0] == 'D', strings.HasPrefix(packet, "vKill"), name == "qSymbol":
		return okay
	case packet == "qC":
		return fmt.Sprintf("QC%x", t.thread)
	case name == "qAttached":
		return "1" // so gdb leaves it alive when it ends
	case packet == "qfThreadInfo":
		return "m" + strings.Join(t.threads(), ",")
	case packet == "qsThreadInfo":
		return "l"
	case name == "qXfer":
		return t.transfer(args)
	case name == "qRRCmd":
		return t.recorder(args)
	case packet == "g":
		return t.registers()
	case packet[0] == 'm':
		return t.memory(packet[1:])
	case strings.HasPrefix(packet, "Z0,"), strings.HasPrefix(packet, "z0,"),
		strings.HasPrefix(packet, "Z1,"), strings.HasPrefix(packet, "z1,"): // hbreak
		return t.breakpoint(packet[0] == 'Z', packet[3:])
	case strings.HasPrefix(packet, "Z2,"), strings.HasPrefix(packet, "z2,"):
		return t.watch(packet[0] == 'Z', packet[3:])
	case strings.HasPrefix(packet, "Hg"):
		return t.choose(packet[2:], &t.thread)
	case strings.HasPrefix(packet, "Hc"):
		t.goes = 0
		return t.choose(packet[2:], &t.goes)
	case packet[0] == 'T':
		if !slices.Contains(t.threads(), threadOf(packet[1:])) {
			return failed
		}
		return okay
	case strings.ContainsRune("GPMX", rune(packet[0])):
		return failed
	}
	return unknown
}

// recorder answers a command of rr's, as in when:-1. There are no checkpoints that have names.
func (t *target) recorder(command string) string {
	switch name, _, _ := strings.Cut(command, ":"); name {
	case "when":
		return hex.EncodeToString([]byte(fmt.Sprintf("Current event: %d", t.step())))
	case "info checkpoints":
		return hex.EncodeToString([]byte("No checkpoints."))
	}
	return unknown
}

// step is the number of the step in which the process has stopped, or that comes next.
func (t *target) step() int {
	if at := t.rerun.at.step; at < len(t.rerun.ahead) {
		return t.rerun.ahead[at].Step
	}
	return t.last()
}

// last is the number of the last step that is known, or 0.
func (t *target) last() int {
	if n := len(t.rerun.ahead); n > 0 {
		return t.rerun.ahead[n-1].Step
	}
	return 0
}

// breakpoint sets a breakpoint, as in 401136,1, or clears it.
func (t *target) breakpoint(set bool, args string) string {
	addr, _, ok := numbers(args)
	if !ok {
		return failed
	}
	change := t.rerun.copy.ClearBreakpoint
	delete(t.rerun.breaks, addr)
	if set {
		change = t.rerun.copy.SetBreakpoint
		t.rerun.breaks[addr] = true
	}
	if change(addr) != nil {
		return failed
	}
	return okay
}

// mostWatched is how many bytes of memory can be watched in one piece.
const mostWatched = 4096

// watch watches memory, as in 4c6310,4, or does so no longer.
func (t *target) watch(set bool, args string) string {
	addr, size, ok := numbers(args)
	if !ok || size > mostWatched {
		return failed
	}
	delete(t.rerun.watches, addr)
	if set {
		t.rerun.watch(addr, int(size))
	}
	return okay
}

// threads are the numbers of all threads, as gdb writes them.
func (t *target) threads() (all []string) {
	for i := range t.process.Threads {
		all = append(all, strconv.FormatInt(int64(t.process.Threads[i].TID), 16))
	}
	return all
}

// threadOf is the thread in the name of one, which may have the number of the process before it, as
// in p1.-1.
func threadOf(name string) string {
	if process, thread, ok := strings.Cut(name, "."); ok && strings.HasPrefix(process, "p") {
		return thread
	}
	return name
}

// choose chooses a thread for what gdb asks for next; 0 and -1: any.
func (t *target) choose(name string, chosen *int) string {
	thread := threadOf(name)
	if thread == "0" || thread == "-1" {
		return okay
	}
	i := slices.Index(t.threads(), thread)
	if i < 0 {
		return failed
	}
	*chosen = t.process.Threads[i].TID
	return okay
}

// memory is what lies at an address: as much of it as there is in one piece.
func (t *target) memory(args string) string {
	from, size, ok := numbers(args)
	if !ok {
		return failed
	}
	b := make([]byte, min(size, gdb.Most/2))
	n, err := t.rerun.copy.ReadMemory(t.process.PID, from, b)
	if err != nil {
		return failed
	}
	return hex.EncodeToString(b[:n])
}

// numbers are two numbers in hexadecimal digits, as in 7f00,40.
func numbers(text string) (a, b uint64, ok bool) {
	first, second, ok := strings.Cut(text, ",")
	a, err := strconv.ParseUint(first, 16, 64)
	b, err2 := strconv.ParseUint(second, 16, 64)
	return a, b, ok && err == nil && err2 == nil
}

// transfer is a piece of an object (qXfer), as in features:read:target.xml:0,3ff8.
func (t *target) transfer(args string) string {
	f := strings.Split(args, ":")
	if len(f) != 4 || f[1] != "read" {
		return unknown
	}
	object := []byte(features[f[2]])
	switch f[0] + ":" + f[2] {
	case "threads:":
		object = t.threadsXML()
	case "auxv:":
		var err error
		if object, err = t.rerun.copy.Auxiliary(t.process.PID); err != nil {
			return failed
		}
	case "exec-file:", "exec-file:" + strconv.FormatInt(int64(t.process.PID), 16):
		object = []byte(t.program)
	default:
		if f[0] != "features" || len(object) == 0 {
			return failed
		}
	}
	from, size, ok := numbers(f[3])
	if !ok || from > uint64(len(object)) {
		return failed
	}
	piece := object[from:]
	if most := min(size, gdb.Most/2); uint64(len(piece)) > most {
		return "m" + string(piece[:most])
	}
	return "l" + string(piece)
}

// threadsXML lists the threads with where each waits.
func (t *target) threadsXML() []byte {
	var b bytes.Buffer
	b.WriteString("<?xml version=\"1.0\"?>\n<threads>\n")
	for i := range t.process.Threads {
		th := &t.process.Threads[i]
		fmt.Fprintf(&b, "<thread id=\"%x\" name=\"", th.TID)
		xml.EscapeText(&b, []byte(th.Name))
		b.WriteString("\">")
		xml.EscapeText(&b, []byte(strings.TrimPrefix(th.String(), fmt.Sprintf("%d %s: ", th.TID, th.Name))))
		b.WriteString("</thread>\n")
	}
	b.WriteString("</threads>\n")
	return b.Bytes()
}

// Registers as gdb numbers them: the general ones, those of the FPU, those of SSE, what Linux adds.
var (
	wide     = strings.Fields("rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15 rip")
	narrow   = strings.Fields("eflags cs ss ds es fs gs")
	floating = strings.Fields("fctrl fstat ftag fiseg fioff foseg fooff fop")
	more     = strings.Fields("orig_rax fs_base gs_base")
)

// features are the files of gdb's target description: the registers in the order in which they are
// sent. Delve reads registers only from files that target.xml includes.
var features = func() map[string]string {
	type feature struct{ name, registers string }
	var b strings.Builder
	reg := func(name string, bits int, kind string) {
		fmt.Fprintf(&b, `<reg name="%s" bitsize="%d" type="%s"/>`, name, bits, kind)
	}
	var all []feature
	put := func(name string) {
		all = append(all, feature{name, b.String()})
		b.Reset()
	}
	for _, name := range wide {
		kind := "int64"
		switch name {
		case "rip":
			kind = "code_ptr"
		case "rbp", "rsp":
			kind = "data_ptr"
		}
		reg(name, 64, kind)
	}
	for _, name := range narrow {
		reg(name, 32, "int32")
	}
	for i := range 8 {
		reg(fmt.Sprintf("st%d", i), 80, "i387_ext")
	}
	for _, name := range floating {
		reg(name, 32, "int32")
	}
	put("core")
	for i := range 16 {
		reg(fmt.Sprintf("xmm%d", i), 128, "uint128")
	}
	reg("mxcsr", 32, "int32")
	put("sse")
	reg(more[0], 64, "int64")
	put("linux")
	for _, name := range more[1:] {
		reg(name, 64, "int64")
	}
	put("segments")

	const head = `<?xml version="1.0"?>`
	target := head + `<!DOCTYPE target SYSTEM "gdb-target.dtd"><target>` +
		`<architecture>i386:x86-64</architecture><osabi>GNU/Linux</osabi>`
	files := map[string]string{}
	for _, f := range all {
		file := f.name + ".xml"
		target += fmt.Sprintf(`<xi:include href="%s"/>`, file)
		files[file] = head + `<!DOCTYPE feature SYSTEM "gdb-target.dtd">` +
			fmt.Sprintf(`<feature name="org.gnu.gdb.i386.%s">%s</feature>`, f.name, f.registers)
	}
	files["target.xml"] = target + `</target>`
	return files
}()

// registers are those of the chosen thread, in the order of features.
func (t *target) registers() string {
	r, err := t.rerun.copy.Registers(t.thread)
	if err != nil || len(r.Extended) < legacyFPU {
		return failed
	}
	var b []byte
	put := func(names []string, size int) {
		for _, name := range names {
			v, ok := r.Of(name)
			if !ok {
				err = fmt.Errorf("the register %s is not known", name)
			}
			b = append(b, binary.LittleEndian.AppendUint64(nil, v)[:size]...)
		}
	}
	put(wide, 8)
	put(narrow, 4)
	x := r.Extended // as FXSAVE lays it out
	for i := range 8 {
		b = append(b, x[32+16*i:][:10]...)
	}
	le := binary.LittleEndian
	for _, v := range []uint32{uint32(le.Uint16(x)), uint32(le.Uint16(x[2:])), tags(x), uint32(le.Uint16(x[12:])),
		le.Uint32(x[8:]),
		uint32(le.Uint16(x[20:])), le.Uint32(x[16:]), uint32(le.Uint16(x[6:]))} {
		b = le.AppendUint32(b, v)
	}
	b = append(b, x[160:160+16*16]...)
	b = append(b, x[24:28]...)
	put(more, 8)
	if err != nil {
		return failed
	}
	return hex.EncodeToString(b)
}

// tags are two bits for each register of the FPU: whether it holds a number, zero, something else
// or nothing. FXSAVE keeps but one: whether it holds something.
func tags(x []byte) (all uint32) {
	top := int(x[3]>>3) & 7
	for i := range 8 {
		tag := uint32(3)
		if x[4]&(1<<i) != 0 {
			v := x[32+16*((i-top)&7):]
			mantissa, exponent := binary.LittleEndian.Uint64(v), binary.LittleEndian.Uint16(v[8:])&0x7fff
			switch {
			case exponent == 0 && mantissa == 0:
				tag = 1
			case exponent == 0x7fff || mantissa>>63 == 0:
				tag = 2
			default:
				tag = 0
			}
		}
		all |= tag << (2 * i)
	}
	return all
}
