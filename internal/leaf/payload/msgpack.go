package payload

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// readMsgpack reads values of MessagePack that are the whole of b, one behind the other, as Go's
// RPCs send them. At least one is a map whose keys are text: other bytes may look like MessagePack,
// too.
func readMsgpack(b []byte) (line string, ok bool) {
	d := msgpack{rest: b}
	var values []string
	for len(d.rest) > 0 && len(values) < 100 {
		v := d.value(0)
		if d.failed {
			return "", false
		}
		values = append(values, v)
	}
	return strings.Join(values, " "), d.named && len(d.rest) == 0
}

// msgpack is what is left of bytes that are read.
type msgpack struct {
	rest   []byte
	failed bool
	named  bool // a map with keys of text was read
}

// take takes off n bytes.
func (d *msgpack) take(n int) (b []byte) {
	if n < 0 || n > len(d.rest) || d.failed {
		d.failed = true
		return nil
	}
	b, d.rest = d.rest[:n], d.rest[n:]
	return b
}

// number takes off a number of n bytes.
func (d *msgpack) number(n int) (v uint64) {
	b := d.take(n)
	if d.failed {
		return 0
	}
	var whole [8]byte
	copy(whole[8-n:], b)
	return binary.BigEndian.Uint64(whole[:])
}

// size is a length in n bytes.
func (d *msgpack) size(n int) int { return int(d.number(n)) }

// value takes off one value (https://github.com/msgpack/msgpack/blob/master/spec.md).
func (d *msgpack) value(depth int) string {
	first := d.take(1)
	if d.failed || depth > deepest {
		d.failed = true
		return ""
	}
	switch c := first[0]; {
	case c < 0x80:
		return strconv.Itoa(int(c))
	case c < 0x90:
		return d.mapOf(int(c&0x0f), depth)
	case c < 0xa0:
		return d.list(int(c&0x0f), depth)
	case c < 0xc0:
		return d.text(int(c & 0x1f))
	case c >= 0xe0:
		return strconv.Itoa(int(int8(c)))
	case c == 0xc0:
		return "nil"
	case c == 0xc2:
		return "false"
	case c == 0xc3:
		return "true"
	case 0xc4 <= c && c <= 0xc6:
		return d.text(d.size(1 << (c - 0xc4)))
	case 0xc7 <= c && c <= 0xc9:
		return d.extension(d.size(1 << (c - 0xc7)))
	case c == 0xca:
		return fmt.Sprint(math.Float32frombits(uint32(d.number(4))))
	case c == 0xcb:
		return fmt.Sprint(math.Float64frombits(d.number(8)))
	case 0xcc <= c && c <= 0xcf:
		return strconv.FormatUint(d.number(1<<(c-0xcc)), 10)
	case 0xd0 <= c && c <= 0xd3:
		n := 1 << (c - 0xd0)
		shift := 64 - 8*n
		return strconv.FormatInt(int64(d.number(n)<<shift)>>shift, 10)
	case 0xd4 <= c && c <= 0xd8:
		return d.extension(1 << (c - 0xd4))
	case 0xd9 <= c && c <= 0xdb:
		return d.text(d.size(1 << (c - 0xd9)))
	case c == 0xdc || c == 0xdd:
		return d.list(d.size(2<<(c-0xdc)), depth)
	case c == 0xde || c == 0xdf:
		return d.mapOf(d.size(2<<(c-0xde)), depth)
	}
	d.failed = true // 0xc1 is never used
	return ""
}

// text takes off a text or other bytes.
func (d *msgpack) text(n int) string {
	b := d.take(n)
	if len(b) == 0 || isText(b) {
		return strconv.Quote(string(b))
	}
	return Hex(b)
}

// extension takes off a value of a type that the program knows.
func (d *msgpack) extension(n int) string {
	kind := d.take(1)
	b := d.take(n)
	if d.failed {
		return ""
	}
	return fmt.Sprintf("type %d %s", int8(kind[0]), Hex(b))
}

func (d *msgpack) list(n, depth int) string {
	var all []string
	for i := 0; i < n && !d.failed; i++ {
		all = append(all, d.value(depth+1))
	}
	return "[" + strings.Join(all, ", ") + "]"
}

func (d *msgpack) mapOf(n, depth int) string {
	var all []string
	for i := 0; i < n && !d.failed; i++ {
		key := d.value(depth + 1)
		if name, err := strconv.Unquote(key); err == nil && name != "" {
			d.named, key = true, name
		}
		all = append(all, key+": "+d.value(depth+1))
	}
	return "{" + strings.Join(all, ", ") + "}"
}
