// Package dialog is /dev/ariadne, by which programs speak with who searches, in lines of text:
//
//	choose N         which of the numbers 0 to N-1? The next read gives it, in a line.
//	choose A B ...   which of these words?
//	fault off        no fault is to hit the node from here on,
//	fault on         and now one may again
//
// It is no device of Linux's: a program that wants to run elsewhere too looks whether it is there
// (docs/explore.md).
package dialog

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"ariadne"
	"ariadne/internal/kernel"
	"ariadne/internal/kernel/inode"

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
	// maxLine is how long what is written at once may be.
	maxLine = 1 << 14
)

// Kind is the kind of the alternatives that there are at a choice.
const Kind = "choose"

// Asker is a Tracee that knows who decides.
type Asker interface {
	// Choose returns which of the alternatives of a question happens, from 1, or 0: none does.
	Choose(question string, alternatives []string) int
}

// state is what a node has said.
type state struct{ spared bool }

var states = kernel.NewSlot[*kernel.Node, state]()

// Spared reports whether the node has said that no fault is to hit it.
func Spared(n *kernel.Node) bool {
	s := states.Peek(n)
	return s != nil && s.spared
}

// File is the device as it was opened once, with what it has not said yet.
type File struct{ answers []byte }

func (*File) Ready() kernel.Events   { return kernel.In | kernel.Out | kernel.RdNorm | kernel.WrNorm }
func (*File) Changed() *kernel.Queue { return nil }
func (*File) Release(*kernel.Node)   {}
func (*File) StatMode() uint32       { return unix.S_IFCHR | 0o666 }
func (*File) Key() inode.Key         { return kernel.EmulatedKey(inode.DevHost, 10<<8|Minor) }
func (*File) Describe() string       { return Path }

// Read implements Reader: one answer at a time. There is nothing to wait for: before a
// question, and behind the last answer, is the end.
func (f *File) Read(_ *kernel.Thread, b []byte) (int, kernel.Errno) {
	n := bytes.IndexByte(f.answers, '\n') + 1
	n = copy(b, f.answers[:n])
	f.answers = f.answers[n:]
	return n, 0
}

// Write implements Writer. What is written at once are whole lines; the end of the last one
// may be left out. If one of them cannot be understood, nothing happens.
func (f *File) Write(t *kernel.Thread, b []byte) (int, kernel.Errno) {
	if len(b) == 0 {
		return 0, 0
	}
	var saying []saying
	for _, line := range strings.Split(strings.TrimSuffix(string(b), "\n"), "\n") {
		s, why := parse(line)
		if len(b) > maxLine {
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
	}
	return nil, "neither choose N, choose A B ..., fault off nor fault on"
}

func parseChoose(things []string) (_ saying, why string) {
	question := strings.Join(things, "|")
	if n, err := strconv.ParseUint(things[0], 10, 32); err == nil && len(things) == 1 {
		if n == 0 || n > Most {
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
		f.answers = append(append(f.answers, things[i]...), '\n')
	}, ""
}
