package stream

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge/live"
	"github.com/ariadne-mc/ariadne/internal/system/native"

	"github.com/nats-io/nats.go"
)

// common says which clock is the common one of a watch: that of the machine that made the watch.
type common struct {
	Clock string       `json:"clock"` // native.ClockName
	Base  ariadne.Time `json:"base"`  // of it, when the watch was made
}

// answer is what the common clock was when somebody asked.
type answer struct {
	At   ariadne.Time `json:"at"`
	Rate int          `json:"rate"` // by how much it is wrong at most, in ppm
}

// Clock gives times of this process the common time of a watch. Processes on the machine of the
// common clock read it. They answer others, which then know bounds.
type Clock struct {
	conn  *Conn
	id    string
	base  ariadne.Time // of native.Now: where times of records begin
	mu    sync.Mutex
	clock live.Clock
	err   error
	subs  *nats.Subscription
}

// askEvery is how often the common clock is asked, and answerWithin for how long an answer may
// take.
const (
	askEvery     = 100 * time.Millisecond
	answerWithin = time.Second
)

// NewClock returns the clock of a process whose records have times since base. It waits until the
// common time is known, and asks for it until ctx ends.
func (c *Conn) NewClock(ctx context.Context, base ariadne.Time, onWait func(string)) (*Clock, error) {
	name, err := native.ClockName()
	if err != nil {
		return nil, err
	}
	own, err := json.Marshal(common{name, native.Now()})
	if err != nil {
		return nil, err
	}
	text, err := c.Agree(ctx, "clock", own)
	if err != nil {
		return nil, fmt.Errorf("log: %w", err)
	}
	var is common
	if err := json.Unmarshal(text, &is); err != nil {
		return nil, fmt.Errorf("log: the common clock cannot be read: %w", err)
	}
	k := &Clock{conn: c, base: base, id: rand.Text()}
	if is.Clock == name {
		// one sample contradicts nothing
		_ = k.clock.Add(live.ClockSample{Answered: base - is.Base})
		k.subs, err = c.nats.QueueSubscribe(c.subject("clock"), "clock", func(m *nats.Msg) {
			text, _ := json.Marshal(answer{native.Now() - is.Base, native.ClockRate()})
			_ = m.Respond(text) // else who asks asks again
		})
		return k, err
	}
	for waits := false; ; waits = true {
		err := k.ask()
		if err == nil {
			break
		}
		if !waits && onWait != nil {
			onWait("no process on the machine of the common clock answers: waiting for it")
		}
		if pause(ctx, askEvery) != nil {
			return nil, fmt.Errorf("log: the common time is not known: %w; start ariadne watch on the machine where the watch began", err)
		}
	}
	go func() {
		for pause(ctx, askEvery) == nil {
			_ = k.ask() // what is not known is not judged
		}
	}()
	return k, nil
}

// ask asks for the common time once.
func (k *Clock) ask() error {
	sent := native.Now()
	m, err := k.conn.nats.Request(k.conn.subject("clock"), nil, answerWithin)
	received := native.Now()
	if errors.Is(err, nats.ErrNoResponders) {
		return errors.New("its machine has no process of the watch")
	} else if err != nil {
		return err
	}
	var is answer
	if err := json.Unmarshal(m.Data, &is); err != nil {
		return err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	err = k.clock.Add(live.ClockSample{Sent: sent - k.base, Received: received - k.base, Answered: is.At,
		Rate: is.Rate + native.ClockRate()})
	if k.err == nil {
		k.err = err
	}
	return err
}

// Err is why the bounds may be wrong, or nil.
func (k *Clock) Err() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.err
}

// Now returns bounds of the common time.
func (k *Clock) Now() (first, last ariadne.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := native.Now() - k.base
	least, most, _ := k.clock.Offset(now)
	return now + least, now + most
}

// ID names this process.
func (k *Clock) ID() string { return k.id }

func (k *Clock) convert(r *live.Record) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.clock.Convert(r)
}
