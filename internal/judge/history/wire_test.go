package history

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/judge/expose"
)

var kvHTTP = &expose.History{Wire: "http", Port: 80,
	Invoke: regexp.MustCompile(`^(?P<op>PUT|GET) /kv/(?P<key>\w+)(?: \{"value":"(?P<value>\w*)"\})?$`),
	OK:     regexp.MustCompile(`^200(?: \{"value":"(?P<value>\w*)"\})?`), Fail: regexp.MustCompile(`^4`)}

// talk is what goes over connections: "c>" sent, "c<" received, "c." closed, "c+" opened, "!" the
// node is gone; c names the connection.
func talk(lines ...string) (all []expose.Event) {
	for _, l := range lines {
		e := expose.Event{Client: l[:1],
			Value: strings.NewReplacer(`\r`, "\r", `\n`, "\n", "|", "\r\n").Replace(l[min(len(l), 2):])}
		switch l[min(len(l)-1, 1)] {
		case '>':
			e.Kind = expose.Sent
		case '<':
			e.Kind = expose.Received
		case '.':
			e.Kind = expose.Closed
		case '+':
			e.Kind = expose.Opened
		case '!':
			e.Kind, e.Client = expose.Gone, ""
		}
		all = append(all, e)
	}
	return all
}

func said(all []expose.Event) (lines []string) {
	for _, e := range all {
		what := [...]string{expose.Invoked: "begins", expose.Returned: "ok", expose.Failed: "fail",
			expose.Gone: "gone"}[e.Kind]
		lines = append(lines,
			strings.Join(strings.Fields(fmt.Sprint(e.Client, " ", what, " ", e.Op, " ", e.Key, " ", e.Value)), " "))
	}
	return lines
}

var conversations = []struct {
	wire string
	talk []string
	want string
	err  string
}{
	{"resp", []string{"a>*3|$3|SET|$1|x|$3|a b|", "a<+OK|", "a>*2|$3|get|$1|x|", "a<$3|a b|"},
		"a begins set x a b;a ok;a begins get x;a ok a b", ""},
	{"resp", []string{"a>*2|$3|get|$1|x|", "a<$-1|", "a>GET x\\n", "a<_|"}, "a begins get x;a ok;a begins get x;a ok",
		""},
	// at once
	{"resp", []string{"a>*2|$4|incr|$1|x|*2|$3|get|$1|x|", "a<:1|$1|1|"},
		"a begins incr x 1;a/1 begins get x;a ok 1;a/1 ok 1", ""},
	{"resp", []string{"a>*3|$6|decrby|$1|x|$1|3|", "a<-READONLY no|"}, "a begins decrby x -3;a fail", ""},
	{"resp", []string{"a>*3|$3|set|$1|x|$1|1|", "a<-UNKNOWN|"}, "a begins set x 1;a gone", ""},
	{"resp", []string{"a>*3|$3|set|$1|x|$1|1|", "a<-ERR syntax error|"}, "a begins set x 1;a fail", ""},
	// a proxy's
	{"resp", []string{"a>*3|$3|set|$1|x|$1|1|", "a<-ERR Connection timed out|"}, "a begins set x 1;a gone", ""},
	{"resp", []string{"a>*3|$6|CLIENT|$5|REPLY|$3|OFF|"}, "", "CLIENT REPLY"},
	{"resp", []string{"a>*1|$4|PING|*2|$3|get|$1|x|", "a<+PONG|$1|1|"}, "a begins get x;a ok 1", ""},
	{"resp", []string{"a>*3|$3|set|$1|x|$1|1|", "a.", "a+", "a>*2|$3|get|$1|x|", "a<$1|1|"},
		"a begins set x 1;a gone;a begins get x;a ok 1", ""},
	{"resp", []string{"a>*3|$3|set|$1|x|$1|1|", "b>*2|$3|get|$1|x|", "b<$-1|", "!", "a<+OK|"},
		"a begins set x 1;b begins get x;b ok;gone", ""},
	{"resp", []string{"a>*2|$8|smembers|$1|x|", "a<*2|$1|2|$1|1|", "a>*3|$9|sismember|$1|x|$1|1|", "a<:1|"}, "a begins smembers x;a ok 2 1;a begins sismember x 1;a ok true", ""},
	{"resp", []string{"a>*4|$6|lrange|$1|x|$1|0|$2|-1|", "a<~1|$1|1|"}, "a begins lrange x;a ok 1", ""},
	{"resp", []string{"a>*5|$3|set|$1|x|$1|1|$2|EX|$1|9|"}, "", `command "set x 1 EX 9" is not supported`},
	{"resp", []string{"a>*1||"}, "", "is not a value"},
	{"resp", []string{"a>*1|$5|MULTI|"}, "", `command "MULTI" is not supported`},
	{"resp", []string{"a>*2|$3|get|$1|x|", "a<>1|$1|1|"}, "", "pushes"},
	{"resp", []string{"a>*2|$3|get|$1|x|", "a<HTTP/1.1"}, "", "is not a value"},
	{"http", []string{`a>PUT /kv/x HTTP/1.1|Host: s|Content-Length: 14||{"value": "1"}`, "a<HTTP/1.1 200 OK|Content-Length: 0||"}, "a begins put x 1;a ok", ""},
	{"http", []string{"a>GET /kv/x HTTP/1.1|Host: s||", `a<HTTP/1.1 200 OK|Transfer-Encoding: chunked||5|{"val|8|ue":"1"}|0||`}, "a begins get x;a ok 1", ""},
	{"http", []string{"a>GET /kv/x HTTP/1.0||", `a<HTTP/1.0 200 OK||{"value"`, `a<:"2"}`, "a."},
		"a begins get x;a ok 2", ""},
	{"http", []string{"a>GET /kv/x HTTP/1.1|Host: s||GET /kv/y HTTP/1.1|Host: s||", "a<HTTP/1.1 404 No|Content-Length: 0||HTTP/1.1 500 Oh|Content-Length: 0||"}, "a begins get x;a/1 begins get y;a fail;a/1 gone", ""},
	{"http", []string{`a>PUT /kv/x HTTP/1.1|Host: s|Expect: 100-continue|Content-Length: 13||`, "a<HTTP/1.1 100 Continue||", `a>{"value":"1"}`, "a<HTTP/1.1 200 OK|Content-Length: 0||"}, "a begins put x 1;a ok", ""},
	// there may have been more
	{"http", []string{"a>GET /kv/x HTTP/1.0||", `a<HTTP/1.0 200 OK||{"value"`, `a<:"2"}`, "a.reset"},
		"a begins get x;a gone", ""},
	{"http", []string{"a>GET /kv/x HTTP/1.1|Host: s||", "a<HTTP/1.1 200 OK|Content-Encoding: gzip|Content-Length: 2||\x1f\x8b"}, "", "a body with Content-Encoding: gzip"},
	{"http", []string{"a>GET /x HTTP/1.1|Host: s||", "a<HTTP/1.1 200 OK|Content-Encoding: gzip|Content-Length: 2||\x1f\x8b"}, "", ""},
	{"http", []string{"a>PUT /kv/x HTTP/1.1|Host: s|Content-Encoding: br|Content-Length: 2||\x1f\x8b"}, "", "a body with Content-Encoding: br"},
	{"http", []string{"a>GET /kv/x HTTP/1.1|Host: s||||GET /kv/y HTTP/1.1|Host: s||", "a<HTTP/1.1 404 No|Content-Length: 0||HTTP/1.1 500 Oh|Content-Length: 0||"}, "a begins get x;a/1 begins get y;a fail;a/1 gone", ""},
	{"http", []string{"a>GET /health HTTP/1.1|Host: s||", "a<HTTP/1.1 200 OK|Content-Length: 2||ok"}, "", ""},
	{"http", []string{"a>PRI * HTTP/2.0||SM||"}, "", "HTTP/2"},
	{"http", []string{"a>\x16\x03\x01"}, "", "is not a request"},
	{"http", []string{"a>GET /kv/x HTTP/1.1|Host: s||", "a<\x16\x03\x01"}, "", "is not a response"},
}

func historyOf(wire string) *expose.History {
	if wire == "http" {
		return kvHTTP
	}
	return &expose.History{Wire: wire}
}

// TestWire: what goes over connections tells of operations.
func TestWire(t *testing.T) {
	for _, c := range conversations {
		all, err := Operations(historyOf(c.wire), talk(c.talk...))
		if got := strings.Join(said(all), ";"); got != c.want || (err == nil) != (c.err == "") || err != nil &&
			!strings.Contains(err.Error(), c.err) {
			t.Errorf("%q: %s, %v\nwant %s, %s", c.talk, got, err, c.want, c.err)
		}
	}
}

// FuzzWire: it is no matter in which pieces bytes come, and nothing makes it fail.
func FuzzWire(f *testing.F) {
	add := func(wire string, events []expose.Event) {
		var sent, received string
		for _, e := range events {
			switch e.Kind {
			case expose.Sent:
				sent += e.Value
			case expose.Received:
				received += e.Value
			}
		}
		f.Add(byte(slices.Index(ProtocolNames(), wire)), sent, received, uint(3))
	}
	for _, c := range conversations {
		add(c.wire, talk(c.talk...))
	}
	for _, c := range dialogues {
		add("etcd", c.events)
	}
	f.Fuzz(func(t *testing.T, wire byte, sent, received string, step uint) {
		h := historyOf(ProtocolNames()[int(wire)%len(Protocols)])
		decode := func(size int) string {
			var events []expose.Event
			for text := sent; len(text) > 0; text = text[min(size, len(text)):] {
				events = append(events,
					expose.Event{Kind: expose.Sent, Client: "a", Value: text[:min(size, len(text))]})
			}
			for text := received; len(text) > 0; text = text[min(size, len(text)):] {
				events = append(events,
					expose.Event{Kind: expose.Received, Client: "a", Value: text[:min(size, len(text))]})
			}
			all, err := Operations(h, append(events, expose.Event{Kind: expose.Closed, Client: "a"}))
			if err != nil {
				return "not understood"
			}
			lines := said(all)
			slices.Sort(lines)
			return strings.Join(lines, ";")
		}
		if whole, parts := decode(len(sent)+len(received)+1), decode(int(step%7)+1); whole != parts {
			t.Errorf("%q, %q: %s at once, %s in parts", sent, received, whole, parts)
		}
	})
}
