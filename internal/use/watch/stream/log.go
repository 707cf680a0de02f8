package stream

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge/live"

	"github.com/nats-io/nats.go/jetstream"
)

// Writer writes records of an agent. It never waits for the server: what was not written yet is
// Behind.
type Writer struct {
	conn    *Conn
	clock   *Clock
	names   []string
	session string

	mu      sync.Mutex
	more    sync.Cond
	queue   []queued
	turn    int // of the records that are added
	router  *router
	writing int // records that were taken from the queue
	closed  bool
	done    chan struct{}
	cancel  func()
}

// queued is a record that is to be written.
type queued struct {
	live.Record
	turn  int
	route string // as in router
}

// NewWriter returns a writer of records of nodes with these names, by their ids.
func (c *Conn) NewWriter(clock *Clock, nodes []string) *Writer {
	ctx, cancel := context.WithCancel(context.Background())
	w := &Writer{conn: c, clock: clock, names: nodes, session: rand.Text(), router: newRouter(nil),
		done: make(chan struct{}), cancel: cancel}
	w.more.L = &w.mu
	go w.run(ctx)
	return w
}

// Append adds records. It gives them the common time.
func (w *Writer) Append(all []live.Record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range all {
		r := all[i]
		w.clock.convert(&r)
		w.queue = append(w.queue, queued{r, w.turn, w.router.route(&r)})
	}
	w.more.Broadcast()
}

// Turn says that the records from here on are of a turn. They are numbered from 1 again.
func (w *Writer) Turn(turn int, routing *Routing) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.turn, w.router = turn, newRouter(routing)
}

// Resume says that an earlier agent has told of a node in this turn.
func (w *Writer) Resume(node ariadne.NodeID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.router.resumed[node] = true
}

// Behind returns how many records the log does not have yet.
func (w *Writer) Behind() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.queue) + w.writing
}

// closeWithin is for how long Close waits for the server.
const closeWithin = 5 * time.Second

// Close writes what is left. It returns an error if the server takes too long.
func (w *Writer) Close() error {
	w.mu.Lock()
	w.closed = true
	w.more.Broadcast()
	w.mu.Unlock()
	defer w.cancel()
	select {
	case <-w.done:
		return nil
	case <-time.After(closeWithin):
		return fmt.Errorf("log: %d records could not be written: the server does not answer", w.Behind())
	}
}

// batchMost is how many records a message has at most.
const batchMost = 500

func (w *Writer) run(ctx context.Context) {
	defer close(w.done)
	parcels := &parcels{names: w.names, session: w.session, before: map[origin]map[string]int{}}
	for {
		w.mu.Lock()
		for len(w.queue) == 0 && !w.closed {
			w.more.Wait()
		}
		if len(w.queue) == 0 {
			w.mu.Unlock()
			return
		}
		n := min(len(w.queue), batchMost)
		all := w.queue[:n]
		w.queue, w.writing = w.queue[n:], n
		w.mu.Unlock()
		m := parcels.divide(all)
		for _, some := range [][]*batch{m.first, m.then, m.last} {
			if w.writeAll(ctx, some) != nil {
				return
			}
		}
		w.mu.Lock()
		w.writing = 0
		w.mu.Unlock()
	}
}

// writeAll writes messages in any order.
func (w *Writer) writeAll(ctx context.Context, all []*batch) error {
	sent := make([]jetstream.PubAckFuture, len(all))
	for i := 0; i < len(all) && len(all) > 1; i++ {
		// else it is written below
		sent[i], _ = w.conn.js.PublishAsync(w.subject(all[i]), encodeBatch(all[i]))
	}
	late := time.After(writeWithin)
	for i, b := range all {
		if sent[i] != nil {
			select {
			case <-sent[i].Ok():
				continue
			case <-sent[i].Err():
			case <-late:
			}
		}
		if err := w.write(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

// writeWithin is how long the server may take to say that it has a message.
const writeWithin = 2 * time.Second

// subject is that of a message.
func (w *Writer) subject(b *batch) string {
	if b.Route == "" {
		return w.conn.subject("log.node." + Token(b.Node))
	}
	return w.conn.subject(fmt.Sprintf("log.part.%d.%s.%s", b.Turn, Token(b.Node), b.Route))
}

func encodeBatch(b *batch) []byte {
	text, err := json.Marshal(b)
	if err != nil {
		panic(err) // it has only texts and numbers
	}
	return text
}

// write writes a message, until the server has it. Readers drop a message that it has twice.
func (w *Writer) write(ctx context.Context, b *batch) error {
	text := encodeBatch(b)
	for {
		short, cancel := context.WithTimeout(ctx, writeWithin)
		_, err := w.conn.js.Publish(short, w.subject(b), text)
		cancel()
		if err == nil {
			return nil
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

// Session names the agent of the writer.
func (w *Writer) Session() string { return w.session }

// Token is a name as a part of a subject.
func Token(name string) string {
	var b strings.Builder
	for _, c := range []byte(name) {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "_%02x", c)
		}
	}
	return b.String()
}

// Pass writes that the common time is at least some time.
func (c *Conn) Pass(ctx context.Context, at ariadne.Time) error {
	_, err := c.js.Publish(ctx, c.subject("log.time"), []byte(strconv.FormatInt(int64(at), 10)))
	return err
}

// End writes that nothing more comes.
func (c *Conn) End(ctx context.Context) error {
	_, err := c.js.Publish(ctx, c.subject("log.end"), nil)
	return err
}

// Reader reads the records of one turn in the log.
type Reader struct {
	messages jetstream.MessagesContext
	decoder  *decoder
	end      string
	time     string
	mu       sync.Mutex
	err      error
	read     uint64 // number of the last message
	traffic  Traffic
	ended    bool
	turned   bool
}

// Traffic is what a reader has read.
type Traffic struct {
	Messages int `json:"messages"`
	Bytes    int `json:"bytes"`
}

// Traffic returns what the reader has read so far.
func (r *Reader) Traffic() Traffic {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.traffic
}

// NewReader returns a reader of records of nodes with these names, by their ids. They are those of
// a turn that are wanted, and behind a message of the log with the number from.
func (c *Conn) NewReader(ctx context.Context, nodes []string, turn int, from uint64, want *Want) (*Reader, error) {
	config := jetstream.OrderedConsumerConfig{DeliverPolicy: jetstream.DeliverAllPolicy,
		FilterSubjects: want.subjects(c, turn)}
	if from > 0 {
		config.DeliverPolicy, config.OptStartSeq = jetstream.DeliverByStartSequencePolicy, from+1
	}
	consumer, err := c.js.OrderedConsumer(ctx, "ARIADNE_"+c.name+"_LOG", config)
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	m, err := consumer.Messages(jetstream.PullMaxMessages(2000))
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	return &Reader{messages: m, decoder: newDecoder(nodes, turn, want), end: c.subject("log.end"),
		time: c.subject("log.time")}, nil
}

// Save returns the state of the reader for RestoreReader, between two calls of Next: the same bytes
// for the same state.
func (r *Reader) Save() ([]byte, error) { return r.decoder.save() }

// RestoreReader returns a reader of the records of a turn behind the message with the number from,
// with the state that Save of another reader has returned when that was the last one.
func (c *Conn) RestoreReader(ctx context.Context, nodes []string, turn int, from uint64, want *Want,
	state []byte) (*Reader, error) {
	if last, err := c.Last(ctx); err != nil {
		return nil, fmt.Errorf("log: %w", err)
	} else if from > last {
		return nil, fmt.Errorf("it is of message %d of the log, which has %d", from, last)
	}
	d := newDecoder(nodes, turn, want)
	if err := d.restore(state); err != nil {
		return nil, err
	}
	r, err := c.NewReader(ctx, nodes, turn, from, want)
	if err != nil {
		return nil, err
	}
	r.decoder, r.read = d, from
	return r, nil
}

// Next returns further records, and waits for them. ok: there are more to come.
func (r *Reader) Next() (all []live.Record, ok bool) {
	m, err := r.messages.Next()
	switch {
	case errors.Is(err, jetstream.ErrMsgIteratorClosed):
		return nil, false
	case err != nil:
		r.fail(fmt.Errorf("log: %w", err))
		return nil, false
	}
	if about, err := m.Metadata(); err == nil {
		r.mu.Lock()
		r.read = about.Sequence.Stream
		r.traffic.Messages++
		r.traffic.Bytes += len(m.Data())
		r.mu.Unlock()
	}
	switch m.Subject() {
	case r.end:
		r.mu.Lock()
		defer r.mu.Unlock()
		r.ended = true
		return nil, false
	case r.time:
		at, err := strconv.ParseInt(string(m.Data()), 10, 64)
		if err != nil {
			r.fail(fmt.Errorf("log: a time cannot be read: %w", err))
			return nil, false
		}
		return []live.Record{{Node: ariadne.NoNode, Kind: live.Passed, After: ariadne.Time(at), At: ariadne.Time(at)}},
			true
	}
	all, over, err := r.decoder.decode(m.Data())
	if err != nil {
		r.fail(err)
		return nil, false
	}
	if over {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.ended, r.turned = true, true
	}
	return all, !over
}

func (r *Reader) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = err
}

// Err is why Next has ended before the log's end, or nil.
func (r *Reader) Err() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// Read is the number of the last message that was read.
func (r *Reader) Read() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.read
}

// Turned reports whether the turn has ended, because the next one has begun.
func (r *Reader) Turned() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.turned
}

// AtEnd reports whether the log has ended, or the turn, and all of it was read.
func (r *Reader) AtEnd() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.ended
}

// Close ends the reader: Next returns.
func (r *Reader) Close() { r.messages.Stop() }

// Last is the number of the last message of the log.
func (c *Conn) Last(ctx context.Context) (uint64, error) {
	s, err := c.js.Stream(ctx, "ARIADNE_"+c.name+"_LOG")
	if err != nil {
		return 0, err
	}
	return s.CachedInfo().State.LastSeq, nil
}

// Publish adds the nth finding of a verifier, from 0, unless another process has added it before.
// Verifiers are functions of the log, so the two must be equal: an error says if they are not.
func (c *Conn) Publish(ctx context.Context, verifier string, n int, text []byte) error {
	subject := c.subject(fmt.Sprintf("found.%s.%d", Token(verifier), n))
	for {
		short, cancel := context.WithTimeout(ctx, 2*time.Second)
		_, err := c.js.Publish(short, subject, text, jetstream.WithExpectLastSequencePerSubject(0))
		cancel()
		var wrong *jetstream.APIError
		if err == nil {
			return nil
		} else if errors.As(err, &wrong) && wrong.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence {
			return c.compare(ctx, subject, text)
		}
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

// compare sees that a finding is as another process found it.
func (c *Conn) compare(ctx context.Context, subject string, text []byte) error {
	s, err := c.js.Stream(ctx, "ARIADNE_"+c.name+"_FOUND")
	if err != nil {
		return err
	}
	m, err := s.GetLastMsgForSubject(ctx, subject)
	if err != nil {
		return err
	}
	if string(m.Data) != string(text) {
		return fmt.Errorf("two verifiers of one property found different things in the same log: %s; %s", m.Data, text)
	}
	return nil
}

// Findings calls f with each finding of the watch, from the first one on, until ctx ends.
func (c *Conn) Findings(ctx context.Context, f func(text []byte)) error {
	return c.follow(ctx, "ARIADNE_"+c.name+"_FOUND", func(m jetstream.Msg) error {
		f(m.Data())
		return nil
	})
}
