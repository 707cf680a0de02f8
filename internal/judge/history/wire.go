package history

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
)

// What clients and servers say to each other tells of operations, too: a request begins one when
// its last byte is sent, and ends it when the last byte of its response is delivered. So clients
// need write no lines.

// Protocol is one that connections may speak.
type Protocol struct {
	Name string
	Port int // to which connections go unless the spec says otherwise
	// Lines: the expressions of the history say which requests are operations. Else Of, as in "the
	// commands of Redis", do.
	Lines bool
	Of    string
	open  func(h *expose.History, c *connection) conversation
}

// Protocols are those that are understood.
var Protocols = []Protocol{
	{"etcd", 2379, false, "the requests of etcd's gRPC", func(_ *expose.History, c *connection) conversation {
		return newEtcd(c)
	}},
	{"http", 80, true, "", func(h *expose.History, c *connection) conversation {
		return &inOrder{protocol: web{h}, on: c}
	}},
	{"resp", 6379, false, "the commands of Redis", func(_ *expose.History, c *connection) conversation {
		return &inOrder{protocol: resp{}, on: c}
	}},
}

// ProtocolNames are their names.
func ProtocolNames() (all []string) {
	for _, p := range Protocols {
		all = append(all, p.Name)
	}
	return all
}

// ProtocolNamed returns the protocol of a name, or nil.
func ProtocolNamed(name string) *Protocol {
	i := slices.IndexFunc(Protocols, func(p Protocol) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &Protocols[i]
}

// conversation is what goes over one connection.
type conversation interface {
	// sent takes off what the client has sent, which is not empty, all that is whole: n bytes.
	sent(b []byte) (n int, err error)
	// received does with what the client was sent. closed: nothing more comes.
	received(b []byte, closed bool) (n int, err error)
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

// Operations are the beginnings and ends of operations of an execution's events: those themselves,
// or, where these are what went over connections (expose.History.Wire), what it tells. The error
// says what was not understood.
//
// Each connection is a client, or several when it has several requests under way.
func Operations(h *expose.History, events []expose.Event) (all []expose.Event, err error) {
	if h == nil || h.Wire == "" {
		return events, nil
	}
	d := decoder{history: h, protocol: ProtocolNamed(h.Wire), open: map[string]*connection{}}
	for _, e := range events {
		if err := d.enter(e); err != nil {
			return nil, fmt.Errorf("%s: %w", h.Wire, err)
		}
	}
	return d.all, nil
}

type decoder struct {
	history  *expose.History
	protocol *Protocol
	open     map[string]*connection // by node and flow
	all      []expose.Event
}

// connection is one of a client's.
type connection struct {
	to             *decoder
	node           ariadne.NodeID
	name           string
	says           conversation
	sent, received []byte
	busy           []bool // by slot: an operation is under way
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
	if c != nil && e.Kind == expose.Opened {
		c.end()
		c = nil
	}
	if c == nil {
		if e.Kind != expose.Opened && e.Kind != expose.Sent {
			return nil // its client is gone
		}
		c = &connection{to: d, node: e.Node, name: e.Client}
		c.says = d.protocol.open(d.history, c)
		d.open[name] = c
	}
	switch e.Kind {
	case expose.Sent:
		c.sent = append(c.sent, e.Value...)
		if len(c.sent) == 0 {
			return nil
		}
		n, err := c.says.sent(c.sent)
		c.sent = c.sent[n:]
		return err
	case expose.Received:
		c.received = append(c.received, e.Value...)
		return c.hear(false)
	case expose.Closed:
		var err error
		if e.Value != expose.Reset { // else what ends with the connection is not whole
			err = c.hear(true)
		}
		c.end()
		delete(d.open, name)
		return err
	}
	return nil
}

func (c *connection) hear(closed bool) error {
	if len(c.received) == 0 {
		return nil
	}
	n, err := c.says.received(c.received, closed)
	c.received = c.received[n:]
	return err
}

// begin begins an operation, and returns in which slot: of the so many-th client of the
// connection; -1: it does not count.
func (c *connection) begin(r request) (slot int) {
	if r.op == "" {
		return -1
	}
	if slot = slices.Index(c.busy, false); slot < 0 {
		slot, c.busy = len(c.busy), append(c.busy, false)
	}
	c.busy[slot] = true
	c.enter(slot, expose.Event{Kind: expose.Invoked, Op: r.op, Key: r.key, Value: r.value})
	return slot
}

// answer ends the operation in a slot.
func (c *connection) answer(slot int, a answer) {
	if slot >= 0 {
		c.busy[slot] = false
		c.enter(slot, expose.Event{Kind: a.kind, Value: a.value})
	}
}

// end: nobody waits for the connection's responses any more.
func (c *connection) end() {
	for slot, busy := range c.busy {
		if busy {
			c.answer(slot, answer{kind: expose.Gone})
		}
	}
}

func (c *connection) enter(slot int, e expose.Event) {
	if e.Node, e.Client = c.node, c.name; slot > 0 {
		e.Client = fmt.Sprintf("%s/%d", c.name, slot)
	}
	c.to.all = append(c.to.all, e)
}

// protocol takes requests and responses that come in the same order.
type protocol interface {
	// request takes the first one off what a client has sent; n is how many bytes it is, 0: it is
	// not whole yet.
	request(sent []byte) (r request, n int, err error)
	// response takes off what a client was sent the response to a request. closed: nothing more
	// comes.
	response(received []byte, to *request, closed bool) (a answer, n int, err error)
}

// inOrder is a conversation in such a protocol.
type inOrder struct {
	protocol
	on    *connection
	asked []asked
}

// asked is a request under way.
type asked struct {
	request
	slot int
}

func (o *inOrder) sent(b []byte) (all int, err error) {
	for all < len(b) {
		r, n, err := o.request(b[all:])
		if err != nil || n == 0 {
			return all, err
		}
		all += n
		o.asked = append(o.asked, asked{r, o.on.begin(r)})
	}
	return all, nil
}

func (o *inOrder) received(b []byte, closed bool) (all int, err error) {
	for all < len(b) && len(o.asked) > 0 {
		a, n, err := o.response(b[all:], &o.asked[0].request, closed)
		if err != nil || n == 0 {
			return all, err
		}
		all += n
		o.on.answer(o.asked[0].slot, a)
		o.asked = o.asked[1:]
	}
	return all, nil
}

// short is the beginning of a text, for messages.
func short(text string) string {
	if len(text) > 40 {
		text = text[:40] + "…"
	}
	return strings.ToValidUTF8(text, "?")
}
