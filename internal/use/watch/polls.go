package watch

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge/live"
	"github.com/ariadne-mc/ariadne/internal/system/native"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// Variables and files are read now and then (watch: poll) while programs run. So a value may be
// read while it is written. All values of a node are read again until they are the same twice, but
// for single words that change all the time. A value that comes and goes between two polls is not
// seen, and a verifier knows that (live.Polls).

// polled is what a variable or a file is exposed as.
type polled struct {
	is     bool
	values []string
	wrong  string // why it cannot be read
	word   bool   // it is one word of memory
	waits  bool   // a program is still to be read that may have it
}

func (p polled) equal(o polled) bool {
	return p.is == o.is && p.wrong == o.wrong && slices.Equal(p.values, o.values)
}

// polls are what is known of the variables and files of a node.
type polls struct {
	values map[string]polled // by name; those that were never read are not there
	began  ariadne.Time      // when the last read began of which all values are known
	tried  ariadne.Time      // when the last read began
	since  ariadne.Time      // from when on some value could not be read; 0: it can
	begun  bool              // a program of the node runs, and not only what starts it
	first  ariadne.Time      // when values were read first
}

// mostReads is how often values of a node are read until they are the same twice.
const mostReads = 8

// mostContent is how much of a file is read, as in a check.
const mostContent = 64 << 10

// isPolled reports whether a watch reads a file now and then. Commands are run by checks only.
func isPolled(l *spec.Look) bool { return l.Command == nil }

// polledNames are those of the tuples that come of variables and files.
func polledNames(s *spec.Spec) (names []string) {
	for i := range s.Looks {
		if isPolled(&s.Looks[i]) {
			names = append(names, s.Looks[i].Name)
		}
	}
	for i := range s.Probes {
		if s.Probes[i].Variable != "" {
			names = append(names, s.Probes[i].Name)
		}
	}
	return names
}

// isPolledAt reports whether some variable or file counts at a node.
func (a *Agent) isPolledAt(n *watched) bool {
	id := n.def.ID
	for i := range a.spec.Looks {
		if l := &a.spec.Looks[i]; isPolled(l) && l.At(id) {
			return true
		}
	}
	for i := range a.spec.Probes {
		if p := &a.spec.Probes[i]; p.Variable != "" && p.At(id) {
			return true
		}
	}
	return false
}

// pollDue polls nodes whose values were read long ago.
func (a *Agent) pollDue() {
	for _, n := range a.nodes {
		if a.now() >= a.nextPoll(n) {
			a.poll(n, n.polls.began)
		}
	}
}

// beginEvery is how often it is seen whether the program of a node has begun.
const beginEvery = 5 * time.Millisecond

// nextPoll is when a node's values are to be read again; ariadne.Never: they are not.
func (a *Agent) nextPoll(n *watched) ariadne.Time {
	switch {
	case n.process == nil || !a.isPolledAt(n):
		return ariadne.Never
	case !n.polls.begun:
		return n.polls.tried.Add(min(a.spec.Watch.Poll, beginEvery))
	}
	return n.polls.tried.Add(a.spec.Watch.Poll)
}

// untilPoll is how long no node's values need be read.
func (a *Agent) untilPoll() time.Duration {
	next := ariadne.Never
	for _, n := range a.nodes {
		next = min(next, a.nextPoll(n))
	}
	return time.Duration(next - a.now())
}

// polledUpTo is the time up to which it is known what a node's variables and files were; 0: there
// are none.
func (a *Agent) polledUpTo(n *watched) ariadne.Time {
	if a.nextPoll(n) == ariadne.Never {
		return 0
	}
	return n.polls.began
}

// wrongWithin is for how long a value may be unreadable until it is unknown: at the begin of a
// program pointers are not set yet, and its memory goes before it ends.
const wrongWithin = 500 * time.Millisecond

// poll reads the variables and files of a node, and tells what has changed after a time.
func (a *Agent) poll(n *watched, after ariadne.Time) {
	if n.process == nil || !a.isPolledAt(n) {
		return
	}
	n.polls.tried = a.now()
	if n.polls.begun = n.polls.begun || !n.isStarted() || len(native.Programs(n.process.PID)) > 0; !n.polls.begun {
		n.polls.began = n.polls.tried // it exposes nothing yet
		return
	}
	n.polls.first = cmp.Or(n.polls.first, n.polls.tried)
	values, began := a.readTwice(n)
	if n.process.Ended() {
		return // the values may be those of half a program
	}
	wrong, waits := false, false
	for _, v := range values {
		wrong, waits = wrong || v.wrong != "", waits || v.waits && !v.is
	}
	switch {
	case waits:
		return
	case !wrong:
		n.polls.since = 0
	case n.polls.since == 0:
		n.polls.since = n.polls.tried
	}
	if wrong && !a.ending && time.Duration(n.polls.tried-n.polls.since) < max(wrongWithin, 2*a.spec.Watch.Poll) {
		return
	}
	a.showPolled(n, values, after)
	n.polls.began = began
	a.seekVariables(n, lacksAfter)
}

// readTwice reads the variables and files of a node until all are the same twice. began is when the
// last time began. A value that always changes is one word of memory, and no other one changes, or
// it is wrong.
func (a *Agent) readTwice(n *watched) (values map[string]polled, began ariadne.Time) {
	var pids []int
	began = a.now()
	values = a.readPolled(n, &pids)
	var differ []string
	for range mostReads {
		began = a.now()
		again := a.readPolled(n, &pids)
		differ = differ[:0]
		for name, v := range again {
			if !v.equal(values[name]) {
				differ = append(differ, name)
			}
		}
		if values = again; len(differ) == 0 {
			return values, began
		}
	}
	if len(differ) == 1 && values[differ[0]].word {
		return values, began
	}
	for _, name := range differ {
		values[name] = polled{wrong: "it changes while it is read"}
	}
	return values, began
}

// showPolled tells which values differ from those that were known.
func (a *Agent) showPolled(n *watched, values map[string]polled, after ariadne.Time) {
	at := a.now()
	var shown []ariadne.Shown
	var read, lost []string
	for _, name := range polledNames(a.spec) {
		is, counts := values[name]
		was, known := n.polls.values[name]
		if !counts || known && is.equal(was) {
			continue
		}
		read = append(read, sourceOf(a.spec, name))
		if is.wrong != "" {
			lost = append(lost, name)
		}
		// A value that was unknown is known again when nothing is exposed.
		gone := is.wrong != "" || !is.is
		if was.wrong != "" && is.wrong == "" || was.is && gone {
			shown = append(shown, ariadne.Shown{At: at, Exposure: ariadne.Exposure{Name: name, Ends: true}})
		}
		if is.is && is.wrong == "" {
			shown = append(shown, ariadne.Shown{At: at, Exposure: ariadne.Exposure{Name: name, Values: is.values}})
		}
	}
	n.polls.values = values
	changes := a.sampled(a.spec.Properties.Sources.Changes(n.def.ID, &ariadne.Output{Exposures: shown}))
	if len(changes) > 0 {
		n.enter(changes)
		a.shows(n, at)
		a.addRecord(n, live.Record{Kind: live.Show, Channel: live.Polls, After: after, At: at, Changes: changes,
			Text: strings.Join(read, ", ")})
	}
	for _, name := range lost {
		a.lose(n, at, at, []string{name},
			fmt.Sprintf("%s cannot be read: %s", sourceOf(a.spec, name), values[name].wrong))
	}
}

// forgetPolled has values be told again, because the log did not get them.
func (n *watched) forgetPolled(names []string) {
	for _, name := range names {
		if _, ok := n.polls.values[name]; ok {
			n.polls.values[name] = polled{wrong: "it was left out"}
		}
	}
}

// sourceOf says in words which file, variable or function exposes tuples of a name; "": none does.
func sourceOf(s *spec.Spec, name string) string {
	for i := range s.Looks {
		switch l := &s.Looks[i]; {
		case l.Name != name:
		case l.Match != nil:
			return fmt.Sprintf("%s, where it matches %q", l.What(), l.Match)
		default:
			return l.What()
		}
	}
	for i := range s.Probes {
		if p := &s.Probes[i]; p.Name == name {
			return p.What()
		}
	}
	return ""
}

// samePolled reports whether two specs have the same variable or file by a name.
func samePolled(was, now *spec.Spec, name string) bool {
	ruleOf := func(s *spec.Spec) string {
		for i := range s.Looks {
			if l := &s.Looks[i]; l.Name == name && isPolled(l) {
				return fmt.Sprint(l.File, l.Match, l.Nodes)
			}
		}
		for i := range s.Probes {
			if p := &s.Probes[i]; p.Name == name && p.Variable != "" {
				return fmt.Sprintf("%+v", *p)
			}
		}
		return ""
	}
	return ruleOf(was) == ruleOf(now)
}

// readPolled reads the variables and files of a node once, by name. pids are its processes; nil:
// they are looked for.
func (a *Agent) readPolled(n *watched, pids *[]int) map[string]polled {
	all := map[string]polled{}
	for i := range a.spec.Looks {
		if l := &a.spec.Looks[i]; isPolled(l) && l.At(n.def.ID) {
			all[l.Name] = a.readFile(n, l)
		}
	}
	for i := range a.spec.Probes {
		if p := &a.spec.Probes[i]; p.Variable != "" && p.At(n.def.ID) {
			if *pids == nil {
				*pids = native.Programs(n.process.PID)
			}
			all[p.Name] = a.readVariable(p, *pids)
		}
	}
	return all
}

// cannot is a value that cannot be read.
func cannot(err error) polled {
	text := err.Error()
	if errors.Is(err, fs.ErrPermission) {
		text += ": it needs root, or the right to trace the process (ptrace)"
	}
	return polled{wrong: text}
}

// readFile reads a file of a node, as in a check: where its programs start, or where they see it.
func (a *Agent) readFile(n *watched, l *spec.Look) polled {
	name, dir := l.File, ""
	switch {
	case n.hasNetwork():
		dir = a.dirOf(n.def)
		name = strings.TrimPrefix(name, "/node/") // as nodes under the checker see it
	case n.isStarted():
		dir = n.native.Dir
	}
	read := func() ([]byte, bool, error) { return native.ReadFile(n.process.PID, name, mostContent) }
	if dir != "" && !filepath.IsAbs(name) {
		read = func() ([]byte, bool, error) { return native.ReadFileIn(dir, name, mostContent) }
	}
	text, ok, err := read()
	if err != nil {
		return cannot(err)
	}
	var p polled
	if ok {
		p.values, p.is = l.Exposed(printable(string(text)))
	}
	return p
}

// printable is a text in which bytes that are no text are written as \xNN: a log keeps text only.
func printable(text string) string {
	if utf8.ValidString(text) && !strings.ContainsFunc(text, isBinary) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		if r == utf8.RuneError && size == 1 || isBinary(r) {
			for _, c := range []byte(text[:size]) {
				fmt.Fprintf(&b, `\x%02x`, c)
			}
		} else {
			b.WriteString(text[:size])
		}
		text = text[size:]
	}
	return b.String()
}

// isBinary reports whether a character is none of a text.
func isBinary(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' }
