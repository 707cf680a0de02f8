//go:build linux && amd64

package probe

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"github.com/ariadne-mc/ariadne"

	"github.com/cilium/ebpf/asm"

	"golang.org/x/sys/unix"
)

// Message is a step of a TCP stream at a node: a program begins to write to it, or has read from
// it.
type Message struct {
	Node          int
	At            ariadne.Time // of native.Now
	Local, Remote netip.AddrPort
	Writes        bool
	// Position is a sequence number: up to where programs had written before this, or have read.
	Position uint32
}

// The record of a message has the first fields of the record of a call. The site says which it is.
// Its own fields, in bytes: the position, and struct sock_common.
const (
	atPosition = 16
	atCommon   = 24

	writes = ^uint32(0)
	reads  = writes - 1
)

// FollowMessages begins to tell f of the messages of nodes, when Calls is called. Of one for which
// there is no room nobody is told.
func (k *Kernel) FollowMessages(f func(Message)) error {
	if err := k.locate(); err != nil {
		return err
	}
	if err := k.openRing(); err != nil {
		return err
	}
	k.onMessage = f
	if err := k.trace("tcp_sendmsg_locked", k.atMessage(writes, k.fields.written)); err != nil {
		return err
	}
	return k.trace("tcp_rcv_space_adjust", k.atMessage(reads, k.fields.read))
}

// atMessage are instructions that copy a position in a stream, and between whom it is.
func (k *Kernel) atMessage(site uint32, position int) asm.Instructions {
	kernel := func(to, bytes, from int) asm.Instructions {
		return asm.Instructions{
			asm.Mov.Reg(asm.R1, asm.R8), asm.Add.Imm(asm.R1, int32(to)),
			asm.Mov.Imm(asm.R2, int32(bytes)),
			asm.Mov.Reg(asm.R3, asm.R6), asm.Add.Imm(asm.R3, int32(from)),
			asm.FnProbeReadKernel.Call(),
		}
	}
	code := asm.Instructions{asm.LoadMem(asm.R6, asm.R1, 0, asm.DWord)} // the socket
	code = append(code, k.lookUpCurrent()...)
	code = append(code,
		asm.JEq.Imm(asm.R0, 0, "out"),
		asm.LoadMem(asm.R7, asm.R0, 0, asm.Word),
	)
	code = append(code, k.beginRecord(atCommon+k.fields.common, site, "out")...)
	code = append(code, kernel(atPosition, 4, position)...)
	code = append(code, kernel(atCommon, k.fields.common, 0)...)
	code = append(code,
		asm.Mov.Reg(asm.R1, asm.R8),
		asm.Mov.Imm(asm.R2, unix.BPF_RB_NO_WAKEUP),
		asm.FnRingbufSubmit.Call(),
	)
	return append(code, end("out")...)
}

// tellMessage tells of a record, if it is that of a message.
func (k *Kernel) tellMessage(b []byte) (ok bool, err error) {
	if len(b) < atRegisters {
		return false, nil
	}
	site := binary.LittleEndian.Uint32(b[atSite:])
	if site != writes && site != reads {
		return false, nil
	}
	if len(b) < atCommon+k.fields.common {
		return true, fmt.Errorf("BPF: a record of %d bytes is of no message", len(b))
	}
	m := Message{Node: int(binary.LittleEndian.Uint32(b[atNode:])), Writes: site == writes,
		At: ariadne.Time(binary.LittleEndian.Uint64(b[atTime:])), Position: binary.LittleEndian.Uint32(b[atPosition:])}
	m.Local, m.Remote = k.fields.ends(b[atCommon:])
	k.onMessage(m)
	return true, nil
}
