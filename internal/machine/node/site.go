//go:build linux

package node

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/debuginfo"
	"github.com/ariadne-mc/ariadne/internal/leaf/host/procmaps"
)

// Where in a program a call is made: the function that called into the C library, or into those
// packages of Go that make calls for others. Stacks have no frames to follow, so it is the
// first words on the stack that are addresses behind call instructions there. They may be
// some that an earlier call has left; they are the same in every run.

// siteFrames is how many of those words name a place: many programs have functions of their own
// around each call.
const siteFrames = 2

// siteDepth is how many bytes of the stack are looked through.
const siteDepth = 8192

// siteOf names the place in the program at which th makes its call, as in
// redis-server:rdbSaveRio+0x4f<redis-server:rdbSave+0x1c, without its symbols redis-server+0x5e3f1;
// "" when there is none.
func (n *Node) siteOf(th *thread) string {
	code := codeOf(th)
	var frames []string
	for at := th.tr.SP() &^ 7; at < th.tr.SP()+siteDepth; at += 512 {
		var b [512]byte
		if th.tr.ReadMem(at, b[:]) != 0 {
			break
		}
		for i := 0; i < len(b); i += 8 {
			name := code.site(th, binary.LittleEndian.Uint64(b[i:]))
			if name == "" {
				continue
			}
			if frames = append(frames, name); len(frames) == siteFrames {
				return strings.Join(frames, "<")
			}
		}
	}
	return strings.Join(frames, "<")
}

// whereIs names the program that th runs and the function in which it is, as in
// "syncthing, in crypto/rsa.GenerateKey (/usr/bin/syncthing)".
func (n *Node) whereIs(th *thread) string {
	name := path.Base(th.k.Proc.Exe)
	if th.tr.Refresh() != nil {
		return name
	}
	ip, code := th.tr.IP(), codeIn(th.maps())
	i := slices.IndexFunc(code, func(r codeRange) bool { return r.start <= ip && ip < r.end })
	if i < 0 {
		return name + ", in code that it has made itself"
	}
	r := code[i]
	function, _ := symbolTables.of(th, r.file).find(ip - r.start + r.offset)
	if function == "" {
		return name + ", in " + r.file
	}
	return fmt.Sprintf("%s, in %s (%s)", name, function, r.file)
}

// pointOf is the instruction at which th stands; nil: it is not of a file.
func (n *Node) pointOf(th *thread) *ariadne.CodePoint {
	if th.tr.Refresh() != nil {
		return nil
	}
	ip, code := th.tr.IP(), codeIn(th.maps())
	i := slices.IndexFunc(code, func(r codeRange) bool { return r.start <= ip && ip < r.end })
	if i < 0 {
		return nil
	}
	r := code[i]
	p := &ariadne.CodePoint{Offset: ip - r.start + r.offset}
	p.Program = path.Base(r.file)
	p.Function, _ = symbolTables.of(th, r.file).find(p.Offset)
	p.File, p.Line = sources.of(th, r.file).at(p.Offset)
	return p
}

// codeMap is where a process has mapped program files.
type codeMap []codeRange

type codeRange struct {
	start, end, offset uint64
	file               string
}

// address is where an offset in the file is mapped, if it is.
func (r *codeRange) address(offset uint64) (addr uint64, ok bool) {
	return r.start + offset - r.offset, offset >= r.offset && offset-r.offset < r.end-r.start
}

// codeOf is where th's process has mapped what does not make calls for others.
func codeOf(th *thread) codeMap {
	return slices.DeleteFunc(codeIn(th.maps()), func(r codeRange) bool { return makesCalls(path.Base(r.file)) })
}

// codeIn reads /proc/PID/maps.
func codeIn(maps string) (all codeMap) {
	for m := range procmaps.All(maps) {
		if m.Executable() && strings.HasPrefix(m.Name, "/") {
			all = append(all, codeRange{m.Start, m.End, m.Offset, strings.TrimSuffix(m.Name, " (deleted)")})
		}
	}
	return all
}

// makesCalls reports whether a library makes calls for others.
func makesCalls(name string) bool {
	for _, p := range []string{"libc.", "libc-", "ld-linux", "libpthread", "libstdc++", "libgcc", "libuv.",
		"libevent"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// site names an address behind a call instruction, or returns "".
func (m codeMap) site(th *thread, addr uint64) string {
	r, function, into, ok := m.caller(th, addr)
	switch {
	case !ok || forOthers(function):
		return ""
	case function == "":
		return fmt.Sprintf("%s+%#x", path.Base(r.file), addr-r.start+r.offset)
	}
	return fmt.Sprintf("%s:%s+%#x", path.Base(r.file), function, into)
}

// caller is where an address behind a call instruction is, in which function, and how far in it
// that is; the name is "" where there are no symbols. Not ok: it is no such address.
func (m codeMap) caller(th *thread, addr uint64) (r codeRange, function string, into uint64, ok bool) {
	i := slices.IndexFunc(m, func(r codeRange) bool { return r.start < addr && addr < r.end })
	if i < 0 || !th.behindCall(addr) {
		return r, "", 0, false
	}
	r = m[i]
	function, into = symbolTables.of(th, r.file).find(addr - r.start + r.offset)
	return r, function, into, true
}

// forOthers reports whether a function makes calls for others.
func forOthers(function string) bool {
	return slices.ContainsFunc([]string{"runtime.", "runtime/", "internal/", "syscall.", "os.", "io.", "bufio.", "net.",
		"golang.org/x/sys/", "__libc", "_start"},
		func(p string) bool { return strings.HasPrefix(function, p) })
}

// behindCall reports whether the instruction before addr is a call.
func (th *thread) behindCall(addr uint64) bool {
	var b [7]byte
	if th.tr.ReadMem(addr-7, b[:]) != 0 {
		return false
	}
	if b[2] == 0xe8 {
		return true
	}
	// ff /2, with an operand of 0, 1, 4 or 5 bytes behind its ModRM byte.
	for _, at := range []int{5, 4, 1, 0} {
		if m := b[at+1]; b[at] != 0xff || m>>3&7 != 2 {
			continue
		} else if length, ok := map[byte][2]int{0: {2, 6}, 1: {3, 4}, 2: {6, 7}, 3: {2, 2}}[m>>6]; ok &&
			(7-at == length[0] || 7-at == length[1]) {
			return true
		}
	}
	return false
}

// symbols are the functions of a program file, in order of their offsets in it.
type symbols struct {
	at, end []uint64
	name    []string
}

var symbolTables = programs[symbols]{find: symbolsIn}

// symbolsIn are the functions of a program file.
func symbolsIn(f *elf.File) symbols {
	var s symbols
	type function struct {
		name string
		end  uint64
	}
	found := map[uint64]function{}
	for _, y := range functionsOf(f) {
		if at, ok := offsetOf(f, y.Value); ok && y.Size > 0 && (found[at].name == "" || y.Name < found[at].name) {
			found[at] = function{y.Name, at + y.Size}
		}
	}
	if t := debuginfo.GoTable(f); t != nil {
		for i := range t.Funcs {
			if at, ok := offsetOf(f, t.Funcs[i].Entry); ok {
				found[at] = function{t.Funcs[i].Name, at + t.Funcs[i].End - t.Funcs[i].Entry}
			}
		}
	}
	for at := range found {
		s.at = append(s.at, at)
	}
	slices.Sort(s.at)
	for _, at := range s.at {
		s.name, s.end = append(s.name, found[at].name), append(s.end, found[at].end)
	}
	return s
}

// find is the function at an offset in the file, and how far in it that is.
func (s symbols) find(offset uint64) (name string, into uint64) {
	i := sort.Search(len(s.at), func(i int) bool { return s.at[i] > offset }) - 1
	if i < 0 || offset > s.end[i] {
		return "", 0
	}
	return s.name[i], offset - s.at[i]
}
