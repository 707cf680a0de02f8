package ariadne

import "testing"

// TestPlaces: what the name of a place says of its call and file.
func TestPlaces(t *testing.T) {
	for place, want := range map[string][2]string{
		"2/openat/before:journal#1":               {"openat", "journal"},
		"14/write/before#1":                       {"write", ""},
		"6/write/before:/node/data/wal/0-1.wal#2": {"write", "/node/data/wal/0-1.wal"},
		"7/pwrite64/before:/node/a:b#c#3":         {"pwrite64", "/node/a:b#c"},
	} {
		if got := [2]string{CallOf(place), FileOf(place)}; got != want {
			t.Errorf("%s: %q, want %q", place, got, want)
		}
	}
}
