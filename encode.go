package ariadne

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// The canonical encoding of what passes between the parts: each value has one, and no two
// values have the same. Digests are over it, stores keep it.
//
// It is field after field, in the order of the declaration. Numbers are varints as short
// as they can be, small enumerations one byte, what is random or a hash of fixed length,
// texts and lists have their lengths before them, and what may be missing has a byte 0 or
// 1. A list that is empty and one that is nil are the same. What has to do with variations
// stands at the end, as does the content of a state, announced by further bits of such a byte; that
// a node is spared is such a bit. What has nothing of this has the encoding that it had before there was any.
//
// AppendBinary implements encoding.BinaryAppender and never fails. UnmarshalBinary
// implements encoding.BinaryUnmarshaler; it takes exactly what AppendBinary gives, and
// keeps nothing of the slice.

func (in *Input) AppendBinary(b []byte) ([]byte, error) {
	b = append(b, byte(in.Kind))
	b = appendInt(b, in.At)
	b = append(b, bit(in.Message != nil, 0)|bit(in.Vary != "", 1)|bit(in.Draw != nil, 2)|bit(in.Fault != NodeFault{}, 3)|bit(in.Fault.Jump != 0, 4)|bit(in.Fault.Kill != "", 5)|bit(in.Fault.With != "", 6)|bit(in.Fault.Drift != 0, 7))
	if in.Message != nil {
		b = in.Message.append(b)
	}
	if in.Vary != "" {
		b = appendText(b, in.Vary)
	}
	if in.Draw != nil {
		b = appendLen(appendTexts(b, in.Draw.Kinds), len(in.Draw.After))
		for _, after := range in.Draw.After {
			b = appendLen(b, len(after))
			for _, n := range after {
				b = appendInt(b, n)
			}
		}
		b = appendLen(b, len(in.Draw.Only))
		for _, calls := range in.Draw.Only {
			b = appendTexts(b, calls)
		}
		b = appendInt(binary.LittleEndian.AppendUint64(appendTexts(b, in.Draw.Free), in.Draw.Seed), in.Draw.From)
		b = appendLen(b, len(in.Draw.Seldom))
		for _, lengths := range in.Draw.Seldom {
			b = appendLen(b, len(lengths))
			for _, l := range lengths {
				b = appendInt(b, l)
			}
		}
	}
	if in.Fault != (NodeFault{}) {
		b = appendInt(append(b, byte(in.Fault.Down)), in.Fault.For)
	}
	if in.Fault.Jump != 0 {
		b = appendInt(b, in.Fault.Jump)
	}
	if in.Fault.Kill != "" {
		b = appendText(b, in.Fault.Kill)
	}
	if in.Fault.With != "" {
		b = appendText(b, in.Fault.With)
	}
	if in.Fault.Drift != 0 {
		b = appendInt(b, in.Fault.Drift)
	}
	return b, nil
}

func (in *Input) UnmarshalBinary(b []byte) error {
	d := decoder{rest: b}
	*in = Input{Kind: InputKind(d.byte()), At: Time(d.int64())}
	has := d.bits(8)
	if has&1 != 0 {
		in.Message = new(Message)
		in.Message.read(&d)
	}
	if has&2 != 0 {
		if in.Vary = Variation(d.text()); in.Vary == "" {
			d.fail(errCanonical)
		}
	}
	if has&4 != 0 {
		after := func() []int { return readList(&d, d.int) }
		length := func() time.Duration { return time.Duration(d.int64()) }
		in.Draw = &Draw{Kinds: readTexts(&d), After: readList(&d, after), Only: readList(&d, func() []string { return readTexts(&d) }), Free: readTexts(&d), Seed: d.uint64(), From: d.int(),
			Seldom: readList(&d, func() []time.Duration { return readList(&d, length) })}
	}
	if has&8 != 0 {
		in.Fault = NodeFault{Down: Down(d.byte()), For: time.Duration(d.int64())}
	}
	if has&16 != 0 {
		if in.Fault.Jump = time.Duration(d.int64()); in.Fault.Jump == 0 {
			d.fail(errCanonical)
		}
	}
	if has&32 != 0 {
		if in.Fault.Kill = string(d.text()); in.Fault.Kill == "" {
			d.fail(errCanonical)
		}
	}
	if has&64 != 0 {
		if in.Fault.With = string(d.text()); in.Fault.With == "" {
			d.fail(errCanonical)
		}
	}
	if has&128 != 0 {
		if in.Fault.Drift = d.int(); in.Fault.Drift == 0 {
			d.fail(errCanonical)
		}
	}
	if (has&8 != 0) != (in.Fault != NodeFault{}) {
		d.fail(errCanonical)
	}
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
	b = append(b, bit(o.Ended, 0)|bit(len(o.Places) > 0, 1)|bit(o.Content != Digest{}, 2)|bit(o.Spared, 3)|bit(o.Down != Up || o.Back != 0, 4)|bit(o.Limits != nil, 5)|bit(o.Processes != nil, 6)|bit(len(o.Lost) > 0 || o.LeftOut != 0, 7))
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
	b = append(b, bit(o.Unheeded, 0)|bit(o.Unsynced, 1))
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
	if o.Content != (Digest{}) {
		b = append(b, o.Content[:]...)
	}
	if o.Down != Up || o.Back != 0 {
		b = appendInt(append(b, byte(o.Down)), o.Back)
	}
	if o.Limits != nil {
		b = appendLen(b, len(*o.Limits))
		for i := range *o.Limits {
			l := &(*o.Limits)[i]
			b = appendInt(l.Flow.append(b), l.Data)
			b = appendInt(b, l.Idle)
			b = appendInt(b, l.First)
			b = appendInt(b, l.Every)
		}
	}
	if o.Processes != nil {
		b = appendTexts(b, *o.Processes)
	}
	if len(o.Lost) > 0 || o.LeftOut != 0 {
		b = appendInt(appendTexts(b, o.Lost), o.LeftOut)
	}
	if len(o.Places) == 0 {
		return b
	}
	b = appendLen(b, len(o.Places))
	for i := range o.Places {
		p := &o.Places[i]
		b = appendText(b, p.Name)
		b = appendTexts(b, p.Alternatives)
		b = appendText(b, p.Taken)
	}
	return b
}

func (o *Output) UnmarshalBinary(b []byte) error {
	d := decoder{rest: b}
	o.read(&d)
	return d.end("output")
}

func (o *Output) read(d *decoder) {
	has := byte(0)
	ended := func() bool {
		has = d.bits(8)
		return has&1 != 0
	}
	polls := byte(0)
	polled := func() bool {
		polls = d.bits(2)
		return polls&1 != 0
	}
	*o = Output{
		Messages: readList(d, func() (m Message) { m.read(d); return m }),
		Logs:     readList(d, func() LogLine { return LogLine{Time(d.int64()), d.int(), d.int(), string(d.text())} }),
		Exits:    readList(d, func() Exit { return Exit{Time(d.int64()), d.int(), d.int(), d.int()} }),
		Clock:    Time(d.int64()), Deadline: Time(d.int64()), Timer: string(d.text()),
		Calm: Time(d.int64()), Done: d.bool(), Ended: ended(), Calls: d.int(),
		Digest:       d.digest(),
		CallTrace:    readList(d, func() CallRecord { return CallRecord{d.int(), d.int(), d.int64(), d.uint64()} }),
		Unreplayable: d.bool(), Cut: string(d.text()), Diverged: string(d.text()),
		Polling: string(d.text()), Unheeded: polled(), Fatal: string(d.text()),
		Refusals: readList(d, func() Refusal {
			return Refusal{string(d.text()), string(d.text()), string(d.text()), d.int(), d.bool()}
		}),
		Files: readList(d, func() File { return File{string(d.text()), FileUse(d.byte())} }),
	}
	o.Spared, o.Unsynced = has&8 != 0, polls&2 != 0
	if has&4 != 0 {
		if o.Content = d.digest(); o.Content == (Digest{}) {
			d.fail(errCanonical)
		}
	}
	if has&16 != 0 {
		if o.Down, o.Back = Down(d.byte()), Time(d.int64()); o.Down == Up && o.Back == 0 {
			d.fail(errCanonical)
		}
	}
	if has&32 != 0 {
		limits := readList(d, func() (l Limit) {
			l.Flow.read(d)
			l.Data, l.Idle = time.Duration(d.int64()), time.Duration(d.int64())
			l.First, l.Every = time.Duration(d.int64()), time.Duration(d.int64())
			return l
		})
		o.Limits = &limits
	}
	if has&64 != 0 {
		processes := readTexts(d)
		o.Processes = &processes
	}
	if has&128 != 0 {
		if o.Lost, o.LeftOut = readTexts(d), d.int(); len(o.Lost) == 0 && o.LeftOut == 0 {
			d.fail(errCanonical)
		}
	}
	if has&2 != 0 {
		o.Places = readList(d, func() Place { return Place{string(d.text()), readTexts(d), string(d.text())} })
		if o.Places == nil {
			d.fail(errCanonical)
		}
	}
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

// Sum is what Output.Digest is to be: over the output and a hash of the stream of calls.
// Two executions of a step that have the same one did the same. Left out is what does not
// depend on the node's state and its input alone:
//
//   - Unreplayable and Cut, which tell of real time. What they mark is not compared.
//   - Files, which are told once, by whoever asked first.
//   - CallTrace, which is there on demand; the stream stands for it.
//   - the Detail of a refusal: raw arguments, and where the kernel of the host puts a
//     program's stack does not steer anything.
func (o *Output) Sum(calls uint64) Digest {
	s := *o
	s.Digest, s.CallTrace, s.Files, s.Unreplayable, s.Cut, s.Unsynced = Digest{}, nil, nil, false, "", false
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
