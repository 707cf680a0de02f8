package payload

import (
	"encoding/binary"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// The operation that has replaced all others, and the flag of a message that ends with a checksum.
const (
	opMsg    = 2013
	checksum = 1
)

// readMongo reads a message of MongoDB's wire protocol (OP_MSG): a document, and perhaps sequences
// of further ones.
func readMongo(b []byte) (line string, ok bool) {
	const head = 16 // length, number, that of the request, operation
	if len(b) < head+5 || int(binary.LittleEndian.Uint32(b)) != len(b) || binary.LittleEndian.Uint32(b[12:]) != opMsg {
		return "", false
	}
	flags := binary.LittleEndian.Uint32(b[head:])
	b = b[head+4:]
	if flags&checksum != 0 {
		if len(b) < 4 {
			return "", false
		}
		b = b[:len(b)-4]
	}
	var words []string
	for len(b) > 0 {
		kind := b[0]
		b = b[1:]
		if kind == 1 { // a sequence: its length, its name, documents
			if len(b) < 4 || int(binary.LittleEndian.Uint32(b)) > len(b) || int(binary.LittleEndian.Uint32(b)) < 5 {
				return "", false
			}
			section := b[4:binary.LittleEndian.Uint32(b)]
			b = b[4+len(section):]
			name, rest, found := strings.Cut(string(section), "\x00")
			if !found {
				return "", false
			}
			words, section = append(words, name), []byte(rest)
			for len(section) > 0 {
				text, size := document(section)
				if size == 0 {
					return "", false
				}
				words, section = append(words, text), section[size:]
			}
			continue
		}
		text, size := document(b)
		if kind != 0 || size == 0 {
			return "", false
		}
		words, b = append(words, text), b[size:]
	}
	return strings.Join(words, " "), len(words) > 0
}

// document reads a document of BSON, and returns how many bytes it takes; 0: there is none.
func document(b []byte) (text string, size int) {
	if len(b) < 5 {
		return "", 0
	}
	n := int(binary.LittleEndian.Uint32(b))
	if n < 5 || n > len(b) {
		return "", 0
	}
	raw := bson.Raw(b[:n])
	if raw.Validate() != nil {
		return "", 0
	}
	return raw.String(), n
}
