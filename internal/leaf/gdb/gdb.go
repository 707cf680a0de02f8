// Package gdb reads and writes the packets of gdb's remote protocol, on the side of the program
// that is debugged.
//
// It knows no command. Its caller gets the text of a packet, and returns the text of the answer.
//
// Invariant: whatever comes, a packet is read whole and with the right sum, or there is an error.
//
// Read next: internal/use/debug/gdb.go, which answers.
package gdb

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
)

// Most is how many bytes a packet may have, without its frame.
const Most = 16 << 10

// Conn is a connection with gdb. It is for one goroutine.
type Conn struct {
	r *bufio.Reader
	w io.Writer
	// Trusted: neither side confirms packets any more (QStartNoAckMode).
	Trusted     bool
	interrupted atomic.Bool
}

// interrupt is what gdb sends alone, while the program runs, when its user presses Ctrl-C.
const interrupt = 0x03

// NewConn speaks with a gdb that writes to r and reads from w. It reads r until that ends.
func NewConn(r io.Reader, w io.Writer) *Conn {
	in, out := io.Pipe()
	c := &Conn{r: bufio.NewReader(in), w: w}
	go func() {
		b := make([]byte, Most)
		for {
			n, err := r.Read(b)
			some := b[:n]
			if n > 0 && some[0] == interrupt {
				c.interrupted.Store(true)
				some = some[1:]
			}
			if len(some) > 0 {
				if _, err := out.Write(some); err != nil {
					return
				}
			}
			if err != nil {
				out.CloseWithError(err)
				return
			}
		}
	}()
	return c
}

// Interrupted reports whether gdb wants the program to stop, and has not been told so yet.
func (c *Conn) Interrupted() bool { return c.interrupted.Swap(false) }

// errSum is the error of a packet whose sum is another one.
var errSum = errors.New("a packet came with a wrong sum")

// Read returns the next packet. io.EOF: there is none.
func (c *Conn) Read() (string, error) {
	for {
		text, err := c.packet()
		switch {
		case c.Trusted:
			return text, err
		case errors.Is(err, errSum):
			if _, err := io.WriteString(c.w, "-"); err != nil { // gdb sends it again
				return "", err
			}
			continue
		case err != nil:
			return "", err
		}
		_, err = io.WriteString(c.w, "+")
		return text, err
	}
}

// packet reads a packet, from behind what is between packets.
func (c *Conn) packet() (string, error) {
	for {
		switch b, err := c.r.ReadByte(); {
		case err != nil:
			return "", err
		case b == '$':
			return c.body()
		case b != '+' && b != '-' && b != interrupt:
			return "", fmt.Errorf("want a packet of gdb's, not the byte %#x", b)
		}
	}
}

func (c *Conn) body() (string, error) {
	var text []byte
	sum := byte(0)
	for {
		b, err := c.byte()
		if err != nil {
			return "", err
		}
		if b == '#' {
			break
		}
		sum += b
		if b == '}' {
			if b, err = c.byte(); err != nil {
				return "", err
			}
			sum += b
			b ^= 0x20
		}
		if len(text) == Most {
			return "", fmt.Errorf("a packet has more than %d bytes", Most)
		}
		text = append(text, b)
	}
	var digits, got [2]byte
	for i := range digits {
		var err error
		if digits[i], err = c.byte(); err != nil {
			return "", err
		}
	}
	if _, err := hex.Decode(got[:], digits[:]); err != nil || got[0] != sum {
		return "", errSum
	}
	return string(text), nil
}

// byte is a byte of a packet, which must not end here.
func (c *Conn) byte() (byte, error) {
	b, err := c.r.ReadByte()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return b, err
}

// Write sends a packet of any bytes.
func (c *Conn) Write(text string) error {
	b := []byte{'$'}
	sum := byte(0)
	put := func(x byte) {
		sum += x
		b = append(b, x)
	}
	for i := range len(text) {
		switch x := text[i]; x {
		case '#', '$', '}', '*': // a star would repeat what is before it
			put('}')
			put(x ^ 0x20)
		default:
			put(x)
		}
	}
	b = fmt.Appendf(b, "#%02x", sum)
	_, err := c.w.Write(b)
	return err
}
