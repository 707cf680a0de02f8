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

// TestSites: a site is the same for threads, numbers in names and places, and for no others.
func TestSites(t *testing.T) {
	for place, want := range map[string]string{
		"2/openat/before:journal#1":                "openat/before:journal",
		"14/write/before#1":                        "write/before:",
		"6/write/before:/node/data/wal/12-1.wal#2": "write/before:/node/data/wal/0-0.wal",
		"7/fsync:/node/a:b#c#3":                    "fsync:/node/a:b#c",
		"7/accept4#31":                             "accept0:",
	} {
		if got := SiteOf(place); got != want {
			t.Errorf("%s: %q, want %q", place, got, want)
		}
		if !IsAmong([]string{want}, place) ||
			IsAmong([]string{want + "x", "x" + want, want[:len(want)-2] + ":"}, place) {
			t.Errorf("%s: not at %s alone", place, want)
		}
	}
	same, other := "3/write:/node/10.wal#2", "3/write:/node/10.log#2"
	if h := HashSite(1, "12/write:/node/7.wal#1"); h != HashSite(1, same) || h == HashSite(1, other) {
		t.Error("hashes of places at one site differ, or those at two are the same")
	}
	if only := []string{OnFiles}; !IsAmong(only, same) || IsAmong(only, "7/accept4#1") {
		t.Error("calls on files are others")
	}
}
