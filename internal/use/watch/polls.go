package watch

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge/live"
	"github.com/ariadne-mc/ariadne/internal/leaf/debuginfo"
	"github.com/ariadne-mc/ariadne/internal/system/native"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// Variables and files are read now and then (watch: poll) while programs run. So a value may be
// read while it is written. All values of a node are read again until they are the same twice, but
// for single words that change all the time. What comes and goes between two polls is not seen, and
// a verifier knows that (live.Polls).

// polled is what a variable or a file is exposed as.
type polled struct {
	known  bool // it was read
	is     bool
	values []string
	wrong  string // why it cannot be read
	word   bool   // it is one word of memory
}

func (p *polled) equal(o *polled) bool {
	return p.known == o.known && p.is == o.is && p.wrong == o.wrong && slices.Equal(p.values, o.values)
}

// polls are what is known of the variables and files of a node.
type polls struct {
	values []polled     // by the place in the spec's Looks, and then Probes; nil: nothing is known
	began  ariadne.Time // when the last read of all of them began
}

// program is a file whose variables are read.
type program struct {
	entry uint64 // the address at which it begins
	sites []debuginfo.Site
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
	return slices.ContainsFunc(a.spec.Looks, func(l spec.Look) bool { return isPolled(&l) && l.At(id) }) ||
		slices.ContainsFunc(a.spec.Probes, func(p spec.Probe) bool { return p.Variable != "" && p.At(id) })
}

// pollDue polls nodes whose values were read long ago.
func (a *Agent) pollDue() {
	for _, n := range a.nodes {
		if a.now() >= a.nextPoll(n) {
			a.poll(n, n.polls.began)
		}
	}
}

// nextPoll is when a node's values are to be read again; ariadne.Never: they are not.
func (a *Agent) nextPoll(n *watched) ariadne.Time {
	if n.process == nil || !a.isPolledAt(n) {
		return ariadne.Never
	}
	return n.polls.began.Add(a.spec.Watch.Poll)
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

// poll reads the variables and files of a node, and tells what has changed after a time.
func (a *Agent) poll(n *watched, after ariadne.Time) {
	if n.process == nil || !a.isPolledAt(n) {
		return
	}
	began := a.now()
	values := a.readPolled(n)
	for range mostReads - 1 {
		next := a.now()
		again := a.readPolled(n)
		same := slices.EqualFunc(values, again, func(p, q polled) bool { return p.equal(&q) })
		if began, values = next, again; same {
			a.showPolled(n, values, after, began)
			return
		}
	}
	again := a.readPolled(n)
	for i := range values {
		if !values[i].equal(&again[i]) && !again[i].word {
			again[i] = polled{known: true, wrong: "it changes while it is read"}
		}
	}
	a.showPolled(n, again, after, began)
}

// showPolled tells which values differ from those that were known.
func (a *Agent) showPolled(n *watched, values []polled, after, began ariadne.Time) {
	at := a.now()
	if n.polls.values == nil {
		n.polls.values = make([]polled, len(values))
	}
	var shown []ariadne.Shown
	var read []string
	for i := range values {
		was, is := &n.polls.values[i], &values[i]
		if is.equal(was) {
			continue
		}
		name, what := a.polledAs(i)
		if is.wrong != "" {
			n.unknown = append(n.unknown, name)
			a.addRecord(n, live.Record{Kind: live.Lost, After: after, At: at, Names: []string{name},
				Text: fmt.Sprintf("%s cannot be read: %s", what, is.wrong)})
			continue
		}
		read = append(read, what)
		exposes := len(n.exposed.Named(name)) > 0 || slices.Contains(n.unknown, name) || n.resumed
		if exposes && (!was.known || was.wrong != "" || !is.is) {
			// Whatever was exposed before is not any more.
			shown = append(shown, ariadne.Shown{At: at, Exposure: ariadne.Exposure{Name: name, Ends: true}})
		}
		if is.is {
			shown = append(shown, ariadne.Shown{At: at, Exposure: ariadne.Exposure{Name: name, Values: is.values}})
		}
	}
	n.polls.values, n.polls.began = values, began
	changes := a.sampled(a.spec.Properties.Sources.Changes(n.def.ID, &ariadne.Output{Exposures: shown}))
	if len(changes) == 0 {
		return
	}
	n.enter(changes)
	a.shows(n, at)
	a.addRecord(n, live.Record{Kind: live.Show, Channel: live.Polls, After: after, At: at, Changes: changes,
		Text: strings.Join(read, ", ")})
}

// polledAs returns the name of the tuples of a variable or file, and what names it.
func (a *Agent) polledAs(i int) (name, what string) {
	if i < len(a.spec.Looks) {
		return a.spec.Looks[i].Name, a.spec.Looks[i].What()
	}
	p := &a.spec.Probes[i-len(a.spec.Looks)]
	return p.Name, p.What()
}

// readPolled reads the variables and files of a node once.
func (a *Agent) readPolled(n *watched) []polled {
	all := make([]polled, len(a.spec.Looks)+len(a.spec.Probes))
	for i := range a.spec.Looks {
		if l := &a.spec.Looks[i]; isPolled(l) && l.At(n.def.ID) {
			all[i] = a.readFile(n, l)
		}
	}
	var pids []int
	for i := range a.spec.Probes {
		if p := &a.spec.Probes[i]; p.Variable != "" && p.At(n.def.ID) {
			if pids == nil {
				pids = native.Descendants(n.process.PID)
			}
			all[len(a.spec.Looks)+i] = a.readVariable(p, pids)
		}
	}
	return all
}

// cannot is a value that cannot be read.
func cannot(err error) polled { return polled{known: true, wrong: err.Error()} }

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
	p := polled{known: true}
	if ok {
		p.values, p.is = l.Exposed(string(text))
	}
	return p
}

// readVariable reads a variable of the first of some processes that has it.
func (a *Agent) readVariable(p *spec.Probe, pids []int) polled {
	for _, pid := range pids {
		id, err := native.IdentifyFile(fmt.Sprintf("/proc/%d/exe", pid))
		if err != nil {
			continue // it has ended
		}
		of := a.programs[id]
		if of == nil {
			continue
		}
		i := slices.IndexFunc(of.sites, func(s debuginfo.Site) bool { return a.of[s.Query].Name == p.Name })
		if i < 0 {
			continue
		}
		bias, ok, err := native.Bias(pid, of.entry)
		switch {
		case err != nil:
			return cannot(err)
		case !ok:
			continue
		}
		m := native.Memory{PID: pid}
		values := of.sites[i].Rest(&m, bias)
		switch {
		case errors.Is(m.Err, native.ErrEnded):
			continue
		case m.Err != nil:
			return cannot(m.Err)
		}
		return polled{known: true, is: true, values: values, word: m.IsWord()}
	}
	return polled{known: true}
}
