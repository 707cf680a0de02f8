package history

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/judge/expose"

	"golang.org/x/net/http2"
	"google.golang.org/protobuf/encoding/protowire"
)

// etcd is a connection to etcd: gRPC, which goes over HTTP/2, and etcd's own messages in it. Puts,
// gets and deletes of single keys are operations, and so is each of a transaction. A request begins
// its operations when its message is whole, and the status behind the response, in a header of its
// own, ends them.
type etcd struct {
	on       *connection
	greeted  bool
	up, down *frames
	streams  map[uint32]*stream
}

func newEtcd(c *connection) *etcd {
	return &etcd{on: c, up: newFrames(), down: newFrames(), streams: map[uint32]*stream{}}
}

// stream is a call.
type stream struct {
	method         string // "": one that is no matter
	asked          bool
	sent, received []byte
	parts          []part
}

// part is an operation of a call.
type part struct {
	request
	slot   int
	branch branch
	place  int // of a transaction: which of its branch
}

// branch is of which of a transaction's lists an operation is.
type branch uint8

const (
	always branch = iota
	then
	otherwise
)

// idle begin the names of methods that change no key's value and ask for none. Puts with leases are
// not understood, so that leases matter to none.
var idle = []string{"/etcdserverpb.KV/Compact", "/etcdserverpb.Watch/", "/etcdserverpb.Lease/",
	"/etcdserverpb.Cluster/", "/etcdserverpb.Maintenance/", "/etcdserverpb.Auth/", "/grpc.health.", "/grpc.reflection."}

// calls are the methods that are understood, by name.
var calls = map[string]struct {
	request  func(message) ([]part, error)
	response func(message, []part) ([]answer, error) // one for each part
}{
	"/etcdserverpb.KV/Range": {single(rangeOf), func(m message, _ []part) ([]answer, error) {
		a, err := seen(m)
		return []answer{a}, err
	}},
	"/etcdserverpb.KV/Put":         {single(putOf), done},
	"/etcdserverpb.KV/DeleteRange": {single(deleteOf), done},
	"/etcdserverpb.KV/Txn":         {txnOf, txnDone},
}

// single is a request of one operation.
func single(of func(message) (request, error)) func(message) ([]part, error) {
	return func(m message) ([]part, error) {
		r, err := of(m)
		return []part{{request: r}}, err
	}
}

func done(_ message, parts []part) ([]answer, error) {
	return slices.Repeat([]answer{{kind: expose.Returned}}, len(parts)), nil
}

// refused are the statuses of gRPC with which etcd has changed nothing: an argument that is wrong,
// something that is not there, no permission, a state that forbids it, a revision that is not
// there, a method that is not there, no authentication. Of others, as that the time is up, nobody
// knows.
var refused = []string{"3", "5", "7", "9", "11", "12", "16"}

// preface is what a client says first.
const preface = http2.ClientPreface

func (e *etcd) sent(b []byte) (n int, err error) {
	if !e.greeted {
		if !bytes.HasPrefix(b, []byte(preface)[:min(len(b), len(preface))]) {
			return 0, fmt.Errorf("%q is not the beginning of HTTP/2", short(string(b)))
		} else if len(b) < len(preface) {
			return 0, nil
		}
		e.greeted, n = true, len(preface)
	}
	m, err := e.up.take(b[n:], func(f http2.Frame) error {
		id := f.Header().StreamID
		s := e.streams[id]
		switch f := f.(type) {
		case *http2.PushPromiseFrame:
			return errPush
		case *http2.MetaHeadersFrame:
			if s != nil { // the headers behind a request
				return nil
			}
			s = &stream{}
			method := f.PseudoValue("path")
			if method != "" &&
				!slices.ContainsFunc(idle, func(name string) bool { return strings.HasPrefix(method, name) }) {
				if _, ok := calls[method]; !ok {
					return fmt.Errorf("method %q is not supported", short(method))
				}
				s.method = method
			}
			e.streams[id] = s
		case *http2.RSTStreamFrame:
			if s != nil {
				e.end(id, answer{kind: expose.Gone})
			}
		case *http2.DataFrame:
			if s != nil && s.method != "" {
				s.sent = append(s.sent, f.Data()...)
				return e.beginOperations(s)
			}
		}
		return nil
	})
	return n + m, err
}

var errPush = errors.New("a response without a request")

// beginOperations begins the operations of a request that is whole.
func (e *etcd) beginOperations(s *stream) error {
	m, err := whole(s.sent)
	if m == nil || err != nil || s.asked {
		return err
	}
	s.asked = true
	if s.parts, err = calls[s.method].request(*m); err != nil {
		return fmt.Errorf("%s: %w", s.method[strings.LastIndex(s.method, "/")+1:], err)
	}
	for i := range s.parts {
		s.parts[i].slot = e.on.begin(s.parts[i].request)
	}
	return nil
}

func (e *etcd) received(b []byte, _ bool) (n int, err error) {
	return e.down.take(b, func(f http2.Frame) error {
		id := f.Header().StreamID
		s := e.streams[id]
		if _, ok := f.(*http2.PushPromiseFrame); ok {
			return errPush
		}
		if s == nil {
			return nil
		}
		switch f := f.(type) {
		case *http2.MetaHeadersFrame:
			for _, h := range f.RegularFields() {
				if h.Name == "grpc-status" {
					return e.endByStatus(id, s, h.Value)
				}
			}
			if f.StreamEnded() {
				e.end(id, answer{kind: expose.Gone})
			}
		case *http2.RSTStreamFrame:
			e.end(id, answer{kind: expose.Gone})
		case *http2.DataFrame:
			if f.StreamEnded() {
				e.end(id, answer{kind: expose.Gone})
			} else if s.method != "" {
				s.received = append(s.received, f.Data()...)
			}
		}
		return nil
	})
}

// endByStatus ends the operations of a call by its status.
func (e *etcd) endByStatus(id uint32, s *stream, status string) error {
	switch {
	case slices.Contains(refused, status):
		e.end(id, answer{kind: expose.Failed})
		return nil
	case status != "0":
		e.end(id, answer{kind: expose.Gone})
		return nil
	case len(s.parts) == 0:
		delete(e.streams, id)
		return nil
	}
	m, err := whole(s.received)
	if err == nil && m == nil {
		err = errors.New("a response without a message")
	}
	var all []answer
	if err == nil {
		all, err = calls[s.method].response(*m, s.parts)
	}
	if err != nil {
		return fmt.Errorf("response to %s: %w", s.method[strings.LastIndex(s.method, "/")+1:], err)
	}
	for i, p := range s.parts {
		e.on.answer(p.slot, all[i])
	}
	delete(e.streams, id)
	return nil
}

// end ends a call, and its operations.
func (e *etcd) end(id uint32, a answer) {
	for _, p := range e.streams[id].parts {
		e.on.answer(p.slot, a)
	}
	delete(e.streams, id)
}

// whole takes a message of gRPC off the beginning of what a stream carries; nil: it is not whole
// yet.
func whole(b []byte) (*message, error) {
	if len(b) < 5 {
		return nil, nil
	}
	n := binary.BigEndian.Uint32(b[1:])
	if b[0] != 0 {
		return nil, errors.New("a compressed message")
	}
	if uint64(len(b)) < 5+uint64(n) {
		return nil, nil
	}
	m := message(b[5 : 5+n])
	return &m, nil
}

// rangeOf is a read. One of several keys, of an old revision or of what does not tell the value is
// none.
func rangeOf(m message) (r request, err error) {
	r.op = "get"
	err = m.each(func(f field) error {
		switch f.number {
		case 1:
			r.key = string(f.data)
		case 5, 6, 3: // one key is sorted, and within its limit
		case 7:
			if f.value != 0 && r.op == "get" {
				r.op = staleRead
			}
		case 2, 4, 8, 9, 10, 11, 12, 13:
			if f.value != 0 || len(f.data) > 0 {
				r.op = ""
			}
		default:
			return f.unknown()
		}
		return nil
	})
	return r, err
}

// seen is the response to a read.
func seen(m message) (a answer, err error) {
	a.kind = expose.Returned
	err = m.each(func(f field) error {
		if f.number != 2 {
			return nil
		}
		return message(f.data).each(func(f field) error {
			if f.number == 5 {
				a.value = string(f.data)
			}
			return nil
		})
	})
	return a, err
}

func putOf(m message) (r request, err error) {
	r.op = "put"
	err = m.each(func(f field) error {
		switch f.number {
		case 1:
			r.key = string(f.data)
		case 2:
			r.value = string(f.data)
		case 3:
			if f.value != 0 {
				return errors.New("a key with a lease")
			}
		case 5:
			if f.value != 0 {
				r.op = "" // the value stays
			}
		case 4, 6:
		default:
			return f.unknown()
		}
		return nil
	})
	return r, err
}

func deleteOf(m message) (r request, err error) {
	r.op = "delete"
	err = m.each(func(f field) error {
		switch f.number {
		case 1:
			r.key = string(f.data)
		case 2:
			if len(f.data) > 0 {
				return errors.New("a request for several keys")
			}
		case 3:
		default:
			return f.unknown()
		}
		return nil
	})
	return r, err
}

// txnOf are the operations of both branches of a transaction. Those of the one that is not taken
// will have failed. A put where the key had a certain value, or was not there, is a cas.
func txnOf(m message) (all []part, err error) {
	var compares []message
	place := map[branch]int{}
	err = m.each(func(f field) error {
		b := map[int]branch{2: then, 3: otherwise}[f.number]
		switch {
		case f.number == 1:
			compares = append(compares, f.data)
			return nil
		case b == always:
			return f.unknown()
		}
		return message(f.data).each(func(f field) (err error) {
			of := map[int]func(message) (request, error){1: rangeOf, 2: putOf, 3: deleteOf}[f.number]
			if of == nil {
				return errors.New("a transaction within a transaction")
			}
			p := part{branch: b, place: place[b]}
			place[b]++
			p.request, err = of(f.data)
			all = append(all, p)
			return err
		})
	})
	if err != nil || len(compares) != 1 {
		return all, err
	}
	key, value, ok, err := equal(compares[0])
	var writes []*part
	for i := range all {
		if p := &all[i]; p.key == key && (p.op == "put" || p.op == "delete") {
			writes = append(writes, p)
		}
	}
	if ok && len(writes) == 1 && writes[0].op == "put" && writes[0].branch == then {
		writes[0].op, writes[0].value = "cas", value+" "+writes[0].value
	}
	return all, err
}

// equal is the value that a key must have by a comparison, which is one word; "": it is not there.
// Not ok: the comparison is another one.
func equal(m message) (key, value string, ok bool, err error) {
	var result, target, number uint64
	several := false
	err = m.each(func(f field) error {
		switch f.number {
		case 1:
			result = f.value
		case 2:
			target = f.value
		case 3:
			key = string(f.data)
		case 4, 5, 6, 8:
			number = f.value
		case 7:
			value = string(f.data)
		case 64:
			several = len(f.data) > 0
		default:
			return f.unknown()
		}
		return nil
	})
	const version, created, content = 0, 1, 3
	ok = result == 0 && !several && (target == content || (target == version || target == created) && number == 0)
	return key, value, ok && !strings.Contains(value, " "), err
}

func txnDone(m message, parts []part) (all []answer, err error) {
	taken, told := otherwise, []message{}
	err = m.each(func(f field) error {
		switch f.number {
		case 2:
			if f.value != 0 {
				taken = then
			}
		case 3:
			told = append(told, f.data)
		}
		return nil
	})
	for _, p := range parts {
		a := answer{kind: expose.Failed}
		if p.branch == taken && err == nil {
			if a.kind = expose.Returned; p.place >= len(told) {
				return nil, errors.New("a transaction with fewer results than requests")
			}
			err = told[p.place].each(func(f field) (err error) {
				if f.number == 1 {
					a, err = seen(f.data)
				}
				return err
			})
		}
		all = append(all, a)
	}
	return all, err
}

// message is one of protocol buffers.
type message []byte

// field is one of a message's.
type field struct {
	number int
	value  uint64 // of a number
	data   []byte // of a text or a message
}

func (f field) unknown() error { return fmt.Errorf("unknown field %d", f.number) }

// each calls a function with each field, until one fails.
func (m message) each(see func(field) error) error {
	for b := []byte(m); len(b) > 0; {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return unreadable(n)
		}
		b = b[n:]
		f := field{number: int(number)}
		switch kind {
		case protowire.VarintType:
			f.value, n = protowire.ConsumeVarint(b)
		case protowire.Fixed32Type:
			var v uint32
			v, n = protowire.ConsumeFixed32(b)
			f.value = uint64(v)
		case protowire.Fixed64Type:
			f.value, n = protowire.ConsumeFixed64(b)
		case protowire.BytesType:
			f.data, n = protowire.ConsumeBytes(b)
		default: // a group, which none of the messages has
			return f.unknown()
		}
		if n < 0 {
			return unreadable(n)
		}
		b = b[n:]
		if err := see(f); err != nil {
			return err
		}
	}
	return nil
}

func unreadable(n int) error {
	return fmt.Errorf("a message that cannot be read: %w", protowire.ParseError(n))
}
