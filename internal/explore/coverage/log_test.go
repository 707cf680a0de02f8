package coverage_test

import (
	"bytes"
	"io"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/coverage"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/memo/memotest"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/judge/expose"
	"github.com/ariadne-mc/ariadne/internal/judge/property"
)

// walk takes random walks of a small system, of the indices from..to-1.
func walk(t *testing.T, totals *coverage.Totals, from, to int) {
	t.Helper()
	programs := func() []worldtest.Program {
		return []worldtest.Program{&worldtest.Chaos{Nodes: 3}, &worldtest.Chaos{Nodes: 3}, &counter{}}
	}
	y := world.NewSystem(world.Rules{Latency: time.Millisecond}, worldtest.Nodes(programs()...))
	m, err := memo.Open(y, memo.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x := memo.NewExecutor(m, (&memotest.Instances{Programs: programs}).Boot(), memo.Limits{Checkpoints: 10})
	defer x.Close()
	meter := totals.Meter()
	shown := space.New(y, m, x)
	shown.Shows = expose.Rules{{Line: regexp.MustCompile(`count (\d+)`)}}
	e := &search.Exploration{Space: shown, Explorer: &strategy.Walks{Seed: 1, Index: from}, Watch: meter.Watch,
		Bounds: space.Bounds{Depth: 20}, Seen: &space.Set{Bytes: 1}, Checks: func() []property.Check { return nil }}
	n := from
	e.Ended = func(p *space.Path, _ string, _ *ariadne.Violation) bool {
		totals.Report(coverage.NameOf(p.Last().By.To))
		if totals.Path(p) {
			totals.Sample(time.Duration(n), x.Counts())
		}
		n++
		return n < to
	}
	if _, err := e.Run(); err != nil {
		t.Fatal(err)
	}
	meter.Done()
}

// seen is all that totals can tell.
func seen(t *coverage.Totals) []any {
	s := t.Now(0, memo.Counts{})
	return []any{s, t.StatesDigest(), t.Locals(), len(t.Samples())}
}

func write(t *testing.T, totals *coverage.Totals, l *coverage.Log, to io.Writer) int {
	t.Helper()
	a := l.Account(totals.Now(0, memo.Counts{}).Paths)
	if err := l.Write(to, a); err != nil {
		t.Fatal(err)
	}
	return a.Record
}

// TestLog: what was seen in parts, each of which reads what the one before has written,
// is what is seen in one go.
func TestLog(t *testing.T) {
	whole := coverage.NewTotals(3, 0)
	walk(t, whole, 0, 90)
	key := ariadne.Digest{1}

	var file bytes.Buffer
	first := coverage.NewTotals(3, 0)
	l := coverage.NewLog(first, key, 0)
	walk(t, first, 0, 10)
	write(t, first, l, &file)
	walk(t, first, 10, 30)
	number := write(t, first, l, &file)
	then := seen(first)
	walk(t, first, 30, 50) // which comes to nothing
	write(t, first, l, &file)
	for part := range 3 {
		totals := coverage.NewTotals(3, 0)
		l, end, err := coverage.ReadLog(totals, key, bytes.NewReader(file.Bytes()), number)
		if err != nil {
			t.Fatal(err)
		}
		file.Truncate(int(end))
		if got := seen(totals); !reflect.DeepEqual(got, then) {
			t.Errorf("part %d: read %v, want %v", part, got, then)
		}
		walk(t, totals, 30+20*part, 50+20*part)
		number = write(t, totals, l, &file)
		then = seen(totals)
		if part < 2 {
			continue
		}
		if got, want := then[:3], seen(whole)[:3]; !reflect.DeepEqual(got, want) {
			t.Errorf("in parts %v, in one go %v", got, want)
		}
		// The paths of who keeps the account count, and samples up to there.
		samples := len(totals.Samples())
		walk(t, totals, 0, 90)
		a := l.Account(95)
		if err := l.Write(&file, a); err != nil {
			t.Fatal(err)
		}
		read := coverage.NewTotals(3, 0)
		if _, _, err := coverage.ReadLog(read, key, bytes.NewReader(file.Bytes()), a.Record); err != nil {
			t.Fatal(err)
		}
		if n := len(read.Samples()); read.Now(0, memo.Counts{}).Paths != 95 || n <= samples ||
			read.Samples()[n-1].Paths > 95 {
			t.Errorf("%v, %d samples", read.Now(0, memo.Counts{}), n)
		}
		write(t, totals, l, &file)
		before := file.Len()
		samples = len(totals.Samples())
		walk(t, totals, 0, 90)
		write(t, totals, l, &file)
		if grown := file.Len() - before; grown > 100+200*(len(totals.Samples())-samples) {
			t.Errorf("nothing new was seen, and %d bytes were written", grown)
		}
	}
}

// TestLogIsDamaged: nothing that is wrong with a log is taken for what was seen.
func TestLogIsDamaged(t *testing.T) {
	var file bytes.Buffer
	key := ariadne.Digest{1}
	totals := coverage.NewTotals(3, 0)
	l := coverage.NewLog(totals, key, 7)
	walk(t, totals, 0, 3)
	if n := write(t, totals, l, &file); n != 8 {
		t.Errorf("record %d", n)
	}
	want, end := seen(totals), file.Len()
	walk(t, totals, 3, 6)
	write(t, totals, l, &file)
	good := file.Bytes()
	read := func(b []byte, key ariadne.Digest, number int) ([]any, error) {
		totals := coverage.NewTotals(3, 0)
		_, _, err := coverage.ReadLog(totals, key, bytes.NewReader(b), number)
		return seen(totals), err
	}
	for n := range good {
		got, err := read(good[:n], key, 8)
		if whole := n >= end; whole != (err == nil) || whole && !reflect.DeepEqual(got, want) {
			t.Fatalf("cut to %d bytes of %d, of which %d are needed: %v", n, len(good), end, err)
		}
	}
	for i := range end {
		bad := bytes.Clone(good)
		bad[i] ^= 1 << (i % 8)
		if _, err := read(bad, key, 8); err == nil {
			t.Fatalf("byte %d is wrong, and nothing was noticed", i)
		}
	}
	for _, c := range []struct {
		log    []byte
		key    ariadne.Digest
		number int
		want   string
	}{
		{good, ariadne.Digest{2}, 8, "another version"},
		{good, key, 10, "ends before record 10"},
		{good, key, 6, "damaged"}, // a later one is no answer
		{[]byte("something else, which is longer than a head with its key is, so that it can be one"), key, 8, "does not hold"},
		{nil, key, 8, "does not hold"},
	} {
		if _, err := read(c.log, c.key, c.number); err == nil || !strings.Contains(err.Error(), c.want) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want: %s", err, c.want)
		}
	}
}
