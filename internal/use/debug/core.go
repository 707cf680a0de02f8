package debug

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/leaf/inspect"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/tasks/area"
)

// Core is a file that debuggers of one process open (core(5)).
type Core struct {
	Path    string // of the core
	PID     int    // as the node's programs see it
	Program string // its program, as the node sees it
	Host    string // the program on this machine, or "" where it is not known
	Threads int
}

// WriteCores writes a core file of each process of a node where the debugger stands: one to path,
// or several to path with a dot and the number of the process.
func (d *Debugger) WriteCores(node, path string) (all []Core, err error) {
	id, err := d.node(node)
	if err != nil {
		return nil, err
	}
	err = d.session.Visit(id, func(m inspect.Machine) error {
		v, err := m.Look()
		if err != nil {
			return err
		}
		var live []*inspect.Process
		for i := range v.Processes {
			if len(v.Processes[i].Threads) > 0 {
				live = append(live, &v.Processes[i])
			}
		}
		for _, p := range live {
			c := Core{Path: path, PID: p.PID, Program: p.Exe, Host: d.session.OnHost(p.Exe), Threads: len(p.Threads)}
			if len(live) > 1 {
				c.Path = fmt.Sprintf("%s.%d", path, p.PID)
			}
			if err := writeCoreFile(c.Path, m, p); err != nil {
				return fmt.Errorf("process %d: %w", p.PID, err)
			}
			all = append(all, c)
		}
		return nil
	})
	if err == nil && len(all) == 0 {
		n := d.session.Now().Node(id)
		err = fmt.Errorf("node %s has no process behind step %d: %s", node, d.Step(), inWords(&n))
	}
	return all, err
}

// core writes the cores of a node.
func (d *Debugger) core(args string) (string, error) {
	words := strings.Fields(args)
	if len(words) != 2 {
		return "", fmt.Errorf("core wants a node and a file, not %q", args)
	}
	all, err := d.WriteCores(words[0], words[1])
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for i := range all {
		b.WriteString(all[i].String())
	}
	return b.String(), nil
}

// String says how to open the core.
func (c *Core) String() string {
	text := fmt.Sprintf("%s: process %d, %s, threads: %d\n", c.Path, c.PID, c.Program, c.Threads)
	if c.Host != "" {
		text += fmt.Sprintf("  gdb %s %s\n", c.Host, c.Path)
	}
	return text
}

func writeCoreFile(path string, m inspect.Machine, p *inspect.Process) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
		if err != nil {
			os.Remove(path)
		}
	}()
	return writeCore(f, m, p)
}

// Sizes of a core file.
const (
	headerSize  = 64 // of an Elf64_Ehdr
	programSize = 56 // of an Elf64_Phdr
	corePage    = 4096
	mostHeaders = 0xffff - 1
)

// coreFile is what a core is written to. Pages of zeros are left out: the file has holes there.
type coreFile interface {
	io.WriterAt
	Truncate(size int64) error
}

// writeCore writes a process as Linux writes one that dumps core: notes, then all of its memory
// that can be read.
func writeCore(f coreFile, m inspect.Machine, p *inspect.Process) error {
	all, err := m.Mappings(p.PID)
	if err != nil {
		return err
	}
	notes, err := coreNotes(m, p, all)
	if err != nil {
		return err
	}
	if len(all) >= mostHeaders {
		return fmt.Errorf("there are %d mappings, more than a core file takes", len(all))
	}
	var head bytes.Buffer
	put := func(values ...any) {
		for _, v := range values {
			binary.Write(&head, binary.LittleEndian, v)
		}
	}
	put([16]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		uint16(elf.ET_CORE), uint16(elf.EM_X86_64), uint32(elf.EV_CURRENT), uint64(0), uint64(headerSize), uint64(0),
		uint32(0), uint16(headerSize), uint16(programSize), uint16(len(all)+1), uint16(0), uint16(0), uint16(0))
	at := uint64(headerSize + programSize*(len(all)+1))
	put(uint32(elf.PT_NOTE), uint32(0), at, uint64(0), uint64(0), uint64(len(notes)), uint64(0), uint64(4))
	notesAt := at
	at = (at + uint64(len(notes)) + corePage - 1) &^ (corePage - 1)
	var parts []corePart
	for i := range all {
		a := &all[i]
		size := a.End - a.Start
		var flags elf.ProgFlag
		for flag, is := range map[elf.ProgFlag]bool{elf.PF_R: a.Read, elf.PF_W: a.Write, elf.PF_X: a.Execute} {
			if is {
				flags |= flag
			}
		}
		held := size
		if _, err := m.ReadMemory(p.PID, a.Start, make([]byte, 1)); err != nil || !a.Read {
			held = 0
		}
		put(uint32(elf.PT_LOAD), uint32(flags), at, a.Start, uint64(0), held, size, uint64(corePage))
		parts = append(parts, corePart{at, a.Start, held})
		at += held
	}
	if err := f.Truncate(int64(at)); err != nil {
		return err
	}
	if _, err := f.WriteAt(head.Bytes(), 0); err != nil {
		return err
	}
	if _, err := f.WriteAt(notes, int64(notesAt)); err != nil {
		return err
	}
	for _, part := range parts {
		if err := part.write(f, m, p.PID); err != nil {
			return err
		}
	}
	return nil
}

// corePart is where in a core a piece of memory goes.
type corePart struct{ at, start, size uint64 }

func (c *corePart) write(f io.WriterAt, m inspect.Machine, pid int) error {
	b, zeros := make([]byte, 1<<20), make([]byte, corePage)
	for done := uint64(0); done < c.size; {
		part := b[:min(uint64(len(b)), c.size-done)]
		n, err := m.ReadMemory(pid, c.start+done, part)
		if err != nil || n == 0 { // behind the end of a mapped file: the hole reads as zeros
			done += corePage
			continue
		}
		for i := 0; i < n; i += corePage {
			page := part[i:min(i+corePage, n)]
			if bytes.Equal(page, zeros[:len(page)]) {
				continue
			}
			if _, err := f.WriteAt(page, int64(c.at+done)+int64(i)); err != nil {
				return err
			}
		}
		done += uint64(n)
	}
	return nil
}

// Kinds of notes that package debug/elf does not have.
const (
	ntAuxv      = 6
	ntFile      = 0x46494c45
	ntX86XState = 0x202
	legacyFPU   = 512 // bytes of XSAVE's area that are the registers of the FPU
)

// coreNotes are the notes of a process: its name, where its files are mapped, the registers of
// its threads.
func coreNotes(m inspect.Machine, p *inspect.Process, mappings []inspect.Mapping) ([]byte, error) {
	var notes bytes.Buffer
	note := func(kind elf.NType, name string, data []byte) {
		binary.Write(&notes, binary.LittleEndian, []uint32{uint32(len(name) + 1), uint32(len(data)), uint32(kind)})
		for _, b := range [][]byte{append([]byte(name), 0), data} {
			notes.Write(b)
			notes.Write(make([]byte, -len(b)&3))
		}
	}
	for i := range p.Threads {
		r, err := m.Registers(p.Threads[i].TID)
		if err != nil {
			return nil, err
		}
		status, err := prstatus(p, p.Threads[i].TID, &r)
		if err != nil {
			return nil, err
		}
		note(elf.NT_PRSTATUS, "CORE", status)
		if i == 0 {
			note(elf.NT_PRPSINFO, "CORE", prpsinfo(p))
			aux, err := m.Auxiliary(p.PID)
			if err != nil {
				return nil, err
			}
			note(ntAuxv, "CORE", aux)
			note(ntFile, "CORE", mappedFiles(mappings))
		}
		if len(r.Extended) >= legacyFPU {
			note(elf.NT_FPREGSET, "CORE", r.Extended[:legacyFPU])
			note(ntX86XState, "LINUX", r.Extended)
		}
	}
	return notes.Bytes(), nil
}

// prstatusRegisters are in the order of user_regs_struct (sys/user.h).
var prstatusRegisters = strings.Fields("r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp ss fs_base gs_base ds es fs gs")

// prstatus is an elf_prstatus (sys/procfs.h): which thread it is, and its registers.
func prstatus(p *inspect.Process, tid int, r *inspect.Registers) ([]byte, error) {
	var b bytes.Buffer
	b.Write(make([]byte, 32)) // no signal: what is dumped goes on
	binary.Write(&b, binary.LittleEndian, []int32{int32(tid), int32(p.Parent), int32(p.PID), int32(p.PID)})
	b.Write(make([]byte, 4*16)) // times
	for _, name := range prstatusRegisters {
		v, ok := r.Of(name)
		if !ok {
			return nil, fmt.Errorf("the register %s of thread %d is not known", name, tid)
		}
		binary.Write(&b, binary.LittleEndian, v)
	}
	binary.Write(&b, binary.LittleEndian, []int32{1, 0}) // there are registers of the FPU
	return b.Bytes(), nil
}

// prpsinfo is an elf_prpsinfo (sys/procfs.h): what the process is called.
func prpsinfo(p *inspect.Process) []byte {
	var b bytes.Buffer
	b.Write([]byte{0, 'S', 0, 0})
	b.Write(make([]byte, 4+8+4+4))
	binary.Write(&b, binary.LittleEndian, []int32{int32(p.PID), int32(p.Parent), int32(p.PID), int32(p.PID)})
	var name [16]byte
	copy(name[:15], filepath.Base(p.Exe))
	var args [80]byte
	copy(args[:79], strings.Join(p.Args, " "))
	b.Write(name[:])
	b.Write(args[:])
	return b.Bytes()
}

// mappedFiles is the content of a note NT_FILE: which part of which file is mapped where.
func mappedFiles(mappings []inspect.Mapping) []byte {
	var table, names bytes.Buffer
	count := uint64(0)
	for i := range mappings {
		a := &mappings[i]
		if !strings.HasPrefix(a.Name, "/") || area.Holds(a.Start) { // that is Ariadne's own
			continue
		}
		count++
		binary.Write(&table, binary.LittleEndian, []uint64{a.Start, a.End, a.Offset / corePage})
		names.WriteString(a.Name + "\x00")
	}
	head := binary.LittleEndian.AppendUint64(nil, count)
	head = binary.LittleEndian.AppendUint64(head, corePage)
	return append(append(head, table.Bytes()...), names.Bytes()...)
}
