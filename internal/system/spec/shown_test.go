package spec_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

func TestShown(t *testing.T) {
	dir := t.TempDir()
	touch := func(name string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	touch("old")
	s := &spec.Spec{Dir: dir, Listings: &spec.Listings{}, Hidden: []string{filepath.Join(dir, "out")}}
	newer := filepath.Join(dir, "new")
	if touch("gone"); s.Newer(newer) {
		t.Error("newer than a listing that there is not")
	}
	s.Shown(dir)
	for _, name := range []string{"new", "out", "x~"} {
		touch(name)
	}
	for name, want := range map[string]bool{"old": true, "gone": true, "new": false, "out": false, "x~": false} {
		if got := s.Shown(dir)(name); got != want {
			t.Errorf("%s is shown: %v", name, got)
		}
		if got := s.Newer(filepath.Join(dir, name)); got != (name == "new") {
			t.Errorf("%s is newer: %v", name, got)
		}
	}
	if !s.Shown(t.TempDir())("x~") {
		t.Error("hidden, and not beside the spec")
	}
	s.Listings = nil
	for name, want := range map[string]bool{"~": true, "a~": false, ".a.swp": false, ".swp": true, ".a.swx": false,
		"a.swp": true, ".#a": false,
		"#a#": false, "#": true, "##": true, "4913": false, "4914": true} {
		if got := s.Shown(dir)(name); got != want {
			t.Errorf("%s is shown: %v", name, got)
		}
	}
}
