package history

import "net/http"

// What one message says by itself: whoever looks at a message in flight has no connection to put it
// together with others.

// Texts is a value in RESP: a text, or a list of values.
type Texts struct {
	Text string // "" also when there is none
	List []Texts
	Many bool // it is a list
}

// Values are those in RESP of which a message consists; not ok: it is no row of whole values.
func Values(message []byte) (all []Texts, ok bool) {
	for len(message) > 0 {
		v, n, err := parseRESP(message, 0)
		if err != nil || n == 0 {
			return nil, false
		}
		all, message = append(all, v.texts()), message[n:]
	}
	return all, all != nil
}

func (v *reply) texts() Texts {
	t := Texts{Text: v.text}
	switch v.kind {
	case '*', '~', '%', '>':
		t.Many = true
	}
	for i := range v.list {
		t.List = append(t.List, v.list[i].texts())
	}
	return t
}

// Part is a request or a response of HTTP/1.
type Part struct {
	Method, Target string // "": it is a response
	Status         int
	Body           string
}

// Parts are those of which a message consists; not ok: it is no row of whole requests and
// responses.
func Parts(message []byte) (all []Part, ok bool) {
	for len(message) > 0 {
		q, body, n, err := readRequest(message)
		if err == nil && n > 0 {
			all, message = append(all, Part{Method: q.Method, Target: q.RequestURI, Body: string(body)}), message[n:]
			continue
		}
		a, body, n, err := readResponse(message, http.MethodGet, false)
		if err != nil || n == 0 {
			return nil, false
		}
		all, message = append(all, Part{Status: a.StatusCode, Body: string(body)}), message[n:]
	}
	return all, all != nil
}
