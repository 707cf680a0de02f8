package readfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne/internal/leaf/readfile"
)

func TestAtMost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, 1<<20), 0o666); err != nil {
		t.Fatal(err)
	}
	if b, err := readfile.AtMost(path, 1<<20); err != nil || len(b) != 1<<20 {
		t.Errorf("%d bytes, %v", len(b), err)
	}
	for _, path := range []string{path, "/dev/zero"} {
		if _, err := readfile.AtMost(path, 1<<20-1); err == nil ||
			!strings.HasSuffix(err.Error(), path+": larger than 0 MB, the limit") {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := readfile.AtMost(t.TempDir(), 100); err == nil {
		t.Error("a directory was read")
	}
	if _, err := readfile.AtMost(path+"x", 100); !os.IsNotExist(err) {
		t.Errorf("nothing: %v", err)
	}
}
