//go:build linux

package bolt_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/memo/bolt"
	"github.com/ariadne-mc/ariadne/internal/explore/memo/memotest"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
)

func programs() []worldtest.Program {
	return []worldtest.Program{&worldtest.Chaos{Nodes: 2, Seed: 1}, &worldtest.Chaos{Nodes: 2, Seed: 1}}
}

func system() *world.System {
	return world.NewSystem(world.Rules{Latency: time.Millisecond}, worldtest.Nodes(programs()...))
}

// walk switches node 0 on and gives it messages, and returns the digests of what it did
// and how much of that was executed.
func walk(t *testing.T, m *memo.Memo, messages int) (did []ariadne.Digest, executed int) {
	t.Helper()
	machines := &memotest.Instances{Programs: programs}
	x := memo.NewExecutor(m, machines.Boot(), memo.Limits{})
	l := m.Root(0)
	for i := range messages {
		in := world.Input{Kind: ariadne.Start}
		if i > 0 {
			in = world.Input{Kind: ariadne.Deliver, At: ariadne.Time(i) * 1e6,
				Packet: world.NewPacket(&ariadne.Message{From: 1, Seq: i, Data: []byte{byte(i)}})}
		}
		tr, err := x.Transition(l, in)
		if err != nil {
			t.Fatal(err)
		}
		l = tr.To
		did = append(did, l.StepDigest)
	}
	if err := x.Close(); err != nil {
		t.Fatal(err)
	}
	return did, x.Counts().Executed
}

func TestStoreOutlivesTheMemo(t *testing.T) {
	o := memo.Options{Store: bolt.At(filepath.Join(t.TempDir(), "memo.db")), File: digestOf}
	for i, c := range []struct {
		key      byte
		executed int
		forget   bool
	}{{1, 40, false}, {1, 0, false}, {2, 40, false}, {2, 0, true}, {2, 40, false}} {
		o.Key = ariadne.Digest{c.key}
		m, err := memo.Open(system(), o)
		if err != nil {
			t.Fatal(err)
		}
		if err := m.Depend([]ariadne.File{{Path: "/a"}}); err != nil {
			t.Fatal(err)
		}
		if _, n := walk(t, m, 40); n != c.executed {
			t.Errorf("%d: %d executed, want %d", i, n, c.executed)
		}
		if c.forget {
			m.Forget()
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func digestOf(f ariadne.File) (ariadne.Digest, error) {
	return ariadne.Digest{byte(f.Use), byte(len(f.Path))}, nil
}

// TestStoreOfOtherFiles: what nodes have learnt of a file that has changed since is forgotten with
// all that rests on it.
func TestStoreOfOtherFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "memo.db")
	content := byte(1)
	o := memo.Options{Store: bolt.At(path), File: func(ariadne.File) (ariadne.Digest, error) {
		return ariadne.Digest{content}, nil
	}}
	for i, executed := range []int{40, 0, 40, 0} {
		if i == 2 {
			content = 2
		}
		m, err := memo.Open(system(), o)
		if err != nil {
			t.Fatal(err)
		}
		if stale := m.Stale(); (len(stale) > 0) != (i == 2) {
			t.Errorf("%d: stale are %v", i, stale)
		}
		if err := m.Depend([]ariadne.File{{Path: "/a", Use: ariadne.FileList}}); err != nil {
			t.Fatal(err)
		}
		if _, n := walk(t, m, 40); n != executed {
			t.Errorf("%d: %d executed, want %d", i, n, executed)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestStoreInUse(t *testing.T) {
	o := memo.Options{Store: bolt.At(filepath.Join(t.TempDir(), "memo.db"))}
	m, err := memo.Open(system(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	_, err = memo.Open(system(), o)
	if !errors.Is(err, bolt.ErrInUse) || !strings.Contains(err.Error(), "memo.db: in use by another check") {
		t.Errorf("err = %v", err)
	}
}

// TestStoreThatIsTooShort: a store that was cut short is made again, and that is said. One whose
// maker was killed while it wrote the first pages has another name, and is none.
func TestStoreThatIsTooShort(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	begin := func() (damaged string, err error) {
		m, err := memo.Open(system(), memo.Options{Store: bolt.At(path)})
		if err != nil {
			return "", err
		}
		damaged = m.Damaged()
		return damaged, m.Close()
	}
	if damaged, err := begin(); err != nil || damaged != "" {
		t.Fatal(damaged, err)
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	page := os.Getpagesize()
	for _, size := range []int{0, 1, 50, 100, page - 1, page, 2 * page, 3 * page, 4*page - 1} {
		if err := os.WriteFile(path, good[:size], 0o666); err != nil {
			t.Fatal(err)
		}
		if damaged, err := begin(); err != nil || damaged == "" {
			t.Errorf("%d bytes: damage %q, %v", size, damaged, err)
		}
		if damaged, err := begin(); err != nil || damaged != "" {
			t.Errorf("%d bytes, once it is made again: damage %q, %v", size, damaged, err)
		}
	}
	for _, left := range [][]byte{nil, good[:50], good[:page], good[:3*page], good, []byte("something else")} {
		if err := errors.Join(os.Remove(path), os.WriteFile(path+".new", left, 0o666)); err != nil {
			t.Fatal(err)
		}
		if damaged, err := begin(); err != nil || damaged != "" {
			t.Errorf("%d bytes were left: damage %q, %v", len(left), damaged, err)
		}
		if _, err := os.Lstat(path + ".new"); err == nil {
			t.Errorf("%d bytes were left, and stay", len(left))
		}
	}
}

// forgetter forgets all but how much it was given.
type forgetter struct {
	worldtest.Idle
	Given int
}

func (f *forgetter) Receive(c *worldtest.Ctx, m ariadne.Message) { f.Given++; c.Log("%d", f.Given) }
func (*forgetter) Forgot() bool                                  { return true }

// TestStateOfSeveralHistories: what follows a state to which two histories lead is found in
// the store by who comes there by the other one.
func TestStateOfSeveralHistories(t *testing.T) {
	all := func() []worldtest.Program { return []worldtest.Program{&forgetter{}, &forgetter{}} }
	y := world.NewSystem(world.Rules{Latency: time.Millisecond}, worldtest.Nodes(all()...))
	o := memo.Options{Store: bolt.At(filepath.Join(t.TempDir(), "memo.db")), File: digestOf}
	message := func(seq int) world.Input {
		return world.Input{Kind: ariadne.Deliver, At: ariadne.Time(seq) * 1e6,
			Packet: world.NewPacket(&ariadne.Message{From: 1, Seq: seq, Data: []byte{byte(seq)}})}
	}
	var ends []ariadne.Digest
	for i, c := range []struct {
		first    string // data of the first message
		executed int
	}{{"one", 4}, {"other", 1}, {"other", 0}} {
		m, err := memo.Open(y, o)
		if err != nil {
			t.Fatal(err)
		}
		x := memo.NewExecutor(m, (&memotest.Instances{Programs: all}).Boot(), memo.Limits{})
		first := message(1)
		first.Packet.Data = []byte(c.first)
		first.Packet = world.NewPacket(&first.Packet.Message)
		l := m.Root(0)
		for _, in := range []world.Input{{Kind: ariadne.Start}, first, message(2), message(3)} {
			tr, err := x.Transition(l, in)
			if err != nil {
				t.Fatal(err)
			}
			l = tr.To
		}
		if n := x.Counts().Executed; n != c.executed {
			t.Errorf("%d: %d executed, want %d", i, n, c.executed)
		}
		ends = append(ends, l.Name)
		if err := errors.Join(x.Close(), m.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if ends[0] != ends[1] || ends[1] != ends[2] {
		t.Errorf("%v", ends)
	}
}
