package ariadne

import (
	"errors"
	"slices"
	"testing"
)

// twenty is a value with more options than a byte has bits.
type twenty [20]int

var twentyOptions = func() (all options[twenty]) {
	for i := range len(twenty{}) {
		number := (i + 7) % len(twenty{}) // those that are announced by a bit stand in any order
		if number >= byBit {
			number = i%(len(twenty{})-byBit) + byBit
		}
		all = append(all, option[twenty]{number, func(v *twenty) bool { return v[number] != 0 },
			func(v *twenty, b []byte) []byte { return appendInt(b, v[number]) }, func(v *twenty, d *decoder) {
				v[number] = d.int()
			}})
	}
	slices.SortStableFunc(all, func(a, b option[twenty]) int { return max(a.number, byBit-1) - max(b.number, byBit-1) })
	return slices.CompactFunc(all, func(a, b option[twenty]) bool { return a.number == b.number })
}()

func (v *twenty) encode() []byte {
	return twentyOptions.append(v, []byte{bit(twentyOptions.more(v) > 0, 0), twentyOptions.bits(v)})
}

func (v *twenty) decode(b []byte) error {
	d := decoder{rest: b}
	more := d.bool()
	twentyOptions.read(v, d.byte(), more, &d)
	return d.end("value")
}

// TestOptions: there may be more options than a byte has bits; each set of them has one encoding,
// and who does not know one says so.
func TestOptions(t *testing.T) {
	if len(twentyOptions) != len(twenty{}) {
		t.Fatalf("%d options", len(twentyOptions))
	}
	seen := map[string]bool{}
	for set := range 1 << len(twenty{}) {
		if set%509 != 0 && set > 1<<10 {
			continue
		}
		var v, got twenty
		for i := range v {
			v[i] = set >> i & 1 * (i + 1)
		}
		b := v.encode()
		if err := got.decode(b); err != nil || got != v {
			t.Fatalf("%v, want %v: %v", got, v, err)
		}
		if seen[string(b)] {
			t.Fatalf("%x stands for two values", b)
		}
		seen[string(b)] = true
		for n := range b {
			if new(twenty).decode(b[:n]) == nil {
				t.Fatalf("%d bytes of %x are enough", n, b)
			}
		}
	}
	for what, bad := range map[string][]byte{
		"twice":       {1, 0, 2, 12, 4, 12, 4},
		"out of turn": {1, 0, 2, 12, 4, 10, 4},
		"not known":   {1, 0, 1, 99, 4},
		"a bit":       {1, 0, 1, 3, 4}, // one that a bit announces
	} {
		if err := new(twenty).decode(bad); !errors.Is(err, errOption) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := new(twenty).decode([]byte{1, 0, 1, 9, 0}); !errors.Is(err, errCanonical) {
		t.Errorf("an option that is not there is announced: %v", err)
	}
}

// TestOptionsHaveNumbers: no two options of a type have the same number, all numbers up to the last
// are given, and those from 8 on stand last, in order.
func TestOptionsHaveNumbers(t *testing.T) {
	numbered(t, inputOptions)
	numbered(t, outputOptions)
}

func numbered[T any](t *testing.T, all options[T]) {
	t.Helper()
	var numbers, late []int
	for i, o := range all {
		numbers = append(numbers, o.number)
		if o.number >= byBit {
			late = append(late, o.number)
		} else if len(late) > 0 {
			t.Errorf("number %d stands behind %d, in place %d", o.number, late[len(late)-1], i)
		}
	}
	if !slices.IsSorted(late) {
		t.Errorf("out of order: %v", late)
	}
	slices.Sort(numbers)
	for i, n := range numbers {
		if n != i {
			t.Fatalf("numbers %v", numbers)
		}
	}
}
