package memo

import (
	"encoding/binary"
	"net/netip"

	"ariadne"
	"ariadne/internal/world"
)

// How transitions are written: field after field, numbers as varints, texts and
// lists with their lengths before them.

type encoder struct{ bytes []byte }

func (e *encoder) fixed(v uint64)      { e.bytes = binary.BigEndian.AppendUint64(e.bytes, v) }
func (e *encoder) int(v int)           { e.bytes = binary.AppendVarint(e.bytes, int64(v)) }
func (e *encoder) text(s string)       { e.int(len(s)); e.bytes = append(e.bytes, s...) }
func (e *encoder) blob(b []byte)       { e.int(len(b)); e.bytes = append(e.bytes, b...) }
func (e *encoder) byte(b byte)         { e.bytes = append(e.bytes, b) }
func (e *encoder) time(t ariadne.Time) { e.int(int(t)) }

func (e *encoder) flag(b bool) {
	if b {
		e.byte(1)
	} else {
		e.byte(0)
	}
}

func (e *encoder) addr(a netip.AddrPort) {
	b, _ := a.MarshalBinary() // never fails
	e.blob(b)
}

func (e *encoder) input(in *world.Input) {
	e.byte(byte(in.Kind))
	e.time(in.At)
	e.flag(in.Packet != nil)
	if in.Packet != nil {
		e.message(&in.Packet.Message)
	}
}

func (e *encoder) message(m *ariadne.Message) {
	e.int(int(m.From))
	e.int(int(m.To))
	e.byte(byte(m.Flow.Proto))
	e.addr(m.Flow.Src)
	e.addr(m.Flow.Dst)
	e.int(m.Flow.Epoch)
	e.int(m.Seq)
	e.byte(byte(m.Flags))
	e.int(m.Window)
	e.blob(m.Data)
	e.time(m.Sent)
}

func (e *encoder) output(o *ariadne.Output) {
	e.int(len(o.Messages))
	for i := range o.Messages {
		e.message(&o.Messages[i])
	}
	e.int(len(o.Logs))
	for _, l := range o.Logs {
		e.time(l.At)
		e.int(l.Stream)
		e.int(l.PID)
		e.text(l.Text)
	}
	e.int(len(o.Exits))
	for _, x := range o.Exits {
		e.time(x.At)
		e.int(x.Command)
		e.int(x.Status)
		e.int(x.Signal)
	}
	e.time(o.Clock)
	e.time(o.Deadline)
	e.text(o.Timer)
	e.time(o.Calm)
	e.flag(o.Done)
	e.flag(o.Ended)
	e.int(o.Calls)
	e.bytes = append(e.bytes, o.Digest[:]...)
	e.flag(o.Unreplayable)
	e.text(o.Diverged)
	e.text(o.Polling)
	e.flag(o.Unheeded)
	e.text(o.Fatal)
	e.int(len(o.Refusals))
	for _, r := range o.Refusals {
		e.text(r.Name)
		e.text(r.Detail)
		e.text(r.Program)
		e.int(r.Count)
		e.flag(r.Harmless)
	}
}

// decoder is the inverse. After a failure it returns zeros.
type decoder struct {
	bytes  []byte
	failed bool
}

func (d *decoder) take(n int) []byte {
	if d.failed || n < 0 || n > len(d.bytes) {
		d.failed = true
		return nil
	}
	b := d.bytes[:n:n]
	d.bytes = d.bytes[n:]
	return b
}

func (d *decoder) int() int {
	v, n := binary.Varint(d.bytes)
	if n <= 0 {
		d.failed = true
		return 0
	}
	d.take(n)
	return int(v)
}

func (d *decoder) byte() byte {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) flag() bool         { return d.byte() == 1 }
func (d *decoder) text() string       { return string(d.take(d.int())) }
func (d *decoder) time() ariadne.Time { return ariadne.Time(d.int()) }

// blob returns a copy, because the store's memory is not ours; none when empty.
func (d *decoder) blob() []byte { return append([]byte(nil), d.take(d.int())...) }

// list is the length of a list, of which each element takes a byte at least.
func (d *decoder) list() int {
	n := d.int()
	if n < 0 || n > len(d.bytes) {
		d.failed = true
		return 0
	}
	return n
}

func (d *decoder) addr() (a netip.AddrPort) {
	if a.UnmarshalBinary(d.blob()) != nil {
		d.failed = true
	}
	return a
}

func (d *decoder) input() world.Input {
	in := world.Input{Kind: ariadne.InputKind(d.byte()), At: d.time()}
	if d.flag() {
		m := d.message()
		in.Packet = world.NewPacket(&m)
	}
	return in
}

func (d *decoder) message() (m ariadne.Message) {
	m.From = ariadne.NodeID(d.int())
	m.To = ariadne.NodeID(d.int())
	m.Flow.Proto = ariadne.Protocol(d.byte())
	m.Flow.Src = d.addr()
	m.Flow.Dst = d.addr()
	m.Flow.Epoch = d.int()
	m.Seq = d.int()
	m.Flags = ariadne.Flags(d.byte())
	m.Window = d.int()
	m.Data = d.blob()
	m.Sent = d.time()
	return m
}

func (d *decoder) output() (o ariadne.Output) {
	for range d.list() {
		o.Messages = append(o.Messages, d.message())
	}
	for range d.list() {
		o.Logs = append(o.Logs, ariadne.LogLine{At: d.time(), Stream: d.int(), PID: d.int(), Text: d.text()})
	}
	for range d.list() {
		o.Exits = append(o.Exits, ariadne.Exit{At: d.time(), Command: d.int(), Status: d.int(), Signal: d.int()})
	}
	o.Clock, o.Deadline, o.Timer = d.time(), d.time(), d.text()
	o.Calm, o.Done, o.Ended, o.Calls = d.time(), d.flag(), d.flag(), d.int()
	copy(o.Digest[:], d.take(len(o.Digest)))
	o.Unreplayable, o.Diverged, o.Polling, o.Unheeded, o.Fatal = d.flag(), d.text(), d.text(), d.flag(), d.text()
	for range d.list() {
		o.Refusals = append(o.Refusals, ariadne.Refusal{Name: d.text(), Detail: d.text(), Program: d.text(), Count: d.int(), Harmless: d.flag()})
	}
	return o
}
