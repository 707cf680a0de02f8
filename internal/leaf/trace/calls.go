package trace

import (
	"bufio"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/ariadne-mc/ariadne"
)

// CallsSuffix is appended to a trace's path for its calls.
const CallsSuffix = ".calls"

// callsMagic begins a file of calls. Then follows one deflate stream: for each
// step the number of its calls, and for each call thread, number and result as
// varints and the hash as 8 bytes.
const callsMagic = "ariadne calls 1\n"

// CallWriter writes the system calls of an execution's steps, in their order.
type CallWriter struct {
	z   *flate.Writer
	buf []byte
}

// NewCallWriter writes to w. Close must follow.
func NewCallWriter(w io.Writer) (*CallWriter, error) {
	if _, err := io.WriteString(w, callsMagic); err != nil {
		return nil, err
	}
	z, err := flate.NewWriter(w, flate.BestSpeed)
	return &CallWriter{z: z}, err
}

// Step writes the calls of the next step.
func (c *CallWriter) Step(calls []ariadne.CallRecord) error {
	b := binary.AppendUvarint(c.buf[:0], uint64(len(calls)))
	for _, r := range calls {
		b = binary.AppendVarint(b, int64(r.TID))
		b = binary.AppendVarint(b, int64(r.NR))
		b = binary.AppendVarint(b, r.Result)
		b = binary.LittleEndian.AppendUint64(b, r.Hash)
	}
	c.buf = b
	_, err := c.z.Write(b)
	return err
}

// Close writes what is left.
func (c *CallWriter) Close() error { return c.z.Close() }

// CallReader reads what a CallWriter wrote.
type CallReader struct{ r *bufio.Reader }

// ErrDamagedCalls is the error of what is no longer as a CallWriter wrote it.
var ErrDamagedCalls = errors.New("the file of system calls is damaged")

// NewCallReader reads from r.
func NewCallReader(r io.Reader) (*CallReader, error) {
	magic := make([]byte, len(callsMagic))
	if _, err := io.ReadFull(r, magic); err != nil || string(magic) != callsMagic {
		return nil, errors.New("not a file of system calls of this version")
	}
	return &CallReader{bufio.NewReader(flate.NewReader(r))}, nil
}

// Step returns the calls of the next step, never nil, or io.EOF after the last.
func (c *CallReader) Step() ([]ariadne.CallRecord, error) {
	n, err := binary.ReadUvarint(c.r)
	if err == io.EOF {
		return nil, io.EOF
	}
	calls := []ariadne.CallRecord{}
	for ; err == nil && n > 0; n-- {
		var r ariadne.CallRecord
		if r, err = c.record(); err == nil {
			calls = append(calls, r)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamagedCalls, noEOF(err))
	}
	return calls, nil
}

func (c *CallReader) record() (r ariadne.CallRecord, err error) {
	var v [3]int64
	for i := range v {
		if v[i], err = binary.ReadVarint(c.r); err != nil {
			return r, err
		}
	}
	var hash [8]byte
	_, err = io.ReadFull(c.r, hash[:])
	return ariadne.CallRecord{TID: int(v[0]), NR: int(v[1]), Result: v[2], Hash: binary.LittleEndian.Uint64(hash[:])},
		err
}

// noEOF makes an end in the middle what it is.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
