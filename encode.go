package ariadne

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"slices"
)

// This is the canonical encoding of the values that pass between the parts. Each value has one
// encoding, and no two values have the same. Digests cover encodings, and stores hold them.
//
// The fields follow each other in the order of the declaration. A number is a varint, as short as
// possible. A small enumeration is one byte. Random values and hashes have a fixed length. A text
// or a list has its length before it. A value that may be missing has a byte 0 or 1 before it. An
// empty list and a nil list are the same. Optional fields of inputs and outputs are options with
// numbers (options.go), which stand at the end.
//
// AppendBinary implements encoding.BinaryAppender and never fails. UnmarshalBinary implements
// encoding.BinaryUnmarshaler. It takes exactly the bytes that AppendBinary returns, and keeps no
// reference to the slice.

func (in *Input) AppendBinary(b []byte) ([]byte, error) {
	b = append(b, byte(in.Kind))
	b = appendInt(b, in.At)
	if inputOptions.more(in) > 0 {
		b = append(b, moreOptions)
	}
	b = append(b, inputOptions.bits(in))
	return inputOptions.append(in, b), nil
}

func (in *Input) UnmarshalBinary(b []byte) error {
	d := decoder{rest: b}
	*in = Input{Kind: InputKind(d.byte()), At: Time(d.int64())}
	has := d.byte()
	more := has == moreOptions
	if more {
		has = d.byte()
	}
	inputOptions.read(in, has, more, &d)
	return d.end("input")
}

func (m *Message) AppendBinary(b []byte) ([]byte, error) { return m.append(b), nil }

func (m *Message) append(b []byte) []byte {
	b = appendInt(b, m.From)
	b = appendInt(b, m.To)
	b = m.Flow.append(b)
	group, _ := m.Group.MarshalBinary() // never fails
	b = appendText(b, group)
	b = appendInt(b, m.Seq)
	b = append(b, byte(m.Flags))
	b = appendInt(b, m.Window)
	b = appendText(b, m.Data)
	return appendInt(b, m.Sent)
}

func (m *Message) UnmarshalBinary(b []byte) error {
	d := decoder{rest: b}
	m.read(&d)
	return d.end("message")
}

func (m *Message) read(d *decoder) {
	m.From, m.To = NodeID(d.int()), NodeID(d.int())
	m.Flow.read(d)
	if b := d.text(); d.err == nil && m.Group.UnmarshalBinary(b) != nil {
		d.fail(errAddr)
	}
	m.Seq, m.Flags, m.Window = d.int(), Flags(d.byte()), d.int()
	m.Data = append([]byte(nil), d.text()...)
	m.Sent = Time(d.int64())
}

func (f *Flow) AppendBinary(b []byte) ([]byte, error) { return f.append(b), nil }

func (f *Flow) append(b []byte) []byte {
	b = append(b, byte(f.Proto))
	b = appendAddr(b, f.Src)
	b = appendAddr(b, f.Dst)
	return appendInt(b, f.Epoch)
}

func (f *Flow) UnmarshalBinary(b []byte) error {
	d := decoder{rest: b}
	f.read(&d)
	return d.end("flow")
}

func (f *Flow) read(d *decoder) {
	*f = Flow{Proto: Protocol(d.byte()), Src: d.addr(), Dst: d.addr(), Epoch: d.int()}
}

func (o *Output) AppendBinary(b []byte) ([]byte, error) { return o.append(b), nil }

func (o *Output) append(b []byte) []byte {
	b = appendLen(b, len(o.Messages))
	for i := range o.Messages {
		b = o.Messages[i].append(b)
	}
	b = appendLen(b, len(o.Logs))
	for i := range o.Logs {
		l := &o.Logs[i]
		b = appendInt(b, l.At)
		b = appendInt(b, l.Stream)
		b = appendInt(b, l.PID)
		b = appendText(b, l.Text)
	}
	b = appendLen(b, len(o.Exits))
	for i := range o.Exits {
		x := &o.Exits[i]
		b = appendInt(b, x.At)
		b = appendInt(b, x.Command)
		b = appendInt(b, x.Status)
		b = appendInt(b, x.Signal)
	}
	b = appendInt(b, o.Clock)
	b = appendInt(b, o.Deadline)
	b = appendText(b, o.Timer)
	b = appendInt(b, o.Calm)
	b = appendBool(b, o.Done)
	b = append(b, outputOptions.bits(o))
	b = appendInt(b, o.Calls)
	b = append(b, o.Digest[:]...)
	b = appendLen(b, len(o.CallTrace))
	for i := range o.CallTrace {
		c := &o.CallTrace[i]
		b = appendInt(b, c.TID)
		b = appendInt(b, c.NR)
		b = appendInt(b, c.Result)
		b = binary.LittleEndian.AppendUint64(b, c.Hash)
	}
	b = appendBool(b, o.Unreplayable)
	b = appendText(b, o.Cut)
	b = appendText(b, o.Diverged)
	b = appendText(b, o.Polling)
	b = append(b, bit(o.Unheeded, 0)|bit(outputOptions.more(o) > 0, 1))
	b = appendText(b, o.Fatal)
	b = appendLen(b, len(o.Refusals))
	for i := range o.Refusals {
		r := &o.Refusals[i]
		b = appendText(b, r.Name)
		b = appendText(b, r.Detail)
		b = appendText(b, r.Program)
		b = appendInt(b, r.Count)
		b = appendBool(b, r.Harmless)
	}
	b = appendLen(b, len(o.Files))
	for i := range o.Files {
		b = appendText(b, o.Files[i].Path)
		b = append(b, byte(o.Files[i].Use))
	}
	return outputOptions.append(o, b)
}

// AppendBinary appends all that is left of a node.
func (l *Left) AppendBinary(b []byte) ([]byte, error) {
	b = appendInt(b, l.Clock)
	b = appendInt(b, l.Deadline)
	b = appendText(b, l.Timer)
	b = appendInt(b, l.Calm)
	b = appendBool(appendBool(appendBool(b, l.Done), l.Ended), l.Spared)
	b = append(b, l.Content[:]...)
	if b = appendBool(b, l.Limits != nil); l.Limits != nil {
		b = appendLimits(b, *l.Limits)
	}
	if b = appendBool(b, l.Processes != nil); l.Processes != nil {
		b = appendTexts(b, *l.Processes)
	}
	b = appendInt(append(b, byte(l.Down)), l.Back)
	if l.Ready { // a name without it is what it was
		b = append(b, 1)
	}
	return b, nil
}

func (o *Output) UnmarshalBinary(b []byte) error {
	d := decoder{rest: b}
	o.read(&d)
	return d.end("output")
}

func (o *Output) read(d *decoder) {
	*o = Output{}
	o.Messages = readList(d, func() (m Message) { m.read(d); return m })
	o.Logs = readList(d, func() LogLine { return LogLine{Time(d.int64()), d.int(), d.int(), string(d.text())} })
	o.Exits = readList(d, func() Exit { return Exit{Time(d.int64()), d.int(), d.int(), d.int()} })
	o.Clock, o.Deadline, o.Timer = Time(d.int64()), Time(d.int64()), string(d.text())
	o.Calm, o.Done = Time(d.int64()), d.bool()
	has := d.byte()
	o.Calls, o.Digest = d.int(), d.digest()
	o.CallTrace = readList(d, func() CallRecord { return CallRecord{d.int(), d.int(), d.int64(), d.uint64()} })
	o.Unreplayable, o.Cut, o.Diverged = d.bool(), string(d.text()), string(d.text())
	o.Polling = string(d.text())
	polls := d.bits(2)
	o.Unheeded, o.Fatal = polls&1 != 0, string(d.text())
	o.Refusals = readList(d, func() Refusal {
		return Refusal{string(d.text()), string(d.text()), string(d.text()), d.int(), d.bool()}
	})
	o.Files = readList(d, func() File { return File{string(d.text()), FileUse(d.byte())} })
	outputOptions.read(o, has, polls&2 != 0, d)
}

func (s *Step) AppendBinary(b []byte) ([]byte, error) {
	b = appendInt(b, s.Index)
	b = append(b, byte(s.Action.Kind))
	b = appendInt(b, s.Action.Node)
	b = s.Action.Flow.append(b)
	b = appendInt(b, s.Action.Seq)
	b = appendText(b, s.Action.What)
	b = appendText(b, s.Action.Vary)
	b = appendText(b, s.Name)
	b = appendInt(b, s.At)
	return s.Output.append(b), nil
}

func (s *Step) UnmarshalBinary(b []byte) error {
	d := decoder{rest: b}
	s.Index = d.int()
	s.Action.Kind, s.Action.Node = ActionKind(d.byte()), NodeID(d.int())
	s.Action.Flow.read(&d)
	s.Action.Seq, s.Action.What, s.Action.Vary = d.int(), string(d.text()), Variation(d.text())
	s.Name, s.At = string(d.text()), Time(d.int64())
	s.Output.read(&d)
	return d.end("step")
}

// Sum is what Output.Digest is to be: over the output and a hash of the stream of calls. Two
// executions of a step that have the same one did the same. Exposures and notices are in it as the
// lines of Record: traces of versions to which they were lines have the same digests. Left out are
// what is Noted, and the Detail of a refusal: raw arguments, and where the kernel of the host puts
// a program's stack does not steer anything.
func (o *Output) Sum(calls uint64) Digest {
	s := *o
	s.Digest, s.Noted = Digest{}, Noted{}
	if len(o.Exposures)+len(o.Notices) > 0 {
		s.Logs, s.Exposures, s.Notices = slices.Collect(o.Record()), nil, nil
	}
	if len(o.Refusals) > 0 {
		s.Refusals = append([]Refusal(nil), o.Refusals...)
		for i := range s.Refusals {
			s.Refusals[i].Detail = ""
		}
	}
	return sha256.Sum256(s.append(binary.LittleEndian.AppendUint64(nil, calls)))
}

func appendInt[T ~int | ~int64](b []byte, v T) []byte { return binary.AppendVarint(b, int64(v)) }

func appendLen(b []byte, n int) []byte { return binary.AppendUvarint(b, uint64(n)) }

func appendText[T ~string | []byte](b []byte, s T) []byte {
	return append(appendLen(b, len(s)), s...)
}

func appendTexts(b []byte, all []string) []byte {
	b = appendLen(b, len(all))
	for _, s := range all {
		b = appendText(b, s)
	}
	return b
}

// bit is a byte in which bit n is v.
func bit(v bool, n int) byte {
	if v {
		return 1 << n
	}
	return 0
}

func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, 1)
	}
	return append(b, 0)
}

func appendAddr(b []byte, a netip.AddrPort) []byte {
	n := len(b)
	b, _ = a.AppendBinary(append(b, 0)) // never fails
	if a.Addr().Zone() == "" {          // at most 18 bytes: their number takes one
		b[n] = byte(len(b) - n - 1)
		return b
	}
	return appendText(b[:n], append([]byte(nil), b[n+1:]...))
}

// decoder takes an encoding apart. After the first failure, which stays, it returns zeros.
type decoder struct {
	rest []byte
	err  error
}

var (
	errShort     = errors.New("it ends too early")
	errLong      = errors.New("something follows its end")
	errNumber    = errors.New("a number is not written as it should be")
	errCanonical = errors.New("a byte has bits that mean nothing")
	errOption    = errors.New("it has a field that this version of Ariadne does not know, or has it twice")
	errAddr      = errors.New("bad address")
)

func (d *decoder) fail(err error) {
	if d.err == nil {
		d.rest, d.err = nil, err
	}
}

// end says what was wrong.
func (d *decoder) end(what string) error {
	if len(d.rest) > 0 {
		d.fail(errLong)
	}
	if d.err != nil {
		return fmt.Errorf("not an encoded %s: %w", what, d.err)
	}
	return nil
}

func (d *decoder) take(n int) []byte {
	if n > len(d.rest) {
		d.fail(errShort)
	}
	if d.err != nil {
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) byte() byte {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) bool() bool { return d.bits(1) == 1 }

// bits is a byte with n of them.
func (d *decoder) bits(n int) byte {
	b := d.byte()
	if n < 8 && b >= 1<<n {
		d.fail(errCanonical)
	}
	return b
}

// skip leaves behind a varint of so many bytes, as encoding/binary has read it.
func (d *decoder) skip(n int) bool {
	if n == 0 {
		d.fail(errShort)
	} else if n < 0 || n > 1 && d.rest[n-1] == 0 { // too large, or longer than it need be
		d.fail(errNumber)
	} else {
		d.rest = d.rest[n:]
	}
	return d.err == nil
}

func (d *decoder) int64() int64 {
	v, n := binary.Varint(d.rest)
	if !d.skip(n) {
		return 0
	}
	return v
}

func (d *decoder) int() int {
	v := d.int64()
	if int64(int(v)) != v {
		d.fail(errNumber)
	}
	return int(v)
}

func (d *decoder) uint64() uint64 {
	if b := d.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// length is that of what follows, of which each element takes a byte at least.
func (d *decoder) length() int {
	v, n := binary.Uvarint(d.rest)
	if !d.skip(n) {
		return 0
	}
	if v > uint64(len(d.rest)) {
		d.fail(errShort)
		return 0
	}
	return int(v)
}

func (d *decoder) text() []byte { return d.take(d.length()) }

func readList[T any](d *decoder, read func() T) (all []T) {
	for n := d.length(); n > 0 && d.err == nil; n-- {
		all = append(all, read())
	}
	return all
}

func readTexts(d *decoder) []string {
	return readList(d, func() string { return string(d.text()) })
}

func (d *decoder) digest() (g Digest) {
	copy(g[:], d.take(len(g)))
	return g
}

func (d *decoder) addr() (a netip.AddrPort) {
	b := d.text()
	if d.err == nil && a.UnmarshalBinary(b) != nil {
		d.fail(errAddr)
	}
	return a
}
