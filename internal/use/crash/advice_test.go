//go:build linux

package crash

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
)

// TestEdits compares with a recursion over all ways to edit.
func TestEdits(t *testing.T) {
	var dumb func(a, b string) int
	dumb = func(a, b string) int {
		if a == "" || b == "" {
			return len(a) + len(b)
		}
		d := dumb(a[1:], b[1:])
		if a[0] != b[0] {
			d++
		}
		return min(d, 1+dumb(a[1:], b), 1+dumb(a, b[1:]))
	}
	words := []string{""}
	for from := 0; len(words) < 121; from++ { // up to four letters of three
		for _, c := range "abc" {
			words = append(words, words[from]+string(c))
		}
	}
	for _, a := range words {
		for _, b := range words {
			if got, want := edits([]byte(a), []byte(b)), dumb(a, b); got != want {
				t.Fatalf("%q, %q: %d edits, want %d", a, b, got, want)
			}
		}
	}
	long := make([]byte, mostEdits)
	other := append([]byte("x"), long...)
	other[len(other)-1] = 'y'
	if got := edits(long, other); got < 2 || got > 3 {
		t.Errorf("%d edits of long ones", got)
	}
}

// TestAdvice: what is lost is found without a checker, and what a kill leaves is usual.
func TestAdvice(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"f": "old\n", "said": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name string
		sync bool
		read []string
		want string
	}{
		{"files", false, nil, "said zeros 5, f empty 4, f zeros 4"},
		{"synced", true, nil, "said zeros 5"},
		{"a reader", false, []string{"/bin/sh", "-c", "cat f; exit 1"}, "output other 4"},
		{"a reader of what is synced", true, []string{"cat", "f"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			all, err := Judge(t.Context(), Options{
				Dir: dir, Log: replace(c.sync), Read: c.read, Models: []disk.Model{disk.Prefix, disk.Any}, Images: 100,
				Workers: 2, Timeout: 10 * time.Second, Temp: t.TempDir(),
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range all {
				if r.Failed > 0 || r.Passed > 0 || !r.Advised || r.Model != "any" && r.Far > 0 {
					t.Errorf("%+v", *r)
				}
			}
			got := ""
			for i, a := range all[2].Advice {
				if i > 0 {
					got += ", "
				}
				got += fmt.Sprintf("%s %s %d", a.File, a.Found, a.Distance)
			}
			if got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
