package trace

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/ariadne-mc/ariadne"
)

// Host is what an execution has learnt of the machine that it ran on, besides what its
// trace holds for: a replay need not find the same, but when it goes another way, this
// says why. It stands beside the trace, at the trace's path with HostSuffix.
type Host struct {
	Facts []Fact // of the machine as a whole
	Files []File
	Lists []List // of directories for whose listings the trace holds
}

// List is what a directory held, sorted by name.
type List struct {
	Path    string
	Entries []Entry
}

// Entry is a name in a directory. Kind is that of its file, as fs.FileMode prints it.
type Entry struct{ Name, Kind string }

// Fact is something known by name.
type Fact struct{ Name, Value string }

// HostSuffix is what the path of a Host has besides that of its trace.
const HostSuffix = ".host"

// hostMagic is the first line.
const hostMagic = "ariadne host 1"

// FormatHost prints h.
func FormatHost(h *Host) []byte {
	b := []byte(hostMagic + "\n")
	for _, f := range h.Facts {
		b = fmt.Appendf(b, "fact %s %s\n", quote(f.Name), quote(f.Value))
	}
	b = appendFiles(b, h.Files)
	for _, l := range h.Lists {
		b = fmt.Appendf(b, "list %s %d", quote(l.Path), len(l.Entries))
		for _, e := range l.Entries {
			b = fmt.Appendf(b, " %s %s", quote(e.Name), quote(e.Kind))
		}
		b = append(b, '\n')
	}
	return fmt.Appendf(b, "end %s\n", hostSum(b))
}

func hostSum(b []byte) string {
	s := sha256.New()
	s.Write(b)
	return sumOf(s)
}

// ParseHost reads what FormatHost wrote.
func ParseHost(b []byte) (*Host, error) {
	h := &Host{}
	n := 0
	for rest := b; ; {
		line, more, whole := bytes.Cut(rest, []byte("\n"))
		n++
		if !whole {
			return nil, fmt.Errorf("line %d: cut short", n)
		}
		f := &fields{rest: string(line)}
		word, _, _ := strings.Cut(f.rest, " ")
		switch {
		case n == 1 && string(line) != hostMagic:
			f.fail("want %q", hostMagic)
		case n == 1:
			f.rest = ""
		case word == "fact":
			f.word()
			h.Facts = append(h.Facts, Fact{f.word(), f.word()})
		case word == "file":
			f.word()
			h.Files = append(h.Files, f.file())
		case word == "list":
			f.word()
			l := List{Path: f.word()}
			for range f.int() {
				if f.err != nil {
					break
				}
				l.Entries = append(l.Entries, Entry{f.word(), f.word()})
			}
			h.Lists = append(h.Lists, l)
		case word == "end" && len(more) == 0:
			f.word()
			if f.word() != hostSum(b[:len(b)-len(rest)]) {
				f.fail("the file was changed after it was written")
			}
			return h, f.end()
		default:
			f.fail("unexpected %q", line)
		}
		if err := f.end(); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		rest = more
	}
}

// uses are the words for what was learnt of a file.
var uses = map[string]ariadne.FileUse{}

func init() {
	for u := ariadne.FileRead; u <= ariadne.FileKind; u++ {
		uses[u.String()] = u
	}
}

// file takes what is known of a file.
func (f *fields) file() (x File) {
	word := f.word()
	use, ok := uses[word]
	if !ok {
		f.fail("bad use of a file %q", word)
	}
	x.Use, x.Path = use, f.word()
	x.Digest = f.digest()
	return x
}
