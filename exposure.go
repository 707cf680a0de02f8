package ariadne

import (
	"iter"
	"strconv"
	"strings"
)

// Exposed is the Stream of lines that programs write to /dev/ariadne, and of those as which
// exposures and notices are shown.
const Exposed = 3

// Exposure is a change of what a node exposes: from here on it exposes Values by Name and, when
// that is not "", Key, or, with Ends, nothing any more.
type Exposure struct {
	Name, Key string
	Values    []string
	Ends      bool // it has no Values
}

// ExposureKey is the key of an exposure by some texts: the text itself, or several with a space
// between them. Texts are in quotes where it would otherwise be open which is which, or whether
// there is a key at all.
func ExposureKey(texts []string) string {
	quoted := func(text string) string {
		if text == "" || len(texts) > 1 && strings.ContainsAny(text, " \"") {
			return strconv.Quote(text)
		}
		return text
	}
	all := make([]string, len(texts))
	for i, text := range texts {
		all[i] = quoted(text)
	}
	return strings.Join(all, " ")
}

// Shown is an exposure of a step: a program has told it on /dev/ariadne, or it was read in the
// node.
type Shown struct {
	Place int  // how many lines, exposures and notices of the step came before it
	At    Time // as of a LogLine
	PID   int  // of the program that told it; 0: of none
	Exposure
}

// Notice says what of the places at which a spec exposes something was found in the node: "function
// F", "variable V" or "command C". It is Ariadne that says so: no program does, and nothing that a
// spec looks for in lines is looked for there.
type Notice struct {
	Place int // as of Shown
	At    Time
	PID   int // of the process of which it is; 0: of none
	Found string
}

// ParseExposure understands the line by which a program says an exposure: "expose NAME VALUE...",
// or "conceal NAME", where NAME may have a key behind it, as in "value[x]". A value in quotes, as
// Go has them, may have spaces. not ok: it is something else.
func ParseExposure(line string) (e Exposure, ok bool) {
	words := fields(line)
	if len(words) < 2 || words[0] != "expose" && words[0] != "conceal" {
		return e, false
	}
	var key string
	var keyed bool
	e.Name, key, keyed = strings.Cut(words[1], "[")
	if keyed {
		if e.Key, ok = strings.CutSuffix(key, "]"); !ok || e.Key == "" {
			return e, false
		}
	}
	e.Values, e.Ends = words[2:], words[0] == "conceal"
	if len(e.Values) == 0 {
		e.Values = nil
	}
	return e, IsExposable(e.Name) && !(e.Ends && len(e.Values) > 0)
}

// String is the line by which a program says it.
func (e Exposure) String() string {
	name := e.Name
	if e.Key != "" {
		name += "[" + e.Key + "]"
	}
	if e.Ends {
		return "conceal " + word(name)
	}
	var b strings.Builder
	b.WriteString("expose " + word(name))
	for _, v := range e.Values {
		b.WriteString(" " + word(v))
	}
	return b.String()
}

// word is a text as a word of a line, in quotes where it could not be read otherwise.
func word(text string) string {
	if text == "" || strings.Contains(text, " ") || strconv.Quote(text) != `"`+text+`"` {
		return strconv.Quote(text)
	}
	return text
}

// fields are the words of a line. One in quotes, as strconv.Quote makes them, may have spaces.
func fields(line string) (words []string) {
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		word, rest := line, ""
		if quoted, err := strconv.QuotedPrefix(line); err == nil && line[0] == '"' {
			word, _ = strconv.Unquote(quoted)
			rest = line[len(quoted):]
		} else if i := strings.IndexAny(line, " \t\r\n\v\f"); i >= 0 {
			word, rest = line[:i], line[i:]
		}
		words, line = append(words, word), rest
	}
	return words
}

// Said are what a step's programs wrote and what its node has exposed, in the order in which it
// came about: each time one of the two is not nil.
func (o *Output) Said() iter.Seq2[*LogLine, *Shown] {
	return func(yield func(*LogLine, *Shown) bool) {
		o.each(func(l *LogLine, e *Shown, n *Notice) bool { return n != nil || yield(l, e) })
	}
}

// Lines are what Said has, exposures as the lines by which programs say them.
func (o *Output) Lines() iter.Seq[LogLine] {
	return func(yield func(LogLine) bool) {
		o.each(func(l *LogLine, e *Shown, n *Notice) bool { return n != nil || yield(lineOf(l, e, n)) })
	}
}

// Record are what Lines has, and notices among it: what records of an execution show. The digest of
// an output is over it, so that it is what it was when all of it was lines.
func (o *Output) Record() iter.Seq[LogLine] {
	return func(yield func(LogLine) bool) {
		o.each(func(l *LogLine, e *Shown, n *Notice) bool { return yield(lineOf(l, e, n)) })
	}
}

// Recorded is how many Record has.
func (o *Output) Recorded() int { return len(o.Logs) + len(o.Exposures) + len(o.Notices) }

func lineOf(l *LogLine, e *Shown, n *Notice) LogLine {
	switch {
	case e != nil:
		return LogLine{At: e.At, Stream: Exposed, PID: e.PID, Text: e.String()}
	case n != nil:
		return LogLine{At: n.At, Stream: Exposed, PID: n.PID, Text: "probes " + n.Found}
	}
	return *l
}

// each calls f with lines, exposures and notices in the order of their places until it returns
// false.
func (o *Output) each(f func(l *LogLine, e *Shown, n *Notice) bool) {
	logs, exposures, notices := o.Logs, o.Exposures, o.Notices
	for place, goes := 0, true; goes; place++ {
		switch {
		case len(exposures) > 0 && (exposures[0].Place <= place || len(logs)+len(notices) == 0):
			goes, exposures = f(nil, &exposures[0], nil), exposures[1:]
		case len(notices) > 0 && (notices[0].Place <= place || len(logs) == 0):
			goes, notices = f(nil, nil, &notices[0]), notices[1:]
		case len(logs) > 0:
			goes, logs = f(&logs[0], nil, nil), logs[1:]
		default:
			return
		}
	}
}

// IsExposable reports whether something can be exposed by a name: one that a script can use.
func IsExposable(name string) bool {
	for i, c := range name {
		if letter := 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_'; !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}
