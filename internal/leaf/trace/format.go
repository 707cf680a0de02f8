package trace

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne"
)

// Format prints t.
func Format(t *Trace) []byte {
	var b bytes.Buffer
	w := NewWriter(&b)
	// Writing to a buffer does not fail.
	w.Header(&t.Header)
	for _, s := range t.Steps {
		w.Step(s)
	}
	w.End(t.Files, t.Violation, t.End)
	return b.Bytes()
}

// Writer prints a trace while the execution runs. Its output is no trace before its End.
type Writer struct {
	w     io.Writer
	sum   hash.Hash // of all that was written
	steps int
}

// NewWriter returns the writer of one trace.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w, sum: sha256.New()} }

// Header prints what precedes the steps.
func (w *Writer) Header(h *Header) error { return w.write(appendHeader(nil, h)) }

// Step prints one step.
func (w *Writer) Step(s Step) error {
	w.steps++
	return w.write(appendStep(nil, s))
}

// End prints the files that were used, the violation if v is not nil, and why the
// execution ended.
func (w *Writer) End(files []File, v *Violation, end string) error {
	if err := w.write(appendViolation(appendFiles(nil, files), v)); err != nil {
		return err
	}
	if err := w.write(fmt.Appendf(nil, "end %s steps %d digest ", quote(end), w.steps)); err != nil {
		return err
	}
	return w.write([]byte(sumOf(w.sum) + "\n"))
}

func (w *Writer) write(b []byte) error {
	w.sum.Write(b)
	_, err := w.w.Write(b)
	return err
}

// sumOf is how the last word of a trace names all that precedes it.
func sumOf(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)[:8]) }

// columns stands above the steps; the parser wants it as it is.
const columns = "#  step          time            digest     calls  msgs lines   action"

func appendHeader(b []byte, h *Header) []byte {
	b = fmt.Appendf(b, "%s\n", Magic)
	b = fmt.Appendf(b, "version %s\n", quote(h.Version))
	b = fmt.Appendf(b, "name %s\n", quote(h.Name))
	b = fmt.Appendf(b, "spec %s %x\n", quote(h.Spec), h.SpecDigest[:])
	for _, p := range h.Programs {
		b = fmt.Appendf(b, "program %s %d %s %x\n", quote(p.Node), p.Command, quote(p.Path), p.Digest[:])
	}
	b = fmt.Appendf(b, "seed %d\n", h.Seed)
	b = fmt.Appendf(b, "execution %d\n", h.Execution)
	b = fmt.Appendf(b, "latency %s\n", h.Latency)
	b = fmt.Appendf(b, "clock-error %s\n", h.ClockError)
	if h.MaxDelay > 0 {
		b = fmt.Appendf(b, "max-delay %s\n", h.MaxDelay)
	}
	b = fmt.Appendf(b, "delays %d\n", h.Delays)
	if h.Fine {
		b = append(b, "short-faults fine\n"...)
	}
	if h.Stronger {
		b = append(b, "images stronger-first\n"...)
	}
	for _, f := range h.Faults {
		b = fmt.Appendf(b, "fault %s %d\n", f.Kind, f.Count)
	}
	b = fmt.Appendf(b, "max-steps %d\n", h.MaxSteps)
	b = fmt.Appendf(b, "max-time %s\n", h.MaxTime)
	b = fmt.Appendf(b, "max-calls %d\n", h.MaxCalls)
	if h.Processor != "" {
		b = fmt.Appendf(b, "processor %s\n", quote(h.Processor))
	}
	b = fmt.Appendf(b, "date %s\n", h.Date.Format(time.RFC3339Nano))
	return fmt.Appendf(b, "%s\n", columns)
}

func appendStep(b []byte, s Step) []byte {
	b = fmt.Appendf(b, "%7d %s  %016x  %8d %5d %5d %c %s\n",
		s.Index, formatTime(s.At), s.Digest, s.Calls, s.Messages, s.Lines, marks[s.Mark], s.Action)
	if s.Lost != "" {
		q := strconv.Quote(s.Lost)
		b = append(append(append(b, lostWords...), q[1:len(q)-1]...), '\n')
	}
	return b
}

// lostWords begin the comment below a step that lost something.
const lostWords = "#       lost: "

// maxLost is how many operations that comment lists.
const maxLost = 12

// lost says which operations a loss of power took.
func lost(all []string) string {
	if n := len(all) - maxLost; n > 0 {
		all = append(all[:maxLost:maxLost], fmt.Sprintf("and %d more", n))
	}
	return strings.Join(all, ", ")
}

// LostOperations is how many operations a loss of power took in the step.
func (s *Step) LostOperations() (n int) {
	if s.Lost == "" {
		return 0
	}
	for _, text := range strings.Split(s.Lost, ", ") {
		var from, to, more int
		switch {
		case scanned(text, "and %d more", &more):
			n += more
		case scanned(text, "%d to %d bytes", &from, &to): // of the operation before
		default:
			n++
		}
	}
	return n
}

func scanned(text, format string, into ...any) bool {
	n, err := fmt.Sscanf(text, format, into...)
	return err == nil && n == len(into)
}

func appendFiles(b []byte, files []File) []byte {
	for _, f := range files {
		b = fmt.Appendf(b, "file %s %s %x\n", f.Use, quote(f.Path), f.Digest[:])
	}
	return b
}

func appendViolation(b []byte, v *Violation) []byte {
	if v == nil {
		return b
	}
	return fmt.Appendf(b, "violation %s %s %d %s %s\n",
		quote(v.Kind), quote(v.Node), v.Step, strings.TrimSpace(formatTime(v.At)), strconv.Quote(v.Message))
}

// marks are the letters of Mark's values.
const marks = ".UC"

// NewStep is the line of a step as it was executed.
func NewStep(s ariadne.Step) Step {
	o := &s.Output
	t := Step{Index: s.Index, At: s.At, Digest: Short(o.Digest), Calls: o.Calls,
		Messages: len(o.Messages), Lines: o.Recorded(), Action: s.Name, Lost: lost(o.Lost)}
	switch {
	case o.Cut != "":
		t.Mark = Cut
	case o.Unreplayable:
		t.Mark = Unreplayable
	}
	return t
}

// NewViolation is a violation with its node's name; nil for nil.
func NewViolation(v *ariadne.Violation, name func(ariadne.NodeID) string) *Violation {
	if v == nil {
		return nil
	}
	return &Violation{Kind: v.Kind, Node: name(v.Node), Step: v.Step, At: v.At, Message: v.Message}
}

// Short is as much of a digest as a trace keeps.
func Short(d ariadne.Digest) uint64 { return binary.BigEndian.Uint64(d[:8]) }

// Parse reads what Format or a Writer wrote. A trace that was cut short, or changed
// in any place, is none. Errors name the line.
func Parse(b []byte) (*Trace, error) {
	p := &parser{sum: sha256.New()}
	for text := string(b); text != ""; {
		line, rest, whole := strings.Cut(text, "\n")
		p.line++
		if !whole {
			return nil, fmt.Errorf("line %d: the trace is cut short in the middle of a line", p.line)
		}
		if err := p.parseLine(line); err != nil {
			return nil, fmt.Errorf("line %d: %w", p.line, err)
		}
		p.sum.Write([]byte(line + "\n"))
		text = rest
	}
	switch {
	case p.part < inSteps:
		return nil, fmt.Errorf("line %d: the trace is cut short in its header: want %q", p.line+1, p.want())
	case p.part < ended:
		return nil, fmt.Errorf("line %d: the trace is cut short after step %d: its last line, which begins with end, is missing", p.line+1, len(p.t.Steps))
	}
	return &p.t, nil
}

// headerLines are the lines of a header in their order. All must stand there once, but for
// those of which there may be many or none.
var headerLines = []struct {
	word  string
	many  bool
	parse func(*Header, *fields)
}{
	{"version", false, func(h *Header, f *fields) { h.Version = f.word() }},
	{"name", false, func(h *Header, f *fields) { h.Name = f.word() }},
	{"spec", false, func(h *Header, f *fields) { h.Spec, h.SpecDigest = f.word(), f.digest() }},
	{"program", true, func(h *Header, f *fields) {
		h.Programs = append(h.Programs, Program{f.word(), f.int(), f.word(), f.digest()})
	}},
	{"seed", false, func(h *Header, f *fields) { h.Seed = f.uint(10) }},
	{"execution", false, func(h *Header, f *fields) { h.Execution = f.int() }},
	{"latency", false, func(h *Header, f *fields) { h.Latency = f.duration() }},
	{"clock-error", false, func(h *Header, f *fields) { h.ClockError = f.duration() }},
	{"max-delay", true, func(h *Header, f *fields) {
		if h.MaxDelay != 0 {
			f.fail("a second max-delay")
		}
		if h.MaxDelay = f.duration(); h.MaxDelay <= 0 {
			f.fail("max-delay must be more than 0")
		}
	}},
	{"delays", false, func(h *Header, f *fields) { h.Delays = f.int() }},
	{"short-faults", true, func(h *Header, f *fields) {
		if word := f.word(); word != "fine" || h.Fine {
			f.fail("short-faults must be fine, once")
		}
		h.Fine = true
	}},
	{"images", true, func(h *Header, f *fields) {
		if word := f.word(); word != "stronger-first" || h.Stronger {
			f.fail("images must be stronger-first, once")
		}
		h.Stronger = true
	}},
	{"fault", true, func(h *Header, f *fields) { h.Faults = append(h.Faults, Fault{f.word(), f.int()}) }},
	{"max-steps", false, func(h *Header, f *fields) { h.MaxSteps = f.int() }},
	{"max-time", false, func(h *Header, f *fields) { h.MaxTime = f.duration() }},
	{"max-calls", false, func(h *Header, f *fields) { h.MaxCalls = f.int() }},
	{"processor", true, func(h *Header, f *fields) {
		if h.Processor != "" {
			f.fail("a second processor")
		}
		h.Processor = f.word()
	}},
	{"date", false, func(h *Header, f *fields) { h.Date = f.date() }},
}

// Parts of a trace, in their order.
const (
	inHeader = iota
	inSteps
	inFiles
	inViolation
	ended
)

type parser struct {
	t    Trace
	sum  hash.Hash // of the lines above
	line int
	next int // index in headerLines
	part int
}

// want is the line that the header needs next.
func (p *parser) want() string {
	if p.line == 0 {
		return Magic
	}
	if p.next < len(headerLines) {
		return headerLines[p.next].word
	}
	return columns
}

func (p *parser) parseLine(line string) error {
	switch {
	case p.line == 1:
		return magic(line)
	case p.part == ended:
		return fmt.Errorf("%q after the end", line)
	case p.part > inHeader:
		return p.parseStepLine(line)
	case p.next == len(headerLines):
		if line != columns {
			return fmt.Errorf("want %q, got %q", columns, line)
		}
		p.part = inSteps
		return nil
	}
	return p.parseHeaderLine(line)
}

// magic says why a first line is not that of a trace.
func magic(line string) error {
	version, ok := strings.CutPrefix(line, magicWords)
	switch {
	case line == Magic:
		return nil
	case ok && len(version) < 8:
		return fmt.Errorf("the trace has format %s, and this version of Ariadne reads format %s: make the trace again", version, formatVersion)
	}
	return fmt.Errorf("not a trace: its first line should be %q", Magic)
}

func (p *parser) parseHeaderLine(line string) error {
	f := &fields{rest: line}
	word := f.word()
	for headerLines[p.next].many && word != headerLines[p.next].word {
		p.next++
	}
	l := headerLines[p.next]
	if word != l.word {
		return fmt.Errorf("want %q, got %q", l.word, word)
	}
	l.parse(&p.t.Header, f)
	if !l.many {
		p.next++
	}
	return f.end()
}

// parseStepLine reads a line below the header.
func (p *parser) parseStepLine(line string) error {
	f := &fields{rest: line}
	word, _, _ := strings.Cut(line, " ")
	part := inSteps
	switch word {
	case "#":
		p.parseLost(line, f)
	case "file":
		part = inFiles
		f.word()
		p.t.Files = append(p.t.Files, f.file())
	case "violation":
		part = inViolation
		f.word()
		p.t.Violation = &Violation{Kind: f.word(), Node: f.word(), Step: f.int(), At: f.time(), Message: f.word()}
	case "end":
		part = ended
		f.word()
		p.parseEnd(line, f)
	default:
		p.parseStep(f)
	}
	switch {
	case f.err == nil && (part < p.part || part == p.part && part == inViolation):
		return fmt.Errorf("this line cannot stand here: steps, files, a violation and the end follow each other")
	case part != inSteps:
		f.end()
	}
	p.part = part
	return f.err
}

func (p *parser) parseStep(f *fields) {
	s := Step{Index: f.int(), At: f.time(), Digest: f.hex64(), Calls: f.int(), Messages: f.int(), Lines: f.int(),
		Mark: f.mark()}
	s.Action = strings.TrimPrefix(f.rest, " ")
	if s.Index != len(p.t.Steps)+1 {
		f.fail("step %d where %d was expected", s.Index, len(p.t.Steps)+1)
	}
	if s.Action == "" {
		f.fail("step %d has no action", s.Index)
	}
	p.t.Steps = append(p.t.Steps, s)
}

// parseLost reads the comment of a step.
func (p *parser) parseLost(line string, f *fields) {
	text, ok := strings.CutPrefix(line, lostWords)
	said, err := strconv.Unquote(`"` + text + `"`)
	if n := len(p.t.Steps); !ok || err != nil || said == "" || n == 0 || p.t.Steps[n-1].Lost != "" {
		f.fail("the comment %q cannot stand here", line)
		return
	}
	p.t.Steps[len(p.t.Steps)-1].Lost = said
}

// parseEnd reads how the execution ended, and sees that all of the trace is there as it
// was written.
func (p *parser) parseEnd(line string, f *fields) {
	p.t.End = f.word()
	if p.t.End == "" {
		f.fail("end without a reason")
	}
	f.literal("steps")
	if n := f.int(); n != len(p.t.Steps) {
		f.fail("the trace has %d steps, but its end says %d", len(p.t.Steps), n)
	}
	f.literal("digest")
	p.sum.Write([]byte(line[:len(line)-len(f.rest)] + " "))
	if w := f.word(); w != sumOf(p.sum) {
		f.fail("the trace was changed after it was written: its last line has digest %s, and its content %s", w, sumOf(p.sum))
	}
}

// fields takes a line apart; the first error stays.
type fields struct {
	rest string
	err  error
}

func (f *fields) fail(format string, args ...any) {
	if f.err == nil {
		f.err = fmt.Errorf(format, args...)
	}
}

// word takes the next field, quoted or up to a space.
func (f *fields) word() string {
	f.rest = strings.TrimLeft(f.rest, " ")
	if strings.HasPrefix(f.rest, `"`) {
		q, err := strconv.QuotedPrefix(f.rest)
		if err != nil {
			f.fail("bad quoted string: %s", f.rest)
			return ""
		}
		f.rest = f.rest[len(q):]
		s, err := strconv.Unquote(q)
		if err != nil {
			f.fail("bad quoted string: %s", q)
		}
		return s
	}
	if f.rest == "" {
		f.fail("too few fields")
		return ""
	}
	w := f.rest
	if i := strings.IndexByte(w, ' '); i >= 0 {
		w = w[:i]
	}
	f.rest = f.rest[len(w):]
	return w
}

func (f *fields) date() time.Time {
	w := f.word()
	d, err := time.Parse(time.RFC3339Nano, w)
	if err != nil {
		f.fail("bad date %q", w)
	}
	return d.UTC()
}

func (f *fields) literal(want string) {
	if w := f.word(); w != want {
		f.fail("want %q, got %q", want, w)
	}
}

func (f *fields) end() error {
	if r := strings.TrimLeft(f.rest, " "); r != "" {
		f.fail("unexpected %q", r)
	}
	return f.err
}

func (f *fields) int() int {
	w := f.word()
	n, err := strconv.Atoi(w)
	if err != nil || n < 0 {
		f.fail("bad number %q", w)
	}
	return n
}

func (f *fields) uint(base int) uint64 {
	w := f.word()
	n, err := strconv.ParseUint(w, base, 64)
	if err != nil {
		f.fail("bad number %q", w)
	}
	return n
}

func (f *fields) hex64() uint64 {
	w := f.word()
	n, err := strconv.ParseUint(w, 16, 64)
	if err != nil || len(w) != 16 {
		f.fail("bad digest %q: want 16 hexadecimal digits", w)
	}
	return n
}

func (f *fields) digest() (d ariadne.Digest) {
	w := f.word()
	b, err := hex.DecodeString(w)
	if err != nil || len(b) != len(d) {
		f.fail("bad digest %q: want %d hexadecimal digits", w, 2*len(d))
		return d
	}
	copy(d[:], b)
	return d
}

func (f *fields) duration() time.Duration {
	w := f.word()
	d, err := time.ParseDuration(w)
	if err != nil {
		f.fail("bad duration %q", w)
	}
	return d
}

func (f *fields) mark() Mark {
	w := f.word()
	i := strings.Index(marks, w)
	if len(w) != 1 || i < 0 {
		f.fail("bad mark %q: want one of %q", w, marks)
		return Exact
	}
	return Mark(i)
}

// maxSeconds keeps parsed times well below ariadne.Never.
const maxSeconds = (1<<63-1)/1_000_000_000 - 1

// formatTime prints seconds with all nine digits, or "never".
func formatTime(t ariadne.Time) string {
	if t == ariadne.Never {
		return fmt.Sprintf("%15s", "never")
	}
	return fmt.Sprintf("%5d.%09d", int64(t)/1e9, int64(t)%1e9)
}

func (f *fields) time() ariadne.Time {
	w := f.word()
	if w == "never" {
		return ariadne.Never
	}
	sec, frac, ok := strings.Cut(w, ".")
	s, err1 := strconv.ParseUint(sec, 10, 64)
	n, err2 := strconv.ParseUint(frac, 10, 64)
	if !ok || err1 != nil || err2 != nil || len(frac) != 9 || s > maxSeconds {
		f.fail("bad time %q: want seconds with nine digits", w)
	}
	return ariadne.Time(s*1e9 + n)
}

// quote leaves plain words as they are.
func quote(s string) string {
	plain := s != ""
	for _, r := range s {
		if r <= ' ' || r == '"' || r == 0x7f || r >= 0x80 {
			plain = false
		}
	}
	if plain {
		return s
	}
	return strconv.Quote(s)
}
