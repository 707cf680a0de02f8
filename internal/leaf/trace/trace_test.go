package trace_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/trace"
	_ "github.com/ariadne-mc/ariadne/internal/testing/draws"

	"pgregory.net/rapid"
)

const example = `ariadne trace 4
version 0.1.0
name raftkv
spec ../raftkv.yaml 0000000000000000000000000000000000000000000000000000000000000000
program n1 0 /spec/raftkv 0100000000000000000000000000000000000000000000000000000000000000
program n1 1 "/spec/a b" 0000000000000000000000000000000000000000000000000000000000000000
seed 42
execution 17
latency 1ms
clock-error 0s
delays 2
max-steps 10000
max-time 1m0s
max-calls 5000000
date 2026-11-21T23:50:00Z
#  step          time            digest     calls  msgs lines   action
      1     0.000000000  00000000000000ff       512     1     3 . start n1
      2     1.002003400  0123456789abcdef         7     0     0 U deliver udp n1:5353>n2:5353 #3
file kind "/spec/a b.conf" 0000000000000000000000000000000000000000000000000000000000000000
file code /usr/lib/libc.so.6 0200000000000000000000000000000000000000000000000000000000000000
violation death n2 2 1.002003400 "raftkv exited with status 2: panic: \"x\""
end violation steps 2 digest dd01cfad70755139
`

func exampleTrace() *trace.Trace {
	return &trace.Trace{
		Header: trace.Header{
			Version: "0.1.0", Name: "raftkv", Spec: "../raftkv.yaml", Seed: 42, Execution: 17,
			Programs: []trace.Program{{Node: "n1", Command: 0, Path: "/spec/raftkv", Digest: ariadne.Digest{1}},
				{Node: "n1", Command: 1, Path: "/spec/a b"}},
			Latency: time.Millisecond, Delays: 2, MaxSteps: 10000, MaxTime: time.Minute, MaxCalls: 5000000,
			Date: time.Date(2026, 11, 21, 23, 50, 0, 0, time.UTC),
		},
		Steps: []trace.Step{
			{Index: 1, Digest: 0xff, Calls: 512, Messages: 1, Lines: 3, Action: "start n1"},
			{Index: 2, At: 1002003400, Digest: 0x0123456789abcdef, Calls: 7, Mark: trace.Unreplayable,
				Action: "deliver udp n1:5353>n2:5353 #3"},
		},
		Files: []trace.File{{File: ariadne.File{Path: "/spec/a b.conf", Use: ariadne.FileKind}},
			{File: ariadne.File{Path: "/usr/lib/libc.so.6", Use: ariadne.FileCode}, Digest: ariadne.Digest{2}}},
		End: "violation",
		Violation: &trace.Violation{Kind: "death", Node: "n2", Step: 2, At: 1002003400,
			Message: `raftkv exited with status 2: panic: "x"`},
	}
}

func TestExample(t *testing.T) {
	if got := string(trace.Format(exampleTrace())); got != example {
		t.Errorf("printed:\n%s", got)
	}
	got, err := trace.Parse([]byte(example))
	if err != nil {
		t.Fatal(err)
	}
	if want := exampleTrace(); !reflect.DeepEqual(got, want) {
		t.Errorf("parsed: %+v\nwant:   %+v", got, want)
	}
}

// TestCutShort: a trace that was cut anywhere is none, and the error says where.
func TestCutShort(t *testing.T) {
	for n := range len(example) {
		cut := example[:n]
		want := "cut short"
		if n < len(trace.Magic) {
			want = ""
		}
		if _, err := trace.Parse([]byte(cut)); err == nil || !strings.Contains(err.Error(), want) {
			t.Fatalf("the first %d bytes: %v", n, err)
		}
	}
	lines := strings.SplitAfter(example, "\n")
	cut := strings.Join(lines[:18], "")
	want := "line 19: the trace is cut short after step 2: its last line, which begins with end, is missing"
	if _, err := trace.Parse([]byte(cut)); err == nil || err.Error() != want {
		t.Errorf("without the end: %v", err)
	}
}

// TestChanged: no byte of a trace can change, and no line go, without notice.
func TestChanged(t *testing.T) {
	for i := range len(example) {
		bad := []byte(example)
		bad[i] ^= 1
		if _, err := trace.Parse(bad); err == nil {
			t.Fatalf("byte %d may be %q: %s", i, bad[i], bad)
		}
	}
	lines := strings.SplitAfter(example, "\n")
	for i := range len(lines) - 1 {
		bad := strings.Join(slices.Concat(lines[:i], lines[i+1:]), "")
		if _, err := trace.Parse([]byte(bad)); err == nil {
			t.Errorf("line %d may be missing", i+1)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"ariadne trace 4", "ariadne trace 1", `line 1: the trace has format 1, and this version of Ariadne reads format 4: make the trace again`},
		{"ariadne trace 4", "ariadne", `line 1: not a trace: its first line should be "ariadne trace 4"`},
		{"seed 42\n", "", `line 7: want "seed", got "execution"`},
		{"seed 42\n", "seed 42\nseed 43\n", `line 8: want "execution", got "seed"`},
		{"seed 42", "seed -1", `line 7: bad number "-1"`},
		{"seed 42", "seed 42 43", `line 7: unexpected "43"`},
		{"delays 2", "delays", `line 11: too few fields`},
		{"date 2026", "date 26", `line 15: bad date "26-11-21T23:50:00Z"`},
		{"latency 1ms", "latency 1", `line 9: bad duration "1"`},
		{"/spec/raftkv 01", "/spec/raftkv 0x", `line 5: bad digest "0x`},
		{`"/spec/a b"`, `"/spec/a b`, `line 6: bad quoted string: "/spec/a b 00`},
		{"#  step", "# step", `line 16: want "#  step`},
		{"      2     1.0", "      3     1.0", `line 18: step 3 where 2 was expected`},
		{"1.002003400  01", "1.0020034  01", `line 18: bad time "1.0020034": want seconds with nine digits`},
		{"00000000000000ff", "ff", `line 17: bad digest "ff": want 16 hexadecimal digits`},
		{" U deliver", " X deliver", `line 18: bad mark "X": want one of ".UC"`},
		{" . start n1", " .", `line 17: step 1 has no action`},
		{"end violation", `end ""`, `line 22: end without a reason`},
		{"steps 2", "steps 3", `line 22: the trace has 2 steps, but its end says 3`},
		{"name raftkv", "name raftkw", `line 22: the trace was changed after it was written: its last line has digest `},
		{"end violation", "ending violation", `line 22: bad number "ending"`},
		{"end violation", "violation death n2 2 1.002003400 x\nend violation", `line 22: this line cannot stand here`},
		{"violation death", "      3     1.002003400  0123456789abcdef         7     0     0 U x\nviolation death", `line 21: this line cannot stand here`},
	} {
		bad := strings.Replace(example, c.old, c.new, 1)
		if bad == example {
			t.Fatalf("%q is not in the example", c.old)
		}
		if _, err := trace.Parse([]byte(bad)); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%q for %q: got %v, want %s", c.new, c.old, err, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	body, _, _ := strings.Cut(example, "end violation")
	f.Add([]byte(body))
	f.Add([]byte(strings.Replace(body, "1.002003400", "never", 1)))
	f.Fuzz(func(t *testing.T, b []byte) {
		trace.Parse(b)
		// With an end that fits, what is above it is looked at on its own.
		for steps := range 4 {
			whole := fmt.Appendf(bytes.Clone(b), "end x steps %d digest ", steps)
			sum := sha256.Sum256(whole)
			first, err := trace.Parse(fmt.Appendf(whole, "%x\n", sum[:8]))
			if err != nil {
				continue
			}
			again, err := trace.Parse(trace.Format(first))
			if err != nil || !reflect.DeepEqual(first, again) {
				t.Errorf("%+v\nbecomes %+v, %v", first, again, err)
			}
		}
	})
}

func TestAnyTracePrintsAndParses(t *testing.T) {
	text := rapid.StringMatching(`[ -~\n\té"]{0,12}`)
	count := rapid.IntRange(0, 1e9)
	at := rapid.Map(rapid.Int64Range(0, 1e15), func(n int64) ariadne.Time { return ariadne.Time(n) })
	duration := rapid.Map(rapid.Int64Range(0, 1e15), func(n int64) time.Duration { return time.Duration(n) })
	rapid.Check(t, func(t *rapid.T) {
		want := &trace.Trace{Header: trace.Header{
			Version: text.Draw(t, "version"), Name: text.Draw(t, "name"), Spec: text.Draw(t, "spec"),
			Seed: rapid.Uint64().Draw(t, "seed"), Execution: count.Draw(t, "execution"),
			Latency: duration.Draw(t, "latency"), ClockError: duration.Draw(t, "E"), Delays: count.Draw(t, "delays"),
			MaxDelay: duration.Draw(t, "late"),
			MaxSteps: count.Draw(t, "steps"), MaxTime: duration.Draw(t, "time"), MaxCalls: count.Draw(t, "calls"),
			Date: time.Unix(0, int64(at.Draw(t, "date"))).UTC(), Processor: text.Draw(t, "processor"),
			Fine: rapid.Bool().Draw(t, "fine"), Stronger: rapid.Bool().Draw(t, "stronger"),
		}}
		for range rapid.IntRange(0, 3).Draw(t, "programs") {
			want.Programs = append(want.Programs,
				trace.Program{Node: text.Draw(t, "node"), Command: count.Draw(t, "command"),
					Path: text.Draw(t, "path")})
		}
		for i := range rapid.IntRange(0, 5).Draw(t, "n") {
			want.Steps = append(want.Steps, trace.Step{
				Index: i + 1, At: at.Draw(t, "at"), Digest: rapid.Uint64().Draw(t, "digest"),
				Calls:    count.Draw(t, "calls"),
				Messages: count.Draw(t, "messages"), Lines: count.Draw(t, "lines"),
				Mark:   trace.Mark(rapid.IntRange(0, 2).Draw(t, "mark")),
				Action: rapid.StringMatching(`[!-~][ -~]{0,20}`).Draw(t, "action"),
			})
		}
		want.End = "x" + text.Draw(t, "end")
		if rapid.Bool().Draw(t, "violated") {
			want.Violation = &trace.Violation{Kind: text.Draw(t, "kind"), Node: text.Draw(t, "node"),
				Step: count.Draw(t, "step"), At: at.Draw(t, "at"), Message: text.Draw(t, "message")}
		}
		got, err := trace.Parse(trace.Format(want))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v, %v", got, err)
		}
	})
}

func TestCalls(t *testing.T) {
	record := rapid.Custom(func(t *rapid.T) ariadne.CallRecord {
		return ariadne.CallRecord{TID: rapid.Int().Draw(t, "tid"), NR: rapid.Int().Draw(t, "nr"),
			Result: rapid.Int64().Draw(t, "result"), Hash: rapid.Uint64().Draw(t, "hash")}
	})
	rapid.Check(t, func(t *rapid.T) {
		steps := rapid.SliceOf(rapid.SliceOf(record)).Draw(t, "steps")
		var file bytes.Buffer
		w, err := trace.NewCallWriter(&file)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range steps {
			if err := w.Step(s); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		r, err := trace.NewCallReader(&file)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range steps {
			got, err := r.Step()
			if err != nil || !slices.Equal(got, want) || got == nil {
				t.Fatalf("step %d: got %v, %v", i, got, err)
			}
		}
		if _, err := r.Step(); err != io.EOF {
			t.Fatalf("after the last step: %v", err)
		}
	})
}

func FuzzCalls(f *testing.F) {
	var file bytes.Buffer
	w, _ := trace.NewCallWriter(&file)
	w.Step([]ariadne.CallRecord{{TID: 1, NR: 2, Result: -3, Hash: 4}})
	w.Close()
	f.Add(file.Bytes())
	f.Add(file.Bytes()[:20])
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := trace.NewCallReader(bytes.NewReader(b))
		for i := 0; err == nil && i < 100; i++ {
			_, err = r.Step()
		}
	})
}

func TestDamagedCalls(t *testing.T) {
	var file bytes.Buffer
	w, _ := trace.NewCallWriter(&file)
	w.Step([]ariadne.CallRecord{{TID: 1}, {TID: 2}})
	w.Close()
	if _, err := trace.NewCallReader(strings.NewReader("something else")); err == nil {
		t.Error("another file was accepted")
	}
	r, err := trace.NewCallReader(bytes.NewReader(file.Bytes()[:file.Len()-8]))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Step(); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("cut short: %v", err)
	}
}
