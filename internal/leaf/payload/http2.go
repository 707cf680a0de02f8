package payload

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// preface is what a client of HTTP/2 sends first.
var preface = []byte(http2.ClientPreface)

// connection is one that speaks HTTP/2. Streams are of both directions: the request says whether
// the response is one of gRPC, too.
type connection struct {
	client, server direction
	grpc           map[uint32]bool   // streams
	paths          map[uint32]string // of their requests
	schema         func() *Schema
}

func newConnection(schema func() *Schema) *connection {
	c := &connection{grpc: map[uint32]bool{}, paths: map[uint32]string{}, schema: schema}
	c.client, c.server = newDirection(c), newDirection(c)
	return c
}

// direction is what one end sends.
type direction struct {
	of      *connection
	pending []byte // the beginning of a frame of which the rest has not come
	in      *bytes.Reader
	framer  *http2.Framer
	grpc    map[uint32][]byte // by stream, the beginning of a message
	broken  bool              // it could not be read: what headers say later is not known
}

// Bounds on what is kept of what has not come to its end.
const (
	mostPending = 1 << 20
	mostTable   = 1 << 20 // of what is remembered of headers
)

func newDirection(c *connection) direction {
	d := direction{of: c, in: &bytes.Reader{}, grpc: map[uint32][]byte{}}
	d.framer = http2.NewFramer(nil, d.in)
	d.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	d.framer.ReadMetaHeaders.SetAllowedMaxDynamicTableSize(mostTable)
	return d
}

// describe says what the next bytes of a direction are.
func (d *direction) describe(b []byte) string {
	var words []string
	if rest, ok := bytes.CutPrefix(b, preface); ok {
		words, b = append(words, "preface"), rest
	}
	if d.broken || len(d.pending)+len(b) > mostPending {
		d.broken = true
		return strings.Join(append(words, Hex(b)), " ")
	}
	d.pending = append(d.pending, b...)
	for {
		size := WholeFrame(d.pending)
		if size == 0 {
			break
		}
		d.in.Reset(d.pending[:size])
		frame, err := d.framer.ReadFrame()
		if err != nil {
			d.broken = true
			return strings.Join(append(words, Hex(d.pending)), " ")
		}
		words = append(words, d.describeFrame(frame))
		d.pending = d.pending[size:]
	}
	if len(d.pending) > 0 {
		words = append(words, fmt.Sprintf("the first %d B of a frame", len(d.pending)))
	}
	return strings.Join(words, " ; ")
}

// WholeFrame is how long the first frame of HTTP/2 in b is, with the continuations of its headers;
// 0: it is not whole yet.
func WholeFrame(b []byte) (size int) {
	in := bytes.NewReader(b)
	for {
		h, err := http2.ReadFrameHeader(in)
		if err != nil || in.Len() < int(h.Length) {
			return 0
		}
		in.Seek(int64(h.Length), 1)
		size = len(b) - in.Len()
		switch {
		case h.Type == http2.FrameHeaders && !h.Flags.Has(http2.FlagHeadersEndHeaders):
		case h.Type == http2.FrameContinuation && !h.Flags.Has(http2.FlagContinuationEndHeaders):
		default:
			return size
		}
	}
}

// describeFrame says what a frame is.
func (d *direction) describeFrame(f http2.Frame) string {
	stream := f.Header().StreamID
	switch f := f.(type) {
	case *http2.MetaHeadersFrame:
		if strings.HasPrefix(header(f, "content-type"), "application/grpc") {
			d.of.grpc[stream] = true
			if path := header(f, ":path"); path != "" {
				d.of.paths[stream] = path
			}
		}
		var words []string
		for _, name := range []string{":method", ":path", ":status", "grpc-status", "grpc-message"} {
			if v := header(f, name); v != "" {
				words = append(words, strings.TrimPrefix(name, ":")+" "+v)
			}
		}
		return fmt.Sprintf("HEADERS %d %s", stream, strings.Join(words, " "))
	case *http2.DataFrame:
		if d.of.grpc[stream] {
			return fmt.Sprintf("DATA %d %s", stream, d.messages(stream, f.Data()))
		}
		return fmt.Sprintf("DATA %d %s", stream, Of(f.Data()).Text)
	case *http2.RSTStreamFrame:
		return fmt.Sprintf("RST_STREAM %d %s", stream, f.ErrCode)
	case *http2.GoAwayFrame:
		return "GOAWAY " + f.ErrCode.String()
	}
	return f.Header().Type.String()
}

// header is the value of a field; "": there is none.
func header(f *http2.MetaHeadersFrame, name string) string {
	for _, h := range f.Fields {
		if h.Name == name {
			return h.Value
		}
	}
	return ""
}

// messages takes the messages of gRPC off what a stream carries.
func (d *direction) messages(stream uint32, b []byte) string {
	const head = 5 // whether it is compressed, and its length
	b = append(d.grpc[stream], b...)
	schema := d.of.schema()
	of := schema.typeOf(d.of.paths[stream], d == &d.of.client)
	var words []string
	for len(b) >= head {
		size := int(binary.BigEndian.Uint32(b[1:head]))
		if size > len(b)-head {
			break
		}
		message := b[head : head+size]
		switch {
		case b[0] != 0:
			words = append(words, fmt.Sprintf("compressed, %d B", size))
		default:
			if text, ok := schema.message(of, message, 0); ok {
				words = append(words, of[strings.LastIndex(of, ".")+1:]+"{"+text+"}")
			} else {
				words = append(words, Hex(message))
			}
		}
		b = b[head+size:]
	}
	delete(d.grpc, stream)
	if len(b) > 0 {
		words = append(words, fmt.Sprintf("the first %d B of a message", len(b)))
		d.grpc[stream] = bytes.Clone(b)
	}
	return strings.Join(words, " ")
}

// deepest is how deep messages are in others, as far as they are read.
const deepest = 8
