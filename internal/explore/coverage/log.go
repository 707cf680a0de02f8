package coverage

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// Log writes down what Totals have seen, so that a search that was ended at any
// moment can go on counting where it was. Each hash is written once: a search that
// sees nothing new writes next to nothing, however much it has seen.
//
// The file is a head with the key, and blocks:
//
//	kind     1 byte: the index of a set in Totals.sets, or record
//	length   4 bytes, little endian
//	payload  hashes, of 16 bytes each, or a record as JSON
//	sum      4 bytes: CRC-32C of all blocks up to here, without their sums
//
// A record says that all before it belongs together. Records are numbered; whoever
// keeps an account beside the log, such as a report, names the record that it agrees
// with, and what was written later does not count.
type Log struct {
	totals  *Totals
	key     ariadne.Digest
	begun   bool // the head is written
	sum     uint32
	record  int // the last one
	samples int // that are written
	buf     []byte
}

// head is what a log begins with, before the key.
const head = "ariadne: what a search has seen, 1\n"

// recordBlock is the kind of a record.
const recordBlock = 255

// longest is the greatest length of a payload.
const longest = 1 << 20

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// record is the payload of a record.
type record struct {
	Number  int
	Paths   int
	Steps   int
	Samples []Sample `json:",omitempty"` // since the one before
}

// NewLog begins a log of what t, which is not shared yet, will see. Its first record is
// the one after the given number. The key is over all that tells what a hash stands for.
func NewLog(t *Totals, key ariadne.Digest, after int) *Log {
	for _, s := range t.sets() {
		s.TrackNew()
	}
	return &Log{totals: t, key: key, record: after}
}

// ReadLog enters into t, which is empty, what was seen up to a record, and returns the
// log that goes on from there, which is at offset end of r: what comes after it is to be
// cut off. The error says in one line what is wrong with the log; t is of no use then.
func ReadLog(t *Totals, key ariadne.Digest, r io.Reader, number int) (l *Log, end int64, err error) {
	l = &Log{totals: t, key: key, begun: true}
	if end, err = l.read(r, number); err != nil {
		return nil, 0, err
	}
	for _, s := range t.sets() {
		s.TrackNew()
	}
	t.recent = &space.Set{Bytes: t.combined.Bytes}
	return l, end, nil
}

var errDamaged = errors.New("it is damaged")

// read reads up to a record, and returns where that ends.
func (l *Log) read(r io.Reader, number int) (end int64, err error) {
	first := make([]byte, len(head)+len(l.key))
	if _, err := io.ReadFull(r, first); err != nil || !bytes.HasPrefix(first, []byte(head)) {
		return 0, errors.New("it does not hold what a search has seen")
	}
	if !bytes.Equal(first[len(head):], l.key[:]) {
		return 0, errors.New("it is of another version of Ariadne, or of other programs or rules for protocol states")
	}
	end = int64(len(first))
	sets := l.totals.sets()
	for {
		kind, payload, err := l.block(r)
		if errors.Is(err, io.EOF) {
			return 0, fmt.Errorf("it ends before record %d", number)
		}
		if err != nil {
			return 0, err
		}
		end += int64(len(payload)) + 9
		switch {
		case kind == recordBlock:
			var c record
			if json.Unmarshal(payload, &c) != nil || c.Number <= l.record || c.Number > number {
				return 0, errDamaged
			}
			l.record, l.samples = c.Number, l.samples+len(c.Samples)
			if l.totals.restore(&c); c.Number == number {
				return end, nil
			}
		case int(kind) < len(sets) && len(payload)%16 == 0:
			for p := payload; len(p) > 0; p = p[16:] {
				h := hash.Hash{Hi: binary.LittleEndian.Uint64(p), Lo: binary.LittleEndian.Uint64(p[8:])}
				if sets[kind].Add(h) && sets[kind] == &l.totals.seen && !l.totals.enterLocal(h) {
					return 0, errDamaged
				}
			}
		default:
			return 0, errDamaged
		}
	}
}

// block reads a block. The error is io.EOF when there is none, or not all of it.
func (l *Log) block(r io.Reader) (kind byte, payload []byte, err error) {
	var start [5]byte
	if _, err := io.ReadFull(r, start[:]); err != nil {
		return 0, nil, io.EOF
	}
	n := binary.LittleEndian.Uint32(start[1:])
	if n > longest {
		return 0, nil, errDamaged
	}
	if cap(l.buf) < int(n)+4 {
		l.buf = make([]byte, n+4)
	}
	payload = l.buf[:n+4]
	if _, err := io.ReadFull(r, payload); err != nil {
		return 0, nil, io.EOF
	}
	l.sum = crc32.Update(crc32.Update(l.sum, castagnoli, start[:]), castagnoli, payload[:n])
	if l.sum != binary.LittleEndian.Uint32(payload[n:]) {
		return 0, nil, errDamaged
	}
	return start[0], payload[:n], nil
}

// Account is what goes into a record besides what was seen by then.
type Account struct {
	Record   int // its number
	now      Sample
	samples  []Sample
	reported []hash.Hash
}

// Account begins a record. A caller keeps an account of so many paths, and of reports
// (Totals.Report). It takes this together with its account, under the lock that guards it. Paths
// that have ended and are not in it do not count: a search that goes on from there takes them
// again, or others. Write must follow, before the next Account.
func (l *Log) Account(paths int) *Account {
	a := &Account{Record: l.record + 1, now: l.totals.Now(0, memo.Counts{})}
	a.now.Paths = paths
	l.totals.mu.Lock()
	a.samples = l.totals.samples[l.samples:]
	l.totals.mu.Unlock()
	for len(a.samples) > 0 && a.samples[len(a.samples)-1].Paths > paths {
		a.samples = a.samples[:len(a.samples)-1]
	}
	l.totals.reported.TakeNew(func(all []hash.Hash) error {
		a.reported = append(a.reported, all...)
		return nil
	})
	return a
}

// Write writes the record, and everything seen that is not written yet. That includes everything
// seen on the paths of the account, and maybe more. Nobody who adds to the Totals waits for w
// meanwhile.
func (l *Log) Write(w io.Writer, a *Account) error {
	b := bufio.NewWriterSize(w, 1<<16)
	if !l.begun {
		b.WriteString(head)
		b.Write(l.key[:])
		l.begun = true
	}
	t := l.totals
	for i, s := range t.sets() {
		kind := byte(i)
		if s == &t.reported {
			for all := range slices.Chunk(a.reported, 4096) {
				if err := l.hashes(b, kind, all); err != nil {
					return err
				}
			}
			continue
		}
		if err := s.TakeNew(func(all []hash.Hash) error { return l.hashes(b, kind, all) }); err != nil {
			return err
		}
	}
	r, err := json.Marshal(record{Number: a.Record, Paths: a.now.Paths, Steps: a.now.Steps, Samples: a.samples})
	if err != nil {
		return err
	}
	if err := errors.Join(l.append(b, recordBlock, r), b.Flush()); err != nil {
		return err
	}
	l.record = a.Record
	l.samples += len(a.samples)
	return nil
}

func (l *Log) hashes(w *bufio.Writer, kind byte, all []hash.Hash) error {
	l.buf = l.buf[:0]
	for _, h := range all {
		l.buf = binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(l.buf, h.Hi), h.Lo)
	}
	return l.append(w, kind, l.buf)
}

// append writes a block. An error of w's stays and comes again with Flush.
func (l *Log) append(w *bufio.Writer, kind byte, payload []byte) error {
	start := binary.LittleEndian.AppendUint32([]byte{kind}, uint32(len(payload)))
	l.sum = crc32.Update(crc32.Update(l.sum, castagnoli, start), castagnoli, payload)
	w.Write(start)
	w.Write(payload)
	_, err := w.Write(binary.LittleEndian.AppendUint32(nil, l.sum))
	return err
}
