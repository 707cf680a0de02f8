package history

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/judge/expose"
)

// resp is the protocol of Redis.
type resp struct{}

// command is a command of Redis that is an operation. Others are quiet, or are not understood.
type command struct {
	args  int // how many there are, with the key
	value func(args []string) (string, bool)
}

var (
	second  = func(args []string) (string, bool) { return args[1], true }
	nothing = func([]string) (string, bool) { return "", true }
)

// commands are operations by their names; data know them by these (Kinds).
var commands = map[string]command{
	"get": {1, nothing}, "set": {2, second}, "del": {1, nothing},
	"incr": {1, func([]string) (string, bool) { return "1", true }}, "incrby": {2, second},
	"decr": {1, func([]string) (string, bool) { return "-1", true }},
	"decrby": {2, func(args []string) (string, bool) {
		n, err := strconv.Atoi(args[1])
		return strconv.Itoa(-n), err == nil
	}},
	"sadd": {2, second}, "srem": {2, second}, "sismember": {2, second}, "smembers": {1, nothing},
	"rpush": {2, second}, "lpop": {1, nothing},
	"lrange": {3, func(args []string) (string, bool) { return "", args[1] == "0" && args[2] == "-1" }},
}

// quiet are commands that change no data and ask for none.
var quiet = []string{"ping", "hello", "client", "command", "info", "config", "auth", "role", "wait", "cluster",
	"readonly", "readwrite", "asking", "echo", "quit", "dbsize", "exists", "ttl", "pttl", "type",
	"time", "sentinel", "memory", "lastsave", "bgsave", "save", "replicaof", "slaveof", "failover"}

// refusals begin errors of commands that were not carried out. Others that are called ERR may come
// from a proxy, which does not know.
var refusals = []string{"ERR unknown", "ERR wrong number", "ERR value is not", "ERR increment or decrement",
	"ERR syntax", "ERR max number of clients", "ERR operation not permitted", "ERR string exceeds",
	"ERR Protocol error",
	"WRONGTYPE", "MOVED", "ASK", "TRYAGAIN", "CLUSTERDOWN", "CROSSSLOT", "READONLY", "LOADING", "MASTERDOWN",
	"NOREPLICAS", "MISCONF", "OOM", "NOAUTH", "NOPERM", "BUSY", "NOPROTO", "WRONGPASS"}

func (resp) request(sent []byte) (r request, n int, err error) {
	var args []string
	if sent[0] == '*' {
		v, n, err := parseRESP(sent, 0)
		if err != nil || n == 0 {
			return r, 0, err
		}
		for _, a := range v.list {
			args = append(args, a.text)
		}
		if len(args) == 0 {
			return r, 0, errors.New("a command without a name")
		}
		r, err = requestOf(args)
		return r, n, err
	}
	end := bytes.IndexByte(sent, '\n')
	if end < 0 {
		if len(sent) > mostLine {
			return r, 0, fmt.Errorf("%q is not a command", short(string(sent)))
		}
		return r, 0, nil
	}
	line := string(sent[:end])
	if args = strings.Fields(line); len(args) == 0 || strings.ContainsAny(line, "\"'") {
		return r, 0, fmt.Errorf("%q is not a command", short(line))
	}
	r, err = requestOf(args)
	return r, end + 1, err
}

// mostLine is how long a line is at most.
const mostLine = 64 << 10

func requestOf(args []string) (r request, err error) {
	name := strings.ToLower(args[0])
	if name == "client" && len(args) > 1 && strings.EqualFold(args[1], "reply") {
		return r, errors.New("a client that has switched responses off (CLIENT REPLY)")
	}
	if slices.Contains(quiet, name) {
		return r, nil
	}
	if name == "select" && len(args) == 2 && args[1] == "0" {
		return r, nil
	}
	c, ok := commands[name]
	if ok = ok && len(args) == c.args+1; ok {
		var value string
		if value, ok = c.value(args[1:]); ok {
			return request{op: name, key: args[1], value: value, about: name}, nil
		}
	}
	return r, fmt.Errorf("command %q is not supported", short(strings.Join(args, " ")))
}

func (resp) response(received []byte, to *request, _ bool) (a answer, n int, err error) {
	v, n, err := parseRESP(received, 0)
	if err != nil || n == 0 {
		return a, 0, err
	}
	a.kind = expose.Returned
	switch v.kind {
	case '-', '!':
		if a.kind = expose.Gone; slices.ContainsFunc(refusals, func(r string) bool {
			return strings.HasPrefix(v.text+" ", r+" ")
		}) {
			a.kind = expose.Failed
		}
		return a, n, nil
	case '>':
		return a, 0, errors.New("messages without a request (pushes)")
	}
	switch to.about {
	case "get", "incr", "incrby", "decr", "decrby", "lpop":
		a.value = v.text
	case "sismember":
		a.value = strconv.FormatBool(v.text == "1")
	case "smembers", "lrange":
		var texts []string
		for _, e := range v.list {
			texts = append(texts, e.text)
		}
		a.value = strings.Join(texts, " ")
	}
	return a, n, nil
}

// reply is a value in RESP.
type reply struct {
	kind byte
	text string  // "" also when there is none
	list []reply // of arrays, sets and maps
}

// parseRESP takes a value off the beginning of b, which is not empty; n is how many bytes it is, 0:
// it is not whole yet.
func parseRESP(b []byte, depth int) (v reply, n int, err error) {
	if depth > 8 {
		return v, 0, errors.New("a value with too many levels")
	}
	end := bytes.Index(b, []byte("\r\n"))
	if end < 0 {
		if len(b) > mostLine || !strings.ContainsRune("+-:$*_#,(!=%~>", rune(b[0])) {
			return v, 0, fmt.Errorf("%q is not a value", short(string(b)))
		}
		return v, 0, nil
	} else if end == 0 {
		return v, 0, errors.New("an empty line is not a value")
	}
	v.kind, v.text, n = b[0], string(b[1:end]), end+2
	switch v.kind {
	case '+', '-', ':', ',', '(':
		return v, n, nil
	case '_':
		v.text = ""
		return v, n, nil
	case '#':
		if v.text = "0"; b[1] == 't' {
			v.text = "1"
		}
		return v, n, nil
	case '$', '!', '=':
		size, err := strconv.Atoi(v.text)
		switch {
		case err != nil || size < -1 || size > 512<<20:
			return v, 0, fmt.Errorf("%q is not a length", short(v.text))
		case size < 0:
			v.text = ""
			return v, n, nil
		case len(b) < n+size+2:
			return v, 0, nil
		}
		v.text = string(b[n : n+size])
		return v, n + size + 2, nil
	case '*', '~', '%', '>':
		size, err := strconv.Atoi(v.text)
		if err != nil || size < -1 || size > 1<<20 {
			return v, 0, fmt.Errorf("%q is not a length", short(v.text))
		}
		if v.text = ""; v.kind == '%' {
			size *= 2
		}
		for range max(size, 0) {
			if n >= len(b) {
				return v, 0, nil
			}
			e, m, err := parseRESP(b[n:], depth+1)
			if err != nil || m == 0 {
				return v, 0, err
			}
			v.list, n = append(v.list, e), n+m
		}
		return v, n, nil
	}
	return v, 0, fmt.Errorf("%q is not a value", short(string(b)))
}
