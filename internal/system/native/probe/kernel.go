//go:build linux && amd64

// Package probe looks into programs that run natively, by BPF programs in the kernel: calls of
// functions with values of their parameters (uprobes), and how far nodes have come in TCP streams.
// The BPF programs are assembled here; nothing else is needed to make them. They change nothing of
// what programs do, and are gone when the process that has loaded them is.
//
// It needs CAP_BPF and CAP_PERFMON, or root, and a kernel with type information (BTF). Check says
// what this machine lacks.
//
// Read next: function.go, plan.go, positions.go, messages.go.
package probe

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/link"
	"github.com/cilium/ebpf/rlimit"
)

// Kernel has BPF programs loaded that look at the processes of nodes.
type Kernel struct {
	types *btf.Spec
	nodes *ebpf.Map // from the ids of processes to nodes
	// MaxCalls is how many calls of one node are seen in a second; further ones are dropped. 0: no
	// limit. It is set before Probe is called.
	MaxCalls int
	// what was loaded, and is to be closed
	all []interface{ Close() error }
	functions
	positions
	striking
}

// mostProcesses is how many processes nodes may have, on one machine.
const mostProcesses = 1 << 16

// Open loads what follows the processes of nodes.
func Open() (*Kernel, error) {
	if err := rlimit.RemoveMemlock(); err != nil {
		return nil, fmt.Errorf("BPF: %w", err)
	}
	types, err := btf.LoadKernelSpec()
	if err != nil {
		return nil, fmt.Errorf("BPF: the kernel tells no types (CONFIG_DEBUG_INFO_BTF): %w", err)
	}
	k := &Kernel{types: types}
	if k.nodes, err = k.newMap(ebpf.MapSpec{Name: "nodes", Type: ebpf.Hash, KeySize: 4, ValueSize: 4,
		MaxEntries: mostProcesses}); err != nil {
		return nil, errors.Join(err, k.Close())
	}
	tgid, err := offsetOf(types, "task_struct", "tgid")
	signal, err2 := offsetOf(types, "task_struct", "signal")
	live, err3 := offsetOf(types, "signal_struct", "live")
	if err = cmp.Or(err, err2, err3); err == nil {
		err = errors.Join(k.trace("sched_process_fork", k.forked(tgid)),
			k.trace("sched_process_exit", k.exited(tgid, signal, live)))
	}
	if err != nil {
		return nil, errors.Join(err, k.Close())
	}
	return k, nil
}

func (k *Kernel) newMap(s ebpf.MapSpec) (*ebpf.Map, error) {
	m, err := ebpf.NewMap(&s)
	if err != nil {
		return nil, fmt.Errorf("BPF: map %s: %w", s.Name, err)
	}
	k.all = append(k.all, m)
	return m, nil
}

// load loads a program.
func (k *Kernel) load(s ebpf.ProgramSpec) (*ebpf.Program, error) {
	s.License = "GPL" // of which the kernel's functions are that it calls
	p, err := ebpf.NewProgram(&s)
	if err != nil {
		return nil, fmt.Errorf("BPF: program %s: %w", s.Name, err)
	}
	k.all = append(k.all, p)
	return p, nil
}

// trace runs instructions at a tracepoint of the kernel.
func (k *Kernel) trace(point string, code asm.Instructions) error {
	p, err := k.load(ebpf.ProgramSpec{Name: "at_" + point[:min(len(point), 12)], Type: ebpf.Tracing,
		AttachType: ebpf.AttachTraceRawTp, AttachTo: point, Instructions: code})
	if err != nil {
		return err
	}
	l, err := link.AttachTracing(link.TracingOptions{Program: p})
	if err != nil {
		return fmt.Errorf("BPF: tracepoint %s: %w", point, err)
	}
	k.all = append(k.all, l)
	return nil
}

// offsetOf is where a field of a kernel's structure is, in bytes.
func offsetOf(types *btf.Spec, structure, field string) (int, error) {
	var s *btf.Struct
	if err := types.TypeByName(structure, &s); err != nil {
		return 0, fmt.Errorf("BPF: struct %s: %w", structure, err)
	}
	if at, ok := within(s.Members, field); ok {
		return at, nil
	}
	return 0, fmt.Errorf("BPF: struct %s has no field %s in this kernel", structure, field)
}

// within looks for a field, also in structures and unions without a name.
func within(all []btf.Member, field string) (at int, ok bool) {
	for _, m := range all {
		if m.Name == field {
			return int(m.Offset.Bytes()), true
		}
		if m.Name != "" {
			continue
		}
		var inner []btf.Member
		switch t := btf.UnderlyingType(m.Type).(type) {
		case *btf.Struct:
			inner = t.Members
		case *btf.Union:
			inner = t.Members
		}
		if at, ok := within(inner, field); ok {
			return int(m.Offset.Bytes()) + at, true
		}
	}
	return 0, false
}

// lookUp are instructions that look up the node of the process whose id is at the top of the
// stack's frame (R10-4). R0 is then where the node is, or 0.
func (k *Kernel) lookUp() asm.Instructions {
	return asm.Instructions{
		asm.LoadMapPtr(asm.R1, k.nodes.FD()),
		asm.Mov.Reg(asm.R2, asm.R10), asm.Add.Imm(asm.R2, -4),
		asm.FnMapLookupElem.Call(),
	}
}

// lookUpCurrent is lookUp of the process that runs.
func (k *Kernel) lookUpCurrent() asm.Instructions {
	return append(asm.Instructions{
		asm.FnGetCurrentPidTgid.Call(),
		asm.RSh.Imm(asm.R0, 32),
		asm.StoreMem(asm.R10, -4, asm.R0, asm.Word),
	}, k.lookUp()...)
}

// end are instructions that return 0, at a label.
func end(label string) asm.Instructions {
	return asm.Instructions{asm.Mov.Imm(asm.R0, 0).WithSymbol(label), asm.Return()}
}

// forked enters a process that one of a node has started.
func (k *Kernel) forked(tgid int) asm.Instructions {
	code := asm.Instructions{
		asm.LoadMem(asm.R6, asm.R1, 8, asm.DWord), // the child
		asm.LoadMem(asm.R7, asm.R1, 0, asm.DWord), // its parent
		asm.LoadMem(asm.R8, asm.R6, int16(tgid), asm.Word),
		asm.LoadMem(asm.R2, asm.R7, int16(tgid), asm.Word),
		asm.JEq.Reg(asm.R8, asm.R2, "out"), // a thread
		asm.StoreMem(asm.R10, -4, asm.R2, asm.Word),
	}
	code = append(code, k.lookUp()...)
	code = append(code,
		asm.JEq.Imm(asm.R0, 0, "out"),
		asm.LoadMem(asm.R1, asm.R0, 0, asm.Word),
		asm.StoreMem(asm.R10, -12, asm.R1, asm.Word),
		asm.StoreMem(asm.R10, -8, asm.R8, asm.Word),
		asm.LoadMapPtr(asm.R1, k.nodes.FD()),
		asm.Mov.Reg(asm.R2, asm.R10), asm.Add.Imm(asm.R2, -8),
		asm.Mov.Reg(asm.R3, asm.R10), asm.Add.Imm(asm.R3, -12),
		asm.Mov.Imm(asm.R4, 0),
		asm.FnMapUpdateElem.Call(),
	)
	return append(code, end("out")...)
}

// exited forgets a process whose last thread has ended. The first thread may end before others, and
// does when another one begins a program.
func (k *Kernel) exited(tgid, signal, live int) asm.Instructions {
	return append(asm.Instructions{
		asm.LoadMem(asm.R6, asm.R1, 0, asm.DWord), // the thread
		asm.LoadMem(asm.R1, asm.R6, int16(signal), asm.DWord),
		asm.LoadMem(asm.R1, asm.R1, int16(live), asm.Word),
		asm.JNE.Imm(asm.R1, 0, "out"),
		asm.LoadMem(asm.R1, asm.R6, int16(tgid), asm.Word),
		asm.StoreMem(asm.R10, -4, asm.R1, asm.Word),
		asm.LoadMapPtr(asm.R1, k.nodes.FD()),
		asm.Mov.Reg(asm.R2, asm.R10), asm.Add.Imm(asm.R2, -4),
		asm.FnMapDeleteElem.Call(),
	}, end("out")...)
}

// Follow enters processes of a node. Those that they start are followed, too.
func (k *Kernel) Follow(node int, pids ...int) error {
	for _, pid := range pids {
		if err := k.nodes.Put(uint32(pid), uint32(node)); err != nil {
			return fmt.Errorf("BPF: follow process %d: %w", pid, err)
		}
	}
	return nil
}

// Close ends everything: no probe is left.
func (k *Kernel) Close() error {
	_, err := k.EndStrike()
	return errors.Join(err, k.closeFrom(0))
}

// closeFrom ends what was begun last, down to number i.
func (k *Kernel) closeFrom(i int) error {
	var all error
	for j := len(k.all) - 1; j >= i; j-- {
		all = errors.Join(all, k.all[j].Close())
	}
	k.all = k.all[:i]
	return all
}
