// Package hash has the hashes of searches: 128 bits, computed fast, and good as long as the process
// lives. An ariadne.Digest names a value for good.
//
// Invariant: the same values have the same hash on every machine.
package hash

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
)

// Hash stands for a value in memory. Two different values of n have the same one with a probability
// of about n²/2^129.
type Hash struct{ Hi, Lo uint64 }

// Plus is the hash of a pair whose halves are never exchanged.
func (h Hash) Plus(g Hash) Hash { return Of(h.Hi, h.Lo, g.Hi^bits.RotateLeft64(g.Lo, 32)) }

// Less orders hashes.
func (h Hash) Less(g Hash) bool { return h.Hi < g.Hi || h.Hi == g.Hi && h.Lo < g.Lo }

// Add and Sub count modulo 2^64 in each half, so that what was added can be taken
// out again in any order.
func (h *Hash) Add(g Hash) { h.Hi, h.Lo = h.Hi+g.Hi, h.Lo+g.Lo }

// Sub takes out what Add has added.
func (h *Hash) Sub(g Hash) { h.Hi, h.Lo = h.Hi-g.Hi, h.Lo-g.Lo }

// Of hashes three numbers: two folded products, as wyhash has them, with
// different keys for the two halves.
func Of(a, b, c uint64) Hash {
	return Hash{
		Hi: fold(fold(a^0xa0761d6478bd642f, b^0xe7037ed1a0b428db), c^0x8ebc6af09c88c6e3),
		Lo: fold(fold(a^0x589965cc75374cc3, b^0x1d8e4e27c47d124f), c^0x9e3779b97f4a7c15),
	}
}

func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// OfText hashes a text.
func OfText(s string) Hash {
	d := sha256.Sum256([]byte(s))
	return Hash{binary.LittleEndian.Uint64(d[:]), binary.LittleEndian.Uint64(d[8:])}
}
