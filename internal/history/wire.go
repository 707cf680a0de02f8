package history

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"ariadne"
	"ariadne/internal/expose"
)

// What clients and servers say to each other tells of operations, too: a request begins one when its last byte is sent, and ends it when
// the last byte of its response is delivered. So clients need write no lines.

// protocol takes requests and responses from what goes over a connection.
type protocol interface {
	// request takes the first one off what a client has sent; n is how many bytes it is, 0: it is not whole yet.
	request(sent []byte) (r request, n int, err error)
	// response takes off what a client was sent the response to a request. closed: nothing more comes.
	response(received []byte, to *request, closed bool) (a answer, n int, err error)
}

// request is what a client asks for.
type request struct {
	op, key, value string // op "": nothing that counts
	about          string // what the protocol needs to know for the response
}

// answer is what a client is told.
type answer struct {
	kind  expose.EventKind // Returned, Failed, or Gone: nobody knows what came of it
	value string
}

// protocols are those that are understood, by the names in specs.
var protocols = map[string]func(h *expose.History) protocol{
	"resp": func(*expose.History) protocol { return resp{} },
	"http": func(h *expose.History) protocol { return web{h} },
}

// Protocols are their names.
func Protocols() []string { return slices.Sorted(maps.Keys(protocols)) }

// Operations are the beginnings and ends of operations of an execution's events: those themselves, or, where these are what went over
// connections (expose.History.Wire), what it tells. The error says what was not understood.
//
// Each connection is a client, or several when it has several requests under way: the responses come in their order.
func Operations(h *expose.History, events []expose.Event) (all []expose.Event, err error) {
	if h == nil || h.Wire == "" {
		return events, nil
	}
	d := decoder{protocol: protocols[h.Wire](h), open: map[string]*connection{}}
	for _, e := range events {
		if err := d.enter(e); err != nil {
			return nil, fmt.Errorf("%s: %w", h.Wire, err)
		}
	}
	return d.all, nil
}

type decoder struct {
	protocol
	open map[string]*connection // by node and flow
	all  []expose.Event
}

// connection is one of a client's.
type connection struct {
	node           ariadne.NodeID
	name           string
	sent, received []byte
	asked          []asked
}

// asked is a request under way: of the slot-th client of the connection.
type asked struct {
	request
	slot int
}

func (d *decoder) enter(e expose.Event) error {
	if e.Kind == expose.Gone {
		for name, c := range d.open { // the order is no matter
			if c.node == e.Node {
				delete(d.open, name)
			}
		}
		d.all = append(d.all, e)
		return nil
	}
	name := fmt.Sprint(e.Node, " ", e.Client)
	c := d.open[name]
	if e.Kind == expose.Opened || c == nil {
		if c != nil {
			d.end(c)
		}
		c = &connection{node: e.Node, name: e.Client}
		d.open[name] = c
	}
	switch e.Kind {
	case expose.Sent:
		c.sent = append(c.sent, e.Value...)
		return d.requests(c)
	case expose.Received:
		c.received = append(c.received, e.Value...)
		return d.responses(c, false)
	case expose.Closed:
		err := d.responses(c, true)
		d.end(c)
		delete(d.open, name)
		return err
	}
	return nil
}

// end: nobody waits for the connection's responses any more.
func (d *decoder) end(c *connection) {
	for i := range c.asked {
		d.answer(c, &c.asked[i], answer{kind: expose.Gone})
	}
	c.asked = nil
}

func (d *decoder) requests(c *connection) error {
	for len(c.sent) > 0 {
		r, n, err := d.request(c.sent)
		if err != nil || n == 0 {
			return err
		}
		c.sent = c.sent[n:]
		q := asked{request: r}
		for slices.ContainsFunc(c.asked, func(o asked) bool { return o.slot == q.slot }) {
			q.slot++
		}
		if c.asked = append(c.asked, q); r.op != "" {
			d.all = append(d.all, expose.Event{Kind: expose.Invoked, Node: c.node, Client: c.client(q.slot), Op: r.op, Key: r.key, Value: r.value})
		}
	}
	return nil
}

func (d *decoder) responses(c *connection, closed bool) error {
	for len(c.received) > 0 && len(c.asked) > 0 {
		a, n, err := d.response(c.received, &c.asked[0].request, closed)
		if err != nil || n == 0 {
			return err
		}
		c.received = c.received[n:]
		d.answer(c, &c.asked[0], a)
		c.asked = c.asked[1:]
	}
	return nil
}

func (d *decoder) answer(c *connection, to *asked, a answer) {
	if to.op != "" {
		d.all = append(d.all, expose.Event{Kind: a.kind, Node: c.node, Client: c.client(to.slot), Value: a.value})
	}
}

func (c *connection) client(slot int) string {
	if slot == 0 {
		return c.name
	}
	return fmt.Sprintf("%s/%d", c.name, slot)
}

// short is the beginning of a text, for messages.
func short(text string) string {
	if len(text) > 40 {
		text = text[:40] + "…"
	}
	return strings.ToValidUTF8(text, "?")
}
