//go:build linux

package check_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/search"
	"github.com/ariadne-mc/ariadne/internal/explore/search/strategy"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
	"github.com/ariadne-mc/ariadne/internal/leaf/disk/disktest"
	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/system/systemtest"
	"github.com/ariadne-mc/ariadne/internal/use/crash"
)

// losses are what losses of power may leave of a program of testdata/syncs.c: files, with how often
// it has said something to others, and promised something, by then.
type losses map[string]bool

// writtenSize is how large the file is that the program finds.
const writtenSize = 8192

// dumbLosses are those that a model that tries everything has at each point of the program.
func dumbLosses(m disk.Model, ops []string) losses {
	const sub = 3
	f := disktest.NewFS()
	inos := []uint64{4} // of the program's files
	f.Files[sub] = &disktest.File{Dir: true}
	f.Files[4] = &disktest.File{Size: writtenSize, Data: bytes.Repeat([]byte{'a'}, writtenSize)}
	place := func(name string) (uint64, string) {
		for _, dir := range []string{"d/", "e/"} { // it has one of these names
			if in, ok := strings.CutPrefix(name, dir); ok {
				return sub, in
			}
		}
		return disktest.Root, name
	}
	key := func(name string) [2]any { dir, base := place(name); return [2]any{dir, base} }
	f.Names[key("d")], f.Names[key("a")] = sub, 4
	before := f.Clone()
	var log []*disk.Op
	acks, promises, mapped := 0, 0, false
	all := losses{}
	look := func() {
		images, _ := disktest.Images(m, before, log, shownFS)
		for i := range images {
			all[fmt.Sprintf("%sacks %d %s", i, acks, strings.Repeat("p", promises))] = true
		}
	}
	do := func(op disk.Op) {
		log = append(log, &op)
		look()
	}
	look()
	letter := byte('A')
	for _, text := range ops {
		var ino uint64
		var at, length int64
		from, to, _ := strings.Cut(text[min(2, len(text)):], ":")
		if n, err := strconv.Atoi(from); err == nil {
			ino = inos[n]
		}
		dir, name := place(from)
		if strings.Contains("wyYvit", text[:1]) {
			fmt.Sscanf(to, "%d:%d", &at, &length)
			n := f.Files[ino]
			op := disk.Op{Kind: disk.Write, Ino: ino, Offset: at, Length: length,
				New: bytes.Repeat([]byte{letter}, int(length)), Old: n.Get(at, at+length), OldSize: n.Size,
				Size: max(n.Size, at+length)}
			n.Put(at, op.New, length)
			n.Size = op.Size
			letter++
			mapped = mapped || text[0] == 't'
			do(op)
			ranged := disk.Op{Ino: ino, Offset: at, Length: length, Flags: disk.Ranged}
			switch text[0] {
			case 'y', 'v':
				ranged.Kind = disk.Fdatasync
				do(ranged)
			case 'Y':
				ranged.Kind = disk.Fsync
				do(ranged)
			case 'i':
				do(disk.Op{Kind: disk.Fdatasync, Ino: ino})
			}
			continue
		}
		file := disk.Attr{Mode: disk.TypeRegular | 0o644}
		switch text[0] {
		case 'm':
			acks++
			look()
		case 'p':
			promises++
			look()
		case 'c':
			ino = 10 + uint64(len(inos))
			inos = append(inos, ino)
			f.Files[ino] = &disktest.File{}
			before.Files[ino] = &disktest.File{}
			f.Names[key(from)] = ino
			do(disk.Op{Kind: disk.Create, Ino: ino, Dir: dir, Name: name, Links: 1, Attr: file})
		case 'u':
			ino = f.Names[key(from)]
			delete(f.Names, key(from))
			do(disk.Op{Kind: disk.Unlink, Ino: ino, Dir: dir, Name: name, Links: f.Links(ino), Attr: file})
		case 'l':
			ino = f.Names[key(from)]
			f.Names[key(to)] = ino
			dir, name = place(to)
			do(disk.Op{Kind: disk.Link, Ino: ino, Dir: dir, Name: name, Links: f.Links(ino), Attr: file})
		case 'r':
			ino = f.Names[key(from)]
			over := f.Names[key(to)]
			if ino == over {
				break
			}
			delete(f.Names, key(from))
			f.Names[key(to)] = ino
			if f.Files[ino].Dir {
				file.Mode = disk.TypeDir | 0o755
			}
			toDir, toName := place(to)
			do(disk.Op{Kind: disk.Rename, Ino: ino, Over: over, Dir: dir, Name: name, ToDir: toDir, ToName: toName,
				Links: f.Links(ino), OverLinks: f.Links(over), Attr: file})
		case 'f':
			do(disk.Op{Kind: disk.Fsync, Ino: ino})
		case 'd':
			do(disk.Op{Kind: disk.Fdatasync, Ino: ino})
		case 'n':
			if mapped {
				do(disk.Op{Kind: disk.Fdatasync, Ino: 4, Length: writtenSize, Flags: disk.Ranged})
			}
		case 's', 'S':
			do(disk.Op{Kind: disk.Sync})
		case 'D':
			do(disk.Op{Kind: disk.Fsync, Ino: disktest.Root})
		case 'E':
			do(disk.Op{Kind: disk.Fdatasync, Ino: sub})
		}
	}
	return all
}

// shownFS shows files as the program does that looks at them.
func shownFS(f *disktest.FS) (text string) {
	first := map[uint64]string{}
	var list func(dir uint64, path string)
	list = func(dir uint64, path string) {
		var names []string
		for key := range f.Names {
			if key[0] == dir {
				names = append(names, key[1].(string))
			}
		}
		slices.Sort(names)
		for _, name := range names {
			ino := f.Names[[2]any{dir, name}]
			n := f.Files[ino]
			text += path + name
			if n.Dir {
				text += "/ "
				list(ino, path+name+"/")
				continue
			}
			if other, ok := first[ino]; ok {
				text += "==" + other + " "
				continue
			}
			first[ino] = path + name
			b := make([]byte, n.Size)
			copy(b, n.Data[:min(int64(len(n.Data)), n.Size)])
			text += "="
			for len(b) > 0 {
				k := len(b) - len(bytes.TrimLeft(b, string(b[:1])))
				c := b[0]
				if c == 0 {
					c = '0'
				}
				text += fmt.Sprintf("%c%d", c, k)
				b = b[k:]
			}
			text += " "
		}
	}
	list(disktest.Root, "")
	return text
}

// syncs runs programs of testdata/syncs.c.
type syncs struct {
	dir, program string
}

// open returns a system whose first node runs the program, in one way or the other.
func (s syncs) open(t *testing.T, how, faults string, m disk.Model, ops []string, o system.Options) *system.System {
	if faults != "" {
		faults = fmt.Sprintf(faults, m)
	}
	path := filepath.Join(s.dir, "spec.yaml")
	systemtest.Write(t, path, fmt.Sprintf("limits: {time: 10s}\n%snodes:\n  - {name: n1, dir: data, command: ./syncs %s %s, restart: 'true', after_crash: ./syncs look}\n  - {name: n2, start: 1h, command: 'true'}\n",
		faults, how, strings.Join(ops, " ")))
	read, err := spec.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	o.Version = "test"
	y, err := system.Open(context.Background(), read, o)
	if err != nil {
		t.Fatal(err)
	}
	return y
}

// searched are those to which strategies come.
func (s syncs) searched(t *testing.T, m disk.Model, ops []string) map[string]losses {
	y := s.open(t, "asks", "faults: {power: {nodes: [n1], model: %q, images: 4096, for: [1s]}}\n", m, ops, system.Options{})
	all := map[string]losses{}
	err := y.OnThread(0, func() error {
		w := y.World()
		known, err := memo.Open(w, memo.Options{File: y.Digests.Of})
		if err != nil {
			return err
		}
		nodes := memo.NewExecutor(known, y.Boots(t.Context().Done), memo.Limits{Checkpoints: 200})
		defer nodes.Close()
		for name, e := range map[string]strategy.Explorer{"depth-first": &strategy.DepthFirst{},
			"breadth-first": &strategy.BreadthFirst{}, "deviations": &strategy.FewestDeviations{},
			"dpor": &strategy.DPOR{}} {
			left := map[ariadne.Digest]string{} // by content
			said := map[ariadne.Digest]map[int]bool{}
			x := &search.Exploration{Space: y.Judge(t.Context(), space.New(w, known, nodes), 0), Explorer: e,
				Bounds: space.Bounds{Time: y.Limits().Time, Depth: 1000}, Checks: y.Checks}
			x.Ended = func(p *space.Path, end string, v *ariadne.Violation) bool {
				if v != nil {
					t.Errorf("%q: %v", ops, v)
				}
				acks := 0
				var content ariadne.Digest
				for i := 1; i <= p.Steps(); i++ {
					step := p.Step(i)
					if step.Action.Node != 0 {
						continue
					}
					if content != (ariadne.Digest{}) {
						for _, l := range step.Output.Logs {
							left[content] = l.Text
						}
						break
					}
					acks += len(step.Output.Messages)
					if step.Output.LeftOut > 0 {
						t.Errorf("%q: images are left out", ops)
					}
					if step.Output.Down == ariadne.PowerLost {
						content = step.Output.Content
						if said[content] == nil {
							said[content] = map[int]bool{}
						}
						said[content][acks] = true
					}
				}
				return true
			}
			if how, err := x.Run(); err != nil || how != search.SearchExhausted {
				return fmt.Errorf("%s: %s, %v", name, how, err)
			}
			all[name] = losses{}
			for content, acks := range said {
				files, promises := left[content], ""
				if i := strings.LastIndexByte(files, ' '); i >= 0 {
					files, promises = files[:i+1], files[i+1:]
				}
				for n := range acks {
					all[name][fmt.Sprintf("%sacks %d %s", files, n, promises)] = true
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatalf("%q: %v", ops, err)
	}
	return all
}

// judged are those that the images have which ariadne crash forms.
func (s syncs) judged(t *testing.T, m disk.Model, ops []string) losses {
	var log *disk.Log
	y := s.open(t, "acks", "", m, ops,
		system.Options{Nodes: system.Processes{Files: func(_ ariadne.NodeID, l *disk.Log) { log = l }}})
	err := y.OnThread(0, func() error {
		return y.Live(func(sp *space.Space) error {
			p, err := space.NewPath(sp, space.Bounds{Time: y.Limits().Time, Depth: 1000})
			for err == nil && len(p.Last().Enabled) > 0 {
				err = p.Push(0)
			}
			return err
		})
	})
	if err != nil {
		t.Fatalf("%q: %v", ops, err)
	}
	seen := filepath.Join(s.dir, "seen")
	systemtest.Write(t, seen, "")
	temp, err := os.MkdirTemp(s.dir, "images")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(temp)
	o := crash.Options{Dir: filepath.Join(s.dir, "data"), Log: log.Ops(), Check: []string{s.program, "look", seen},
		Models: []disk.Model{m}, Images: 4096, Workers: 1, Timeout: time.Minute, Apart: true, Temp: temp}
	if slices.Contains(ops, "m") {
		o.Outside = []string{"acked"}
	}
	results, err := crash.Judge(t.Context(), o)
	if err != nil || results[1].LeftOut > 0 {
		t.Fatalf("%q: %v, %+v", ops, err, results)
	}
	all := losses{}
	for line := range strings.Lines(systemtest.Read(t, seen)) {
		all[strings.TrimSuffix(line, "\n")] = true
	}
	return all
}

// drawSyncs makes up a program.
func drawSyncs(r *rand.Rand, m disk.Model) (ops []string) {
	pick := func(all ...string) string { return all[r.IntN(len(all))] }
	places := []string{"a", "b", "c", "d/a", "d/b"}
	names := map[string]int{"a": 0} // what they stand for
	sizes := []int64{writtenSize}
	taken := func(want bool) string {
		var all []string
		for _, p := range places {
			if _, ok := names[p]; ok == want {
				all = append(all, p)
			}
		}
		if len(all) == 0 {
			return ""
		}
		return pick(all...)
	}
	lengths := []string{"1", "10", "100", "4096"}
	if strings.HasSuffix(m.String(), ":512") {
		lengths = []string{"1", "600"}
	}
	pieces, dir := 0, "d"
	now := func(path string) string { // by the name that the directory has
		if in, ok := strings.CutPrefix(path, "d/"); ok {
			return dir + "/" + in
		}
		return path
	}
	for range 3 + r.IntN(7) {
		kind := pick("R", "w", "w", "w", "y", "Y", "v", "i", "t", "c", "c", "u", "r", "r", "l", "f", "f", "d", "n", "s",
			"S", "D", "D", "E", "g", "m", "m", "m", "p", ".", ".")
		n := r.IntN(len(sizes))
		of := fmt.Sprint(n)
		switch kind {
		case "w", "y", "Y", "v", "i", "t":
			if kind == "t" {
				// of two stores without a call in between the last counts
				if len(ops) > 0 && ops[len(ops)-1][0] == 't' {
					continue
				}
				n, of = 0, "0"
			}
			at := r.Int64N(3) * 4096
			if kind != "t" && r.IntN(2) == 0 {
				at = sizes[n]
			}
			length, _ := strconv.ParseInt(pick(lengths...), 10, 64)
			if at = min(at, sizes[n]); kind == "t" {
				at = min(at, writtenSize-length)
			}
			op := disk.Op{Kind: disk.Write, Offset: at, Length: length, OldSize: sizes[n],
				Size: max(sizes[n], at+length)}
			if pieces += disktest.Pieces(m, &op); pieces > 8 {
				return ops
			}
			sizes[n] = op.Size
			ops = append(ops, fmt.Sprintf("%s:%s:%d:%d", kind, of, at, length))
		case "f", "d", "g":
			ops = append(ops, kind+":"+of)
		case "R":
			if pieces++; pieces > 8 {
				continue
			}
			other := map[string]string{"d": "e", "e": "d"}[dir]
			ops = append(ops, "r:"+dir+":"+other)
			dir = other
		case "c", "u", "r", "l":
			from, to := taken(kind != "c"), taken(kind == "r" && r.IntN(2) == 0)
			if pieces++; from == "" || to == "" || pieces > 8 {
				continue
			}
			switch kind {
			case "c":
				names[from] = len(sizes)
				sizes = append(sizes, 0)
				ops = append(ops, "c:"+now(from))
			case "u":
				delete(names, from)
				ops = append(ops, "u:"+now(from))
			case "l":
				names[to] = names[from]
				ops = append(ops, "l:"+now(from)+":"+now(to))
			case "r":
				if names[from] == names[to] && to != "" {
					if _, ok := names[to]; ok { // both are names of one file
						continue
					}
				}
				names[to] = names[from]
				delete(names, from)
				ops = append(ops, "r:"+now(from)+":"+now(to))
			}
		default:
			ops = append(ops, kind)
		}
	}
	return ops
}

// newSyncs compiles the program, and makes the files that it finds.
func newSyncs(t *testing.T) syncs {
	s := syncs{dir: t.TempDir()}
	s.program = filepath.Join(s.dir, "syncs")
	if out, err := exec.Command("cc", "-O1", "-Wall", "-static", "-o", s.program,
		"testdata/syncs.c").CombinedOutput(); err != nil {
		t.Skipf("cc: %v\n%s", err, out)
	}
	if err := os.MkdirAll(filepath.Join(s.dir, "data", "d"), 0o755); err != nil {
		t.Fatal(err)
	}
	systemtest.Write(t, filepath.Join(s.dir, "data", "a"), strings.Repeat("a", writtenSize))
	return s
}

// TestSyncsOfDirectories: likewise of directories that are renamed, where the power goes before and
// after what makes the new name durable: a sync of the directory above, of a file below or of
// everything.
func TestSyncsOfDirectories(t *testing.T) {
	s := newSyncs(t)
	for _, program := range []string{
		"r:d:e m D m",
		"c:d/b w:1:0:10 f:1 r:d:e m D m",
		"c:d/b r:d:e c:e/a f:2 m",
		"r:d:e E m r:e:d m s m",
		"r:a:d/a r:d:e D m r:e/a:a m",
	} {
		for _, m := range []disk.Model{disk.Prefix, disk.Ordered, disk.Any} {
			if left := s.compare(t, m, strings.Fields(program)); len(left) < 3 {
				t.Errorf("%v: %s: %d losses", m, program, len(left))
			}
			if t.Failed() {
				t.Fatalf("%v: %s", m, program)
			}
		}
	}
}

// TestSyncs: a search by each of four strategies, the images of ariadne crash and a model that
// tries everything come to the same files that a loss of power may leave of random programs,
// together with what these had said by then.
func TestSyncs(t *testing.T) {
	s := newSyncs(t)
	first, programs := 0, 25
	if os.Getenv("ARIADNE_LONG") != "" {
		programs = 2000
	}
	if text := os.Getenv("ARIADNE_SYNCS"); text != "" {
		fmt.Sscan(text, &first, &programs)
	}
	images, several := 0, 0
	for i := first; i < first+programs && !t.Failed(); i++ {
		r := rand.New(rand.NewPCG(uint64(i), 1))
		m := []disk.Model{disk.Prefix, disk.Ordered, disk.Any}[i%3]
		if i%4 == 3 {
			m, _ = disk.ParseModel(m.String() + ":512")
		}
		ops := drawSyncs(r, m)
		want := s.compare(t, m, ops)
		if images += len(want); len(want) > 5 {
			several++
		}
		if t.Failed() {
			t.Logf("program %d, %v: %q", i, m, ops)
		}
	}
	if t.Logf("%d losses of %d programs", images, programs); several < programs/3 {
		t.Errorf("%d programs with more than five", several)
	}
}

func (s syncs) compare(t *testing.T, m disk.Model, ops []string) losses {
	want := dumbLosses(m, ops)
	all := s.searched(t, m, ops)
	all["crash"] = s.judged(t, m, ops)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		got := all[name]
		// Nobody looks at what was there before the program did anything.
		for l := range dumbLosses(m, nil) {
			got[l] = true
		}
		for _, l := range slices.Sorted(maps.Keys(want)) {
			if !got[l] {
				t.Errorf("%s lacks %s", name, l)
			}
		}
		for _, l := range slices.Sorted(maps.Keys(got)) {
			if !want[l] {
				t.Errorf("%s has %s", name, l)
			}
		}
	}
	return want
}
