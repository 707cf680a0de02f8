package history

import (
	"bytes"
	"testing"
)

// FuzzRESP: a value that is read has at least one byte and no more than there are, and is the same
// when more bytes follow.
func FuzzRESP(f *testing.F) {
	for _, text := range []string{"+OK\r\n", ":12\r\n", "$3\r\nabc\r\n", "$-1\r\n", "*2\r\n$1\r\na\r\n:1\r\n",
		"*-1\r\n", "-ERR x\r\n", "*1000000000\r\n", "$99999999999\r\n", "*1\r\n*1\r\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) == 0 {
			return // callers ask when there is something
		}
		_, n, err := parseRESP(b, 0)
		if err != nil || n == 0 {
			return // no value, or not all of one
		}
		if n < 0 || n > len(b) {
			t.Fatalf("%q: %d of %d bytes", b, n, len(b))
		}
		if _, m, err := parseRESP(append(bytes.Clone(b), "+more\r\n"...), 0); err != nil || m != n {
			t.Errorf("%q: %d bytes, with more behind %d, %v", b, n, m, err)
		}
	})
}
