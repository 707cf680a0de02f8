package payload

import (
	"bytes"
	stdgob "encoding/gob"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
)

type gobEntry struct {
	Term  int
	Key   string
	Value []byte
	Inner any
}

type gobTree struct {
	Name     string
	Children []*gobTree
	Weights  map[string]float64
	Grid     [2]uint16
	On       bool
	At       time.Time
	Phase    complex128
}

// TestGob: values that Go's own package has encoded, in one stream and in pieces.
func TestGob(t *testing.T) {
	stdgob.Register(gobEntry{})
	stdgob.Register(map[string]int{})
	for _, c := range []struct {
		value any
		want  string
	}{
		{gobEntry{Term: -3, Key: "x y", Value: []byte("v")}, `gobEntry{Term: -3, Key: "x y", Value: "v"}`},
		{gobEntry{Inner: gobEntry{Term: 4, Inner: int64(-5)}}, `gobEntry{Inner: gobEntry{Term: 4, Inner: -5}}`},
		{gobEntry{Inner: map[string]int{"a": 300}}, `gobEntry{Inner: {"a": 300}}`},
		{gobEntry{}, `gobEntry{}`},
		{gobTree{Name: "a", Children: []*gobTree{{Name: "b"}, {On: true}}, Weights: map[string]float64{"w": 0.5},
			Grid: [2]uint16{0, 70}, Phase: 1 + 2i, At: time.Unix(1, 0).UTC()},
			`gobTree{Name: "a", Children: [gobTree{Name: "b", Grid: [0, 0]}, gobTree{Grid: [0, 0], On: true}], ` +
				`Weights: {"w": 0.5}, Grid: [0, 70], At: Time([01`},
		{[]string{"a", ""}, `["a", ""]`},
		{[]int(nil), `[]`},
		{map[int]bool{-7: true}, `{-7: true}`},
		{uint64(1) << 63, `9223372036854775808`},
		{"text", `"text"`},
	} {
		var b bytes.Buffer
		e := stdgob.NewEncoder(&b)
		for range 2 { // the second value comes without its type
			if err := e.Encode(c.value); err != nil {
				t.Fatal(err)
			}
		}
		s := newGobStream()
		whole := s.take(b.Bytes())
		if strings.Count(whole, c.want) != 2 || s.broken || len(s.pending) > 0 {
			t.Errorf("%v is\n%s\nwant twice\n%s", c.value, whole, c.want)
		}
		r, got := newGobStream(), ""
		for rest := b.Bytes(); len(rest) > 0; {
			n := min(1+rand.IntN(9), len(rest))
			got, rest = got+" "+r.take(rest[:n]), rest[n:]
		}
		if strings.Count(got, c.want) != 2 || r.broken || len(r.pending) > 0 {
			t.Errorf("%v in pieces is\n%s\nwant twice\n%s", c.value, got, c.want)
		}
	}
}

// TestReadGob: a connection speaks gob from a message on that describes a type.
func TestReadGob(t *testing.T) {
	var b bytes.Buffer
	e := stdgob.NewEncoder(&b)
	flow := ariadne.Flow{Proto: ariadne.TCP}
	r := NewReader(nil, nil)
	for i, want := range []string{"type gobEntry{Term, Key, Value, Inner} ; gobEntry{Term: 1}", "gobEntry{Term: 2}"} {
		if err := e.Encode(gobEntry{Term: i + 1}); err != nil {
			t.Fatal(err)
		}
		got := r.Read(&ariadne.Message{Flow: flow, Data: bytes.Clone(b.Bytes())})
		if want := (Decoded{gob, want}); got != want {
			t.Errorf("got %v, want %v", got, want)
		}
		b.Reset()
	}
}

// FuzzGob: no input makes it fail, and what it says is bounded by what it was given.
func FuzzGob(f *testing.F) {
	var b bytes.Buffer
	if err := stdgob.NewEncoder(&b).Encode(gobTree{Name: "a", Weights: map[string]float64{"w": 1}}); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes(), uint16(3))
	f.Add([]byte{3, 4, 0, 5}, uint16(1))
	f.Fuzz(func(t *testing.T, b []byte, cut uint16) {
		s := newGobStream()
		n := min(int(cut), len(b))
		_, _ = s.take(b[:n]), s.take(b[n:])
		if len(s.pending) > len(b) {
			t.Errorf("%d bytes are kept of %d", len(s.pending), len(b))
		}
		_, _, _ = beginGob(b)
	})
}
