//go:build linux

package pagefile

import (
	"bytes"
	"os"
	"testing"
)

func pageOf(b byte) []byte { return bytes.Repeat([]byte{b}, PageSize) }

// TestFile: equal pages are stored once, places are used again, and there is a bound. Nothing has a
// name.
func TestFile(t *testing.T) {
	dir := t.TempDir()
	f, err := Open(dir, 3*PageSize)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if names, err := os.ReadDir(dir); err != nil || len(names) > 0 {
		t.Errorf("the directory has %v: %v", names, err)
	}
	var at []int64
	for _, b := range []byte{1, 2, 1, 3} {
		place, ok := f.Store(pageOf(b))
		if !ok {
			t.Fatalf("page %d has no room", b)
		}
		at = append(at, place)
	}
	if at[0] != at[2] || f.Held() != 3 {
		t.Errorf("%d pages are held, at %v", f.Held(), at)
	}
	if _, ok := f.Store(pageOf(4)); ok {
		t.Error("there are more pages than there is room for")
	}
	f.Free(at[0])
	if _, ok := f.Store(pageOf(4)); ok {
		t.Error("a page was given up that is used once more")
	}
	f.Free(at[2])
	place, ok := f.Store(pageOf(4))
	if !ok || place != at[0] {
		t.Errorf("a page lies at %d and not at %d: %v", place, at[0], ok)
	}
	for i, b := range map[int64]byte{place: 4, at[1]: 2, at[3]: 3} {
		got := make([]byte, PageSize)
		if err := f.Load(i, got); err != nil || !bytes.Equal(got, pageOf(b)) {
			t.Errorf("place %d has %d and not %d: %v", i, got[0], b, err)
		}
	}
}
