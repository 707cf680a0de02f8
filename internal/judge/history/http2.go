package history

import (
	"bytes"
	"fmt"

	"github.com/ariadne-mc/ariadne/internal/leaf/payload"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// frames reads the frames of HTTP/2 that go one way over a connection. The meaning of headers
// depends on earlier headers (HPACK).
type frames struct {
	in     bytes.Reader
	framer *http2.Framer
}

// mostTable bounds what is remembered of headers: more than anybody's settings allow.
const mostTable = 1 << 20

func newFrames() *frames {
	f := &frames{}
	f.framer = http2.NewFramer(nil, &f.in)
	f.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	f.framer.ReadMetaHeaders.SetAllowedMaxDynamicTableSize(mostTable)
	return f
}

// take takes off the beginning of b all frames that are whole, n bytes, until see fails. Headers
// count as one frame.
func (f *frames) take(b []byte, see func(http2.Frame) error) (n int, err error) {
	for {
		size := payload.WholeFrame(b[n:])
		if size == 0 {
			return n, nil
		}
		f.in.Reset(b[n : n+size])
		n += size
		frame, err := f.framer.ReadFrame()
		if err != nil {
			if detail := f.framer.ErrorDetail(); detail != nil {
				err = fmt.Errorf("%w: %w", err, detail)
			}
			return n, fmt.Errorf("a frame of HTTP/2 that cannot be read: %w", err)
		}
		if err := see(frame); err != nil {
			return n, err
		}
	}
}
