//go:build linux

package filetree

import (
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkUnchanged: what a capture costs for a large file that may have changed, and has not.
func BenchmarkUnchanged(b *testing.B) {
	f, err := os.Create(filepath.Join("/dev/shm", "filetree-bench"))
	if err != nil {
		b.Fatal(err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if _, err := f.Write(make([]byte, 16<<20)); err != nil {
		b.Fatal(err)
	}
	old, err := readContent(f, &Content{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if c, err := readContent(f, old); err != nil || c != old {
			b.Fatal(c, err)
		}
	}
}
