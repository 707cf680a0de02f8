//go:build linux && amd64

package probe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"
	"github.com/cilium/ebpf/btf"
	"github.com/cilium/ebpf/link"

	"golang.org/x/sys/unix"
)

// positions reads how far nodes have come in TCP streams. A socket gets a mark with its node when a
// process of the node sends or reads. An iterator then lists the marked sockets.
type positions struct {
	marks   *ebpf.Map
	sockets *link.Iter
	listed  []byte // for Sockets
	fields  socketFields
}

// socketFields are the places of what is read of a socket, in bytes.
type socketFields struct {
	local, remote, local6, remote6, localPort, remotePort, family int // in struct sock_common
	written, read                                                 int // in struct tcp_sock
	// size of what is copied of struct sock_common
	common int
}

// Socket is a TCP socket of a node.
type Socket struct {
	Node          int
	Local, Remote netip.AddrPort
	// Written and Read are sequence numbers: up to where programs have written to the socket and
	// read from it.
	Written, Read uint32
}

// ErrNoSockets: the kernel lists no sockets of nodes. Functions can be probed all the same.
var ErrNoSockets = errors.New("BPF: the kernel refuses to list sockets")

// FollowSockets begins to mark the sockets of nodes. The error is ErrNoSockets where the rest of k
// can be used without it.
func (k *Kernel) FollowSockets() error {
	from := len(k.all)
	err := k.followSockets()
	if err == nil {
		return nil
	}
	k.sockets = nil
	return errors.Join(fmt.Errorf("%w: %w", ErrNoSockets, err), k.closeFrom(from))
}

// FollowsSockets reports whether Sockets has those of nodes.
func (k *Kernel) FollowsSockets() bool { return k.sockets != nil }

// locate finds out where the fields of sockets are.
func (k *Kernel) locate() error {
	s := &k.fields
	for _, f := range []struct {
		in, name string
		at       *int
		size     int
	}{
		{"sock_common", "skc_rcv_saddr", &s.local, 4}, {"sock_common", "skc_daddr", &s.remote, 4},
		{"sock_common", "skc_v6_rcv_saddr", &s.local6, 16}, {"sock_common", "skc_v6_daddr", &s.remote6, 16},
		{"sock_common", "skc_num", &s.localPort, 2}, {"sock_common", "skc_dport", &s.remotePort, 2},
		{"sock_common", "skc_family", &s.family, 2}, {"tcp_sock", "write_seq", &s.written, 0},
		{"tcp_sock", "copied_seq", &s.read, 0},
	} {
		at, err := offsetOf(k.types, f.in, f.name)
		if err != nil {
			return err
		}
		*f.at = at
		if f.in == "sock_common" {
			s.common = max(s.common, (at+f.size+7)/8*8)
		}
	}
	return nil
}

func (k *Kernel) followSockets() error {
	if err := k.locate(); err != nil {
		return err
	}
	var err error
	number := &btf.Int{Size: 4}
	if k.marks, err = k.newMap(ebpf.MapSpec{Name: "marks", Type: ebpf.SkStorage, KeySize: 4, ValueSize: 4,
		Flags: unix.BPF_F_NO_PREALLOC, Key: number, Value: number}); err != nil {
		return err
	}
	if err := errors.Join(k.trace("tcp_sendmsg_locked", k.mark()),
		k.trace("tcp_rcv_space_adjust", k.mark())); err != nil {
		return err
	}
	if err = k.listBy("bpf_sk_storage_map", k.ofMark(), link.IterOptions{Map: k.marks}); err != nil {
		// Some kernels refuse that one alone. This one finds no sockets of other network
		// namespaces.
		err = errors.Join(k.listBy("tcp", k.ofTCP(), link.IterOptions{}), err)
		if k.sockets != nil {
			err = nil
		}
	}
	return err
}

// listBy has an iterator of the kernel list the marked sockets. first are instructions that put the
// socket into R7 and the node into the record, or go to "out".
func (k *Kernel) listBy(iterator string, first asm.Instructions, o link.IterOptions) (err error) {
	o.Program, err = k.load(ebpf.ProgramSpec{Name: "sockets", Type: ebpf.Tracing, AttachType: ebpf.AttachTraceIter,
		AttachTo: iterator, Instructions: append(first, k.list()...)})
	if err != nil {
		return err
	}
	if k.sockets, err = link.AttachIter(o); err != nil {
		return fmt.Errorf("BPF: iterator over sockets: %w", err)
	}
	k.all = append(k.all, k.sockets)
	return nil
}

// mark marks a socket with the node of the process that runs, once.
func (k *Kernel) mark() asm.Instructions {
	code := asm.Instructions{
		asm.LoadMem(asm.R6, asm.R1, 0, asm.DWord), // the socket
		asm.LoadMapPtr(asm.R1, k.marks.FD()),
		asm.Mov.Reg(asm.R2, asm.R6), asm.Mov.Imm(asm.R3, 0), asm.Mov.Imm(asm.R4, 0),
		asm.FnSkStorageGet.Call(),
		asm.JNE.Imm(asm.R0, 0, "out"),
	}
	code = append(code, k.lookUpCurrent()...)
	code = append(code,
		asm.JEq.Imm(asm.R0, 0, "out"),
		asm.LoadMem(asm.R7, asm.R0, 0, asm.Word),
		asm.LoadMapPtr(asm.R1, k.marks.FD()),
		asm.Mov.Reg(asm.R2, asm.R6), asm.Mov.Imm(asm.R3, 0),
		asm.Mov.Imm(asm.R4, unix.BPF_LOCAL_STORAGE_GET_F_CREATE),
		asm.FnSkStorageGet.Call(),
		asm.JEq.Imm(asm.R0, 0, "out"),
		asm.StoreMem(asm.R0, 0, asm.R7, asm.Word),
	)
	return append(code, end("out")...)
}

// recordSize is how long the record of a socket is.
func (k *Kernel) recordSize() int { return 16 + k.fields.common }

// ofMark are the first instructions of an iterator over marks.
func (k *Kernel) ofMark() asm.Instructions {
	return asm.Instructions{
		asm.Mov.Reg(asm.R6, asm.R1),
		asm.LoadMem(asm.R1, asm.R6, 16, asm.DWord),
		asm.JEq.Imm(asm.R1, 0, "out"),
		asm.Mov.Reg(asm.R7, asm.R1),
		asm.LoadMem(asm.R1, asm.R6, 24, asm.DWord),
		asm.JEq.Imm(asm.R1, 0, "out"),
		asm.LoadMem(asm.R1, asm.R1, 0, asm.Word),
		asm.StoreMem(asm.R10, int16(-k.recordSize()), asm.R1, asm.Word),
	}
}

// ofTCP are the first instructions of an iterator over the TCP sockets of this process's network
// namespace.
func (k *Kernel) ofTCP() asm.Instructions {
	return asm.Instructions{
		asm.Mov.Reg(asm.R6, asm.R1),
		asm.LoadMem(asm.R1, asm.R6, 8, asm.DWord),
		asm.JEq.Imm(asm.R1, 0, "out"),
		asm.FnSkcToTcpSock.Call(),
		asm.JEq.Imm(asm.R0, 0, "out"),
		asm.Mov.Reg(asm.R7, asm.R0),
		asm.LoadMapPtr(asm.R1, k.marks.FD()),
		asm.Mov.Reg(asm.R2, asm.R7), asm.Mov.Imm(asm.R3, 0), asm.Mov.Imm(asm.R4, 0),
		asm.FnSkStorageGet.Call(),
		asm.JEq.Imm(asm.R0, 0, "out"),
		asm.LoadMem(asm.R1, asm.R0, 0, asm.Word),
		asm.StoreMem(asm.R10, int16(-k.recordSize()), asm.R1, asm.Word),
	}
}

// list tells of the socket in R7: the node, what it has written and read, and its addresses.
func (k *Kernel) list() asm.Instructions {
	size := k.recordSize()
	kernel := func(to, bytes, from int) asm.Instructions {
		return asm.Instructions{
			asm.Mov.Reg(asm.R1, asm.R10), asm.Add.Imm(asm.R1, int32(to-size)),
			asm.Mov.Imm(asm.R2, int32(bytes)),
			asm.Mov.Reg(asm.R3, asm.R7), asm.Add.Imm(asm.R3, int32(from)),
			asm.FnProbeReadKernel.Call(),
			asm.JNE.Imm(asm.R0, 0, "out"),
		}
	}
	code := asm.Instructions{asm.StoreImm(asm.R10, int16(12-size), 0, asm.Word)}
	// What was read is taken first: so it is never more than what is taken of the other end later.
	code = append(code, kernel(8, 4, k.fields.read)...)
	code = append(code, kernel(4, 4, k.fields.written)...)
	code = append(code, kernel(16, k.fields.common, 0)...)
	code = append(code,
		asm.LoadMem(asm.R1, asm.R6, 0, asm.DWord),
		asm.LoadMem(asm.R1, asm.R1, 0, asm.DWord), // the file to write to
		asm.Mov.Reg(asm.R2, asm.R10), asm.Add.Imm(asm.R2, int32(-size)),
		asm.Mov.Imm(asm.R3, int32(size)),
		asm.FnSeqWrite.Call(),
	)
	return append(code, end("out")...)
}

// listedAtOnce is how much of the list is read at once, in bytes.
const listedAtOnce = 1 << 16

// Sockets returns the TCP sockets of nodes over which they have sent or read, as they are now.
func (k *Kernel) Sockets() (all []Socket, err error) {
	if k.sockets == nil {
		return nil, nil
	}
	f, err := k.sockets.Open()
	if err != nil {
		return nil, fmt.Errorf("BPF: list sockets: %w", err)
	}
	text := k.listed[:0]
	for err == nil {
		if cap(text)-len(text) < listedAtOnce {
			text = slices.Grow(text, max(listedAtOnce, cap(text)))
		}
		var n int
		n, err = f.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
	}
	k.listed = text
	if err == io.EOF {
		err = nil
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("BPF: list sockets: %w", err)
	}
	for size := k.recordSize(); len(text) >= size; text = text[size:] {
		all = append(all, k.fields.socket(text[:size]))
	}
	return all, nil
}

// socket reads a record of list.
func (f *socketFields) socket(b []byte) Socket {
	s := Socket{Node: int(binary.LittleEndian.Uint32(b)), Written: binary.LittleEndian.Uint32(b[4:]),
		Read: binary.LittleEndian.Uint32(b[8:])}
	s.Local, s.Remote = f.ends(b[16:])
	return s
}

// ends are the addresses of a struct sock_common.
func (f *socketFields) ends(c []byte) (local, remote netip.AddrPort) {
	from, to := netip.AddrFrom4([4]byte(c[f.local:])), netip.AddrFrom4([4]byte(c[f.remote:]))
	if binary.LittleEndian.Uint16(c[f.family:]) == unix.AF_INET6 {
		from, to = netip.AddrFrom16([16]byte(c[f.local6:])).Unmap(), netip.AddrFrom16([16]byte(c[f.remote6:])).Unmap()
	}
	return netip.AddrPortFrom(from, binary.LittleEndian.Uint16(c[f.localPort:])),
		netip.AddrPortFrom(to, binary.BigEndian.Uint16(c[f.remotePort:]))
}
