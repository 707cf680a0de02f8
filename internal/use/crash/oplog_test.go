//go:build linux

package crash

import (
	"fmt"
	"os"
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
		{"promised when it was done", `test -z "$ARIADNE_PROMISES" || grep -qx new f`, say(3, "promise new"), false, "kill 4 0; prefix 8 3 promise new before rename of t to f"},
		{"begun, not ended", `test "$ARIADNE_BEGUN $ARIADNE_ENDED" != "1 0" || test ! -s t`, append(say(1, "begin"), &disk.Op{Kind: disk.Mark, Target: "end"}), false,
			"kill 5 1 write of 4 bytes at 0 to t, and nothing after it; prefix 10 1"},
		{"here alone", `test ! -s t`, say(2, "crash now"), false, "kill 1 1 crash now, and nothing after it; prefix 3 1"},
		{"in a log", `test $(wc -l <"$ARIADNE_LOG") != 3 || ! grep -q '"n":3,"op":"rename",.*"lost":"all"' "$ARIADNE_LOG"`, log, true, "kill 3 0; prefix 4 0"},
		{"here, in a log", `! grep -q '"n":2,"op":"write","text":"write of 4 bytes at 0 to t","path":"t","length":4,"size":4,"lost":"' "$ARIADNE_LOG"`, say(2, "crash now"), true, "kill 1 0; prefix 3 2 crash now before data of t"},
	} {
		t.Run(c.name, func(t *testing.T) {
			all, err := Judge(t.Context(), Options{
				Dir: dir, Log: c.log, Check: []string{"/bin/sh", "-c", c.check}, Models: []disk.Model{disk.Prefix}, Images: 100, Workers: 2, Timeout: 10 * time.Second, Tell: c.tell, Temp: t.TempDir(),
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
