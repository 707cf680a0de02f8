package stream

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Step is a step on the way to other properties. An Ask is followed by a Ready of each agent, and
// then by a Begin; or by a Refuse, and nothing has changed. All processes get the steps in the same
// order.
type Step struct {
	Kind StepKind `json:"kind"`
	ID   string   `json:"id"`           // of the Ask
	By   string   `json:"by,omitempty"` // the name of the process's machine
	// Text, of an Ask, is what the properties are made of.
	Text json.RawMessage `json:"text,omitempty"`
	// Within, of an Ask, is when agents may refuse that have seen no Begin.
	Within time.Duration `json:"within,omitempty"`
	Node   string        `json:"node,omitempty"` // of a Ready or Refuse; "": the process that asked
	Why    string        `json:"why,omitempty"`  // of a Refuse
	// From, of a Begin, is the number of a message of the log. No record before it is of this turn.
	From uint64 `json:"from,omitempty"`

	// Number is that of the step's message.
	Number uint64 `json:"-"`
}

// StepKind is the kind of a step.
type StepKind string

// The kinds of steps.
const (
	Ask    StepKind = "ask"
	Ready  StepKind = "ready"
	Refuse StepKind = "refuse"
	Begin  StepKind = "begin"
)

// subjectOf is where steps of a kind are. Answers have a subject of their own, because no step but
// an answer may stand between an Ask and its Begin.
func (c *Conn) subjectOf(k StepKind) string {
	if k == Ready {
		return c.subject("turn.ready")
	}
	return c.subject("turn.step")
}

// Take makes a step, and returns its number. After is the number of the Ask that a Begin or Refuse
// is about: if another step has come after that, nothing is done and the number is 0.
func (c *Conn) Take(ctx context.Context, s Step, after uint64) (number uint64, err error) {
	s.By = host()
	text, err := json.Marshal(s)
	if err != nil {
		return 0, err
	}
	subject := c.subjectOf(s.Kind)
	var options []jetstream.PublishOpt
	if s.Kind == Begin || s.Kind == Refuse {
		options = append(options, jetstream.WithExpectLastSequencePerSubject(after))
	}
	for {
		short, cancel := context.WithTimeout(ctx, 2*time.Second)
		is, err := c.js.Publish(short, subject, text, options...)
		cancel()
		var wrong *jetstream.APIError
		switch {
		case err == nil:
			return is.Sequence, nil
		case errors.As(err, &wrong) && wrong.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence:
			return c.made(ctx, subject, string(text))
		case errors.As(err, &wrong):
			return 0, fmt.Errorf("log: %w", err)
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return 0, err
		}
	}
}

// made returns the number of a step if it is the last one: the server had it before, but its answer
// was lost.
func (c *Conn) made(ctx context.Context, subject, text string) (number uint64, err error) {
	s, err := c.js.Stream(ctx, c.turnsName())
	if err != nil {
		return 0, fmt.Errorf("log: %w", err)
	}
	m, err := s.GetLastMsgForSubject(ctx, subject)
	if err != nil {
		return 0, fmt.Errorf("log: %w", err)
	}
	if string(m.Data) != text {
		return 0, nil
	}
	return m.Sequence, nil
}

func (c *Conn) turnsName() string { return "ARIADNE_" + c.name + "_TURNS" }

// Steps calls f with each step of the watch, from the first one on, until ctx ends. It calls known
// after those that are there when it is called.
func (c *Conn) Steps(ctx context.Context, f func(Step), known func()) error {
	stream, err := c.js.Stream(ctx, c.turnsName())
	if err != nil {
		return fmt.Errorf("log: %w", err)
	}
	last := stream.CachedInfo().State.LastSeq
	if last == 0 {
		known()
	}
	return c.follow(ctx, c.turnsName(), func(m jetstream.Msg) error {
		var s Step
		if err := json.Unmarshal(m.Data(), &s); err != nil {
			return fmt.Errorf("log: a change of properties cannot be read: %w", err)
		}
		about, err := m.Metadata()
		if err != nil {
			return fmt.Errorf("log: %w", err)
		}
		s.Number = about.Sequence.Stream
		f(s)
		if s.Number == last {
			known()
		}
		return nil
	})
}

// follow calls f with each message of a stream, from the first one on, until ctx ends.
func (c *Conn) follow(ctx context.Context, stream string, f func(jetstream.Msg) error) error {
	consumer, err := c.js.OrderedConsumer(ctx, stream, jetstream.OrderedConsumerConfig{
		DeliverPolicy: jetstream.DeliverAllPolicy})
	if err != nil {
		return err
	}
	m, err := consumer.Messages()
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, m.Stop)()
	for {
		next, err := m.Next()
		if errors.Is(err, jetstream.ErrMsgIteratorClosed) {
			return nil
		} else if err != nil {
			return err
		}
		if err := f(next); err != nil {
			return err
		}
	}
}
