//go:build linux && amd64

package probe

import (
	"debug/elf"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/debuginfo"
	"github.com/ariadne-mc/ariadne/internal/system/native"
)

// TestWritten: who writes to a program's file waits until the probes are out, and calls of other
// programs still come.
func TestWritten(t *testing.T) {
	k := open(t)
	content, err := os.ReadFile(build(t))
	if err != nil {
		t.Fatal(err)
	}
	queries := []debuginfo.Query{leads[0]}
	queries[0].Emulated = true
	var programs []*Program
	var paths []string
	for _, name := range []string{"a", "b"} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, content, 0o700); err != nil {
			t.Fatal(err)
		}
		f, err := elf.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		sites, err := debuginfo.Sites(f, queries)
		if err != nil {
			t.Fatal(err)
		}
		p, err := k.Probe(path, f, sites, queries)
		if err != nil {
			t.Fatal(err)
		}
		programs, paths = append(programs, p), append(paths, path)
	}
	for i, p := range programs {
		if p.IsWritten() {
			t.Errorf("file %d is written to", i)
		}
		if !p.leased {
			t.Skip("the file system gives no leases")
		}
	}
	type result struct {
		at  ariadne.Time
		err error
	}
	done := make(chan result)
	go func() {
		f, err := os.OpenFile(paths[0], os.O_WRONLY|os.O_TRUNC, 0)
		done <- result{native.Now(), err}
		f.Close()
	}()
	for began := native.Now(); !programs[0].IsWritten(); time.Sleep(time.Millisecond) {
		if native.Since(began) > 20*time.Second {
			t.Fatal("nobody writes to the file")
		}
	}
	if info, err := os.Stat(paths[0]); err != nil || info.Size() != int64(len(content)) {
		t.Error("the file is changed before the probes are out", err)
	}
	out := native.Now()
	if err := programs[0].Close(); err != nil {
		t.Fatal(err)
	}
	if r := <-done; r.err != nil || r.at < out {
		t.Errorf("written to at %v, the probes were out after %v: %v", r.at, out, r.err)
	}
	if programs[1].IsWritten() || len(k.set) != len(programs[1].set) {
		t.Error(len(k.set), len(programs[1].set))
	}
	other := start(t, paths[1])
	if err := k.Follow(3, other.Process.Pid); err != nil {
		t.Fatal(err)
	}
	other.call("x")
	if all := calls(t, k); len(all) != 1 || all[0].Node != 3 {
		t.Errorf("%+v", all)
	}
}
