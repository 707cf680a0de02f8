//go:build linux && amd64

package probe

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/debuginfo"
	"github.com/ariadne-mc/ariadne/internal/system/native"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/ringbuf"

	"golang.org/x/sys/unix"
)

// functions are the probes at functions.
type functions struct {
	ring   *ebpf.Map
	reader *ringbuf.Reader
	// dropped has by node how many records there was no room for, or which were too many: 1 for
	// each call, and programStep for each program that began.
	dropped *ebpf.Map
	windows *ebpf.Map // by node, when the last window began, and how many calls there were in it
	sites   []site
	set     []*attached // where probes are set, by site
	record  ringbuf.Record
	// onMessage takes the messages of nodes; nil: they are not followed.
	onMessage func(Message)
	// onBegun takes the programs that nodes begin; nil: they are not followed.
	onBegun func(Begun)
}

// site is where a probe is.
type site struct {
	debuginfo.Site
	plan plan
}

// Call is a call of a function that a probe has seen.
type Call struct {
	Query   int // its place in the list that Probe was given
	Node    int
	At      ariadne.Time // of native.Now
	Values  []string
	Missing bool // some value was not copied by the probe
}

// ringSize is the room for records that were not read yet, in bytes.
var ringSize uint32 = 8 << 20

// mostNodes is how many nodes are counted apart.
const mostNodes = 256

// The record of a call, in bytes: when it was, its node, its site, registers, how much of each
// piece could be read, and the pieces.
const (
	atTime      = 0
	atNode      = 8
	atSite      = 12
	atRegisters = 16
	registers   = 21 // of struct pt_regs
	atLengths   = atRegisters + 8*registers
	atPieces    = atLengths + 2*mostPieces
)

// ptRegs are the places of the general registers in struct pt_regs, by their numbers in DWARF: rax,
// rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15.
var ptRegs = [16]int{10, 12, 11, 5, 13, 14, 4, 19, 9, 8, 7, 6, 3, 2, 1, 0}

// instructionPointer is the place of rip.
const instructionPointer = 16

// openRing makes the room for records.
func (k *Kernel) openRing() (err error) {
	if k.ring != nil {
		return nil
	}
	if k.ring, err = k.newMap(ebpf.MapSpec{Name: "calls", Type: ebpf.RingBuf, MaxEntries: ringSize}); err != nil {
		return err
	}
	if k.dropped, err = k.newMap(ebpf.MapSpec{Name: "dropped", Type: ebpf.Array, KeySize: 4, ValueSize: 8,
		MaxEntries: mostNodes}); err != nil {
		return err
	}
	if k.windows, err = k.newMap(ebpf.MapSpec{Name: "windows", Type: ebpf.Array, KeySize: 4, ValueSize: 16,
		MaxEntries: mostNodes}); err != nil {
		return err
	}
	if k.reader, err = ringbuf.NewReader(k.ring); err != nil {
		return fmt.Errorf("BPF: %w", err)
	}
	k.all = append(k.all, k.reader)
	return nil
}

// Program is a program's file with probes.
type Program struct {
	kernel *Kernel
	file   *os.File // probes are set again by it, when the path is another file's
	id     native.FileID
	set    []*attached
	parts  []interface{ Close() error }
	// asked: a lease was asked for; leased: it was given
	asked, leased bool
}

// Probe sets probes at functions of a program file, for all processes that run it. f is the file,
// and sites are where the functions of queries begin in it; without any, there is no Program.
func (k *Kernel) Probe(path string, f *elf.File, sites []debuginfo.Site, queries []debuginfo.Query) (p *Program,
	err error) {
	if len(sites) == 0 {
		return nil, nil
	}
	if err := k.openRing(); err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	from := len(k.all)
	p = &Program{kernel: k, file: file}
	defer func() {
		p.parts = slices.Clone(k.all[from:])
		k.all = append(k.all[:from], p)
		if err != nil {
			p, err = nil, errors.Join(err, p.Close())
		}
	}()
	if p.id, err = native.IdentifyFile(file); err != nil {
		return p, err
	}
	for _, s := range sites {
		a, err := k.probeSite(file, f, s)
		if err != nil {
			return p, fmt.Errorf("%s: function %s: %w", path, queries[s.Query].Function, err)
		}
		p.set = append(p.set, a)
	}
	return p, nil
}

// IsWritten reports whether somebody writes to the program's file, or has. A probe must not stay
// longer than the instructions at which it was set: the kernel would execute those in place of
// others. While no process runs the file, nothing else keeps anybody from writing. So the kernel is
// asked to have writers wait (a lease) until the probes are out; not all file systems do that.
func (p *Program) IsWritten() bool {
	fd := p.file.Fd()
	if !p.asked {
		_, err := unix.FcntlInt(fd, unix.F_SETLEASE, unix.F_RDLCK)
		p.asked = err != unix.EAGAIN // somebody writes
		p.leased = err == nil        // without it, a writer is noticed late
	}
	id, err := native.IdentifyFile(p.file)
	if err != nil || id != p.id {
		return true
	}
	lease, err := unix.FcntlInt(fd, unix.F_GETLEASE, 0)
	return p.leased && err == nil && lease == unix.F_UNLCK
}

// ID is the identity that the file had before the probes were set.
func (p *Program) ID() native.FileID { return p.id }

// Close takes the probes out, and lets others write to the file.
func (p *Program) Close() error {
	if p.file == nil {
		return nil
	}
	k := p.kernel
	k.set = slices.DeleteFunc(k.set, func(a *attached) bool { return slices.Contains(p.set, a) })
	var all error
	for _, part := range slices.Backward(p.parts) {
		all = errors.Join(all, part.Close())
	}
	all = errors.Join(all, p.file.Close())
	p.file = nil
	return all
}

// attached is where a probe is set, and the program that runs there.
type attached struct {
	file    *os.File
	offset  uint64
	program *ebpf.Program
	link    link.Link // nil: it is not set now
}

// attach sets the probe, if it is not set.
func (a *attached) attach() error {
	if a.link != nil {
		return nil
	}
	x, err := link.OpenExecutable(fmt.Sprintf("/proc/self/fd/%d", a.file.Fd()))
	if err != nil {
		return err
	}
	l, err := x.UprobeMulti(nil, a.program, &link.UprobeMultiOptions{Addresses: []uint64{a.offset}})
	if err != nil {
		return fmt.Errorf("BPF: uprobe: %w", err)
	}
	a.link = l
	return nil
}

// Close takes the probe out, if it is set.
func (a *attached) Close() error {
	l := a.link
	if a.link = nil; l == nil {
		return nil
	}
	return l.Close()
}

// Pause takes the probes out of all programs. Until Resume, calls cost the programs nothing, and
// are not seen. Those that were before are still told of by Calls.
func (k *Kernel) Pause() error { return k.ofEach((*attached).Close) }

// Resume sets the probes again that Pause has taken out.
func (k *Kernel) Resume() error { return k.ofEach((*attached).attach) }

// ofEach does something for each probe. The kernel takes about 10 ms for one, most of which it
// waits.
func (k *Kernel) ofEach(do func(*attached) error) error {
	all := make([]error, len(k.set))
	var done sync.WaitGroup
	for i, a := range k.set {
		done.Go(func() { all[i] = do(a) })
	}
	done.Wait()
	return errors.Join(all...)
}

func (k *Kernel) probeSite(file *os.File, f *elf.File, s debuginfo.Site) (*attached, error) {
	offset, ok := fileOffset(f, s.Addr)
	if !ok {
		return nil, errors.New("its code is not in the file")
	}
	p, err := planOf(&s)
	if err != nil {
		return nil, err
	}
	number := len(k.sites)
	program, err := k.load(ebpf.ProgramSpec{Name: "function", Type: ebpf.Kprobe,
		AttachType: ebpf.AttachTraceUprobeMulti, Instructions: k.atFunction(number, &p)})
	if err != nil {
		return nil, err
	}
	a := &attached{file: file, offset: offset, program: program}
	if err := a.attach(); err != nil {
		return nil, err
	}
	k.all, k.set = append(k.all, a), append(k.set, a)
	k.sites = append(k.sites, site{s, p})
	return a, nil
}

// fileOffset is where an address is in a program's file.
func fileOffset(f *elf.File, addr uint64) (offset uint64, ok bool) {
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Vaddr <= addr && addr < p.Vaddr+p.Filesz {
			return addr - p.Vaddr + p.Off, true
		}
	}
	return 0, false
}

// atFunction are the instructions of a probe: they copy registers, and the pieces of the plan.
func (k *Kernel) atFunction(number int, p *plan) asm.Instructions {
	size := atPieces + p.size
	code := asm.Instructions{asm.Mov.Reg(asm.R6, asm.R1)}
	code = append(code, k.lookUpCurrent()...)
	code = append(code,
		asm.JEq.Imm(asm.R0, 0, "out"),
		asm.LoadMem(asm.R7, asm.R0, 0, asm.Word),
		asm.StoreMem(asm.R10, -8, asm.R7, asm.Word))
	if k.MaxCalls > 0 {
		code = append(code, k.limit()...)
	}
	code = append(code, k.beginRecord(size, uint32(number), "full")...)
	for i := range registers {
		code = append(code, asm.LoadMem(asm.R1, asm.R6, int16(8*i), asm.DWord),
			asm.StoreMem(asm.R8, int16(atRegisters+8*i), asm.R1, asm.DWord))
	}
	for i := range p.pieces {
		if p.pieces[i].size > 0 {
			code = append(code, copyPiece(p, i)...)
		} else {
			code = append(code, asm.StoreImm(asm.R8, int16(atLengths+2*i), 0, asm.Half))
		}
	}
	return append(code, k.submit(1)...)
}

// beginRecord are instructions that begin a record of the node in R7, to which R8 then points. They
// go to a label where there is no room.
func (k *Kernel) beginRecord(size int, site uint32, full string) asm.Instructions {
	return asm.Instructions{
		asm.LoadMapPtr(asm.R1, k.ring.FD()),
		asm.Mov.Imm(asm.R2, int32(size)), asm.Mov.Imm(asm.R3, 0),
		asm.FnRingbufReserve.Call(),
		asm.JEq.Imm(asm.R0, 0, full),
		asm.Mov.Reg(asm.R8, asm.R0),
		// The time is taken once there is room: so no record comes that is earlier than one that
		// was missing when the ring was read.
		asm.FnKtimeGetNs.Call(),
		asm.StoreMem(asm.R8, atTime, asm.R0, asm.DWord),
		asm.StoreMem(asm.R8, atNode, asm.R7, asm.Word),
		asm.StoreImm(asm.R8, atSite, int64(int32(site)), asm.Word),
	}
}

// window is for how long calls are counted against MaxCalls, in nanoseconds.
const window = int32(100 * time.Millisecond)

// limit are instructions that go to "full" when there were too many calls of the node in the window
// of time. Calls on several processors at once may be counted in the wrong window, which changes no
// more than which of them are dropped.
func (k *Kernel) limit() asm.Instructions {
	most := max(int64(k.MaxCalls)*int64(window)/int64(time.Second), 1)
	return asm.Instructions{
		asm.LoadMapPtr(asm.R1, k.windows.FD()),
		asm.Mov.Reg(asm.R2, asm.R10), asm.Add.Imm(asm.R2, -8),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "out"),
		asm.Mov.Reg(asm.R8, asm.R0),
		asm.FnKtimeGetNs.Call(),
		asm.LoadMem(asm.R1, asm.R8, 0, asm.DWord),
		asm.Mov.Reg(asm.R2, asm.R0), asm.Sub.Reg(asm.R2, asm.R1),
		asm.JLT.Imm(asm.R2, window, "within"),
		asm.StoreMem(asm.R8, 0, asm.R0, asm.DWord),
		asm.Mov.Imm(asm.R1, 0),
		asm.StoreMem(asm.R8, 8, asm.R1, asm.DWord),
		asm.LoadMem(asm.R1, asm.R8, 8, asm.DWord).WithSymbol("within"),
		asm.Add.Imm(asm.R1, 1),
		asm.StoreMem(asm.R8, 8, asm.R1, asm.DWord),
		asm.JGT.Imm(asm.R1, int32(most), "full"),
	}
}

// copyPiece are instructions that copy a piece, or what of it lies on the page on which it begins.
func copyPiece(p *plan, i int) asm.Instructions {
	q := &p.pieces[i]
	read, done := fmt.Sprintf("read%d", i), fmt.Sprintf("done%d", i)
	from := atRegisters
	if q.register >= 0 {
		from += 8 * ptRegs[q.register]
	} else {
		from = atPieces + p.pieces[q.piece].at + q.word
	}
	atLength := int16(atLengths + 2*i)
	copying := func(label string, size ...asm.Instruction) asm.Instructions {
		first := asm.Mov.Reg(asm.R1, asm.R8)
		if label != "" {
			first = first.WithSymbol(label)
		}
		code := append(asm.Instructions{first, asm.Add.Imm(asm.R1, int32(atPieces+q.at))}, size...)
		return append(code, asm.Mov.Reg(asm.R3, asm.R9), asm.FnProbeReadUser.Call())
	}
	code := asm.Instructions{
		asm.StoreImm(asm.R8, atLength, 0, asm.Half),
		asm.LoadMem(asm.R9, asm.R8, int16(from), asm.DWord),
		asm.Add.Imm(asm.R9, int32(q.offset)),
	}
	code = append(code, copying(read, asm.Mov.Imm(asm.R2, int32(q.size)))...)
	code = append(code,
		asm.StoreImm(asm.R8, atLength, int64(q.size), asm.Half),
		asm.JEq.Imm(asm.R0, 0, done),
		asm.StoreImm(asm.R8, atLength, 0, asm.Half),
		asm.Mov.Reg(asm.R7, asm.R9), asm.And.Imm(asm.R7, 4095),
		asm.Mov.Imm(asm.R2, 4096), asm.Sub.Reg(asm.R2, asm.R7), // up to the end of the page
		asm.JGE.Imm(asm.R2, int32(q.size), done),
		asm.Mov.Reg(asm.R7, asm.R2),
	)
	code = append(code, copying("", asm.Mov.Reg(asm.R2, asm.R7))...)
	return append(code,
		asm.JNE.Imm(asm.R0, 0, done),
		asm.StoreMem(asm.R8, atLength, asm.R7, asm.Half),
		asm.Mov.Imm(asm.R0, 0).WithSymbol(done),
	)
}

// Waiting reports whether there are calls, messages or strikes that Calls has not told of. Nobody
// is woken by them: to wake a process would cost the program more than all else that a probe does.
func (k *Kernel) Waiting() bool { return k.ring != nil && k.reader.AvailableBytes() > 0 }

// Calls calls f with the calls that there were since it was last called, in the order in which they
// began, and tells of messages (FollowMessages). complete: there is none before the time at which
// Calls was called that was not among them.
func (k *Kernel) Calls(f func(Call)) (complete bool, err error) {
	if k.ring == nil {
		return true, nil
	}
	for {
		k.reader.SetDeadline(time.Now())
		err := k.reader.ReadInto(&k.record)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return k.reader.AvailableBytes() == 0, nil
		} else if err != nil {
			return false, fmt.Errorf("BPF: %w", err)
		}
		if ok, err := k.tellMessage(k.record.RawSample); err != nil {
			return false, err
		} else if ok {
			continue
		}
		if k.tellStruck(k.record.RawSample) {
			continue
		}
		if ok, err := k.tellBegun(k.record.RawSample); err != nil {
			return false, err
		} else if ok {
			continue
		}
		c, err := k.parseCall(k.record.RawSample)
		if err != nil {
			return false, err
		}
		f(c)
	}
}

// parseCall reads a record.
func (k *Kernel) parseCall(b []byte) (c Call, err error) {
	number := 0
	if len(b) >= atPieces {
		number = int(binary.LittleEndian.Uint32(b[atSite:]))
	}
	if number >= len(k.sites) || len(b) < atPieces+k.sites[number].plan.size {
		return c, fmt.Errorf("BPF: a record of %d bytes is of no probe", len(b))
	}
	s := &k.sites[number]
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(b[atRegisters+8*i:]) }
	var own [16]uint64
	for i, at := range ptRegs {
		own[i] = word(at)
	}
	lengths := make([]uint16, len(s.plan.pieces))
	for i := range lengths {
		lengths[i] = binary.LittleEndian.Uint16(b[atLengths+2*i:])
	}
	m := newMemory(&s.plan, own, b[atPieces:], lengths)
	c = Call{Query: s.Query, Node: int(binary.LittleEndian.Uint32(b[atNode:])),
		At: ariadne.Time(binary.LittleEndian.Uint64(b[atTime:]))}
	c.Values = s.Read(m, word(instructionPointer)-s.Addr)
	c.Missing = m.missed
	return c, nil
}

// Dropped is what of a node there was no room for, or was too much, since it was attached.
type Dropped struct{ Calls, Programs uint64 }

// Dropped returns what of a node was dropped.
func (k *Kernel) Dropped(node int) (Dropped, error) {
	if k.dropped == nil {
		return Dropped{}, nil
	}
	var n uint64
	if err := k.dropped.Lookup(uint32(node), &n); err != nil {
		return Dropped{}, fmt.Errorf("BPF: %w", err)
	}
	return Dropped{n % programStep, n / programStep}, nil
}
