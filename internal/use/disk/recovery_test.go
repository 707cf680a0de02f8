//go:build linux

package disk

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// TestSecondLoss: a layer that renames its journal before it applies it has lost it after a second
// loss of power. The trace replays, and what is kept of the replay is the same image.
func TestSecondLoss(t *testing.T) {
	able(t, "mkfs.ext4")
	s := parse(t, ext4Stack+`
- name: store
  mount: mount --bind $ARIADNE_BELOW $ARIADNE_MOUNT
  unmount: umount $ARIADNE_MOUNT
  recover: 'cd $ARIADNE_BELOW; test ! -e journal || { mv journal applying; sync .; cp applying data; sync data .; rm applying; }'
checker:
  mutate: 'echo text > journal; sync journal .; echo promise text > /dev/ariadne'
  check: 'test -z "$ARIADNE_PROMISES" || grep -qs text data journal'
images: 8
recovery: true
`)
	r := check(t, Options{Spec: s})
	if r.Failed == 0 || len(r.Groups) != 1 || r.Groups[0].Example.Recovery == nil || r.During == 0 {
		t.Fatal(printed(r))
	}
	image := func(r *Report) []byte {
		t.Helper()
		if err := r.Keep(s, t.TempDir()); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(r.Groups[0].Dir, "device1.img"))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	first := image(r)
	trace, err := ReadTrace(filepath.Join(r.Groups[0].Dir, "trace"))
	if err != nil {
		t.Fatal(err)
	}
	again := check(t, Options{Spec: s, Replay: trace})
	if again.Checked != 1 || again.Failed != 1 || again.Groups[0].Why != r.Groups[0].Why {
		t.Fatalf("the trace replays as\n%s", printed(again))
	}
	for _, r := range []*Report{r, again} {
		if err := Page(io.Discard, r); err != nil {
			t.Error(err)
		}
	}
	if !bytes.Equal(image(again), first) {
		t.Error("what is kept of the replay is another image")
	}
}
