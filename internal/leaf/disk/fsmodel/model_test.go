package fsmodel

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestCounts(t *testing.T) {
	for _, c := range []struct {
		length, want int
		also         []Kind
	}{
		{1, 73, nil}, {2, 7081, nil}, {1, 79, []Kind{Symlink}}, {2, 8374, []Kind{Symlink}},
		{1, 73, []Kind{WriteBack}}, {2, 7592, []Kind{WriteBack}}, {1, 120, Also()}, {2, 20280, Also()},
	} {
		all := Workloads(c.length, c.also...)
		if len(all) != c.want {
			t.Errorf("%d workloads of %d operations and %v, and should be %d (docs/guides/disk.md)", len(all), c.length,
				c.also, c.want)
		}
		seen := map[string]bool{}
		for _, calls := range all {
			text := fmt.Sprint(calls)
			if seen[text] || !calls[len(calls)-1].Persists() {
				t.Fatalf("%s is there twice, or does not end in a persistence call", text)
			}
			seen[text] = true
		}
	}
}

// history makes calls, each of which does what it must.
func history(t *testing.T, calls ...Call) *History {
	t.Helper()
	var kinds []Kind
	for _, c := range calls {
		kinds = append(kinds, c.Kind)
	}
	h := NewHistory(Start(kinds...))
	for _, c := range calls {
		_, ok := h.Last().Do(c)
		if wrong := h.Add(c, ok); wrong != "" {
			t.Fatal(wrong)
		}
	}
	return h
}

// TestWithoutLoss: every state since the last sync is accepted by every rule, and the last one by
// all.
func TestWithoutLoss(t *testing.T) {
	all := Workloads(2, Also()...)
	for i := 0; i < len(all); i += 37 {
		h := history(t, all[i]...)
		for _, r := range []Rule{InOrder, Names, Posix} {
			n := len(h.Calls)
			for begun := range n + 1 {
				for ended := max(begun-1, 0); ended <= begun; ended++ {
					if wrong := h.Check(r, ended, begun, h.states[begun].Entries()); wrong != "" {
						t.Fatalf("%v: %s: the files after call %d: %s", all[i], r, begun, wrong)
					}
				}
			}
		}
	}
}

// TestStronger: what a stronger rule accepts, a weaker one accepts. The files are those of any
// state of the same workload, so some are accepted and some are not.
func TestStronger(t *testing.T) {
	all := Workloads(2, Also()...)
	accepted, rejected := 0, 0
	for i := 0; i < len(all); i += 31 {
		h := history(t, all[i]...)
		n := len(h.Calls)
		for j := range n + 1 {
			found := h.states[j].Entries()
			for ended := range n + 1 {
				if ended < j {
					continue
				}
				var wrong [3]string
				for k, r := range []Rule{InOrder, Names, Posix} {
					wrong[k] = h.Check(r, ended, ended, found)
				}
				if wrong[0] == "" {
					accepted++
				} else {
					rejected++
				}
				for k := range 2 {
					if wrong[k] == "" && wrong[k+1] != "" {
						t.Fatalf("%v: after %d calls, the files after call %d: rule %d accepts, and %d: %s", all[i], ended, j, k, k+1, wrong[k+1])
					}
				}
			}
		}
	}
	if accepted < 500 || rejected < 500 {
		t.Errorf("%d accepted, %d rejected: the test says little", accepted, rejected)
	}
}

// edit changes a list of files.
type edit func([]Entry) []Entry

func without(path string) edit {
	return func(found []Entry) []Entry {
		return slices.DeleteFunc(found, func(e Entry) bool {
			return e.Path == path || strings.HasPrefix(e.Path, path+"/")
		})
	}
}

func with(e Entry) edit {
	return func(found []Entry) []Entry { return append(without(e.Path)(found), e) }
}

// attr gives a file an attribute, or takes it away for "".
func attr(path, name, value string) edit {
	return func(found []Entry) []Entry {
		at := slices.IndexFunc(found, func(e Entry) bool { return e.Path == path })
		found[at].Attrs = maps.Clone(found[at].Attrs)
		if value == "" {
			delete(found[at].Attrs, name)
		} else {
			found[at].Attrs[name] = value
		}
		return found
	}
}

// regular is a file with an inode of its own.
func regular(path string, size int64, fill string) Entry {
	return Entry{Path: path, Ino: 100, Size: size, Data: []byte(strings.Repeat(fill, int(size)))[:len(fill)*int(size)]}
}

// TestRules lists files that each rule accepts or rejects, by hand.
func TestRules(t *testing.T) {
	creat := Call{Kind: Creat, Path: "A/new"}
	overwrite := Call{Kind: Write, Path: "A/foo", Offset: 0, Length: 6000, Byte: 'x'}
	longer := Call{Kind: Write, Path: "B/bar", Offset: 100, Length: 1000, Byte: 'e'}
	syncWrite := Call{Kind: SyncWrite, Path: "B/bar", Offset: 0, Length: 50, Byte: 'y'}
	rename := Call{Kind: Rename, Path: "A/foo", To: "B/bar"}
	symlink := Call{Kind: Symlink, Path: "A/new", Text: "foo"}
	longest := Call{Kind: Fallocate, Path: "B/bar", Offset: 1000, Length: 1000}
	punch := Call{Kind: PunchHole, Path: "B/bar", Offset: 0, Length: 50}
	set := Call{Kind: Setxattr, Path: "A/foo", Text: "user.a", Length: 3, Byte: 'x'}
	remove := Call{Kind: Removexattr, Path: "A/foo", Text: "user.a"}
	for _, c := range []struct {
		name  string
		calls []Call
		edit  edit
		// rejects are the words of the rules that reject: o, n, p.
		rejects string
	}{
		{"nothing is lost", []Call{creat}, nil, ""},
		{"a new name is lost", []Call{creat}, without("A/new"), ""},
		{"a new name is lost after fsync of the file", []Call{creat, {Kind: Fsync, Path: "A/new"}}, without("A/new"),
			"on"},
		{"after fsync of the directory", []Call{creat, {Kind: Fsync, Path: "A"}}, without("A/new"), "on"},
		{"after fsync of both", []Call{creat, {Kind: Fsync, Path: "A/new"}, {Kind: Fsync, Path: "A"}}, without("A/new"),
			"onp"},
		{"after sync", []Call{creat, {Kind: Sync}}, without("A/new"), "onp"},
		{"an old name is lost", []Call{creat}, without("A/foo"), "onp"},
		{"a directory is lost", []Call{creat}, without("A"), "onp"},
		{"a file comes from nowhere", []Call{creat}, with(regular("A/other", 0, "")), "onp"},
		{"old bytes before a sync", []Call{overwrite}, with(regular("A/foo", 6000, "a")), ""},
		{"old bytes after fdatasync", []Call{overwrite, {Kind: Fdatasync, Path: "A/foo"}},
			with(regular("A/foo", 6000, "a")), "onp"},
		{"old bytes after fsync of another file", []Call{overwrite, {Kind: Fsync, Path: "B/bar"}},
			with(regular("A/foo", 6000, "a")), ""},
		{"new bytes", []Call{overwrite}, with(regular("A/foo", 6000, "x")), ""},
		{"other bytes", []Call{overwrite}, with(regular("A/foo", 6000, "y")), "onp"},
		{"zeros in the place of old bytes", []Call{overwrite}, with(regular("A/foo", 6000, "\x00")), "onp"},
		{"zeros where a file grew", []Call{longer},
			with(Entry{Path: "B/bar", Ino: 100, Size: 1100, Data: []byte(strings.Repeat("b", 100))}), ""},
		{"a size in between, at no end of a block", []Call{longer},
			with(Entry{Path: "B/bar", Ino: 100, Size: 700, Data: []byte(strings.Repeat("b", 100))}), "onp"},
		{"a size in between, at the end of a block", []Call{longer},
			with(Entry{Path: "B/bar", Ino: 100, Size: 512, Data: []byte(strings.Repeat("b", 100))}), ""},
		{"O_SYNC does not make an earlier size durable", []Call{longer, syncWrite},
			with(Entry{Path: "B/bar", Ino: 100, Size: 100,
				Data: []byte(strings.Repeat("y", 50) + strings.Repeat("b", 50))}), ""},
		{"O_SYNC makes its own bytes durable", []Call{longer, syncWrite},
			with(Entry{Path: "B/bar", Ino: 100, Size: 100, Data: []byte(strings.Repeat("b", 100))}), "onp"},
		{"O_SYNC makes its own size durable",
			[]Call{{Kind: SyncWrite, Path: "B/bar", Offset: 100, Length: 50, Byte: 'y'}},
			with(Entry{Path: "B/bar", Ino: 100, Size: 100, Data: []byte(strings.Repeat("b", 100))}), "onp"},
		{"a rename over a file leaves neither", []Call{rename}, func(f []Entry) []Entry {
			return without("A/foo")(without("B/bar")(f))
		}, "on"},
		{"a rename leaves both", []Call{{Kind: Rename, Path: "A/foo", To: "A/new"}}, with(regular("A/foo", 6000, "a")),
			"o"},
		{"a directory is a file", []Call{creat}, func(f []Entry) []Entry {
			return with(regular("B", 0, ""))(without("B")(f))
		}, "onp"},
		{"a symbolic link is lost", []Call{symlink}, without("A/new"), ""},
		{"a symbolic link is lost after fsync of its directory", []Call{symlink, {Kind: Fsync, Path: "A"}},
			without("A/new"), "on"},
		{"a symbolic link is lost after sync", []Call{symlink, {Kind: Sync}}, without("A/new"), "onp"},
		{"a symbolic link leads elsewhere", []Call{symlink}, with(Entry{Path: "A/new", Ino: 100, Link: "fo"}), "onp"},
		{"a symbolic link is a file", []Call{symlink}, with(regular("A/new", 0, "")), "onp"},
		{"fsync of a symbolic link is of its file", []Call{symlink, overwrite, {Kind: Fsync, Path: "A/new"}},
			with(regular("A/foo", 6000, "a")), "onp"},
		{"a size of fallocate is lost", []Call{longest}, with(regular("B/bar", 100, "b")), ""},
		{"a size of fallocate is lost after fdatasync", []Call{longest, {Kind: Fdatasync, Path: "B/bar"}},
			with(regular("B/bar", 100, "b")), "onp"},
		{"other bytes where fallocate has made room", []Call{longest}, with(regular("B/bar", 2000, "b")), "onp"},
		{"a hole is lost", []Call{punch}, with(regular("B/bar", 100, "b")), ""},
		{"a hole is lost after fdatasync", []Call{punch, {Kind: Fdatasync, Path: "B/bar"}},
			with(regular("B/bar", 100, "b")), "onp"},
		{"a hole is too large", []Call{punch}, with(regular("B/bar", 100, "\x00")), "onp"},
		{"an attribute is lost", []Call{set}, attr("A/foo", "user.a", strings.Repeat("a", 10)), ""},
		{"an attribute is lost after fdatasync", []Call{set, {Kind: Fdatasync, Path: "A/foo"}},
			attr("A/foo", "user.a", strings.Repeat("a", 10)), ""},
		{"an attribute is lost after fsync", []Call{set, {Kind: Fsync, Path: "A/foo"}},
			attr("A/foo", "user.a", strings.Repeat("a", 10)), "onp"},
		{"an attribute has neither value", []Call{set}, attr("A/foo", "user.a", "xx"), "onp"},
		{"an attribute that changes is missing", []Call{set}, attr("A/foo", "user.a", ""), "on"},
		{"an attribute is missing", []Call{creat, {Kind: Setxattr, Path: "A", Text: "user.a"}},
			attr("A/foo", "user.a", ""), "onp"},
		{"another attribute is there", []Call{set}, attr("A/foo", "user.b", "x"), "onp"},
		{"a removed attribute is there", []Call{remove}, attr("A/foo", "user.a", strings.Repeat("a", 10)), ""},
		{"a removed attribute is there after fsync", []Call{remove, {Kind: Fsync, Path: "A/foo"}},
			attr("A/foo", "user.a", strings.Repeat("a", 10)), "onp"},
		{"an attribute of a directory is missing",
			[]Call{{Kind: Setxattr, Path: "A", Text: "user.a", Length: 3, Byte: 'x'},
				{Kind: Sync}}, attr("A", "user.a", ""), "onp"},
		{"a file cannot be read", []Call{creat}, with(Entry{Path: "A/foo", Odd: "input/output error"}), "onp"},
	} {
		h := history(t, c.calls...)
		for k, r := range []Rule{InOrder, Names, Posix} {
			found := h.Last().Entries()
			if c.edit != nil {
				found = c.edit(found)
			}
			wrong := h.Check(r, len(c.calls), len(c.calls), found)
			if want := strings.ContainsRune(c.rejects, rune("onp"[k])); (wrong != "") != want {
				t.Errorf("%s, rule %s: %q, and should be rejected: %v", c.name, r, wrong, want)
			}
		}
	}
}

// TestStable: with mount options that make calls durable, what ended is there.
func TestStable(t *testing.T) {
	creat := Call{Kind: Creat, Path: "A/new"}
	write := Call{Kind: Write, Path: "A/foo", Length: 6000, Byte: 'x'}
	for _, c := range []struct {
		names, writes bool
		call          Call
		edit          edit
		rejected      bool
	}{
		{false, false, creat, without("A/new"), false},
		{true, false, creat, without("A/new"), true},
		{true, false, write, with(regular("A/foo", 6000, "a")), false},
		{true, true, write, with(regular("A/foo", 6000, "a")), true},
	} {
		h := NewHistory(Start())
		h.StableNames, h.StableWrites = c.names, c.writes
		h.Add(c.call, true)
		found := c.edit(h.Last().Entries())
		if wrong := h.Check(InOrder, 1, 1, found); (wrong != "") != c.rejected {
			t.Errorf("%s, durable names %v and writes %v: %q", c.call, c.names, c.writes, wrong)
		}
		if wrong := h.Check(InOrder, 0, 1, found); wrong != "" {
			t.Errorf("%s has not ended: %s", c.call, wrong)
		}
	}
}

// TestCallsThatDiffer: a call that fails or succeeds where it must not is reported.
func TestCallsThatDiffer(t *testing.T) {
	for _, c := range []struct {
		call      Call
		succeeded bool
		want      string
	}{
		{Call{Kind: Creat, Path: "A/foo"}, true, "creat A/foo succeeds, and must fail"},
		{Call{Kind: Creat, Path: "A/new"}, false, "creat A/new fails, and must succeed"},
		{Call{Kind: Rmdir, Path: "A"}, false, ""},
	} {
		if got := NewHistory(Start()).Add(c.call, c.succeeded); got != c.want {
			t.Errorf("%q, and should be %q", got, c.want)
		}
	}
}

// TestDiffer: a tree differs from other files.
func TestDiffer(t *testing.T) {
	start := Start()
	if wrong := start.Differ(start.Entries()); wrong != "" {
		t.Error(wrong)
	}
	if start.Differ(without("B/bar")(start.Entries())) == "" {
		t.Error("a missing file is no difference")
	}
}
