package main

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestProfile(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(profileVar, dir)
	stop, err := startProfile()
	if err != nil {
		t.Fatal(err)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(dir, "*.pprof"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%q, %v", found, err)
	}
	f, err := os.Open(found[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if data, err := io.ReadAll(z); err != nil || len(data) == 0 {
		t.Fatalf("%d bytes, %v", len(data), err)
	}
	t.Setenv(profileVar, filepath.Join(dir, "missing"))
	if _, err := startProfile(); err == nil {
		t.Fatal("a directory that is missing is no error")
	}
}
