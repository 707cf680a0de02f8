// Package payload says in text what messages between programs carry, where their protocol is known:
// RESP, HTTP/1, HTTP/2 with gRPC and protobuf, JSON, MessagePack, MongoDB with BSON, Go's gob,
// lines of text, DNS; of TLS it says that it is TLS. Other bytes are shown as hexadecimal digits
// beside their text.
//
// It shows, and never judges: a message that only looks like a protocol is shown as that. All input
// is hostile: texts are bounded, have no control characters, and no input makes it fail.
//
// Read next: http2.go, internal/use/explain.
package payload

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/ariadne-mc/ariadne"

	"golang.org/x/net/dns/dnsmessage"
)

// Decoded is what a message carries.
type Decoded struct {
	// Protocol is a word: resp, http, http2, json, msgpack, mongodb, gob, text, dns, tls, script
	// where a decoder of the user's knew it, or bytes when it is not known.
	Protocol string `json:"protocol"`
	// Text is one line, without control characters, of Most bytes at most.
	Text string `json:"text"`
}

// Most is how many bytes a text has at most.
const Most = 2000

// The protocols that are known.
const (
	resp     = "resp"
	http     = "http"
	h2       = "http2"
	jsonP    = "json"
	msgpackP = "msgpack"
	text     = "text"
	dns      = "dns"
	tls      = "tls"
	script   = "script"
	mongo    = "mongodb"
	gob      = "gob"

	// Bytes is the protocol of what is not understood.
	Bytes = "bytes"
)

// Reader decodes the messages of one execution. The meaning of a message may depend on earlier
// messages of its connection. So each message is given once, in the order in which they were sent.
type Reader struct {
	own    Decode         // asked first; nil: there is none
	schema func() *Schema // of protobuf; it may return nil
	// http2 are connections that speak it, by the flow of one of the directions.
	http2 map[ariadne.Flow]*connection
	tls   map[ariadne.Flow]bool // flows on which TLS has begun
	gob   map[ariadne.Flow]*gobStream
}

// Decode is a decoder of the user's. ok: it knows what the message carries.
type Decode func(m *ariadne.Message) (text string, ok bool)

// NewReader returns a reader that has seen nothing. It asks own first, which may be nil. schema is
// asked when protobuf is met; nil: no names are known.
func NewReader(own Decode, schema func() *Schema) *Reader {
	if schema == nil {
		schema = func() *Schema { return nil }
	}
	return &Reader{own, schema, map[ariadne.Flow]*connection{}, map[ariadne.Flow]bool{},
		map[ariadne.Flow]*gobStream{}}
}

// Read says what a message carries. It is the zero Decoded when that is nothing.
func (r *Reader) Read(m *ariadne.Message) (d Decoded) {
	if len(m.Data) == 0 {
		return d
	}
	d = r.read(m)
	d.Text = shorten(printable(d.Text), Most)
	return d
}

func (r *Reader) read(m *ariadne.Message) Decoded {
	b, f := m.Data, m.Flow
	if r.own != nil && f.Proto != ariadne.Disk {
		if line, ok := r.own(m); ok {
			return Decoded{script, line}
		}
	}
	switch {
	case f.Proto == ariadne.Disk:
		return Decoded{text, string(b)}
	case f.Proto == ariadne.UDP && (f.Src.Port() == dnsPort || f.Dst.Port() == dnsPort):
		if line, ok := readDNS(b); ok {
			return Decoded{dns, line}
		}
	case f.Proto == ariadne.TCP && r.tls[f] || isTLS(b):
		r.tls[f] = true
		return Decoded{tls, fmt.Sprintf("TLS, %d B", len(b))}
	case f.Proto == ariadne.TCP:
		if bytes.HasPrefix(b, preface) {
			r.http2[f] = newConnection(r.schema)
		}
		if c := r.http2[f]; c != nil {
			return Decoded{h2, c.client.describe(b)}
		}
		if c := r.http2[opposite(f)]; c != nil {
			return Decoded{h2, c.server.describe(b)}
		}
		if s := r.gob[f]; s != nil {
			return Decoded{gob, s.take(b)}
		}
		if s, line, ok := beginGob(b); ok {
			r.gob[f] = s
			return Decoded{gob, line}
		}
	}
	return Of(b)
}

// opposite is the other direction. It has an epoch of its own, which is taken to be the same.
func opposite(f ariadne.Flow) ariadne.Flow {
	f.Src, f.Dst = f.Dst, f.Src
	return f
}

// Of says what bytes are that stand alone.
func Of(b []byte) Decoded {
	if line, ok := readRESP(b); ok {
		return Decoded{resp, line}
	}
	if line, ok := readHTTP(b); ok {
		return Decoded{http, line}
	}
	if trimmed := bytes.TrimSpace(b); len(trimmed) > 0 && (trimmed[0] == '{' || trimmed[0] == '[') &&
		json.Valid(trimmed) {
		var short bytes.Buffer
		if json.Compact(&short, trimmed) == nil {
			return Decoded{jsonP, short.String()}
		}
	}
	if isText(b) {
		return Decoded{text, strings.TrimRight(string(b), "\r\n")}
	}
	if line, ok := readMongo(b); ok {
		return Decoded{mongo, line}
	}
	if _, line, ok := beginGob(b); ok {
		return Decoded{gob, line}
	}
	if line, ok := readMsgpack(b); ok {
		return Decoded{msgpackP, line}
	}
	return Decoded{Bytes, Hex(b)}
}

// Hex shows bytes as digits beside the stretches of text in them.
func Hex(b []byte) string {
	shown := b[:min(len(b), mostHex)]
	more := ""
	if len(b) > len(shown) {
		more = "…"
	}
	digits := fmt.Sprintf("%x%s", shown, more)
	if words := stretches(b); words != "" {
		return words + "  [" + digits + "]"
	}
	return "[" + digits + "]"
}

// mostHex is how many bytes are shown as digits.
const mostHex = 32

// stretches are those of at least three characters that print, with a dot for what is between.
func stretches(b []byte) string {
	const least = 3
	var out []string
	for len(b) > 0 && len(out) < 64 {
		n := 0
		for n < len(b) && b[n] >= ' ' && b[n] < 0x7f {
			n++
		}
		if n >= least {
			out = append(out, string(b[:n]))
		}
		b = b[max(n, 1):]
	}
	return strings.Join(out, "·")
}

// isText reports whether bytes are lines of text.
func isText(b []byte) bool {
	if !utf8.Valid(b) {
		return false
	}
	for _, r := range string(b) {
		if unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' {
			return false
		}
	}
	return true
}

// isTLS reports whether bytes begin with a record of TLS.
func isTLS(b []byte) bool {
	return len(b) >= 5 && b[0] >= 20 && b[0] <= 23 && b[1] == 3 && b[2] <= 4 && int(b[3])<<8|int(b[4]) > 0 &&
		b[3] < 0x48
}

// readRESP reads values of Redis's protocol that are the whole of b.
func readRESP(b []byte) (line string, ok bool) {
	if len(b) < 3 || !strings.ContainsRune("*$+-:", rune(b[0])) || !bytes.Contains(b, []byte("\r\n")) {
		return "", false
	}
	var values []string
	for len(b) > 0 && len(values) < 100 {
		v, n := respValue(b, 0)
		if n == 0 {
			if len(values) == 0 {
				return "", false
			}
			values = append(values, Hex(b)) // the rest comes with the next message
			break
		}
		values = append(values, v)
		b = b[n:]
	}
	return strings.Join(values, " ; "), true
}

// respValue reads one value at the beginning of b, of n bytes; 0: there is none that is whole.
func respValue(b []byte, depth int) (v string, n int) {
	head, _, ok := bytes.Cut(b, []byte("\r\n"))
	if !ok || len(head) == 0 || depth > 8 {
		return "", 0
	}
	n = len(head) + 2
	kind, word := head[0], string(head[1:])
	switch kind {
	case '+', '-', ':':
		if !isText(head) {
			return "", 0
		}
		if kind == '-' {
			word = "error " + word
		}
		return word, n
	}
	size, err := strconv.Atoi(word)
	if err != nil || size < -1 {
		return "", 0
	}
	switch {
	case size == -1:
		return "nil", n
	case kind == '$':
		if size > len(b)-n || !bytes.HasPrefix(b[n+size:], []byte("\r\n")) {
			return "", 0
		}
		return respWord(b[n : n+size]), n + size + 2
	case kind == '*':
		var list []string
		for range size {
			v, m := respValue(b[n:], depth+1)
			if m == 0 {
				return "", 0
			}
			list, n = append(list, v), n+m
		}
		return strings.Join(list, " "), n
	}
	return "", 0
}

// respWord is a text as a word, in quotes where it would not be one.
func respWord(b []byte) string {
	s := string(b)
	if s == "" || !isText(b) || strings.ContainsAny(s, " \r\n\t\"") {
		return strconv.Quote(s)
	}
	return s
}

var requestLine = regexp.MustCompile(`^(?:GET|HEAD|POST|PUT|DELETE|PATCH|OPTIONS|CONNECT|TRACE) \S+ HTTP/1\.[01]\r\n`)
var statusLine = regexp.MustCompile(`^HTTP/1\.[01] \d{3}[^\r\n]*\r\n`)

// readHTTP reads a request or response of HTTP/1: its first line and its body.
func readHTTP(b []byte) (line string, ok bool) {
	first := requestLine.Find(b)
	if first == nil {
		if first = statusLine.Find(b); first == nil {
			return "", false
		}
	}
	line = strings.TrimSpace(string(first))
	line = strings.TrimSuffix(strings.TrimSuffix(line, " HTTP/1.1"), " HTTP/1.0")
	_, body, _ := bytes.Cut(b, []byte("\r\n\r\n"))
	if len(body) > 0 {
		line += "  " + Of(body).Text
	}
	return line, true
}

// dnsPort is the port of name servers.
const dnsPort = 53

// readDNS reads a question or an answer of the domain name system.
func readDNS(b []byte) (line string, ok bool) {
	var m dnsmessage.Message
	if m.Unpack(b) != nil {
		return "", false
	}
	var words []string
	for _, q := range m.Questions {
		words = append(words, strings.TrimPrefix(q.Type.String(), "Type")+" "+q.Name.String())
	}
	if m.Response {
		words = append(words, strings.TrimPrefix(m.RCode.String(), "RCode"))
	}
	for _, a := range m.Answers {
		words = append(words, strings.TrimPrefix(a.Header.Type.String(), "Type")+" "+resource(a.Body))
	}
	return strings.Join(words, ", "), true
}

// resource is what an answer says.
func resource(b dnsmessage.ResourceBody) string {
	switch r := b.(type) {
	case *dnsmessage.AResource:
		return fmt.Sprintf("%d.%d.%d.%d", r.A[0], r.A[1], r.A[2], r.A[3])
	case *dnsmessage.CNAMEResource:
		return r.CNAME.String()
	case *dnsmessage.TXTResource:
		return strings.Join(r.TXT, " ")
	}
	return "…"
}

// printable makes one line of a text: no control characters, nor any that change how others are
// shown.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\r':
			return ' '
		case r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029':
			return '·'
		}
		return r
	}, s)
}

// shorten cuts a text to so many bytes; an ellipsis says so.
func shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	at := most - len("…")
	for at > 0 && !utf8.RuneStart(s[at]) {
		at--
	}
	return s[:at] + "…"
}
