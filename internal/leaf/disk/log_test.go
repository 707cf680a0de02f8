package disk

import (
	"slices"
	"testing"
)

const root = 2

func create(ino uint64, name string) Op {
	return Op{Kind: Create, Ino: ino, Dir: root, Name: name, Links: 1, Attr: Attr{Mode: TypeRegular | 0o644}}
}

func write(ino uint64, offset int64, now, was string, oldSize int64) Op {
	length := int64(len(now))
	return Op{Kind: Write, Ino: ino, Offset: offset, Length: length, New: []byte(now), Old: []byte(was),
		OldSize: oldSize, Size: max(oldSize, offset+length)}
}

func logOf(ops ...Op) (l *Log) {
	for _, op := range ops {
		l = l.Append(op)
	}
	return l
}

func TestWindow(t *testing.T) {
	for name, c := range map[string]struct {
		ops  []Op
		want int
	}{
		"nothing":             {nil, 0},
		"a write":             {[]Op{write(3, 0, "a", "b", 1)}, 1},
		"a synced write":      {[]Op{write(3, 0, "a", "b", 1), {Kind: Fsync, Ino: 3}}, 0},
		"another file synced": {[]Op{write(3, 0, "a", "b", 1), {Kind: Fsync, Ino: 4}}, 2},
		"a new file's name":   {[]Op{create(3, "a"), write(3, 0, "a", "", 0), {Kind: Fsync, Ino: 3}}, 3},
		"its directory, too": {[]Op{create(3, "a"), write(3, 0, "a", "", 0), {Kind: Fsync, Ino: 3},
			{Kind: Fsync, Ino: root}}, 0},
		"the other way about": {[]Op{create(3, "a"), write(3, 0, "a", "", 0), {Kind: Fsync, Ino: root},
			{Kind: Fsync, Ino: 3}}, 0},
		"mode by fdatasync": {[]Op{{Kind: SetAttr, Ino: 3}, {Kind: Fdatasync, Ino: 3}}, 2},
		"mode by fsync":     {[]Op{{Kind: SetAttr, Ino: 3}, {Kind: Fsync, Ino: 3}}, 0},
		"sync_file_range":   {[]Op{write(3, 0, "a", "b", 1), {Kind: SyncRange, Ino: 3}}, 2},
		"sync":              {[]Op{create(3, "a"), {Kind: Sync}, write(3, 0, "a", "", 0)}, 1},
		"a range": {[]Op{write(3, 4, "a", "b", 5),
			{Kind: Fdatasync, Ino: 3, Flags: Ranged, Offset: 4, Length: 1}}, 0},
		"another range": {[]Op{write(3, 4, "a", "b", 5),
			{Kind: Fdatasync, Ino: 3, Flags: Ranged, Offset: 0, Length: 4}}, 2},
		"a sync under way": {[]Op{write(3, 0, "a", "b", 1), {Kind: Submit, Sync: Fsync, Ino: 3, Begun: 1}}, 2},
		"a slow sync": {[]Op{write(3, 0, "a", "b", 1), {Kind: Submit, Sync: Fsync, Ino: 3, Begun: 1},
			{Kind: Fsync, Ino: 3, Begun: 1}}, 0},
		"a write meanwhile": {[]Op{write(3, 0, "a", "b", 1), {Kind: Submit, Sync: Fsync, Ino: 3, Begun: 1},
			write(3, 0, "b", "a", 1), {Kind: Fsync, Ino: 3, Begun: 1}}, 4},
		"it began before the log": {[]Op{write(3, 0, "a", "b", 1), {Kind: Fsync, Ino: 3, Begun: 1}}, 2},
		"of two one has ended": {[]Op{write(3, 0, "a", "b", 1), {Kind: Submit, Sync: Fsync, Ino: 4, Begun: 1},
			{Kind: Submit, Sync: Sync, Begun: 2}, {Kind: Fsync, Ino: 4, Begun: 1}}, 4},
		"rename to where is synced": {[]Op{{Kind: Rename, Ino: 3, Dir: 5, Name: "a", ToDir: 6, ToName: "a"},
			{Kind: Fsync, Ino: 6}}, 0},
	} {
		l := logOf(c.ops...)
		window := 0
		for e := l; e != nil && e.start != e; e = e.prev {
			window++
		}
		if window != c.want || l.Durable() != (c.want == 0) || l.Len() != len(c.ops) || len(l.Ops()) != len(c.ops) {
			t.Errorf("%s: %d operations in the window of %d", name, window, l.Len())
		}
	}
}

// TestLogShares: what is appended to a log is not seen by another one.
func TestLogShares(t *testing.T) {
	base := logOf(create(3, "a"))
	a, b := base.Append(create(4, "b")), base.Append(create(5, "c"))
	inodes := func(l *Log) (all []uint64) {
		for _, op := range l.Ops() {
			all = append(all, op.Ino)
		}
		return all
	}
	if !slices.Equal(inodes(a), []uint64{3, 4}) || !slices.Equal(inodes(b), []uint64{3, 5}) || base.Len() != 1 {
		t.Error(inodes(a), inodes(b), base.Len())
	}
}

func TestParseModel(t *testing.T) {
	for _, name := range []string{"prefix", "ordered", "any", "prefix:512", "ordered:512", "any:512"} {
		if m, err := ParseModel(name); err != nil || m.String() != name {
			t.Errorf("%s: %v, %v", name, m, err)
		}
	}
	for _, name := range []string{"", "Any", "any:", "any:4096", "any:0512", "any:100"} {
		if m, err := ParseModel(name); err == nil {
			t.Errorf("%q is %v", name, m)
		}
	}
}
