package probe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/ariadne-mc/ariadne/internal/leaf/debuginfo"
)

// A plan says which memory a probe copies while the program is at a site: pieces that are reached
// from registers, or by pointers in earlier pieces. So what the site's expressions need is there
// later, when they are read from the copy (memory).
//
// It is found by reading the site once from a machine in which each word is a symbol: a number that
// stands for where the word is. An address that is read then says from which word it came, and how
// far behind it is.

// piece is memory to be copied.
type piece struct {
	// register is from which the address comes, as DWARF counts them; or, if it is -1, word is the
	// offset of an 8-byte pointer in the earlier piece.
	register, piece, word int
	offset                int64 // from there
	size                  int   // bytes
	at                    int   // where the copy is among all copies, in bytes
}

// Bounds of a plan.
const (
	mostPieces    = 32
	mostPieceSize = 256  // of a text the first bytes
	mostSize      = 2048 // of all pieces
)

// plan has the pieces of a site.
type plan struct {
	pieces []piece
	size   int
}

// symbol is what a number stands for: a register, or a word of a piece.
type symbol struct{ register, piece, word int }

// symbolic is a machine of symbols. It implements debuginfo.Machine.
type symbolic struct {
	plan
	symbols []symbol
	err     error
}

// Symbols are far from each other, so that an offset does not lead from one to the next, and no
// byte of one is 0, at which a text would end. They are positive, as lengths are.
const (
	symbolBase  = 0x4040_4040_4040_4040
	symbolSpace = 1 << 24
)

func (m *symbolic) number(s symbol) uint64 {
	i := slices.Index(m.symbols, s)
	if i < 0 {
		i = len(m.symbols)
		m.symbols = append(m.symbols, s)
	}
	if i >= mostSymbols {
		m.err = errors.New("it reads too much for a probe")
	}
	return numberOf(i)
}

// mostSymbols is how many there can be.
const mostSymbols = 64 * 64

// numberOf is the number of a symbol, by its place: two digits from 0 to 63.
func numberOf(i int) uint64 {
	return symbolBase + uint64(i%64)*symbolSpace + uint64(i/64%64)*symbolSpace<<8
}

// of returns what an address comes from.
func (m *symbolic) of(addr uint64) (s symbol, offset int64, ok bool) {
	digits := (addr - symbolBase + symbolSpace/2) / symbolSpace
	i := int(digits&63 + digits>>8&63*64)
	if i >= len(m.symbols) {
		return s, 0, false
	}
	offset = int64(addr - numberOf(i))
	return m.symbols[i], offset, offset >= -symbolSpace/2 && offset < symbolSpace/2
}

// Register implements debuginfo.Machine.
func (m *symbolic) Register(n int) uint64 { return m.number(symbol{register: n, piece: -1}) }

// errVectors says that probes see no vector registers.
var errVectors = errors.New("a probe cannot read vector registers")

// Vectors implements debuginfo.Machine.
func (m *symbolic) Vectors() (all [16][16]byte, err error) {
	m.err = errVectors
	return all, errVectors
}

// Read implements debuginfo.Machine.
func (m *symbolic) Read(b []byte, addr uint64) error {
	from, offset, ok := m.of(addr)
	if !ok {
		m.err = errors.New("an address is computed in a way that a probe cannot follow")
		return m.err
	}
	size := min(len(b), mostPieceSize)
	k := slices.IndexFunc(m.pieces, func(p piece) bool {
		return p.register == from.register && p.piece == from.piece && p.word == from.word && p.offset == offset
	})
	if k < 0 {
		k = len(m.pieces)
		m.pieces = append(m.pieces, piece{register: from.register, piece: from.piece, word: from.word,
			offset: offset})
	}
	p := &m.pieces[k]
	p.size = max(p.size, size)
	if len(m.pieces) > mostPieces {
		m.err = fmt.Errorf("it needs more than %d pieces of memory", mostPieces)
		return m.err
	}
	for i := 0; i < len(b); i += 8 {
		var word [8]byte
		binary.LittleEndian.PutUint64(word[:], m.number(symbol{-1, k, i}))
		copy(b[i:], word[:])
	}
	if len(b) == textChunk && offset%textChunk == 0 && offset >= mostPieceSize-textChunk {
		b[len(b)-1] = 0 // a text is no longer than a piece
	}
	return nil
}

// textChunk is in which portions texts without a length are read, in bytes.
const textChunk = 64

// join makes one piece of those that follow each other in memory.
func (p *plan) join() {
	for i := range p.pieces {
		q := &p.pieces[i]
		for k := range p.pieces {
			r := &p.pieces[k]
			if r.register == q.register && r.piece == q.piece && r.word == q.word && r.size == textChunk &&
				q.size%textChunk == 0 && r.offset == q.offset+int64(q.size) && q.size < mostPieceSize {
				q.size += r.size
				r.size = 0
			}
		}
	}
}

// planOf returns what a probe copies at a site.
func planOf(s *debuginfo.Site) (plan, error) {
	m := &symbolic{}
	values := s.Read(m, 0)
	if m.err != nil {
		return plan{}, m.err
	}
	if k := slices.Index(values, debuginfo.Unknown); k >= 0 {
		return plan{}, fmt.Errorf("the compiler has left nothing of field %d there", k+1)
	}
	m.join()
	for i := range m.pieces {
		p := &m.pieces[i]
		p.size = (p.size + 7) / 8 * 8
		p.at = m.size
		m.size += p.size
	}
	if m.size > mostSize {
		return plan{}, fmt.Errorf("it needs %d bytes of memory, and a probe copies %d at most", m.size, mostSize)
	}
	return m.plan, nil
}

// memory is what a probe has copied. It implements debuginfo.Machine.
type memory struct {
	registers [16]uint64 // as DWARF counts them
	plan      *plan
	copied    []byte
	lengths   []uint16 // of pieces: how much of each could be read
	addrs     []uint64 // where each piece was
	missed    bool     // something was asked for that was not copied
}

// newMemory finds out where the pieces were.
func newMemory(p *plan, registers [16]uint64, copied []byte, lengths []uint16) *memory {
	m := &memory{registers: registers, plan: p, copied: copied, lengths: lengths}
	for i := range p.pieces {
		q := &p.pieces[i]
		base := uint64(0)
		switch {
		case q.register >= 0:
			base = registers[q.register]
		case q.word+8 <= int(lengths[q.piece]):
			base = binary.LittleEndian.Uint64(copied[p.pieces[q.piece].at+q.word:])
		}
		m.addrs = append(m.addrs, base+uint64(q.offset))
	}
	return m
}

// Register implements debuginfo.Machine.
func (m *memory) Register(n int) uint64 { return m.registers[n] }

// Vectors implements debuginfo.Machine.
func (m *memory) Vectors() (all [16][16]byte, err error) { return all, errVectors }

// errNotCopied says that a probe did not copy some memory.
var errNotCopied = errors.New("the probe did not copy it")

// Read implements debuginfo.Machine.
func (m *memory) Read(b []byte, addr uint64) error {
	for i := range m.plan.pieces {
		from := addr - m.addrs[i]
		if from < uint64(m.lengths[i]) && from+uint64(len(b)) <= uint64(m.lengths[i]) {
			copy(b, m.copied[uint64(m.plan.pieces[i].at)+from:])
			return nil
		}
	}
	m.missed = true
	return errNotCopied
}
