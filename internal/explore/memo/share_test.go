package memo_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	_ "github.com/ariadne-mc/ariadne/internal/testing/draws"

	"pgregory.net/rapid"
)

// cells is a disk of a few bits.
type cells [5]bool

func (c cells) Rest() ariadne.Digest { return sha256.Sum256([]byte("rest")) }

func (c cells) At(l ariadne.Look) ariadne.Digest {
	return sha256.Sum256(fmt.Append(nil, c[l.Path[0]-'0']))
}

// reader is a machine that was left with a disk by its first input. Each further one reads some
// cells, one after the other, by what it has read before, and may write one.
type reader struct {
	seed   int
	boots  cells // what it was left with
	now    cells
	on     bool
	past   [32]byte // what it has been given and has read
	hidden bool     // it does not tell of one cell
}

func (r *reader) Apply(in ariadne.Input) (ariadne.Output, error) {
	out := ariadne.Output{Calls: 1, Left: ariadne.Left{Clock: in.At, Deadline: ariadne.Never}}
	if !r.on {
		r.on = true
		for i := range r.boots {
			r.boots[i] = in.Message.Data[0]>>i&1 != 0
		}
		r.now = r.boots
		out.Content, out.Disks = sha256.Sum256(fmt.Append(nil, r.boots)), r.boots
		out.Digest = out.Sum(uint64(in.Message.Data[0]))
		return out, nil
	}
	out.Looks = []ariadne.Look{}
	r.past = sha256.Sum256(fmt.Append(r.past[:], r.seed, in.Message.Data))
	for range r.past[0] % 3 {
		cell := int(r.past[1]) % len(r.now)
		if !r.hidden || cell != 0 {
			out.Looks = append(out.Looks, ariadne.Look{Kind: ariadne.LookData, Path: fmt.Sprint(cell)})
		}
		r.past = sha256.Sum256(fmt.Append(r.past[:], r.now[cell]))
	}
	if r.past[2]%2 == 0 {
		r.now[int(r.past[3])%len(r.now)] = r.past[4]%2 == 0
	}
	out.Logs = []ariadne.LogLine{{At: in.At, Text: fmt.Sprintf("%x", r.past[:4])}}
	out.Digest = out.Sum(1)
	return out, nil
}

func (r *reader) Close() error { return nil }

func (r *reader) Freeze() (memo.Frozen, error) { c := *r; return frozenReader{&c}, nil }

func (r *reader) RecordCalls(bool) {}

func (r *reader) Ahead(bool) {}

type frozenReader struct{ *reader }

func (f frozenReader) Thaw() (memo.Freezable, error) { c := *f.reader; return &c, nil }
func (f frozenReader) Drop() error                   { return nil }
func (f frozenReader) Bytes() int64                  { return 1 }

// given is a message with one byte.
func given(at int, b byte) world.Input {
	return world.Input{Kind: ariadne.Deliver, At: ariadne.Time(at) * 1e6,
		Packet: world.NewPacket(&ariadne.Message{From: 1, Data: []byte{b}})}
}

// TestLend: what is lent is what would have been executed, and less is executed. A node that does
// not tell of all that it has looked at is found out by an audit.
func TestLend(t *testing.T) {
	lent, mismatches := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		seed, hidden := rapid.IntRange(0, 1000).Draw(rt, "seed"), rapid.Bool().Draw(rt, "hidden")
		audit := 0.0
		if hidden {
			audit = 1
		}
		m := open(t, memo.Options{})
		boot := func() (memo.Freezable, error) { return &reader{seed: seed, hidden: hidden}, nil }
		x := memo.NewExecutor(m, []memo.Boot{boot, boot},
			memo.Limits{Checkpoints: rapid.IntRange(0, 30).Draw(rt, "checkpoints"), Audit: audit})
		x.OnMismatch = func(*memo.Mismatch) {}
		defer x.Close()
		made := map[string]bool{}
		for range rapid.IntRange(1, 30).Draw(rt, "paths") {
			alone, _ := boot()
			l, path := m.Root(0), ""
			for i := range rapid.IntRange(1, 6).Draw(rt, "steps") {
				b := byte(rapid.IntRange(0, 1).Draw(rt, "input"))
				if i == 0 {
					b = byte(rapid.IntRange(0, 31).Draw(rt, "disk"))
				}
				in := given(i, b)
				path += fmt.Sprint(b, " ")
				tr, err := x.Transition(l, in)
				if m := (*memo.Mismatch)(nil); errors.As(err, &m) && hidden {
					break
				} else if err != nil {
					rt.Fatal(err)
				}
				want, _ := alone.Apply(in.Input())
				if !hidden &&
					(tr.Output.Digest != want.Digest || tr.Output.Logs != nil && tr.Output.Logs[0] != want.Logs[0]) {
					rt.Fatalf("after %s it says %+v, and %+v when it is executed", path, tr.Output, want)
				}
				made[path] = true
				l = tr.To
			}
		}
		c := x.Counts()
		if mismatches += c.Mismatches; c.Mismatches > 0 && !hidden {
			rt.Errorf("%d mismatches", c.Mismatches)
		}
		// One that is executed for a state that has borrowed may be of no use to it.
		if lent += c.Lent; !hidden && c.Lent+c.Executed < len(made) {
			rt.Errorf("%d lent and %d executed of %d", c.Lent, c.Executed, len(made))
		}
	})
	if lent == 0 || mismatches == 0 {
		t.Errorf("%d lent, %d mismatches of nodes that do not tell of all", lent, mismatches)
	}
}
