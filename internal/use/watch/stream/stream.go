// Package stream keeps the records of a watch in a log of NATS JetStream, so that agents on several
// machines write it, and verifiers on any machine read it from the beginning. The server is one of
// this process (Serve), or one that is there.
//
// A watch has a log of records (Reader), a log of findings (Findings), a log of changes of its
// properties (Steps), and two buckets of keys: what everybody must know (Agree), and leases (Hold),
// which end with their holders; and a store of checkpoints of verifiers. All have the name of the
// watch, so a server may have several watches. Between two changes of the properties is a turn:
// each has records of its own.
//
// Invariants: a reader of the log gets the records of each node without gaps and repetitions,
// numbered from 1. Where some are missing, it gets a record that says so. All readers get the same.
//
// Read next: log.go, record.go, clock.go, lease.go, turn.go.
package stream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Serve starts a server of JetStream in this process, which keeps its files in dir. address is as
// in "127.0.0.1:4222" or "token@0.0.0.0:4222". With a certificate, connections are
// encrypted, and with authorities, clients need certificates that these have signed. It returns the
// URL for clients on this machine.
func Serve(address, dir string, by TLS) (s *server.Server, at string, err error) {
	u, err := url.Parse("nats://" + address)
	if err != nil || u.Path != "" {
		return nil, "", fmt.Errorf("%s is no address: write host:port or token@host:port", address)
	}
	host, port, err := net.SplitHostPort(u.Host)
	number, wrong := strconv.Atoi(port)
	if err != nil || wrong != nil || host == "" {
		return nil, "", fmt.Errorf("%s is no address: write host:port or token@host:port", address)
	}
	if number == 0 {
		number = server.RANDOM_PORT
	}
	o := &server.Options{Host: host, Port: number, JetStream: true, StoreDir: dir, NoSigs: true, NoLog: true,
		DisableJetStreamBanner: true, Authorization: u.User.Username(), MaxPayload: payloadMax}
	scheme := "nats"
	if by.Cert != "" {
		scheme, o.TLS, o.TLSVerify, o.TLSTimeout = "tls", true, by.CA != "", readyWithin.Seconds()
		if o.TLSConfig, err = server.GenTLSConfig(&server.TLSConfigOpts{CertFile: by.Cert, KeyFile: by.Key,
			CaFile: by.CA, Verify: by.CA != ""}); err != nil {
			return nil, "", fmt.Errorf("log server: certificate %s with key %s: %w", by.Cert, by.Key, err)
		}
	}
	if s, err = server.NewServer(o); err != nil {
		return nil, "", fmt.Errorf("log server: %w", err)
	}
	s.Start()
	if !s.ReadyForConnections(readyWithin) {
		s.Shutdown()
		return nil, "", fmt.Errorf("log server: it cannot listen on %s: is the address of this machine, and free?", u.Host)
	}
	_, port, _ = net.SplitHostPort(s.Addr().String())
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return s, (&url.URL{Scheme: scheme, User: u.User, Host: net.JoinHostPort(host, port)}).String(), nil
}

const (
	readyWithin = 5 * time.Second
	payloadMax  = 8 << 20 // bytes of a message
)

// Conn is a connection to the logs of one watch.
type Conn struct {
	name  string
	nats  *nats.Conn
	js    jetstream.JetStream
	state jetstream.KeyValue
	lease jetstream.KeyValue
	store jetstream.ObjectStore // of checkpoints
}

var nameForm = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// TLS is how connections to a server are encrypted. Each is the path of a file in PEM, or "".
type TLS struct {
	// CA is of the authorities that have signed the certificate of the other side. To a client ""
	// are those of this machine, and a server with "" asks for no certificate.
	CA string
	// Cert and Key are of this process. A client has them for a server that asks for them.
	Cert, Key string
}

// options are those of a connection.
func (t *TLS) options() (all []nats.Option) {
	if t.CA != "" {
		all = append(all, nats.RootCAs(t.CA))
	}
	if t.Cert != "" {
		all = append(all, func(o *nats.Options) error {
			if err := nats.ClientCert(t.Cert, t.Key)(o); err != nil {
				return fmt.Errorf("certificate %s with key %s: %w", t.Cert, t.Key, err)
			}
			return nil
		})
	}
	return all
}

// Connect connects to a server for the watch with a name. It waits until ctx ends for a server that
// is not there yet; onWait is then called once.
func Connect(ctx context.Context, at, name string, by TLS, onWait func(string)) (*Conn, error) {
	options := append(by.options(), everywhere...)
	waits := false
	for {
		conn, err := nats.Connect(at, options...)
		if err == nil {
			return newConn(conn, name)
		}
		if !errors.Is(err, nats.ErrNoServers) && !errors.Is(err, nats.ErrTimeout) {
			return nil, fmt.Errorf("log %s: %w", shown(at), err)
		}
		if !waits && onWait != nil {
			onWait(fmt.Sprintf("no server answers at %s: waiting until one does, or an interrupt", shown(at)))
		}
		waits = true
		if err := pause(ctx, 300*time.Millisecond); err != nil {
			return nil, fmt.Errorf("log %s: no server answered", shown(at))
		}
	}
}

// everywhere are the options of all connections.
var everywhere = []nats.Option{nats.Name("ariadne"), nats.MaxReconnects(-1), nats.ReconnectWait(200 * time.Millisecond),
	nats.Timeout(2 * time.Second), nats.PingInterval(5 * time.Second)}

// ConnectOwn connects to a server of this process, which Serve has started at a URL. Nothing of
// that goes over a network, so it is not encrypted.
func ConnectOwn(s *server.Server, at, name string) (*Conn, error) {
	u, err := url.Parse(at)
	if err != nil {
		return nil, err
	}
	u.Scheme = "nats"
	conn, err := nats.Connect(u.String(), append([]nats.Option{nats.InProcessServer(s)}, everywhere...)...)
	if err != nil {
		return nil, fmt.Errorf("log server: %w", err)
	}
	return newConn(conn, name)
}

// newConn is a connection to the logs of the watch with a name.
func newConn(conn *nats.Conn, name string) (c *Conn, err error) {
	c = &Conn{name: nameForm.ReplaceAllString(name, "-"), nats: conn}
	if c.js, err = jetstream.New(conn); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// shown is an address without what nobody else should read.
func shown(at string) string {
	if u, err := url.Parse(at); err == nil {
		return u.Redacted()
	}
	return at
}

// pause waits; the error is that of ctx.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// Name is that of the watch, as the server has it.
func (c *Conn) Name() string { return c.name }

func (c *Conn) subject(of string) string { return "ariadne." + c.name + "." + of }

// LeaseFor is for how long a lease stays whose holder is gone.
const LeaseFor = 3 * time.Second

// storedMost is how many bytes a log keeps. Then the earliest records go, and readers that come
// later are told.
const storedMost = 4 << 30

// Create makes the logs of the watch, if they are not there.
func (c *Conn) Create(ctx context.Context) (err error) {
	for _, s := range []jetstream.StreamConfig{
		{Name: "ARIADNE_" + c.name + "_LOG", Subjects: []string{c.subject("log.>")}, Storage: jetstream.FileStorage,
			MaxBytes: storedMost, Discard: jetstream.DiscardOld, Compression: jetstream.S2Compression},
		{Name: "ARIADNE_" + c.name + "_FOUND", Subjects: []string{c.subject("found.>")},
			Storage: jetstream.FileStorage},
		{Name: c.turnsName(), Subjects: []string{c.subject("turn.>")}, Storage: jetstream.FileStorage},
	} {
		if _, err := c.js.CreateOrUpdateStream(ctx, s); err != nil {
			return fmt.Errorf("log: %w", explain(err))
		}
	}
	c.state, err = c.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "ariadne_" + c.name})
	if err == nil {
		c.lease, err = c.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
			Bucket: "ariadne_" + c.name + "_leases", TTL: LeaseFor, Storage: jetstream.MemoryStorage})
	}
	if err == nil {
		c.store, err = c.js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{Bucket: "ariadne_" + c.name})
	}
	return explain(err)
}

// Open finds the logs of the watch, which another process makes. It waits for them until ctx ends.
func (c *Conn) Open(ctx context.Context, onWait func(string)) error {
	for waits := false; ; waits = true {
		var err error
		if c.state, err = c.js.KeyValue(ctx, "ariadne_"+c.name); err == nil {
			if c.lease, err = c.js.KeyValue(ctx, "ariadne_"+c.name+"_leases"); err == nil {
				return nil
			}
		}
		if !errors.Is(err, jetstream.ErrBucketNotFound) && ctx.Err() == nil {
			return fmt.Errorf("log: %w", explain(err))
		}
		if !waits && onWait != nil {
			onWait(fmt.Sprintf("the server has no watch %q yet: waiting for ariadne watch", c.name))
		}
		if pause(ctx, 300*time.Millisecond) != nil {
			return fmt.Errorf("log: the server has no watch %q: start ariadne watch with --listen or --log", c.name)
		}
	}
}

// Delete removes all that the server has of the watch.
func (c *Conn) Delete(ctx context.Context) error {
	var all error
	for _, s := range []string{"ARIADNE_" + c.name + "_LOG", "ARIADNE_" + c.name + "_FOUND", c.turnsName(),
		"KV_ariadne_" + c.name, "KV_ariadne_" + c.name + "_leases", "OBJ_ariadne_" + c.name} {
		if err := c.js.DeleteStream(ctx, s); err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
			all = errors.Join(all, err)
		}
	}
	return all
}

func explain(err error) error {
	if errors.Is(err, jetstream.ErrJetStreamNotEnabled) || errors.Is(err, nats.ErrNoResponders) {
		return fmt.Errorf("the server has no JetStream: start it with -js (%w)", err)
	}
	return err
}

// Agree sets a value of the watch, unless it is set, and returns what it is then.
func (c *Conn) Agree(ctx context.Context, key string, value []byte) ([]byte, error) {
	if _, err := c.state.Create(ctx, key, value); err == nil {
		return value, nil
	} else if !errors.Is(err, jetstream.ErrKeyExists) {
		return nil, err
	}
	return c.Get(ctx, key)
}

// Set sets a value of the watch.
func (c *Conn) Set(ctx context.Context, key string, value []byte) error {
	_, err := c.state.Put(ctx, key, value)
	return err
}

// Get returns a value of the watch; nil: it has none.
func (c *Conn) Get(ctx context.Context, key string) ([]byte, error) {
	e, err := c.state.Get(ctx, key)
	if errors.Is(err, jetstream.ErrKeyNotFound) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return e.Value(), nil
}

// SetCheckpoint keeps a checkpoint of a verifier in place of the one that was there. It may have
// any size.
func (c *Conn) SetCheckpoint(ctx context.Context, verifier string, checkpoint []byte) error {
	_, err := c.store.PutBytes(ctx, Token(verifier), checkpoint)
	return err
}

// Checkpoint returns what SetCheckpoint has kept last; nil: nothing.
func (c *Conn) Checkpoint(ctx context.Context, verifier string) ([]byte, error) {
	checkpoint, err := c.store.GetBytes(ctx, Token(verifier))
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return nil, nil
	}
	return checkpoint, err
}

// TellEnded tells the processes that are connected that the watch has ended.
func (c *Conn) TellEnded() error {
	return errors.Join(c.nats.Publish(c.subject("ended"), nil), c.nats.FlushTimeout(writeWithin))
}

// OnEnded calls f when TellEnded is called. A process that was stopped gets to know it also if the
// server has gone meanwhile: it was sent before.
func (c *Conn) OnEnded(f func()) error {
	_, err := c.nats.Subscribe(c.subject("ended"), func(*nats.Msg) { f() })
	return err
}

// IsAway reports whether there is no connection to the server.
func (c *Conn) IsAway() bool { return !c.nats.IsConnected() }

// Close ends the connection.
func (c *Conn) Close() {
	if c.nats != nil {
		c.nats.Close()
	}
}

// host is the name of this machine, for messages.
func host() string {
	name, err := os.Hostname()
	if err != nil {
		return "?"
	}
	return name
}
