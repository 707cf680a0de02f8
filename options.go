package ariadne

import (
	"encoding/binary"
	"slices"
	"time"
)

// An option is a field, or a few that belong together, that a value may be without. Its number
// never changes. Options with numbers below 8 are common: a bit of one byte announces each of them.
// The others follow all fields in ascending order, after their count, each behind its number. A bit
// of another byte says that there are such. So a value without a new field keeps its encoding, and
// a new field needs no new version.
type option[T any] struct {
	number int
	is     func(*T) bool
	append func(*T, []byte) []byte // nil: that it is there is all
	read   func(*T, *decoder)
}

// options are those of a type, in the order in which they stand.
type options[T any] []option[T]

// byBit is the number of those that are announced by a bit.
const byBit = 8

// add adds some, in the order of their numbers.
func (all *options[T]) add(more ...option[T]) {
	*all = append(*all, more...)
	slices.SortFunc(*all, func(a, b option[T]) int { return a.number - b.number })
}

// bits announces those of less than byBit that v has.
func (all options[T]) bits(v *T) (b byte) {
	for i := range all {
		if o := &all[i]; o.number < byBit && o.is(v) {
			b |= 1 << o.number
		}
	}
	return b
}

// more is how many v has of those from byBit on.
func (all options[T]) more(v *T) (n int) {
	for i := range all {
		if o := &all[i]; o.number >= byBit && o.is(v) {
			n++
		}
	}
	return n
}

// append appends those that v has.
func (all options[T]) append(v *T, b []byte) []byte {
	more := all.more(v)
	for i := range all {
		o := &all[i]
		if !o.is(v) {
			continue
		}
		if o.number >= byBit {
			if more > 0 { // it is the first
				b, more = appendLen(b, more), 0
			}
			b = binary.AppendUvarint(b, uint64(o.number))
		}
		if o.append != nil {
			b = o.append(v, b)
		}
	}
	return b
}

// read reads into v those that bits announce and, with more, those from byBit on.
func (all options[T]) read(v *T, bits byte, more bool, d *decoder) {
	announced := bits
	for i := range all {
		if o := &all[i]; o.number < byBit && bits>>o.number&1 != 0 {
			o.read(v, d)
			bits &^= 1 << o.number
		}
	}
	if bits != 0 {
		d.fail(errCanonical)
	}
	left := 0
	if more {
		if left = d.length(); left == 0 {
			d.fail(errCanonical)
		}
	}
	for last := byBit - 1; left > 0 && d.err == nil; left-- {
		number, n := binary.Uvarint(d.rest)
		if !d.skip(n) {
			return
		}
		i := slices.IndexFunc(all, func(o option[T]) bool { return uint64(o.number) == number })
		if i < 0 || all[i].number <= last {
			d.fail(errOption)
			return
		}
		last = all[i].number
		if all[i].read(v, d); !all[i].is(v) {
			d.fail(errCanonical)
		}
	}
	if d.err == nil && all.bits(v) != announced {
		d.fail(errCanonical)
	}
}

// moreOptions stands before the bits of an input that has options from byBit on. As bits it would
// mean that a clock is set by no fault.
const moreOptions = 1 << 4

// inputOptions are those of an input, with the ones of faults that hit nodes. The next number
// is 8.
var inputOptions = options[Input]{
	{0, func(in *Input) bool { return in.Message != nil },
		func(in *Input, b []byte) []byte { return in.Message.append(b) },
		func(in *Input, d *decoder) { in.Message = new(Message); in.Message.read(d) }},
	{1, func(in *Input) bool { return in.Vary != "" },
		func(in *Input, b []byte) []byte { return appendText(b, in.Vary) },
		func(in *Input, d *decoder) { in.Vary = Variation(d.text()) }},
	{2, func(in *Input) bool { return in.Draw != nil },
		func(in *Input, b []byte) []byte { return in.Draw.append(b) },
		func(in *Input, d *decoder) { in.Draw = new(Draw); in.Draw.read(d) }},
	// That there is a fault, and what an Outage has: zeros of all others.
	{3, func(in *Input) bool { return in.Fault != nil },
		func(in *Input, b []byte) []byte {
			o := OutageOf(in.Fault)
			return appendInt(append(b, byte(o.Down)), o.For)
		},
		func(in *Input, d *decoder) {
			o := Outage{Down: Down(d.byte()), For: time.Duration(d.int64())}
			switch {
			case o.Down > PowerLost, o.Down == Up && o.For != 0:
				d.fail(errCanonical)
			case o.Down != Up:
				in.Fault = o
			}
		}},
	// Those of a kind of fault stand in its file.
}

// outputOptions are those of an output. The next number is 13.
var outputOptions = options[Output]{
	{0, func(o *Output) bool { return o.Ended }, nil, func(o *Output, _ *decoder) { o.Ended = true }},
	{3, func(o *Output) bool { return o.Spared }, nil, func(o *Output, _ *decoder) { o.Spared = true }},
	{2, func(o *Output) bool { return o.Content != Digest{} },
		func(o *Output, b []byte) []byte { return append(b, o.Content[:]...) },
		func(o *Output, d *decoder) { o.Content = d.digest() }},
	{4, func(o *Output) bool { return o.Down != Up || o.Back != 0 },
		func(o *Output, b []byte) []byte { return appendInt(append(b, byte(o.Down)), o.Back) },
		func(o *Output, d *decoder) { o.Down, o.Back = Down(d.byte()), Time(d.int64()) }},
	{5, func(o *Output) bool { return o.Limits != nil },
		func(o *Output, b []byte) []byte { return appendLimits(b, *o.Limits) },
		func(o *Output, d *decoder) {
			limits := readList(d, func() (l Limit) { l.read(d); return l })
			o.Limits = &limits
		}},
	{6, func(o *Output) bool { return o.Processes != nil },
		func(o *Output, b []byte) []byte { return appendTexts(b, *o.Processes) },
		func(o *Output, d *decoder) {
			processes := readTexts(d)
			o.Processes = &processes
		}},
	{7, func(o *Output) bool { return len(o.Lost) > 0 || o.LeftOut != 0 },
		func(o *Output, b []byte) []byte { return appendInt(appendTexts(b, o.Lost), o.LeftOut) },
		func(o *Output, d *decoder) { o.Lost, o.LeftOut = readTexts(d), d.int() }},
	{1, func(o *Output) bool { return len(o.Places) > 0 },
		func(o *Output, b []byte) []byte {
			b = appendLen(b, len(o.Places))
			for i := range o.Places {
				p := &o.Places[i]
				b = appendText(b, p.Name)
				b = appendTexts(b, p.Alternatives)
				b = appendText(b, p.Taken)
			}
			return b
		},
		func(o *Output, d *decoder) {
			o.Places = readList(d, func() Place { return Place{string(d.text()), readTexts(d), string(d.text())} })
		}},
	{8, func(o *Output) bool { return o.Unsynced }, nil, func(o *Output, _ *decoder) { o.Unsynced = true }},
	{9, func(o *Output) bool { return o.Ready }, nil, func(o *Output, _ *decoder) { o.Ready = true }},
	{10, func(o *Output) bool { return len(o.Exposures) > 0 },
		func(o *Output, b []byte) []byte {
			b = appendLen(b, len(o.Exposures))
			for i := range o.Exposures {
				b = o.Exposures[i].append(b)
			}
			return b
		},
		func(o *Output, d *decoder) { o.Exposures = readList(d, func() (e Shown) { e.read(d); return e }) }},
	{11, func(o *Output) bool { return len(o.Notices) > 0 },
		func(o *Output, b []byte) []byte {
			b = appendLen(b, len(o.Notices))
			for i := range o.Notices {
				n := &o.Notices[i]
				b = appendText(appendInt(appendInt(appendInt(b, n.Place), n.At), n.PID), n.Found)
			}
			return b
		},
		func(o *Output, d *decoder) {
			o.Notices = readList(d, func() Notice {
				return Notice{d.int(), Time(d.int64()), d.int(), string(d.text())}
			})
		}},
	{12, func(o *Output) bool { return o.ReadClock }, nil, func(o *Output, _ *decoder) { o.ReadClock = true }},
	{13, func(o *Output) bool { return o.CutAt != nil },
		func(o *Output, b []byte) []byte {
			at := o.CutAt
			b = appendInt(appendText(appendText(appendText(b, at.Program), at.Function), at.File), at.Line)
			return binary.LittleEndian.AppendUint64(b, at.Offset)
		},
		func(o *Output, d *decoder) {
			line := CodeLine{string(d.text()), string(d.text()), string(d.text()), d.int()}
			o.CutAt = &CodePoint{line, d.uint64()}
		}},
}

func (e *Shown) append(b []byte) []byte {
	b = appendInt(appendInt(appendInt(b, e.Place), e.At), e.PID)
	b = appendText(appendText(b, e.Name), e.Key)
	return appendBool(appendTexts(b, e.Values), e.Ends)
}

func (e *Shown) read(d *decoder) {
	e.Place, e.At, e.PID = d.int(), Time(d.int64()), d.int()
	e.Exposure = Exposure{string(d.text()), string(d.text()), readTexts(d), d.bool()}
}

func appendLimits(b []byte, all []Limit) []byte {
	b = appendLen(b, len(all))
	for i := range all {
		b = all[i].append(b)
	}
	return b
}

func (l *Limit) append(b []byte) []byte {
	b = appendInt(l.Flow.append(b), l.Data)
	b = appendInt(b, l.Idle)
	b = appendInt(b, l.First)
	return appendInt(b, l.Every)
}

func (l *Limit) read(d *decoder) {
	l.Flow.read(d)
	l.Data, l.Idle = time.Duration(d.int64()), time.Duration(d.int64())
	l.First, l.Every = time.Duration(d.int64()), time.Duration(d.int64())
}

func (draw *Draw) append(b []byte) []byte {
	b = appendLen(appendTexts(b, draw.Kinds), len(draw.After))
	for _, after := range draw.After {
		b = appendInts(b, after)
	}
	b = appendLen(b, len(draw.Only))
	for _, calls := range draw.Only {
		b = appendTexts(b, calls)
	}
	b = appendInt(binary.LittleEndian.AppendUint64(appendTexts(b, draw.Free), draw.Seed), draw.From)
	b = appendLen(b, len(draw.Seldom))
	for _, lengths := range draw.Seldom {
		b = appendInts(b, lengths)
	}
	return b
}

func (draw *Draw) read(d *decoder) {
	after := func() []int { return readList(d, d.int) }
	length := func() time.Duration { return time.Duration(d.int64()) }
	*draw = Draw{Kinds: readTexts(d), After: readList(d, after),
		Only: readList(d, func() []string { return readTexts(d) }), Free: readTexts(d), Seed: d.uint64(), From: d.int(),
		Seldom: readList(d, func() []time.Duration { return readList(d, length) })}
}

func appendInts[T ~int | ~int64](b []byte, all []T) []byte {
	b = appendLen(b, len(all))
	for _, n := range all {
		b = appendInt(b, n)
	}
	return b
}
