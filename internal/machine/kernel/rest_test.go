package kernel

import "testing"

// TestRest: however a buffer is read, what is left keeps at most twice its own size, and all that
// is copied meanwhile is less than twice the buffer.
func TestRest(t *testing.T) {
	for _, step := range []int{1, 7, 4095, 4096} {
		b := make([]byte, 100000)
		for i := range b {
			b[i] = byte(i * 7)
		}
		at, whole, copied := 0, cap(b), 0
		for len(b) > 0 {
			n := min(step, len(b))
			rest := WithoutPrefix(b, n)
			at += n
			if len(rest) > 0 && &rest[0] != &b[n] {
				copied += len(rest)
				whole = cap(rest)
			}
			b = rest
			if len(b) > 0 && (whole > 2*len(b)+1 || b[0] != byte(at*7)) {
				t.Fatalf("in steps of %d: %d bytes keep %d; the first is %d, want %d", step, len(b), whole, b[0],
					byte(at*7))
			}
		}
		if copied > 2*100000 {
			t.Errorf("in steps of %d: %d bytes were copied", step, copied)
		}
	}
}

func TestBehind(t *testing.T) {
	q := [][]byte{{1}, {2}}
	all := q
	if q = WithoutFirst(q); len(q) != 1 || q[0][0] != 2 || all[0] != nil {
		t.Errorf("%v is left of %v", q, all)
	}
	if q = WithoutFirst(q); q != nil {
		t.Errorf("%v is left", q)
	}
}
