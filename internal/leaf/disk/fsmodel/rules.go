package fsmodel

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Rule is what a file system promises of names that were not synced.
type Rule string

// The rules, strongest first.
const (
	// InOrder is a file system whose changes of names reach the disk in order, so that the names
	// are those after one of the calls. A sync of a file includes its names. ext3, ext4 and XFS do
	// so.
	InOrder Rule = "in order"
	// Names is a file system in which a sync of a file includes its names, and other names change
	// in any order. btrfs does so.
	Names Rule = "names"
	// Posix is a file system in which a name is durable after a sync of its directory and a sync of
	// the file, and in which a name that changes may be missing: no change of names is atomic. A
	// directory that was moved has a durable name after a sync of everything. ext2 does so.
	Posix Rule = "posix"
)

// Check says what is wrong with the files that a recovery has brought back, or returns "". By the
// loss, the first ended calls had ended, and the first begun had begun.
func (h *History) Check(r Rule, ended, begun int, found []Entry) (wrong string) {
	for _, e := range found {
		if e.Odd != "" {
			return fmt.Sprintf("%s: %s", e.Path, e.Odd)
		}
	}
	if r == InOrder {
		return h.checkInOrder(ended, begun, found)
	}
	return h.checkNames(r, ended, begun, found)
}

// Differ says how files differ from those of a tree, or returns "".
func (t *Tree) Differ(found []Entry) string {
	h := NewHistory(t)
	return h.checkInOrder(0, 0, found)
}

// checkInOrder looks for one state whose names are those that were found.
func (h *History) checkInOrder(ended, begun int, found []Entry) string {
	floor := 0
	for _, call := range h.named {
		if call < ended {
			floor = call + 1
		}
	}
	for _, s := range h.syncs {
		switch {
		case s.call >= ended:
		case s.all:
			floor = max(floor, s.call+1)
		case s.data:
			floor = max(floor, h.sized[s.call+1][s.in])
		default:
			floor = max(floor, h.touched[s.call+1][s.in])
		}
	}
	var first string
	for j := begun; j >= floor; j-- {
		match, wrong := h.states[j].match(found)
		if wrong == "" {
			if wrong = h.contents(InOrder, match, ended, begun, found); wrong == "" {
				return ""
			}
		}
		if first == "" || j == floor {
			first = wrong
		}
	}
	if begun > floor {
		return fmt.Sprintf("the files are those after none of the calls %d to %d: after call %d, %s", floor, begun, floor, first)
	}
	return first
}

// match finds the inode of each entry, if the names are exactly those of the tree.
func (t *Tree) match(found []Entry) (match []Inode, wrong string) {
	paths := t.Paths()
	missing := maps.Clone(paths)
	numbers := map[uint64]Inode{}
	inodes := map[Inode]uint64{}
	for _, e := range found {
		in, ok := paths[e.Path]
		delete(missing, e.Path)
		switch {
		case !ok:
			return nil, fmt.Sprintf("%s should not be there", e.Path)
		case t.files[in].kind() != e.kind():
			return nil, fmt.Sprintf("%s should be a %s", e.Path, t.files[in].kind())
		case t.files[in].link != e.Link:
			return nil, fmt.Sprintf("%s leads to %s, and should lead to %s", e.Path, e.Link, t.files[in].link)
		}
		if other, ok := numbers[e.Ino]; ok && other != in && !e.Dir {
			return nil, fmt.Sprintf("%s is a link to another file", e.Path)
		}
		if other, ok := inodes[in]; ok && other != e.Ino {
			return nil, fmt.Sprintf("%s is not the same file as its other names", e.Path)
		}
		numbers[e.Ino], inodes[in] = in, e.Ino
		match = append(match, in)
	}
	if len(missing) > 0 {
		return nil, slices.Sorted(maps.Keys(missing))[0] + " is missing"
	}
	return match, ""
}

func kindOf(dir bool, link string) string {
	switch {
	case dir:
		return "directory"
	case link != "":
		return "symbolic link"
	}
	return "regular file"
}

func (f *file) kind() string { return kindOf(f.dir, f.link) }

func (e *Entry) kind() string { return kindOf(e.Dir, e.Link) }

// contents says which file has bytes or attributes that it may not have.
func (h *History) contents(r Rule, match []Inode, ended, begun int, found []Entry) string {
	for i, e := range found {
		if wrong := h.fileIs(r, match[i], ended, begun, e); wrong != "" {
			return fmt.Sprintf("%s %s", e.Path, wrong)
		}
	}
	return ""
}

// fileIs says what is wrong with the bytes and the attributes of a file.
func (h *History) fileIs(r Rule, in Inode, ended, begun int, e Entry) string {
	if e.kind() == kindOf(false, "") {
		if wrong := h.content(in, ended, begun, e); wrong != "" {
			return wrong
		}
	}
	return h.attributes(r, in, ended, begun, e)
}

// attributes says what is wrong with the attributes of a file. Each must have a value that it had
// since the file was synced, or be missing if it was. fdatasync need not make attributes durable.
func (h *History) attributes(r Rule, in Inode, ended, begun int, e Entry) string {
	floor := h.syncedAt(in, ended, func(s synced) bool { return !s.ranged && !s.data })
	names := map[string]bool{}
	for name := range e.Attrs {
		names[name] = true
	}
	for j := floor; j <= begun; j++ {
		if f := h.states[j].files[in]; f != nil {
			for name := range f.attrs {
				names[name] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		is, there := e.Attrs[name]
		had, values := false, map[string]bool{}
		for j := floor; j <= begun; j++ {
			f := h.states[j].files[in]
			if f == nil {
				continue
			}
			value, was := f.attrs[name]
			values[fmt.Sprint(was, value)] = true
			had = had || was == there && value == is
		}
		// The rule Posix knows no change that is atomic.
		if !had && (there || r != Posix || len(values) < 2) {
			if !there {
				return fmt.Sprintf("lacks the attribute %s", name)
			}
			return fmt.Sprintf("has a wrong value of the attribute %s", name)
		}
	}
	return ""
}

// block is in what steps a size may grow, in bytes.
const block = 512

// content says what is wrong with the bytes of a file: each must be one that was there since the
// byte was synced, or zero where the file did not reach so far. The size must be one of those since
// it was synced, or between them at the end of a block.
func (h *History) content(in Inode, ended, begun int, e Entry) string {
	sized := h.syncedAt(in, ended, func(s synced) bool { return !s.ranged })
	var sizes []int64
	for j := sized; j <= begun; j++ {
		if f := h.states[j].files[in]; f != nil {
			sizes = append(sizes, int64(len(f.data)))
		}
	}
	if !slices.Contains(sizes, e.Size) &&
		(e.Size%block != 0 || e.Size < slices.Min(sizes) || e.Size > slices.Max(sizes)) {
		return fmt.Sprintf("has %d bytes, and should have %s", e.Size, either(sizes))
	}
	if least := h.leastSize(in, ended, begun); e.Size < least {
		return fmt.Sprintf("has %d bytes, and should have %d or more", e.Size, least)
	}
	for at := range e.Size {
		var is byte
		if at < int64(len(e.Data)) {
			is = e.Data[at]
		}
		if h.had(in, begun, begun, at, is) { // mostly
			continue
		}
		floor := h.syncedAt(in, ended, func(s synced) bool { return s.lo <= at && at < s.hi })
		if !h.had(in, floor, begun, at, is) {
			return fmt.Sprintf("has a wrong byte at %d: %s", at, h.words(in, floor, begun, at, is))
		}
	}
	return ""
}

// leastSize is how far writes with O_SYNC reach that have ended, if no later call makes the file
// shorter. Such a write does not make the size durable to which an earlier one has extended the
// file.
func (h *History) leastSize(in Inode, ended, begun int) (least int64) {
	for _, s := range h.syncs {
		if !s.ranged || s.in != in || s.call >= ended {
			continue
		}
		size := s.hi
		for j := s.call + 1; j <= begun; j++ {
			if f := h.states[j].files[in]; f != nil {
				size = min(size, int64(len(f.data)))
			}
		}
		least = max(least, size)
	}
	return least
}

// syncedAt is the state that the last sync of a part of an inode has made durable.
func (h *History) syncedAt(in Inode, ended int, part func(synced) bool) (state int) {
	for _, s := range h.syncs {
		if s.call < ended && (s.all || s.in == in && part(s)) {
			state = max(state, s.call+1)
		}
	}
	for h.states[state].files[in] == nil { // before it was made
		state++
	}
	return state
}

// had reports whether a byte of a file was there in a state between two, or may be zero.
func (h *History) had(in Inode, from, to int, at int64, is byte) bool {
	for j := from; j <= to; j++ {
		f := h.states[j].files[in]
		switch {
		case f == nil:
		case at >= int64(len(f.data)):
			if is == 0 {
				return true
			}
		case f.data[at] == is:
			return true
		}
	}
	return false
}

func (h *History) words(in Inode, from, to int, at int64, is byte) string {
	var had []int64
	for j := from; j <= to; j++ {
		if f := h.states[j].files[in]; f != nil && at < int64(len(f.data)) {
			had = append(had, int64(f.data[at]))
		}
	}
	return fmt.Sprintf("%d, and should be %s", is, either(had))
}

// either lists different numbers.
func either(all []int64) string {
	all = slices.Clone(all)
	slices.Sort(all)
	var words []string
	for _, n := range slices.Compact(all) {
		words = append(words, fmt.Sprint(n))
	}
	return strings.Join(words, " or ")
}

// checkNames looks at each name alone: it must stand for what it stood for since it was synced.
func (h *History) checkNames(r Rule, ended, begun int, found []Entry) string {
	floors := h.nameFloors(r, ended)
	byPath := map[string]*Entry{}
	names := map[string]bool{}
	for i := range found {
		byPath[found[i].Path] = &found[i]
		names[found[i].Path] = true
	}
	var paths []map[string]Inode
	for j := 0; j <= begun; j++ {
		paths = append(paths, h.states[j].Paths())
		for p := range paths[j] {
			names[p] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		wrong, changes := "", false
		for j := begun; j >= floors(name); j-- {
			in, there := paths[j][name]
			was, wasThere := paths[begun][name]
			changes = changes || in != was || there != wasThere
			if wrong = h.nameIs(r, in, there, ended, begun, name, byPath[name]); wrong == "" {
				break
			}
		}
		missing := byPath[name] == nil && r == Posix &&
			(changes || name != "" && above(name) != "" && byPath[above(name)] == nil)
		if wrong != "" && !missing {
			return wrong
		}
	}
	return ""
}

// above is the path of the directory of a path.
func above(path string) string { return path[:max(strings.LastIndexByte(path, '/'), 0)] }

// nameIs says how a name differs from an inode, or from none.
func (h *History) nameIs(r Rule, in Inode, there bool, ended, begun int, name string, e *Entry) string {
	switch {
	case !there && e == nil:
		return ""
	case !there:
		return name + " should not be there"
	case e == nil:
		return name + " is missing"
	}
	var f *file // its kind never changes
	for _, t := range h.states {
		if t.files[in] != nil {
			f = t.files[in]
		}
	}
	switch {
	case f.kind() != e.kind():
		return fmt.Sprintf("%s should be a %s", name, f.kind())
	case f.link != e.Link:
		return fmt.Sprintf("%s leads to %s, and should lead to %s", name, e.Link, f.link)
	}
	if wrong := h.fileIs(r, in, ended, begun, *e); wrong != "" {
		return name + " " + wrong
	}
	return ""
}

// nameFloors are the states that syncs of names have made durable.
func (h *History) nameFloors(r Rule, ended int) func(name string) int {
	all := 0
	names := map[string]int{}
	for _, s := range h.syncs {
		if s.call >= ended {
			continue
		}
		if s.all {
			all = s.call + 1
			continue
		}
		state := h.states[s.call+1]
		for p, in := range state.Paths() {
			dir, _ := state.find(above(p))
			switch {
			case r == Posix && dir == s.in && h.durable(in, ended) && !h.moved(in):
				names[p] = max(names[p], s.call+1)
			case r == Names && (in == s.in && !s.data || dir == s.in):
				for ; p != ""; p = above(p) {
					names[p] = max(names[p], s.call+1)
				}
			}
		}
	}
	return func(name string) int { return max(all, names[name]) }
}

// moved reports whether an inode is a directory that was in another one at first.
func (h *History) moved(in Inode) bool {
	first, last := h.states[0].files[in], h.Last().files[in]
	return first != nil && first.dir && first.parent != last.parent
}

// durable reports whether an inode itself was synced, or there from the first.
func (h *History) durable(in Inode, ended int) bool {
	if h.states[0].files[in] != nil {
		return true
	}
	return slices.ContainsFunc(h.syncs, func(s synced) bool {
		return s.call < ended && (s.all || s.in == in) && h.states[s.call+1].files[in] != nil
	})
}
