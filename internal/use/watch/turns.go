package watch

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ariadne-mc/ariadne/internal/leaf/readfile"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/use/watch/stream"
)

// A watch on several machines changes its properties in a turn. One process asks for it, with the
// text of the spec. Agents set the probes of the new properties beside those that they have, and
// answer. When all have answered, the process that asked writes that the turn begins. Then each
// agent tells what it knows of its nodes, as records of the new turn. A step that an agent refuses
// cannot begin any more, because the log takes a Begin only directly after its Ask.

// texts are what the properties of a watch are made of.
type texts struct {
	Spec        []byte `json:"spec"`
	Definitions []byte `json:"definitions,omitempty"`
}

// readTexts reads a spec, and the texts that it is made of.
func readTexts(path string) (*spec.Spec, []byte, error) {
	text, err := readfile.AtMost(path, readfile.Spec)
	if err != nil {
		return nil, nil, err
	}
	s, err := spec.Parse(path, text)
	if err != nil {
		return nil, nil, err
	}
	t := texts{Spec: text}
	if t.Definitions, err = definitions(s); err != nil {
		return nil, nil, err
	}
	own, err := json.Marshal(t)
	return s, own, err
}

// definitions is the text of the file with a spec's functions.
func definitions(s *spec.Spec) ([]byte, error) {
	if s.Properties.Definitions == "" {
		return nil, nil
	}
	return readfile.AtMost(s.Properties.Definitions, readfile.Spec)
}

// parseTexts is the spec in a text of readTexts, for a file at path.
func parseTexts(path string, text []byte) (*spec.Spec, error) {
	var t texts
	if err := json.Unmarshal(text, &t); err != nil {
		return nil, fmt.Errorf("log: a spec cannot be read: %w", err)
	}
	s, err := spec.Parse(path, t.Spec)
	if err != nil {
		return nil, err
	}
	own, err := definitions(s)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(own, t.Definitions) {
		return nil, spec.Errors{{Path: s.Properties.Definitions, Text: "the file differs from that of the process that has sent the spec: use the same file on all machines"}}
	}
	return s, nil
}

// turn is a time in which a watch has the same properties.
type turn struct {
	text []byte // of readTexts
	from uint64 // number of a message of the log, which has no record of the turn up to it
}

// turns are those of a watch, as far as this process knows.
type turns struct {
	path string // of the spec
	mu   sync.Mutex
	turnsState
	more chan struct{} // is closed when something has changed
}

// turnsState is a function of the steps of the watch.
type turnsState struct {
	all     []turn
	asked   *stream.Step // the Ask that may still begin, or nil
	ready   []string     // nodes whose agents have answered it
	refused *stream.Step // the last Refuse
}

// followTurns sees that this process has the same spec as others, and follows how it changes until
// ctx ends. Errors that come later are given to fail.
func followTurns(ctx context.Context, c *stream.Conn, s *spec.Spec, fail func(error)) (*turns, error) {
	_, own, err := readTexts(s.Path)
	if err != nil {
		return nil, err
	}
	first, err := c.Agree(ctx, keySpec, own)
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	t := &turns{path: s.Path, more: make(chan struct{})}
	t.all = []turn{{text: first}}
	known := make(chan struct{})
	failed := make(chan error, 1)
	go func() {
		if err := c.Steps(ctx, t.enter, func() { close(known) }); err != nil && ctx.Err() == nil {
			failed <- err
			fail(err)
		}
	}()
	select {
	case <-known:
	case err := <-failed:
		return nil, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	now, _ := t.state()
	if !slices.ContainsFunc(now.all, func(t turn) bool { return bytes.Equal(t.text, own) }) {
		is := now.all[len(now.all)-1].text
		return nil, spec.Errors{{Path: s.Path, Text: fmt.Sprintf("the watch %s has another spec (%s, this one is %s): use the same file everywhere, or another --name", c.Name(), sum(is), sum(own))}}
	}
	return t, nil
}

// sum stands for a text in messages.
func sum(text []byte) string {
	s := sha256.Sum256(text)
	return hex.EncodeToString(s[:8])
}

// enter enters a step.
func (t *turns) enter(s stream.Step) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case s.Kind == stream.Ask:
		t.asked, t.ready = &s, nil
	case t.asked == nil || t.asked.ID != s.ID:
		return // of an Ask that another one has replaced
	case s.Kind == stream.Ready:
		t.ready = append(slices.Clone(t.ready), s.Node)
	case s.Kind == stream.Refuse:
		t.asked, t.refused = nil, &s
	case s.Kind == stream.Begin:
		t.all = append(slices.Clone(t.all), turn{text: t.asked.Text, from: s.From})
		t.asked = nil
	}
	close(t.more)
	t.more = make(chan struct{})
}

// state is what is known. more is closed when more is.
func (t *turns) state() (now turnsState, more <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.turnsState, t.more
}

// last is the number of the turn that began last.
func (s *turnsState) last() int { return len(s.all) - 1 }

// agentTurns is an agent's part in turns.
type agentTurns struct {
	turns    *turns
	conn     *stream.Conn
	agent    *Agent
	writer   *stream.Writer
	number   int       // of the turn whose records the agent makes
	prepared *prepared // for the Ask that may begin, or nil
	text     []byte    // of that Ask
	answered string    // ID of the Ask that was answered last
	late     <-chan time.Time
}

// run follows turns until ctx ends.
func (t *agentTurns) run(ctx context.Context) error {
	defer t.drop()
	for {
		now, more := t.turns.state()
		if last := now.last(); last > t.number {
			if err := t.turn(last, now.all[last].text); err != nil {
				return fmt.Errorf("other properties have begun, which this agent cannot judge by: %w", err)
			}
		}
		switch {
		case now.asked == nil:
			t.drop()
		case now.asked.ID != t.answered:
			t.drop()
			if err := t.answer(ctx, now.asked); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-more:
		case <-t.late:
			t.late = nil
			// If it has begun meanwhile, this does nothing.
			if _, err := t.conn.Take(ctx, t.refusal(now.asked, "the process that asked has not begun the turn"),
				now.asked.Number); err != nil {
				return err
			}
		}
	}
}

// names are those of the agent's nodes.
func (t *agentTurns) names() []string {
	return mapped(t.agent.nodes, func(n *watched) string { return n.def.Name })
}

func (t *agentTurns) refusal(of *stream.Step, why string) stream.Step {
	return stream.Step{Kind: stream.Refuse, ID: of.ID, Node: strings.Join(t.names(), ", "), Why: why}
}

// answer prepares for other properties, or refuses them.
func (t *agentTurns) answer(ctx context.Context, ask *stream.Step) error {
	t.answered = ask.ID
	s, err := parseTexts(t.turns.path, ask.Text)
	if err == nil {
		t.prepared, err = t.agent.prepareFor(s)
	}
	if errors.Is(err, errOver) {
		return nil
	} else if err != nil {
		_, err = t.conn.Take(ctx, t.refusal(ask, err.Error()), ask.Number)
		return err
	}
	t.text, t.late = ask.Text, time.After(ask.Within)
	for _, node := range t.names() {
		if _, err := t.conn.Take(ctx, stream.Step{Kind: stream.Ready, ID: ask.ID, Node: node}, 0); err != nil {
			return err
		}
	}
	return nil
}

// drop forgets what was prepared.
func (t *agentTurns) drop() {
	if t.prepared != nil {
		_ = t.prepared.close() // it has seen no process
	}
	t.prepared, t.late = nil, nil
}

// turn has the agent tell by the properties of a turn.
func (t *agentTurns) turn(number int, text []byte) error {
	p := t.prepared
	t.prepared, t.late = nil, nil
	if p != nil && !bytes.Equal(t.text, text) {
		_ = p.close() // it has seen no process
		p = nil
	}
	if p == nil {
		s, err := parseTexts(t.turns.path, text)
		if err == nil {
			p, err = t.agent.prepareFor(s)
		}
		if err != nil {
			return notOver(err)
		}
	}
	err := t.agent.do(func() error {
		t.agent.flush()
		routing, err := Routing(p.spec)
		if err != nil {
			return err
		}
		t.writer.Turn(number, routing)
		return t.agent.change(p, t.writer)
	})
	if err != nil {
		return notOver(errors.Join(err, p.close()))
	}
	if t.number = number; t.agent.onWait != nil {
		t.agent.onWait(fmt.Sprintf("the properties have changed (turn %d)", number))
	}
	return nil
}

// notOver is err, unless it says that the watch has ended.
func notOver(err error) error {
	if errors.Is(err, errOver) {
		return nil
	}
	return err
}

// askWithin is for how long agents may prepare for other properties.
const askWithin = time.Minute

// change asks all agents to judge by the spec's properties as its file has them now. It returns
// when the turn has begun, or an error, and then nothing has changed.
func (w *sharing) change(ctx context.Context) error {
	w.mu.Lock()
	was := w.spec
	w.mu.Unlock()
	s, text, err := readTexts(was.Path)
	if err != nil {
		return err
	}
	if err := sameNodes(was, s); err != nil {
		return err
	}
	if _, _, err := judged(s); err != nil {
		return err
	}
	now, _ := w.turns.state()
	if now.asked != nil {
		return fmt.Errorf("a process on %s is about to change them: try again when it has", now.asked.By)
	}
	ask := stream.Step{Kind: stream.Ask, ID: rand.Text(), Text: text, Within: askWithin}
	if ask.Number, err = w.conn.Take(ctx, ask, 0); err != nil {
		return err
	}
	why, err := w.await(ctx, ask, now.last())
	if err == nil || why == "" {
		return err
	}
	last, stop := context.WithTimeout(context.WithoutCancel(ctx), endWithin)
	defer stop()
	if _, wrong := w.conn.Take(last, stream.Step{Kind: stream.Refuse, ID: ask.ID, Why: why}, ask.Number); wrong != nil {
		return errors.Join(err, wrong)
	}
	return err
}

// await waits until agents are ready, and begins the turn after last. An error says why it has not
// begun, and why, unless it is "", that the process takes its question back.
func (w *sharing) await(ctx context.Context, ask stream.Step, last int) (why string, err error) {
	until := time.Now().Add(askWithin)
	fail := func(text string) (string, error) { return text, errors.New(text) }
	for {
		now, more := w.turns.state()
		lacks := slices.DeleteFunc(slices.Clone(w.names), func(n string) bool { return slices.Contains(now.ready, n) })
		switch {
		case now.refused != nil && now.refused.ID == ask.ID && now.refused.Node != "":
			return "",
				fmt.Errorf("the agent of %s on %s refused: %s", now.refused.Node, now.refused.By, now.refused.Why)
		case now.last() > last:
			return "", nil
		case now.asked != nil && now.asked.ID != ask.ID && now.asked.Number > ask.Number:
			return "", fmt.Errorf("a process on %s has asked for other ones meanwhile", now.asked.By)
		case ctx.Err() != nil:
			return fail("the process that asked has ended")
		case time.Now().After(until):
			return fail(fmt.Sprintf("the agent of %s has not answered for %v", strings.Join(lacks, ", "), askWithin))
		}
		away, err := w.away(ctx)
		if err != nil {
			return fail(fmt.Sprintf("the log does not answer: %v", err))
		}
		if away != nil {
			return fail(fmt.Sprintf("node %s has no agent: start one, or the old one again", strings.Join(away, ", ")))
		}
		if now.asked != nil && len(lacks) == 0 {
			from, err := w.conn.Last(ctx)
			if err != nil {
				return fail(fmt.Sprintf("the log does not answer: %v", err))
			}
			if _, err := w.conn.Take(ctx, stream.Step{Kind: stream.Begin, ID: ask.ID, From: from},
				ask.Number); err != nil {
				return fail(err.Error())
			}
		}
		select {
		case <-ctx.Done():
		case <-more:
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// away are the nodes that have no agent.
func (w *sharing) away(ctx context.Context) (all []string, err error) {
	held, err := w.conn.Held(ctx, "node ")
	if err != nil {
		return nil, err
	}
	for _, n := range w.names {
		if !slices.Contains(held, stream.Token("node "+n)) {
			all = append(all, n)
		}
	}
	return all, nil
}
