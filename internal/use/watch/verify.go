package watch

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/live"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
	"github.com/ariadne-mc/ariadne/internal/system/native"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/use/watch/stream"
)

// verifying is a verifier that reads the log.
type verifying struct {
	name     string
	turn     int
	parts    int // into how many the property is divided
	verifier *live.Verifier
	reader   Reader
	findings int           // for the goroutine of run
	unseen   []string      // names that it reads, and that no node has exposed yet
	done     chan struct{} // is closed when the log is read
	// onRead, when not nil, is called each time that all records read so far are judged.
	onRead func() error
	stated ariadne.Time
	status atomic.Pointer[Status]
}

// Status is what a verifier has judged up to some moment. Other goroutines and processes read it.
type Status struct {
	Property
	Doubts []string `json:"doubts,omitempty"`
	Up     []bool   `json:"up"` // the nodes that run, as far as it is judged
	// names that the property reads and no node has exposed
	Unseen  []string       `json:"unseen,omitempty"`
	Traffic stream.Traffic `json:"traffic"` // what its process has read of the log
	Read    uint64         `json:"read"`    // number of the last message of the log that was read
	Done    bool           `json:"done"`    // that was the last one
}

// joined are the statuses of properties, of those of their parts. Each part judges moments of its
// own tuples, and the property is judged as far as the part that is least far.
func joined(parts []*Status) (all []*Status) {
	for _, s := range parts {
		if s.Parts == 0 {
			all = append(all, s)
			continue
		}
		i := slices.IndexFunc(all, func(o *Status) bool { return o.Name == s.Name && o.Turn == s.Turn })
		if i < 0 {
			own := *s
			own.Doubts, own.Unseen = slices.Clone(s.Doubts), slices.Clone(s.Unseen)
			all = append(all, &own)
			continue
		}
		to := all[i]
		to.Findings += s.Findings
		to.Broken = to.Broken || s.Broken
		to.Done = to.Done && s.Done
		if s.Read < to.Read {
			to.Read, to.Up = s.Read, s.Up
		}
		to.Unseen = slices.DeleteFunc(to.Unseen, func(name string) bool { return !slices.Contains(s.Unseen, name) })
		to.Add(&s.Counts)
		to.Traffic.Messages += s.Traffic.Messages
		to.Traffic.Bytes += s.Traffic.Bytes
		to.Doubts = append(to.Doubts, s.Doubts...)
		slices.Sort(to.Doubts)
		to.Doubts = slices.Compact(to.Doubts)
	}
	return all
}

// statusEvery is how often a verifier makes a status.
const statusEvery = 500 * time.Millisecond

// state makes a status.
func (v *verifying) state() *Status {
	s := &Status{Doubts: v.verifier.Doubts(), Up: slices.Clone(v.verifier.Up()),
		Unseen: slices.Clone(v.unseen)}
	s.Property = Property{Name: v.name, Turn: v.turn, Findings: v.findings, Broken: v.verifier.Broken() != "",
		Counts: v.verifier.Counts}
	if v.parts > 1 {
		s.Parts = v.parts
	}
	if n := v.verifier.Series(); n != nil {
		own := *n // its points do not change
		s.Number = &own
	}
	if r, ok := v.reader.(*stream.Reader); ok {
		s.Read, s.Done, s.Traffic = r.Read(), r.AtEnd(), r.Traffic()
	}
	v.stated = native.Now()
	v.status.Store(s)
	return s
}

// isSuspicion reports whether the property may have held.
func isSuspicion(f *Finding) bool {
	return f.Kind == property.Suspected || len(f.Without) > 0 || len(f.Polled) > 0
}

// properties are those of a spec, one by one, and notes on those that cannot be judged here.
func properties(s *spec.Spec) (all []*judge.Properties, notes []string, err error) {
	c := judge.Config{Path: s.Path, Definitions: s.Properties.Definitions, Sources: s.Properties.Sources,
		Stages: s.Properties.Stages, History: s.Properties.History}
	for i := range s.Nodes {
		c.Nodes = append(c.Nodes, s.Nodes[i].Name)
	}
	blind := unseen(s)
	add := func(name string, c judge.Config, subsets string) {
		p, wrong := judge.NewProperties(c)
		if wrong != nil {
			err = cmp.Or(err, wrong)
			return
		}
		read := slices.IndexFunc(s.Properties.Sources, func(r expose.Source) bool {
			return blind[r.Name] != "" && p.ReadsName(r.Name)
		})
		// A stage of a sample may have other tuples than a stage of all.
		sampled := slices.IndexFunc(sampledOf(s, p), func(name string) bool { return name != subsets })
		switch {
		case read >= 0:
			of := s.Properties.Sources[read].Name
			notes = append(notes, fmt.Sprintf("property %q is not judged: it reads %s, and a watch does not see %s", name, of, blind[of]))
		case sampled >= 0:
			notes = append(notes, fmt.Sprintf("property %q is not judged: it reads %s, of which only a sample is watched, and is none of agree, one and rises of it", name, sampledOf(s, p)[sampled]))
		case p.Sees().World:
			notes = append(notes, fmt.Sprintf("property %q is not judged: it reads messages, timers or clocks, which only a check knows", name))
		case p.Sees().Past:
			notes = append(notes, fmt.Sprintf("property %q is not judged: it reads pending operations, which a watch does not follow", name))
		default:
			all = append(all, p)
		}
	}
	for _, q := range s.Properties.Predicates {
		if q.Form == property.Finally {
			notes = append(notes, fmt.Sprintf("property %q is not judged: a watched system has no end at which it must hold", q.Name))
			continue
		}
		own := c
		own.Predicates = []property.Predicate{q}
		add(q.Name, own, q.Subsets)
	}
	for _, g := range s.Properties.Goals {
		own := c
		own.Goals = []property.Goal{g}
		add(g.Name, own, "")
	}
	for _, h := range s.Properties.Histories {
		notes = append(notes, fmt.Sprintf("property %q is not judged: a watch does not follow clients' operations", h.Name))
	}
	if s.Properties.Finally != nil {
		notes = append(notes, "finally is not run: a watched system has no end")
	}
	return all, notes, err
}

// sampledOf are the names that properties read, also by stages, of which only a sample is watched.
func sampledOf(s *spec.Spec, p *judge.Properties) []string {
	all := slices.Sorted(maps.Keys(s.Watch.Sample))
	return slices.DeleteFunc(all, func(name string) bool { return !p.ReadsName(name) })
}

// readBy are the names of what nodes expose that properties read, also by stages.
func readBy(s *spec.Spec, p *judge.Properties) (all []string) {
	for _, src := range s.Properties.Sources {
		if p.ReadsName(src.Name) {
			all = append(all, src.Name)
		}
	}
	return all
}

// judged returns the properties of a spec that a watch can judge, at least one, and notes.
func judged(s *spec.Spec) (all []*judge.Properties, notes []string, err error) {
	all, notes, err = properties(s)
	if err != nil {
		return nil, nil, err
	}
	if len(all) == 0 {
		text := "no property can be watched"
		for _, n := range notes {
			text += "; " + n
		}
		return nil, nil, spec.Errors{{Path: s.Path, Text: text}}
	}
	for _, p := range all {
		if s.Watch.Parts > 1 && p.Division() == nil {
			notes = append(notes, fmt.Sprintf("property %q is not divided: it is none of agree, one with per, rises, and that a stage with a key has no tuples", nameOf(p)))
		}
	}
	return all, slices.Concat(notes, different(s, all)), nil
}

// verifyBy starts the verifiers of a spec.
func (w *watching) verifyBy(s *spec.Spec) error {
	all, notes, err := judged(s)
	if err != nil {
		return err
	}
	w.report.Notes = notes
	for _, p := range all {
		for part := range partsOf(s, p) {
			w.begin(newVerifying(s, p, part, w.log.Reader(), w.turn))
		}
	}
	return nil
}

// begin has a verifier judge what comes in the log.
func (w *watching) begin(v *verifying) {
	w.verify = append(w.verify, v)
	go func() {
		err := v.run(func(f *live.Finding) error {
			w.findings <- found{finding: *f, turn: v.turn}
			return nil
		})
		if err != nil {
			w.findings <- found{err: err}
		}
		close(v.done)
	}()
}

// Routing says which parts of properties need which changes.
func Routing(s *spec.Spec) (*stream.Routing, error) {
	all, _, err := judged(s)
	if err != nil {
		return nil, err
	}
	return newRouting(s, all), nil
}

func newRouting(s *spec.Spec, all []*judge.Properties) *stream.Routing {
	divided := slices.DeleteFunc(slices.Clone(all), func(p *judge.Properties) bool { return partsOf(s, p) < 2 })
	return stream.NewRouting(divided, s.Watch.Parts)
}

// partsOf is into how many parts a property is divided.
func partsOf(s *spec.Spec, p *judge.Properties) int {
	if p.Division() == nil {
		return 1
	}
	return max(s.Watch.Parts, 1)
}

// newVerifying returns a verifier of a part of one property.
func newVerifying(s *spec.Spec, p *judge.Properties, part int, from Reader, turn int) *verifying {
	c := live.Config{ClockError: s.Watch.ClockError, Settle: s.Watch.Settle, Timeout: s.Watch.Timeout,
		Patience: s.Watch.Patience, Polled: polledNames(s), Turned: turn > 0, Part: part, Parts: partsOf(s, p)}
	v := &verifying{turn: turn, parts: c.Parts, verifier: live.NewVerifier(c, p), reader: from,
		done: make(chan struct{}), unseen: readBy(s, p)}
	v.name = v.verifier.Name()
	v.state()
	return v
}

// run judges what comes in the log, until that ends.
func (v *verifying) run(report func(*live.Finding) error) error {
	defer v.state()
	for {
		records, ok := v.reader.Next()
		if !ok {
			if v.reader.Turned() {
				v.verifier.Turn()
			}
			return nil
		}
		for i := range records {
			if err := v.verifier.Take(records[i]); err != nil {
				return err
			}
			for _, c := range records[i].Changes {
				v.unseen = slices.DeleteFunc(v.unseen, func(name string) bool { return name == c.Name && !c.Ends })
			}
		}
		for _, f := range v.verifier.Found() {
			if err := report(&f); err != nil {
				return err
			}
			v.findings++
		}
		if native.Since(v.stated) > statusEvery {
			v.state()
		}
		if v.onRead != nil {
			if err := v.onRead(); err != nil {
				return err
			}
		}
	}
}

// different says what of a spec is otherwise outside the checker, of what some properties read.
func different(s *spec.Spec, all []*judge.Properties) (notes []string) {
	for _, name := range slices.Sorted(maps.Keys(s.Watch.Sample)) {
		notes = append(notes, fmt.Sprintf("%s: one key in %d is watched (sample)", name, s.Watch.Sample[name]))
	}
	polled := slices.DeleteFunc(polledNames(s), func(name string) bool {
		return !slices.ContainsFunc(all, func(p *judge.Properties) bool { return p.ReadsName(name) })
	})
	if len(polled) > 0 {
		notes = append(notes, fmt.Sprintf("read every %v (poll): %s: violations of properties that read one are only suspected", s.Watch.Poll, strings.Join(polled, ", ")))
	}
	return notes
}

// canStart says why a node cannot be started natively as the spec describes it.
func canStart(s *spec.Spec) error {
	var all spec.Errors
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if s.Watch.Native[i].Found {
			continue
		}
		for _, what := range []struct {
			has  bool
			name string
		}{{n.Writable != nil, "writable"}, {n.Run != nil, "run"}, {n.AfterCrash != nil, "after_crash"},
			{n.Stdin != "" || n.StdinOpen, "stdin"}, {n.ClockOffset != 0, "clock_offset"},
			{n.ClockDrift != 0, "clock_drift"}, {n.After != nil, "after"}} {
			if what.has {
				all = append(all, spec.Error{Path: s.Path, Line: n.Line, Node: n.Name,
					Text: fmt.Sprintf("%s cannot be had natively: say under watch: nodes: how the node is found or started", what.name)})
			}
		}
	}
	if all != nil {
		return all
	}
	return nil
}

// show calls OnShow with the records that change something. The channel is closed when all were
// shown.
func (w *watching) show() <-chan struct{} {
	done := make(chan struct{})
	if w.options.OnShow == nil {
		close(done)
		return done
	}
	reader := w.log.Reader()
	go func() {
		defer close(done)
		showAll(reader, w.options.OnShow)
	}()
	return done
}

// showAll calls show with the records that change something, until the log ends.
func showAll(from Reader, show func(live.Record)) {
	for {
		records, ok := from.Next()
		if !ok {
			return
		}
		for i := range records {
			switch records[i].Kind {
			case live.Beat, live.Passed, live.Turned, live.Missed, live.Sought:
			default:
				show(records[i])
			}
		}
	}
}
