//go:build linux

package crash

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
)

// TestTold: a checker knows what the program had said by the moment of the loss, and with Tell what
// is lost.
func TestTold(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("old\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	log := replace(false)[:3]
	say := func(at int, line string) []*disk.Op {
		all := append([]*disk.Op{}, log[:at]...)
		return append(append(all, &disk.Op{Kind: disk.Mark, Target: line}), log[at:]...)
	}
	for _, c := range []struct {
		name, check string
		log         []*disk.Op
		tell        bool
		want        string // of kills and losses: images, how many fail, and who is to blame
	}{
		{"promised too soon", `test -z "$ARIADNE_PROMISES" || { test "$ARIADNE_PROMISES" = new && grep -qx new f; }`, say(2, "promise new"), false,
			"kill 4 1 promise new, and nothing after it; prefix 7 3 promise new, and nothing after it"},
		{"promised when it was done", `test -z "$ARIADNE_PROMISES" || grep -qx new f`, say(3, "promise new"), false,
			"kill 4 0; prefix 8 3 promise new before rename of t to f"},
		{"begun, not ended", `test "$ARIADNE_BEGUN $ARIADNE_ENDED" != "1 0" || test ! -s t`, append(say(1, "begin"), &disk.Op{Kind: disk.Mark, Target: "end"}), false,
			"kill 5 1 write of 4 bytes at 0 to t, and nothing after it; prefix 10 1"},
		{"here alone", `test ! -s t`, say(2, "crash now"), false,
			"kill 1 1 crash now, and nothing after it; prefix 3 1"},
		{"in a log", `test $(wc -l <"$ARIADNE_LOG") != 3 || ! grep -q '"n":3,"op":"rename",.*"lost":"all"' "$ARIADNE_LOG"`, log, true, "kill 3 0; prefix 4 0"},
		{"here, in a log", `! grep -q '"n":2,"op":"write","text":"write of 4 bytes at 0 to t","path":"t","length":4,"size":4,"lost":"' "$ARIADNE_LOG"`, say(2, "crash now"), true, "kill 1 0; prefix 3 2 crash now before data of t"},
	} {
		t.Run(c.name, func(t *testing.T) {
			all, err := Judge(t.Context(), Options{
				Dir: dir, Log: c.log, Check: []string{"/bin/sh", "-c", c.check}, Models: []disk.Model{disk.Prefix},
				Images: 100, Workers: 2, Timeout: 10 * time.Second, Tell: c.tell, Temp: t.TempDir(),
			})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for i, r := range all {
				if i > 0 {
					got += "; "
				}
				got += fmt.Sprint(r.Model, " ", r.Distinct, " ", r.Failed)
				if len(r.Groups) > 0 {
					got += " " + r.Groups[0].String()
				}
			}
			if got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestPutLog: whatever a checker does to the log, the next one is told as if it were the first. As
// long as it only reads it, no more is written than comes behind the first difference.
func TestPutLog(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	told := newOplog(namesLog(1000, ""))
	draw := func() *logged {
		l := &logged{oplog: told, at: len(told.ends) - 1 - r.IntN(4)}
		for n := l.at - 20; n <= l.at; n++ {
			if r.IntN(4) == 0 {
				l.lost = append(l.lost, disk.Loss{Op: n, All: true})
			} else if r.IntN(8) == 0 {
				l.lost = append(l.lost, disk.Loss{Op: n, Bytes: [][2]int64{{0, int64(1 + r.IntN(2))}}})
			}
		}
		return l
	}
	tampering := []string{"", "", `printf x >> "$f"`, `printf y | dd of="$f" conv=notrunc 2>/dev/null`, `: > "$f"`,
		`rm "$f"`, `rm "$f"; mkdir "$f"`, `mv "$f" "$f.old"; cp "$f.old" "$f"; printf z >> "$f"`,
		`ln "$f" "$f.too"; printf z >> "$f.too"`}
	top := inMemory(t)
	name, dir := filepath.Join(top, "log"), filepath.Join(top, "node")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	s := newSlot(dir)
	defer s.close()
	root := draftDirectory()
	root.names[home[1:]] = draftDirectory()
	image, read := newTree(root), false
	for round := range 200 {
		l := draw()
		if round%50 == 49 {
			l = &logged{told, -1, nil}
		}
		if err := s.put(image); err != nil {
			t.Fatal(err)
		}
		before := written(t)
		if err := s.putLog(name, l); err != nil {
			t.Fatal(err)
		}
		if s.notify < 0 {
			t.Skip("nobody tells of files here")
		}
		if n := written(t) - before; read && n > 1<<13 {
			t.Errorf("round %d: %d bytes were written of %d", round, n, len(l.lines(0)))
		}
		got, err := os.ReadFile(name)
		if want := l.lines(0); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("round %d: there are %d bytes (%v), want %d", round, len(got), err, len(want))
		}
		read = round%50 < 48
		if command := tampering[r.IntN(len(tampering))]; command != "" {
			cmd := exec.Command("/bin/sh", "-c", command)
			cmd.Env = append(os.Environ(), "f="+name)
			cmd.Run()
			read = false
		}
	}
}

// TestLogged: a log's lines are those of its operations, and where they begin is known.
func TestLogged(t *testing.T) {
	ops := replace(false)
	l := &logged{newOplog(ops), len(ops) - 1, []disk.Loss{{Op: 1, Bytes: [][2]int64{{0, 2}}}, {Op: 2, All: true}}}
	all := l.lines(0)
	lines := bytes.SplitAfter(all, []byte("\n"))
	if len(lines) != len(ops)+1 {
		t.Fatalf("%d lines of %d operations:\n%s", len(lines)-1, len(ops), all)
	}
	at := 0
	for n, line := range lines[:len(ops)] {
		if l.offset(n) != int64(at) || !bytes.Equal(l.lines(n), all[at:]) {
			t.Errorf("line %d begins at %d, want %d", n, l.offset(n), at)
		}
		if lost := n == 1 || n == 2; lost != bytes.Contains(line, []byte(`"lost"`)) {
			t.Errorf("line %d: %s", n, line)
		}
		at += len(line)
	}
	other := *l
	other.lost = l.lost[:1]
	if n := l.shared(&other); n != 2 {
		t.Errorf("%d lines are shared, want 2", n)
	}
	if bytes.Equal(l.append(nil), other.append(nil)) {
		t.Error("two logs of which something else is lost are told by the same name")
	}
}
