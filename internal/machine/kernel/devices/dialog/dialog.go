// Package dialog is /dev/ariadne, by which programs speak with who searches, in lines of text:
//
//	choose N         which of the numbers 0 to N-1? The next read gives it, in a line.
//	choose A B ...   which of these words?
//	fault off        no fault is to hit the node from here on,
//	fault on         and now one may again
//	expose NAME[KEY] VALUE...   the node exposes this from here on, for properties; [KEY] may be left out
//	conceal NAME[KEY]           and this no more
//	assert always true TEXT     what is true here, or false; also: sometimes; reachable TEXT; unreachable TEXT; and
//	                            the lines of the Antithesis SDKs
//	event {...}      something that a program does, in JSON. The next read gives "go" once it happens.
//	begin            something begins of which a loss may leave all or nothing,
//	end              and has ended;
//	promise TEXT     what a fault may not take back from here on.
//	crash now        what would a loss leave here?
//
// It is no device of Linux's: a program that wants to run elsewhere too looks whether it is there
// (docs/guides/programs.md).
package dialog

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"

	"golang.org/x/sys/unix"
)

const (
	// Path is where the device is.
	Path = "/dev/ariadne"
	// Minor is its number among the miscellaneous devices, of which 10:240 to 10:254 are for
	// local use.
	Minor = 240
	// Most is of how many things there may be a choice.
	Most = 1000
	// MaxLine is how long what is written at once may be.
	MaxLine = 1 << 14
)

// Kind is the kind of the alternatives that there are at a choice.
const Kind = "choose"

// Asker is a Tracee that knows who decides.
type Asker interface {
	// Choose returns which of the alternatives of a question happens, from 1, or 0: none does.
	Choose(question string, alternatives []string) int
}

// state is what a node has said.
type state struct {
	spared bool
	epoch  disk.Epoch
	events int     // that it has told of since it was switched on
	waits  []*File // of which a read waits for one
}

var states = kernel.NewSlot[*kernel.Node, state]()

// Spared reports whether the node has said that no fault is to hit it.
func Spared(n *kernel.Node) bool {
	s := states.Peek(n)
	return s != nil && s.spared
}

// EpochOf is what the node's programs have said of their work.
func EpochOf(n *kernel.Node) (e disk.Epoch) {
	if s := states.Peek(n); s != nil {
		e = s.epoch
	}
	return e
}

// Keep leaves of what a node has said what holds beyond the life of its machine.
func Keep(old, now *kernel.Node) {
	if s := states.Peek(old); s != nil {
		states.Of(now).epoch = s.epoch
	}
}

// Deliver lets an event happen of which a program has told. If it has closed the device, nobody
// hears of it.
func Deliver(n *kernel.Node, m *ariadne.Message) {
	s := states.Peek(n)
	if s == nil || m.Flow.Epoch != n.Boots {
		return
	}
	for _, f := range s.waits {
		for i := range f.answers {
			if a := &f.answers[i]; a.event == m.Seq {
				a.event = 0
				s.noteEvent(f)
				f.changed.Notify(kernel.In)
				return
			}
		}
	}
}

// noteEvent notes that one of the events that a file waits for has happened.
func (s *state) noteEvent(f *File) {
	if !slices.ContainsFunc(f.answers, func(a answer) bool { return a.event != 0 }) {
		s.waits = slices.DeleteFunc(s.waits, func(g *File) bool { return g == f })
	}
}

// File is the device as it was opened once, with what it has not said yet.
type File struct {
	answers []answer
	changed kernel.Queue
}

var _ = kernel.DeclareKind[*File]()

// answer is what a read gives, once the event of a number has happened, if that is not 0.
type answer struct {
	text  []byte
	event int
}

// Ready implements File: only who has told of an event may have to wait.
func (f *File) Ready() kernel.Events {
	ready := kernel.Out | kernel.WrNorm
	if len(f.answers) == 0 || f.answers[0].event == 0 {
		ready |= kernel.In | kernel.RdNorm
	}
	return ready
}

func (f *File) Changed() *kernel.Queue { return &f.changed }
func (*File) StatMode() uint32         { return unix.S_IFCHR | 0o666 }
func (*File) Key() inode.Key           { return kernel.EmulatedKey(inode.DevHost, 10<<8|Minor) }
func (*File) Describe() string         { return Path }

// Release implements File: nobody waits any more.
func (f *File) Release(n *kernel.Node) {
	f.answers = nil
	if s := states.Peek(n); s != nil {
		s.noteEvent(f)
	}
}

// Read implements Reader: one answer at a time, in the order of what was asked. Before a question,
// and behind the last answer, is the end.
func (f *File) Read(_ *kernel.Thread, b []byte) (int, kernel.Errno) {
	if len(f.answers) == 0 {
		return 0, 0
	}
	a := &f.answers[0]
	if a.event != 0 {
		return 0, unix.EAGAIN
	}
	n := copy(b, a.text)
	if a.text = a.text[n:]; len(a.text) == 0 {
		f.answers = f.answers[1:]
	}
	return n, 0
}

// Write implements Writer. One write has whole lines; the end of the last one may be left out. If
// one of them cannot be understood, nothing happens.
func (f *File) Write(t *kernel.Thread, b []byte) (int, kernel.Errno) {
	if len(b) == 0 {
		return 0, 0
	}
	var saying []saying
	for _, line := range strings.Split(strings.TrimSuffix(string(b), "\n"), "\n") {
		s, why := parse(line)
		if len(b) > MaxLine {
			why = "too much at once"
		}
		if why != "" {
			t.Node().Refuse(t, "write to "+Path, fmt.Sprintf("%.60q: %s", line, why), false)
			return 0, unix.EINVAL
		}
		saying = append(saying, s)
	}
	for _, s := range saying {
		s(f, t)
	}
	return len(b), 0
}

// saying does what a line says.
type saying func(*File, *kernel.Thread)

// parse understands a line, or says why not.
func parse(line string) (_ saying, why string) {
	words := strings.Fields(line)
	switch {
	case len(words) > 1 && words[0] == "choose":
		return parseChoose(words[1:])
	case len(words) == 2 && words[0] == "fault" && (words[1] == "off" || words[1] == "on"):
		return func(_ *File, t *kernel.Thread) { states.Of(t.Node()).spared = words[1] == "off" }, ""
	case len(words) > 0 && (words[0] == "expose" || words[0] == "conceal"):
		return parseExpose(line)
	case len(words) > 0 && (words[0] == "assert" || words[0][0] == '{'):
		return parseAssertion(line)
	case len(words) > 0 && words[0] == "event":
		return parseEvent(strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "event")))
	case len(words) > 0 && slices.Contains([]string{"begin", "end", "promise", "crash"}, words[0]):
		return parseMark(strings.TrimSpace(line))
	}
	return nil, "neither choose N, choose A B ..., fault off, fault on, event {...}, expose NAME VALUE..., conceal NAME, assert KIND TEXT, begin, end, promise TEXT nor crash now"
}

// parseMark understands what a program says of its work. A judge of the whole log finds it there,
// too.
func parseMark(line string) (_ saying, why string) {
	if why := disk.CheckMark(line); why != "" {
		return nil, why
	}
	return func(_ *File, t *kernel.Thread) {
		n := t.Node()
		if why := states.Of(n).epoch.Say(line); why != "" {
			n.Refuse(t, "write to "+Path, fmt.Sprintf("%.60q: %s", line, why), false)
		}
		if n.Files.Logs && n.Files.Whole {
			n.Files.Enter(disk.Op{Kind: disk.Mark, Target: line, Thread: t.TID})
		}
	}, ""
}

// parseExpose understands what is exposed.
func parseExpose(line string) (_ saying, why string) {
	e, ok := ariadne.ParseExposure(line)
	if !ok || !utf8.ValidString(line) {
		return nil, "want expose NAME VALUE..., expose NAME[KEY] VALUE..., conceal NAME or conceal NAME[KEY]"
	}
	return func(_ *File, t *kernel.Thread) { t.Node().Expose(t.Proc.PID, e) }, ""
}

// parseAssertion understands what a program asserts, which becomes a line of the node's.
func parseAssertion(line string) (_ saying, why string) {
	if _, ok := ariadne.ParseAssertion(line); !ok || !utf8.ValidString(line) {
		return nil, "want assert always true TEXT or false, assert sometimes true TEXT or false, assert reachable TEXT, assert unreachable TEXT, or JSON as the Antithesis SDKs write it"
	}
	return func(_ *File, t *kernel.Thread) {
		n := t.Node()
		n.Logs = append(n.Logs,
			ariadne.LogLine{At: n.Now, Stream: ariadne.Exposed, PID: t.Proc.PID, Text: strings.TrimSpace(line)})
	}, ""
}

// parseEvent understands what is to happen: an object of JSON.
func parseEvent(text string) (_ saying, why string) {
	var fields map[string]json.RawMessage
	switch err := json.Unmarshal([]byte(text), &fields); {
	case err != nil:
		return nil, err.Error()
	case fields == nil:
		return nil, "want an object of JSON"
	case !utf8.ValidString(text):
		return nil, "not in UTF-8"
	}
	return func(f *File, t *kernel.Thread) {
		n := t.Node()
		s := states.Of(n)
		s.events++
		f.answers = append(f.answers, answer{[]byte("go\n"), s.events})
		if !slices.Contains(s.waits, f) {
			s.waits = append(s.waits, f)
		}
		var addr netip.Addr
		if len(n.Addrs) > 0 {
			addr = n.Addrs[0]
		}
		n.Out = append(n.Out,
			ariadne.Message{From: n.ID, To: n.ID, Flow: ariadne.OwnFlow(ariadne.App, addr, n.Boots), Seq: s.events,
				Data: []byte(text), Sent: n.Now})
	}, ""
}

func parseChoose(things []string) (_ saying, why string) {
	question := strings.Join(things, "|")
	if n, err := strconv.ParseInt(things[0], 10, 64); len(things) == 1 &&
		(err == nil || errors.Is(err, strconv.ErrRange)) {
		if n < 1 || n > Most {
			return nil, fmt.Sprintf("want a number from 1 to %d", Most)
		}
		things = make([]string, n)
		for i := range things {
			things[i] = strconv.Itoa(i)
		}
	}
	if len(things) > Most {
		return nil, fmt.Sprintf("there are more than %d things", Most)
	}
	alternatives := make([]string, len(things))
	known := map[string]bool{}
	for i, thing := range things {
		alternatives[i] = Kind + ":" + ariadne.Plain(thing)
		if known[alternatives[i]] {
			return nil, "there is a word twice"
		}
		known[alternatives[i]] = true
	}
	return func(f *File, t *kernel.Thread) {
		i := 0
		if a, ok := t.M.(Asker); ok && len(things) > 1 {
			i = a.Choose(question, alternatives[1:])
		}
		f.answers = append(f.answers, answer{text: []byte(things[i] + "\n")})
	}, ""
}
