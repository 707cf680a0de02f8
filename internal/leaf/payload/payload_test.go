package payload_test

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/payload"

	"go.mongodb.org/mongo-driver/v2/bson"
	"golang.org/x/net/dns/dnsmessage"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/protobuf/encoding/protowire"
)

func TestOf(t *testing.T) {
	for _, c := range []struct{ data, protocol, want string }{
		{"*3\r\n$3\r\nSET\r\n$1\r\nx\r\n$3\r\na b\r\n", "resp", `SET x "a b"`},
		{"+OK\r\n:3\r\n", "resp", "OK ; 3"},
		{"-MOVED 1 n2\r\n", "resp", "error MOVED 1 n2"},
		{"$-1\r\n", "resp", "nil"},
		{"+FULLRESYNC abc 0\r\n$9\r\nREDIS", "resp", "FULLRESYNC abc 0 ; $9··REDIS"},
		{"PUT /v2/k HTTP/1.1\r\nHost: a\r\n\r\nvalue=1", "http", "PUT /v2/k  value=1"},
		{"HTTP/1.1 200 OK\r\nContent-Type: x\r\n\r\n{\"a\": 1}\n", "http", `HTTP/1.1 200 OK  {"a":1}`},
		{" {\"a\": [1, 2]}\n", "json", `{"a":[1,2]}`},
		{"get x\n", "text", "get x"},
		{"not { json\r\n", "text", "not { json"},
		{"\x16\x03\x01\x00\x05hello", "tls", "TLS, 10 B"},
		{"\x00\x82\xa4Term\x02\xa7Entries\xc0", "msgpack", "0 {Term: 2, Entries: nil}"},
		{"\xa0\x82\xa1a\xda\x00\x02hi\xa1b\x93\xc3\xd1\xff\xfe\xcb\x3f\xf8\x00\x00\x00\x00\x00\x00", "msgpack", `"" {a: "hi", b: [true, -2, 1.5]}`},
		{"\x82\xa1a\xcd\x01\x00\xa1b\xc4\x02\x00\x01", "msgpack", "{a: 256, b: [0001]}"},
		// cut short
		{"\x82\xa4Term\x02\xa7Entries", "bytes", "Term·Entries  [82a45465726d02a7456e7472696573]"},
		{"\x81\x01\x02", "bytes", "[810102]"},
		{"\x00\x01abc\xff", "bytes", "abc  [0001616263ff]"},
		{"\x00\x01", "bytes", "[0001]"},
	} {
		m := ariadne.Message{Data: []byte(c.data), Flow: flow(1, 80)}
		got := payload.NewReader(nil, nil).Read(&m)
		if c.protocol == "resp" && strings.Contains(c.want, "FULLRESYNC") {
			if got.Protocol != "resp" || !strings.HasPrefix(got.Text, "FULLRESYNC abc 0 ; REDIS") {
				t.Errorf("%q: %+v", c.data, got)
			}
			continue
		}
		if got.Protocol != c.protocol || got.Text != c.want {
			t.Errorf("%q: %+v, want %s %q", c.data, got, c.protocol, c.want)
		}
	}
}

func flow(from, to uint16) ariadne.Flow {
	a := netip.MustParseAddr("10.0.0.1")
	return ariadne.Flow{Proto: ariadne.TCP, Src: netip.AddrPortFrom(a, from), Dst: netip.AddrPortFrom(a, to)}
}

// TestGRPC: a call of gRPC, whose bytes come in pieces of all sizes, is shown with path, fields and
// status.
func TestGRPC(t *testing.T) {
	var fields []byte
	fields = protowire.AppendTag(fields, 1, protowire.BytesType)
	fields = protowire.AppendString(fields, "key")
	fields = protowire.AppendTag(fields, 2, protowire.BytesType)
	fields = protowire.AppendBytes(fields, protowire.AppendVarint(protowire.AppendTag(nil, 3, protowire.VarintType), 7))
	fields = protowire.AppendTag(fields, 4, protowire.VarintType)
	fields = protowire.AppendVarint(fields, 150)
	message := append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(fields))), fields...)
	headers := func(f *http2.Framer, pairs ...string) {
		var block bytes.Buffer
		e := hpack.NewEncoder(&block)
		for i := 0; i < len(pairs); i += 2 {
			e.WriteField(hpack.HeaderField{Name: pairs[i], Value: pairs[i+1]})
		}
		f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block.Bytes(), EndHeaders: true})
	}
	var there, back bytes.Buffer
	there.WriteString(http2.ClientPreface)
	f := http2.NewFramer(&there, nil)
	f.WriteSettings()
	headers(f, ":method", "POST", ":path", "/etcdserverpb.KV/Put", "content-type", "application/grpc")
	f.WriteData(1, false, message[:4])
	f.WriteData(1, true, message[4:])
	f = http2.NewFramer(&back, nil)
	headers(f, ":status", "200", "content-type", "application/grpc")
	f.WriteData(1, false, message)
	headers(f, "grpc-status", "0")
	for piece := 24; piece < there.Len()+24; piece += 7 {
		r := payload.NewReader(nil, nil)
		read := func(fl ariadne.Flow, b []byte) (all string) {
			for seq := 1; len(b) > 0; seq++ {
				n := min(piece, len(b))
				d := r.Read(&ariadne.Message{Flow: fl, Seq: seq, Data: b[:n]})
				if d.Protocol != "http2" {
					t.Fatalf("pieces of %d: %+v", piece, d)
				}
				all += d.Text + "\n"
				b = b[n:]
			}
			return all
		}
		for _, c := range []struct {
			text string
			want []string
		}{
			{read(flow(40000, 2379), there.Bytes()),
				[]string{"preface", "SETTINGS", "HEADERS 1 method POST path /etcdserverpb.KV/Put",
					`{1: "key", 2: "\x18\a", 4: 150}`}},
			{read(flow(2379, 40000), back.Bytes()), []string{"HEADERS 1 status 200", "4: 150}", "grpc-status 0"}},
		} {
			for _, want := range c.want {
				if want = strings.ReplaceAll(want, `"\x18\a"`, "{3: 7}"); !strings.Contains(c.text, want) {
					t.Errorf("pieces of %d: %q is missing in\n%s", piece, want, c.text)
				}
			}
		}
	}
}

func TestDNS(t *testing.T) {
	name := dnsmessage.MustNewName("n1.example.")
	m := dnsmessage.Message{Header: dnsmessage.Header{Response: true},
		Questions: []dnsmessage.Question{{Name: name, Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET}},
		Answers: []dnsmessage.Resource{{Header: dnsmessage.ResourceHeader{Name: name, Type: dnsmessage.TypeA,
			Class: dnsmessage.ClassINET}, Body: &dnsmessage.AResource{A: [4]byte{10, 0, 0, 1}}}}}
	b, err := m.Pack()
	if err != nil {
		t.Fatal(err)
	}
	f := flow(53, 40000)
	f.Proto = ariadne.UDP
	if d := payload.NewReader(nil, nil).Read(&ariadne.Message{Flow: f, Data: b}); d.Protocol != "dns" ||
		d.Text != "A n1.example., Success, A 10.0.0.1" {
		t.Errorf("%+v", d)
	}
}

// FuzzRead: no bytes make it fail, or print what a terminal or a page would obey.
func FuzzRead(f *testing.F) {
	f.Add([]byte(http2.ClientPreface), []byte("\x00\x00\x04\x01\x04\x00\x00\x00\x01\x82\x86\x84\x41"), false)
	f.Add([]byte("*1\r\n*1\r\n$99999999\r\n"), []byte("\x1b]0;x\a"), false)
	f.Add([]byte("\x00\x00\x01\x00\x00\x00\x00\x00\x00"), []byte{0xe2, 0x80, 0xae}, true)
	f.Fuzz(func(t *testing.T, first, second []byte, datagram bool) {
		r, fl := payload.NewReader(nil, nil), flow(1, 53)
		if datagram {
			fl.Proto = ariadne.UDP
		}
		back := fl
		back.Src, back.Dst = fl.Dst, fl.Src
		for _, m := range []ariadne.Message{{Flow: fl, Data: first}, {Flow: back, Data: second},
			{Flow: fl, Data: second}} {
			d := r.Read(&m)
			if len(d.Text) > payload.Most || !utf8.ValidString(d.Text) || (d.Protocol == "") != (len(m.Data) == 0) {
				t.Fatalf("%q: %+v", m.Data, d)
			}
			for _, c := range d.Text {
				if unicode.IsControl(c) || unicode.Is(unicode.Cf, c) {
					t.Fatalf("%q: %+v", m.Data, d)
				}
			}
		}
	})
}

// TestMongo: messages of MongoDB are documents of BSON, and sequences of them.
func TestMongo(t *testing.T) {
	doc := func(v bson.D) []byte {
		b, err := bson.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	message := func(flags uint32, sections []byte) []byte {
		b := binary.LittleEndian.AppendUint32(nil, uint32(20+len(sections)))
		for _, v := range []uint32{7, 0, 2013, flags} {
			b = binary.LittleEndian.AppendUint32(b, v)
		}
		return append(b, sections...)
	}
	find := append([]byte{0}, doc(bson.D{{Key: "find", Value: "accounts"}, {Key: "limit", Value: int32(1)}})...)
	row := doc(bson.D{{Key: "_id", Value: int32(5)}})
	sequence := append(append([]byte("documents\x00"), row...), row...)
	insert := append([]byte{0}, doc(bson.D{{Key: "insert", Value: "accounts"}})...)
	insert = binary.LittleEndian.AppendUint32(append(insert, 1), uint32(4+len(sequence)))
	insert = append(insert, sequence...)
	const one, two = `{"find": "accounts","limit": {"$numberInt":"1"}}`,
		`{"insert": "accounts"} documents {"_id": {"$numberInt":"5"}} {"_id": {"$numberInt":"5"}}`
	for want, b := range map[string][]byte{one: message(0, find), two: message(0, insert)} {
		if d := payload.Of(b); d.Protocol != "mongodb" || d.Text != want {
			t.Errorf("%s: %s\nwant %s", d.Protocol, d.Text, want)
		}
		if d := payload.Of(b[:len(b)-1]); d.Protocol == "mongodb" {
			t.Errorf("of a part: %s", d.Text)
		}
	}
	if d := payload.Of(message(1, append(find, 1, 2, 3, 4))); d.Text != one {
		t.Errorf("with a checksum: %s: %s", d.Protocol, d.Text)
	}
}
