package work_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/explore/work"

	"pgregory.net/rapid"
)

// TestResultEncoding: a Result that is decoded is the same one, and two that say the same have one
// encoding.
func TestResultEncoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := distinct(rapid.SliceOfN(rapid.Custom(results), 1, 4).Draw(t, "results"))
		data, err := sum(all).Encode()
		if err != nil {
			t.Fatal(err)
		}
		r, err := work.DecodeResult(data)
		if err != nil {
			t.Fatalf("%v: %s", err, data)
		}
		if again, err := r.Encode(); err != nil || !bytes.Equal(again, data) {
			t.Fatalf("%v: encoded again\n%s\nnot\n%s", err, again, data)
		}
		if other, err := sum(rapid.Permutation(all).Draw(t, "order")).Encode(); err != nil ||
			!bytes.Equal(other, data) {
			t.Fatalf("%v: in another order\n%s\nnot\n%s", err, other, data)
		}
		if !strings.Contains(string(data), `\ufffd`) && !strings.Contains(string(data), "\ufffd") &&
			!reflect.DeepEqual(r, sum(all)) {
			t.Fatalf("decoded\n%+v\nnot\n%+v", r, sum(all))
		}
	})
}

func TestResultsRefused(t *testing.T) {
	good, err := (&work.Result{Source: work.Source{Worker: 1, Serial: 2},
		Ended: []work.Span{{From: 1, To: 3}}}).Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := work.DecodeResult(good); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ was, is, want string }{
		{"result 1", "result 2", `of version "2"`},
		{"result", "work", "no ariadne result"},
		{`"source"`, `"sourced"`, "unknown field"},
		{`"to":3`, `"to":9999999999999`, "cannot be"},
		{`"to":3`, `"to":0`, "nobody has encoded"},
		{"}]", "}] ", "nobody has encoded"},
		{"\n{", "\n{{", "damaged"},
	} {
		if _, err := work.DecodeResult(bytes.Replace(good, []byte(c.was), []byte(c.is), 1)); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%q for %q: %v, not %q", c.is, c.was, err, c.want)
		}
	}
	if _, err := work.DecodeResult(append(good, "{}"...)); err == nil {
		t.Error("more than a result was taken")
	}
}

func FuzzDecodeResult(f *testing.F) {
	rapid.Check(f, func(t *rapid.T) {
		data, err := rapid.Custom(results).Draw(t, "result").Encode()
		if err != nil {
			t.Fatal(err)
		}
		f.Add(data)
	})
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := work.DecodeResult(data)
		if err != nil {
			return
		}
		if again, err := r.Encode(); err != nil || !bytes.Equal(again, data) {
			t.Errorf("%v: %s", err, again)
		}
	})
}

// TestWorkEncoding: a Work that is decoded is the same one.
func TestWorkEncoding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.Custom(works).Draw(t, "work")
		for i, name := range w.Begins {
			w.Begins[i] = strings.ToValidUTF8(name, "?")
		}
		data, err := w.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := work.Decode(data); err != nil || !reflect.DeepEqual(got, w) {
			t.Fatalf("%v: %+v, not %+v", err, got, w)
		}
	})
}

func FuzzDecode(f *testing.F) {
	rapid.Check(f, func(t *rapid.T) {
		data, err := rapid.Custom(works).Draw(t, "work").Encode()
		if err != nil {
			t.Fatal(err)
		}
		f.Add(data)
	})
	f.Fuzz(func(t *testing.T, data []byte) {
		w, err := work.Decode(data)
		if err != nil {
			return
		}
		if again, err := w.Encode(); err != nil || !bytes.Equal(again, data) {
			t.Errorf("%v: %s", err, again)
		}
	})
}

// TestWithout: what is left of work and what was done are the work.
func TestWithout(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.Custom(works).Draw(t, "work")
		w.Executions.To += 9
		r := &work.Result{}
		for range rapid.IntRange(0, 4).Draw(t, "spans") {
			from := rapid.IntRange(w.Executions.From, w.Executions.To).Draw(t, "from")
			r.Add(&work.Result{Ended: []work.Span{{From: from, To: min(from+2, w.Executions.To)}}})
		}
		covered := map[int]int{}
		for _, s := range r.Ended {
			for i := s.From; i < s.To; i++ {
				covered[i]++
			}
		}
		for _, part := range w.Without(r.Ended) {
			for i := part.Executions.From; i < part.Executions.To; i++ {
				covered[i]++
			}
		}
		for i := w.Executions.From; i < w.Executions.To; i++ {
			if covered[i] != 1 || len(covered) != w.Executions.To-w.Executions.From {
				t.Fatalf("%v ended of %v, %v left: %v", r.Ended, w.Executions, w.Without(r.Ended), covered)
			}
		}
	})
}
