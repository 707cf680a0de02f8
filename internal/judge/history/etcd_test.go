package history

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/judge/expose"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// grpc makes what goes over a connection of gRPC.
type grpc struct {
	events   []expose.Event
	out      [2]bytes.Buffer // sent, received
	framer   [2]*http2.Framer
	block    [2]bytes.Buffer
	encoder  [2]*hpack.Encoder
	split    bool // headers take two frames
	greeted  bool
	received bool
}

func newGRPC() *grpc {
	g := &grpc{}
	for i := range g.out {
		g.framer[i] = http2.NewFramer(&g.out[i], nil)
		g.encoder[i] = hpack.NewEncoder(&g.block[i])
	}
	return g
}

func (g *grpc) flush(way int) *grpc {
	e := expose.Event{Kind: []expose.EventKind{expose.Sent, expose.Received}[way], Client: "a",
		Value: g.out[way].String()}
	g.out[way].Reset()
	g.events = append(g.events, e)
	return g
}

func (g *grpc) headers(way int, id uint32, end bool, pairs ...string) {
	for i := 0; i < len(pairs); i += 2 {
		g.encoder[way].WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]})
	}
	block := bytes.Clone(g.block[way].Bytes())
	g.block[way].Reset()
	p := http2.HeadersFrameParam{StreamID: id, BlockFragment: block, EndStream: end, EndHeaders: !g.split, PadLength: 3,
		Priority: http2.PriorityParam{Weight: 7}}
	if g.split {
		p.BlockFragment = block[:1]
	}
	g.framer[way].WriteHeaders(p)
	if g.split {
		g.framer[way].WriteContinuation(id, true, block[1:])
	}
}

func framed(compressed byte, message string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{compressed}, uint32(len(message))), message...)
}

// ask sends a request.
func (g *grpc) ask(id uint32, method, message string) *grpc {
	if !g.greeted {
		g.greeted = true
		g.out[0].WriteString(preface)
		g.framer[0].WriteSettings(http2.Setting{ID: http2.SettingHeaderTableSize, Val: 8192})
	}
	g.headers(0, id, false, ":method", "POST", ":scheme", "http", ":path", method, "content-type", "application/grpc",
		"user-agent", "a user agent that is remembered")
	g.framer[0].WriteDataPadded(id, true, framed(0, message), []byte{0, 0})
	return g.flush(0)
}

// tell sends a response. Without a status there is none yet.
func (g *grpc) tell(id uint32, message, status string) *grpc {
	if !g.received {
		g.received = true
		g.framer[1].WriteSettings()
		g.encoder[1].SetMaxDynamicTableSizeLimit(8192)
		g.encoder[1].SetMaxDynamicTableSize(8192)
	}
	if message != "-" {
		g.headers(1, id, false, ":status", "200", "content-type", "application/grpc")
		g.framer[1].WriteData(id, false, framed(0, message))
	}
	if status != "" {
		g.headers(1, id, true, "grpc-status", status, "grpc-message", "of this one")
	}
	return g.flush(1)
}

func (g *grpc) reset(way int, id uint32) *grpc {
	g.framer[way].WriteRSTStream(id, http2.ErrCodeCancel)
	return g.flush(way)
}

func (g *grpc) raw(way int, b string) *grpc {
	g.out[way].WriteString(b)
	return g.flush(way)
}

func (g *grpc) closed() *grpc {
	g.events = append(g.events, expose.Event{Kind: expose.Closed, Client: "a"})
	return g
}

// pb is a message of protocol buffers: numbers of fields, and values.
func pb(fields ...any) string {
	var b []byte
	for i := 0; i < len(fields); i += 2 {
		tag := uint64(fields[i].(int)) << 3
		switch v := fields[i+1].(type) {
		case int:
			b = binary.AppendUvarint(binary.AppendUvarint(b, tag), uint64(v))
		case string:
			b = append(binary.AppendUvarint(binary.AppendUvarint(b, tag|2), uint64(len(v))), v...)
		}
	}
	return string(b)
}

const (
	kvRange  = "/etcdserverpb.KV/Range"
	kvPut    = "/etcdserverpb.KV/Put"
	kvDelete = "/etcdserverpb.KV/DeleteRange"
	kvTxn    = "/etcdserverpb.KV/Txn"
)

// kvs is the response to a read of a key.
func kvs(key, value string) string {
	return pb(1, pb(1, 77, 3, 9), 2, pb(1, key, 2, 4, 3, 5, 4, 1, 5, value), 4, 1)
}

func cas(key, from, to string) string {
	return pb(1, pb(1, 0, 2, 3, 3, key, 7, from), 2, pb(2, pb(1, key, 2, to)), 3, pb(1, pb(1, key)))
}

func calling(b func(g *grpc) *grpc) []expose.Event { return b(newGRPC()).events }

var dialogues = []struct {
	events []expose.Event
	want   string
	err    string
}{
	{calling(func(g *grpc) *grpc {
		return g.ask(1, kvPut, pb(1, "x", 2, "1")).tell(1, pb(1, pb(3, 2)), "0").ask(3, kvRange, pb(1, "x")).tell(3,
			kvs("x", "1"), "0")
	}), "a begins put x 1;a ok;a begins get x;a ok 1", ""},
	{calling(func(g *grpc) *grpc { // several at once, which are answered in another order
		return g.ask(1, kvPut, pb(1, "x", 2, "1")).ask(3, kvRange, pb(1, "x")).ask(5, kvDelete,
			pb(1, "x", 3, 1)).tell(3, pb(), "0").tell(5, pb(2, 1), "0").tell(1, pb(), "0")
	}), "a begins put x 1;a/1 begins get x;a/2 begins delete x;a/1 ok;a/2 ok;a ok", ""},
	{calling(func(g *grpc) *grpc { // headers in two frames, and remembered ones
		g.split = true
		return g.ask(1, kvPut, pb(1, "x", 2, "1")).tell(1, pb(), "0").ask(3, kvPut, pb(1, "x", 2, "2")).tell(3, pb(),
			"0")
	}), "a begins put x 1;a ok;a begins put x 2;a ok", ""},
	// How calls end of which nobody knows what came, or which have done nothing.
	{calling(func(g *grpc) *grpc { return g.ask(1, kvPut, pb(1, "x", 2, "1")).tell(1, pb(), "").closed() }),
		"a begins put x 1;a gone", ""},
	{calling(func(g *grpc) *grpc { return g.ask(1, kvPut, pb(1, "x", 2, "1")).tell(1, "-", "14") }),
		"a begins put x 1;a gone", ""},
	{calling(func(g *grpc) *grpc { return g.ask(1, kvPut, pb(1, "", 2, "1")).tell(1, "-", "3") }),
		"a begins put 1;a fail", ""},
	{calling(func(g *grpc) *grpc {
		return g.ask(1, kvPut, pb(1, "x", 2, "1")).reset(0, 1).ask(3, kvRange, pb(1, "x")).tell(1, pb(), "0").reset(1,
			3)
	}), "a begins put x 1;a gone;a begins get x;a gone", ""},
	{calling(func(g *grpc) *grpc { return g.ask(1, kvPut, pb(1, "x", 2, "1")) }), "a begins put x 1", ""},
	// Reads that may be old, and those that are none.
	{calling(func(g *grpc) *grpc { return g.ask(1, kvRange, pb(1, "x", 7, 1)).tell(1, kvs("x", "1"), "0") }),
		"a begins stale-read x;a ok 1", ""},
	{calling(func(g *grpc) *grpc {
		return g.ask(1, kvRange, pb(1, "x", 2, "y")).tell(1, kvs("x", "1"), "0").ask(3, kvRange,
			pb(1, "x", 4, 5)).tell(3, kvs("x", "1"), "0").ask(5, kvRange, pb(1, "x", 9, 1)).tell(5, pb(4, 1), "0")
	}), "", ""},
	{calling(func(g *grpc) *grpc { return g.ask(1, kvPut, pb(1, "x", 5, 1)).tell(1, pb(), "0") }), "", ""},
	// Transactions.
	{calling(func(g *grpc) *grpc {
		return g.ask(1, kvTxn, cas("x", "1", "2 3")).tell(1, pb(2, 1, 3, pb(2, pb())), "0").ask(3, kvTxn,
			cas("x", "1", "2")).tell(3, pb(3, pb(1, kvs("x", "9"))), "0")
	}), "a begins cas x 1 2 3;a/1 begins get x;a ok;a/1 fail;a begins cas x 1 2;a/1 begins get x;a fail;a/1 ok 9", ""},
	{calling(func(g *grpc) *grpc { // not there yet, by its revision
		return g.ask(1, kvTxn, pb(1, pb(2, 1, 3, "x", 5, 0), 2, pb(2, pb(1, "x", 2, "1")))).tell(1,
			pb(2, 1, 3, pb(2, pb())), "0")
	}), "a begins cas x 1;a ok", ""},
	// by a revision that nobody knows, or a value of two words: a write
	{calling(func(g *grpc) *grpc {
		return g.ask(1, kvTxn, pb(1, pb(2, 2, 3, "x", 6, 7), 2, pb(2, pb(1, "x", 2, "1")))).ask(3, kvTxn,
			cas("x", "1 2", "3"))
	}), "a begins put x 1;a/1 begins put x 3;a/2 begins get x", ""},
	{calling(func(g *grpc) *grpc { // another comparison, and another key
		return g.ask(1, kvTxn, pb(1, pb(1, 3, 2, 3, 3, "x", 7, "1"), 2, pb(2, pb(1, "x", 2, "2")))).ask(3, kvTxn,
			pb(1, pb(2, 3, 3, "y", 7, "1"), 2, pb(2, pb(1, "x", 2, "2")), 3, pb(3, pb(1, "x"))))
	}), "a begins put x 2;a/1 begins put x 2;a/2 begins delete x", ""},
	{calling(func(g *grpc) *grpc { return g.ask(1, kvTxn, pb(2, pb(2, pb(1, "x", 2, "1")))).tell(1, pb(2, 1), "0") }),
		"", "fewer results than requests"},
	// What is no matter, and what is not understood.
	{calling(func(g *grpc) *grpc {
		return g.ask(1, "/etcdserverpb.Watch/Watch", pb(1, "x")).tell(1, pb(), "").ask(3,
			"/etcdserverpb.Maintenance/Status", "").tell(3, pb(), "0").ask(5, "/etcdserverpb.KV/Compact",
			pb(1, 3)).tell(5, pb(), "0")
	}), "", ""},
	{calling(func(g *grpc) *grpc { return g.ask(1, "/v3lockpb.Lock/Lock", pb(1, "x")) }), "",
		`"/v3lockpb.Lock/Lock" is not supported`},
	{calling(func(g *grpc) *grpc { return g.ask(1, kvPut, pb(1, "x", 2, "1", 3, 7)) }), "", "Put: a key with a lease"},
	{calling(func(g *grpc) *grpc { return g.ask(1, kvPut, pb(1, "x", 2, "1", 90, 7)) }), "", "Put: unknown field 90"},
	{calling(func(g *grpc) *grpc { return g.ask(1, kvDelete, pb(1, "x", 2, "y")) }), "",
		"DeleteRange: a request for several keys"},
	{calling(func(g *grpc) *grpc { return g.ask(1, kvTxn, pb(2, pb(4, pb()))) }), "",
		"a transaction within a transaction"},
	{calling(func(g *grpc) *grpc { return g.ask(1, kvPut, "\x0a\x09x") }), "", "cannot be read"},
	{calling(func(g *grpc) *grpc {
		g.ask(1, "/etcdserverpb.Watch/Watch", "")
		g.headers(0, 3, false, ":path", kvPut, "grpc-encoding", "gzip")
		g.framer[0].WriteData(3, true, framed(1, "\x1f\x8b"))
		return g.flush(0)
	}), "", "compressed"},
	{calling(func(g *grpc) *grpc { return g.raw(0, "\x16\x03\x01") }), "", "is not the beginning of HTTP/2"},
	{calling(func(g *grpc) *grpc { return g.raw(0, "GET /health HTTP/1.1\r\n") }), "",
		"is not the beginning of HTTP/2"},
	{calling(func(g *grpc) *grpc { return g.raw(0, preface+"\x00\x00\x01\x01\x04\x00\x00\x00\x01\xff") }), "",
		"COMPRESSION_ERROR"},
	{calling(func(g *grpc) *grpc { // headers that are not whole, and another frame
		return g.raw(0, preface+"\x00\x00\x01\x01\x00\x00\x00\x00\x01\x82\x00\x00\x00\x00\x00\x00\x00\x00\x01")
	}), "", "expected CONTINUATION"},
	{calling(func(g *grpc) *grpc {
		g.ask(1, kvPut,
			pb(1, "x", 2, "1")).framer[1].WritePushPromise(http2.PushPromiseParam{StreamID: 1, PromiseID: 2,
			BlockFragment: []byte{0x82}, EndHeaders: true})
		return g.flush(1)
	}), "", "a response without a request"},
	{calling(func(g *grpc) *grpc { // headers behind a request whose call has ended
		g.ask(1, kvPut, pb(1, "x", 2, "1")).tell(1, pb(), "0").headers(0, 1, true, "checksum", "7")
		return g.flush(0)
	}), "a begins put x 1;a ok", ""},
	{calling(func(g *grpc) *grpc { return g.ask(1, kvPut, "\x0b\x0c") }), "", "Put: unknown field 1"},
}

// TestEtcd: what clients and etcd say to each other tells of operations, in whichever pieces it
// comes.
func TestEtcd(t *testing.T) {
	h := &expose.History{Wire: "etcd"}
	for i, c := range dialogues {
		var pieces []expose.Event
		for _, e := range c.events {
			if e.Kind == expose.Closed {
				pieces = append(pieces, e)
			}
			for _, b := range []byte(e.Value) {
				pieces = append(pieces, expose.Event{Kind: e.Kind, Client: e.Client, Value: string([]byte{b})})
			}
		}
		for _, events := range [][]expose.Event{c.events, pieces} {
			all, err := Operations(h, events)
			if got := strings.Join(said(all), ";"); got != c.want || (err == nil) != (c.err == "") || err != nil &&
				!strings.Contains(err.Error(), c.err) {
				t.Errorf("%d: %s, %v\nwant %s, %s", i, got, err, c.want, c.err)
			}
		}
	}
}

// TestStaleReads: a read that may be old is held to sequential consistency alone.
func TestStaleReads(t *testing.T) {
	write := func(g *grpc) *grpc {
		return g.ask(1, kvPut, pb(1, "x", 2, "1")).tell(1, pb(), "0").ask(3, kvPut, pb(1, "x", 2, "2")).tell(3, pb(),
			"0")
	}
	read := func(g *grpc) *grpc { return g.ask(5, kvRange, pb(1, "x", 7, 1)).tell(5, kvs("x", "1"), "0") }
	by := func(name string, events []expose.Event) []expose.Event {
		for i := range events {
			events[i].Client = name
		}
		return events
	}
	other := slices.Concat(calling(write), by("b", calling(read)))
	own := calling(func(g *grpc) *grpc { return read(write(g)) })
	for _, c := range []struct {
		events []expose.Event
		level  Level
		broken bool
	}{{other, Linearizable, false}, {other, Durable, false}, {other, Sequential, false}, {own, Linearizable, false},
		{own, Durable, false}, {own, Sequential, true}} {
		all, err := Operations(&expose.History{Wire: "etcd"}, c.events)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Named("register").New(Claim{Level: c.level})
		if err != nil {
			t.Fatal(err)
		}
		why, _, err := p.Broken(all, []string{"n"}, 0)
		if err != nil || (why != "") != c.broken {
			t.Errorf("%s, %v: %q, %v", Levels[c.level], said(all), why, err)
		}
	}
}
