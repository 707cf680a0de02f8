//go:build linux

package hostfiles

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ariadne-mc/ariadne"

	"golang.org/x/sys/unix"
)

// TestSafeAndLeaked: what was first stays first, and a change is safe where nobody can have read
// it.
func TestSafeAndLeaked(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	look := func(name string) (st unix.Stat_t, err error) {
		err = unix.Lstat(name, &st)
		return st, err
	}
	s := New()
	show := func(name string) *Name {
		st, err := look(path(name))
		if err != nil {
			st = unix.Stat_t{}
		}
		return s.Show(path(name), &st, "")
	}
	files := []string{"kept", "held", "large", "replaced", "gone"}
	for _, name := range files {
		if err := os.WriteFile(path(name), []byte("1"), 0o666); err != nil {
			t.Fatal(err)
		}
		n := show(name)
		s.Opened(n, func() []byte {
			if name == "large" || name == "replaced" {
				return nil
			}
			return []byte("1")
		})
	}
	s.Hold(path("held"))
	none := show("none")
	for _, name := range []string{"kept", "held", "large", "none"} {
		if err := os.WriteFile(path(name), []byte("22"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path("new"), []byte("1"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path("new"), path("replaced")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path("gone")); err != nil {
		t.Fatal(err)
	}
	if again := show("none"); again != none || again.Stat.Mode != 0 {
		t.Errorf("what was missing is now %+v", again)
	}
	if b, _, ok := s.Content(path("kept")); !ok || string(b) != "1" {
		t.Errorf("content %q, %v", b, ok)
	}
	for name, safe := range map[string]bool{"kept": true, "held": false, "large": false, "replaced": true, "gone": true,
		"unknown": false} {
		if got := s.Safe(ariadne.File{Path: path(name), Use: ariadne.FileRead}, look); got != safe {
			t.Errorf("%s: safe %v", name, got)
		}
	}
	if got, want := s.Leaked(look), []string{path("held"), path("large")}; !slices.Equal(got, want) {
		t.Errorf("leaked %q, want %q", got, want)
	}
	first, _ := s.List(dir, []Entry{{Name: "one"}})
	if again, kept := s.List(dir, []Entry{{Name: "two"}}); !kept || !slices.Equal(first, again) {
		t.Errorf("the listing is now %+v", again)
	}
}
