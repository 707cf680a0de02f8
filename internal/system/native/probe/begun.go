//go:build linux && amd64

package probe

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/system/native"

	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"

	"golang.org/x/sys/unix"
)

// Begun is a program that a process of a node has begun (execve).
type Begun struct {
	Node int
	PID  int
	At   ariadne.Time // of native.Now; the program has done nothing before it
	// File is its file. A file system may show programs another number of the device.
	File native.FileID
	Path string // as the process has named it; at most 255 bytes
}

// The record of a program that begins has the first fields of the record of a call. Its own fields,
// in bytes: the process, what names the file, and the path.
const (
	atPID       = 16
	atDevice    = 24
	atInode     = 32
	atSize      = 40
	atSeconds   = 48
	atNano      = 56
	atPath      = 64
	mostPath    = 256
	begunSize   = atPath + mostPath
	begins      = strikes - 1
	programStep = 1 << 48 // what dropped counts for a program that began without a record
)

// FollowPrograms begins to tell f of programs that nodes begin, when Calls is called.
func (k *Kernel) FollowPrograms(f func(Begun)) error {
	if err := k.openRing(); err != nil {
		return err
	}
	at, err := locateFile(k.types)
	if err != nil {
		return err
	}
	k.onBegun = f
	return k.trace("sched_process_exec", k.atExec(at))
}

// fileFields are the places of what is read of a program's file, in bytes.
type fileFields struct {
	file, path                        int // in struct linux_binprm
	inode                             int // in struct file
	number, size, block, second, nano int // in struct inode
	nanoSize                          asm.Size
	device                            int // in struct super_block
}

// locateFile finds out where the fields are.
func locateFile(types *btf.Spec) (at fileFields, err error) {
	for _, f := range []struct {
		in, name string
		at       *int
	}{
		{"linux_binprm", "file", &at.file}, {"linux_binprm", "interp", &at.path}, {"file", "f_inode", &at.inode},
		{"inode", "i_ino", &at.number}, {"inode", "i_size", &at.size}, {"inode", "i_sb", &at.block},
		{"super_block", "s_dev", &at.device},
	} {
		if *f.at, err = offsetOf(types, f.in, f.name); err != nil {
			return at, err
		}
	}
	// The time of the last change had other names before Linux 6.11 and 6.7.
	at.nanoSize = asm.Word
	if at.second, err = offsetOf(types, "inode", "i_mtime_sec"); err == nil {
		at.nano, err = offsetOf(types, "inode", "i_mtime_nsec")
		return at, err
	}
	at.nanoSize = asm.DWord
	for _, name := range []string{"__i_mtime", "i_mtime"} {
		if at.second, err = offsetOf(types, "inode", name); err == nil {
			break
		}
	}
	at.nano = at.second + 8
	return at, err
}

// atExec are instructions behind each successful execve.
func (k *Kernel) atExec(at fileFields) asm.Instructions {
	code := append(asm.Instructions{asm.Mov.Reg(asm.R6, asm.R1)}, k.lookUpCurrent()...)
	code = append(code,
		asm.JEq.Imm(asm.R0, 0, "out"),
		asm.LoadMem(asm.R7, asm.R0, 0, asm.Word),
		asm.StoreMem(asm.R10, -8, asm.R7, asm.Word))
	code = append(code, k.beginRecord(begunSize, begins, "full")...)
	copied := func(to, from int, size asm.Size) asm.Instructions {
		return asm.Instructions{
			asm.LoadMem(asm.R1, asm.R7, int16(from), size),
			asm.StoreMem(asm.R8, int16(to), asm.R1, asm.DWord),
		}
	}
	code = append(code,
		asm.FnGetCurrentPidTgid.Call(),
		asm.RSh.Imm(asm.R0, 32),
		asm.StoreMem(asm.R8, atPID, asm.R0, asm.DWord),
		asm.LoadMem(asm.R9, asm.R6, 16, asm.DWord), // struct linux_binprm
		asm.LoadMem(asm.R7, asm.R9, int16(at.file), asm.DWord),
		asm.LoadMem(asm.R7, asm.R7, int16(at.inode), asm.DWord))
	code = append(code, copied(atInode, at.number, asm.DWord)...)
	code = append(code, copied(atSize, at.size, asm.DWord)...)
	code = append(code, copied(atSeconds, at.second, asm.DWord)...)
	code = append(code, copied(atNano, at.nano, at.nanoSize)...)
	code = append(code, asm.LoadMem(asm.R7, asm.R7, int16(at.block), asm.DWord))
	code = append(code, copied(atDevice, at.device, asm.Word)...)
	code = append(code,
		asm.StoreImm(asm.R8, atPath, 0, asm.Byte),
		asm.Mov.Reg(asm.R1, asm.R8), asm.Add.Imm(asm.R1, atPath),
		asm.Mov.Imm(asm.R2, mostPath),
		asm.LoadMem(asm.R3, asm.R9, int16(at.path), asm.DWord),
		asm.FnProbeReadKernelStr.Call())
	return append(code, k.submit(programStep)...)
}

// submit are instructions that end a record, or count one for which there was no room as so many,
// and return. The node is in the stack's frame (R10-8).
func (k *Kernel) submit(missing int64) asm.Instructions {
	return append(asm.Instructions{
		asm.Mov.Reg(asm.R1, asm.R8),
		asm.Mov.Imm(asm.R2, unix.BPF_RB_NO_WAKEUP),
		asm.FnRingbufSubmit.Call(),
		asm.Ja.Label("out"),
		asm.LoadMapPtr(asm.R1, k.dropped.FD()).WithSymbol("full"),
		asm.Mov.Reg(asm.R2, asm.R10), asm.Add.Imm(asm.R2, -8),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "out"),
		asm.LoadImm(asm.R1, missing, asm.DWord),
		asm.StoreXAdd(asm.R0, asm.R1, asm.DWord),
	}, end("out")...)
}

// tellBegun tells of a record, if it is that of a program that began.
func (k *Kernel) tellBegun(b []byte) (ok bool, err error) {
	if len(b) < atSite+4 || binary.LittleEndian.Uint32(b[atSite:]) != begins {
		return false, nil
	}
	if len(b) < begunSize {
		return false, fmt.Errorf("BPF: a record of %d bytes is of no program", len(b))
	}
	word := func(at int) uint64 { return binary.LittleEndian.Uint64(b[at:]) }
	path, _, _ := bytes.Cut(b[atPath:begunSize], []byte{0})
	device := word(atDevice)
	k.onBegun(Begun{
		Node: int(binary.LittleEndian.Uint32(b[atNode:])),
		PID:  int(word(atPID)),
		At:   ariadne.Time(word(atTime)),
		File: native.FileID{Device: unix.Mkdev(uint32(device>>20), uint32(device&(1<<20-1))), Inode: word(atInode),
			Size: int64(word(atSize)), Modified: int64(word(atSeconds))*1e9 + int64(word(atNano))},
		Path: string(path),
	})
	return true, nil
}
