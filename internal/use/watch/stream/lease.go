package stream

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// Lease is what one process of a watch holds, until it releases it or is gone for LeaseFor.
type Lease struct {
	conn     *Conn
	key      string
	revision uint64
	renewed  time.Time
}

// Hold takes a lease, or returns nil if another process holds it.
func (c *Conn) Hold(ctx context.Context, key string) (*Lease, error) {
	began := time.Now()
	revision, err := c.lease.Create(ctx, Token(key), []byte(host()))
	if errors.Is(err, jetstream.ErrKeyExists) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return &Lease{conn: c, key: Token(key), revision: revision, renewed: began}, nil
}

// Renew keeps a lease. held: this process holds it still. It is to be called more often than each
// LeaseFor.
func (l *Lease) Renew(ctx context.Context) (held bool, err error) {
	began := time.Now()
	revision, err := l.conn.lease.Update(ctx, l.key, []byte(host()), l.revision)
	var wrong *jetstream.APIError
	if errors.As(err, &wrong) && wrong.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence {
		// This process was away for long. Perhaps nobody has taken it since.
		revision, err = l.conn.lease.Create(ctx, l.key, []byte(host()))
		if errors.Is(err, jetstream.ErrKeyExists) {
			return false, nil
		}
	}
	if err != nil {
		return true, err // the server is away: nobody can take it
	}
	l.revision, l.renewed = revision, began
	return true, nil
}

// Release gives a lease up.
func (l *Lease) Release(ctx context.Context) error {
	return l.conn.lease.Delete(ctx, l.key, jetstream.LastRevision(l.revision))
}

// Held returns the keys of all leases that begin with some text, in order. A list of the bucket's
// keys would not have those that are renewed while it is made.
func (c *Conn) Held(ctx context.Context, begin string) (all []string, err error) {
	prefix := "$KV." + c.lease.Bucket() + "."
	s, err := c.js.Stream(ctx, "KV_"+c.lease.Bucket())
	if err != nil {
		return nil, err
	}
	info, err := s.Info(ctx, jetstream.WithSubjectFilter(prefix+">"))
	if err != nil {
		return nil, err
	}
	for subject := range info.State.Subjects {
		key := strings.TrimPrefix(subject, prefix)
		if !strings.HasPrefix(key, Token(begin)) {
			continue
		}
		_, err := c.lease.Get(ctx, key)
		if errors.Is(err, jetstream.ErrKeyNotFound) {
			continue // it was released
		} else if err != nil {
			return nil, err
		}
		all = append(all, key)
	}
	slices.Sort(all)
	return all, nil
}
