package gdb

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	for _, c := range []struct{ in, want, answer, err string }{
		{"$qC#b4", "qC", "+", ""},
		{"+\x03+$m10,4#2e", "m10,4", "+", ""},
		{"$}\x03}\x04#01", "#$", "+", ""},
		{"$#00", "", "+", ""},
		{"$qC#b5$qC#b4", "qC", "-+", ""},
		{"$qC#zz$qC#b4", "qC", "-+", ""},
		{"", "", "", "EOF"},
		{"$qC", "", "", "unexpected EOF"},
		{"$qC#b", "", "", "unexpected EOF"},
		{"$a}", "", "", "unexpected EOF"},
		{"GET /", "", "", "want a packet of gdb's, not the byte 0x47"},
		{"$" + strings.Repeat("a", Most+1), "", "", "a packet has more than 16384 bytes"},
	} {
		var out bytes.Buffer
		text, err := NewConn(strings.NewReader(c.in), &out).Read()
		said := ""
		if err != nil {
			said = err.Error()
		}
		if text != c.want || out.String() != c.answer || said != c.err {
			t.Errorf("%.40q: %q, %q, %v, want %q, %q, %q", c.in, text, out.String(), err, c.want, c.answer, c.err)
		}
	}
}

// TestTrusted: once no side confirms, nothing is answered, and a wrong sum is an error.
func TestTrusted(t *testing.T) {
	var out bytes.Buffer
	c := NewConn(strings.NewReader("$qC#b4$qC#b5"), &out)
	c.Trusted = true
	if text, err := c.Read(); text != "qC" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := c.Read(); !errors.Is(err, errSum) || out.Len() > 0 {
		t.Errorf("a wrong sum: %v, answered %q", err, &out)
	}
}

// FuzzPacket: whatever comes, reading ends; and what is read is written so that it is read again.
func FuzzPacket(f *testing.F) {
	for _, in := range []string{"$qC#b4", "$}\x03#80", "+$#00", "$a#61$b", "$a*\x20#00"} {
		f.Add([]byte(in))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		c := NewConn(bytes.NewReader(in), io.Discard)
		for {
			text, err := c.Read()
			if err != nil {
				return
			}
			var out bytes.Buffer
			if err := NewConn(strings.NewReader(""), &out).Write(text); err != nil {
				t.Fatal(err)
			}
			if again, err := NewConn(&out, io.Discard).Read(); err != nil || again != text {
				t.Fatalf("%q is read again as %q, %v", text, again, err)
			}
		}
	})
}
