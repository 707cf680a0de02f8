package history

import (
	"errors"
	"fmt"

	"golang.org/x/net/http2/hpack"
)

// frame is one of HTTP/2's (RFC 9113, section 4).
type frame struct {
	kind    frameKind
	flags   byte
	stream  uint32
	payload []byte
}

type frameKind uint8

const (
	frameData         frameKind = 0
	frameHeaders      frameKind = 1
	frameReset        frameKind = 3
	framePush         frameKind = 5
	frameContinuation frameKind = 9
)

const (
	flagEndStream  = 0x1
	flagEndHeaders = 0x4
	flagPadded     = 0x8
	flagPriority   = 0x20
)

const frameHeader = 9

// frames takes off the beginning of b all frames that are whole, n bytes, until see fails.
func frames(b []byte, see func(frame) error) (n int, err error) {
	for len(b)-n >= frameHeader {
		h := b[n:]
		size := int(h[0])<<16 | int(h[1])<<8 | int(h[2])
		if len(h) < frameHeader+size {
			break
		}
		f := frame{frameKind(h[3]), h[4], (uint32(h[5])<<24 | uint32(h[6])<<16 | uint32(h[7])<<8 | uint32(h[8])) &^ (1 << 31), h[frameHeader : frameHeader+size]}
		n += frameHeader + size
		if err := see(f); err != nil {
			return n, err
		}
	}
	return n, nil
}

// padded is the payload without what fills it up.
func (f frame) padded() ([]byte, error) {
	b, pad := f.payload, 0
	if f.flags&flagPadded != 0 && len(b) > 0 {
		pad, b = int(b[0]), b[1:]
	}
	if f.flags&flagPriority != 0 && f.kind == frameHeaders {
		if len(b) < 5 {
			return nil, errors.New("a frame of HTTP/2 that is too short")
		}
		b = b[5:]
	}
	if pad > len(b) {
		return nil, errors.New("a frame of HTTP/2 that is too short")
	}
	return b[:len(b)-pad], nil
}

// headers are those that go one way over a connection. What they are depends on those before (HPACK).
type headers struct {
	decoder *hpack.Decoder
	block   []byte
	open    bool // the block is not whole
	ends    bool // the stream, behind the last block
}

// mostTable bounds what is remembered of headers: more than anybody's settings allow.
const mostTable = 1 << 20

func newHeaders() headers {
	d := hpack.NewDecoder(4096, nil)
	d.SetAllowedMaxDynamicTableSize(mostTable)
	return headers{decoder: d}
}

// take looks at the next frame. whole: it is the last one of a block of headers, which are returned.
func (h *headers) take(f frame) (fields []hpack.HeaderField, whole bool, err error) {
	switch {
	case h.open != (f.kind == frameContinuation):
		return nil, false, errors.New("headers of HTTP/2 that are not whole")
	case f.kind == framePush:
		return nil, false, errors.New("an answer that nobody has asked for")
	case f.kind == frameHeaders:
		if h.block, err = f.padded(); err != nil {
			return nil, false, err
		}
		h.block, h.ends = append([]byte(nil), h.block...), f.flags&flagEndStream != 0
	case f.kind == frameContinuation:
		h.block = append(h.block, f.payload...)
	default:
		return nil, false, nil
	}
	if h.open = f.flags&flagEndHeaders == 0; h.open {
		return nil, false, nil
	}
	if fields, err = h.decoder.DecodeFull(h.block); err != nil {
		return nil, false, fmt.Errorf("headers of HTTP/2: %w", err)
	}
	return fields, true, nil
}
