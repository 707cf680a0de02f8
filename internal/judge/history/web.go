package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/judge/expose"
)

// web is HTTP. A request is a line as in "PUT /v1/kv/x?cas=1 BODY", a response one as in "200
// BODY", and the expressions of the history say what these mean. A body of JSON is spelled without
// spaces, its names in order.
type web struct{ *expose.History }

func (w web) request(sent []byte) (r request, n int, err error) {
	q, body, n, err := readRequest(sent)
	if err != nil || n == 0 {
		return r, 0, err
	}
	if q.Header.Get("Upgrade") != "" {
		return r, 0, errors.New("a connection that changes to another protocol")
	}
	if err := plain(q.Header, body); err != nil {
		return r, 0, err
	}
	r.about = q.Method
	line := strings.TrimSpace(q.Method + " " + q.RequestURI + " " + spelled(body))
	if m := w.Invoke.FindStringSubmatch(line); m != nil {
		r.op, r.key, r.value = strings.ToLower(group(w.Invoke, m, "op")), group(w.Invoke, m, "key"),
			group(w.Invoke, m, "value")
	}
	return r, n, nil
}

func (w web) response(received []byte, to *request, closed bool) (a answer, n int, err error) {
	q, body, n, err := readResponse(received, to.about, closed)
	if err != nil || n == 0 {
		return a, 0, err
	}
	if q.StatusCode/100 == 1 { // the response is yet to come
		return w.behind(received, to, closed, n)
	}
	if to.op != "" {
		if err := plain(q.Header, body); err != nil {
			return a, 0, err
		}
	}
	line := strings.TrimSpace(fmt.Sprint(q.StatusCode, " ", spelled(body)))
	a.kind = expose.Gone
	if m := w.OK.FindStringSubmatch(line); m != nil {
		a = answer{expose.Returned, group(w.OK, m, "value")}
	} else if w.Fail != nil && w.Fail.MatchString(line) {
		a.kind = expose.Failed
	}
	return a, n, nil
}

// readRequest takes the first request off what a client has sent, which is not empty; n is how many
// bytes it is, 0: it is not whole yet.
func readRequest(sent []byte) (q *http.Request, body []byte, n int, err error) {
	// RFC 9112, section 2.2: empty lines before a request are passed over.
	if lead := len(sent) - len(bytes.TrimLeft(sent, "\r\n")); lead > 0 && lead < len(sent) {
		q, body, n, err = readRequest(sent[lead:])
		if n > 0 {
			n += lead
		}
		return q, body, n, err
	} else if lead == len(sent) {
		return nil, nil, 0, nil
	}
	if bytes.HasPrefix(sent, []byte("PRI * HTTP/2")) {
		return nil, nil, 0, errors.New("HTTP/2")
	} else if sent[0] < 'A' || sent[0] > 'Z' {
		return nil, nil, 0, fmt.Errorf("%q is not a request", short(string(sent)))
	}
	if whole, err := headed(sent); !whole {
		return nil, nil, 0, err
	}
	source := bytes.NewReader(sent)
	in := bufio.NewReaderSize(source, 16)
	if q, err = http.ReadRequest(in); err != nil {
		return nil, nil, 0, partly(err, sent)
	}
	if body, err = io.ReadAll(q.Body); err != nil {
		return nil, nil, 0, partly(err, nil)
	}
	return q, body, len(sent) - source.Len() - in.Buffered(), nil
}

// readResponse takes off what a client was sent the response to a request by a method. closed:
// nothing more comes.
func readResponse(received []byte, method string, closed bool) (q *http.Response, body []byte, n int, err error) {
	if !bytes.HasPrefix([]byte("HTTP/1."), received[:min(len(received), 7)]) {
		return nil, nil, 0, fmt.Errorf("%q is not a response", short(string(received)))
	}
	if whole, err := headed(received); !whole {
		return nil, nil, 0, err
	}
	source := bytes.NewReader(received)
	in := bufio.NewReaderSize(source, 16)
	if q, err = http.ReadResponse(in, &http.Request{Method: method}); err != nil {
		return nil, nil, 0, partly(err, received)
	}
	if q.ContentLength < 0 && len(q.TransferEncoding) == 0 && !closed {
		return nil, nil, 0, nil // it ends with the connection
	}
	if body, err = io.ReadAll(q.Body); err != nil {
		return nil, nil, 0, partly(err, nil)
	}
	return q, body, len(received) - source.Len() - in.Buffered(), nil
}

// behind is the response behind the first n bytes.
func (w web) behind(received []byte, to *request, closed bool, n int) (a answer, all int, err error) {
	if len(received) == n {
		return a, 0, nil
	}
	a, all, err = w.response(received[n:], to, closed)
	if all > 0 {
		all += n
	}
	return a, all, err
}

// headed reports whether all of the header is there.
func headed(b []byte) (bool, error) {
	if bytes.Contains(b, []byte("\r\n\r\n")) || bytes.Contains(b, []byte("\n\n")) {
		return true, nil
	} else if len(b) > mostLine {
		return false, fmt.Errorf("%q is not a header", short(string(b)))
	}
	return false, nil
}

// partly is nil when an error may be for want of what is yet to come.
func partly(err error, of []byte) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return nil
	}
	return fmt.Errorf("%q: %w", short(string(of)), err)
}

// plain says no where a body is compressed.
func plain(h http.Header, body []byte) error {
	if how := h.Get("Content-Encoding"); how != "" && how != "identity" && len(body) > 0 {
		return fmt.Errorf("a body with Content-Encoding: %s", short(how))
	}
	return nil
}

// spelled is a body in one line.
func spelled(body []byte) string {
	var v any
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if d.Decode(&v) == nil && !d.More() {
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if e.Encode(v) == nil {
			return strings.TrimSpace(b.String())
		}
	}
	return strings.TrimSpace(strings.ReplaceAll(string(body), "\n", " "))
}

// group is what a group of an expression has matched, or "".
func group(x *regexp.Regexp, m []string, name string) string {
	if i := x.SubexpIndex(name); i >= 0 {
		return m[i]
	}
	return ""
}
