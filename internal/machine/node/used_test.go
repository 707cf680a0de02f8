//go:build linux

package node

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ariadne-mc/ariadne"
)

// TestUsedFiles: a node tells which of the host's files it has used: scripts, their interpreters,
// the loader, libraries, what it reads; not what it has written itself.
func TestUsedFiles(t *testing.T) {
	n := started(t, "/spec/script")
	dir := n.cfg.SpecDir
	n.cfg.WorkDir = filepath.Join(dir, "data")
	for name, text := range map[string]string{
		"script": "#!/bin/sh\necho 1 >own; read x <own; read y </spec/read; read z <copied; cd /spec; ./inner; echo $x$y$z",
		"inner":  "#!/bin/sh\nexit 0",
		"read":   "2\n", "data/copied": "3\n", "unused": "",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	out, err := n.Apply(ariadne.Input{Kind: ariadne.Start})
	if err != nil || len(out.Logs) != 1 || out.Logs[0].Text != "123" {
		t.Fatalf("%v, %+v", err, out)
	}
	sh, err := filepath.EvalSymlinks("/bin/sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []ariadne.File{{Path: "/spec/script", Use: ariadne.FileCode},
		{Path: "/spec/inner", Use: ariadne.FileCode}, {Path: "/spec/read"},
		{Path: "/spec/data/copied", Use: ariadne.FileCode}, {Path: sh, Use: ariadne.FileCode}} {
		if !slices.Contains(out.Files, want) {
			t.Errorf("%+v is missing", want)
		}
	}
	libraries := 0
	for _, f := range out.Files {
		switch base := filepath.Base(f.Path); {
		case base == "own" || base == "unused" && f.Use != ariadne.FileName:
			t.Errorf("%+v", f)
		case f.Use == ariadne.FileCode && filepath.Dir(f.Path) != "/spec" && f.Path != sh:
			libraries++ // the loader and libc, wherever they lie
		}
	}
	if libraries < 2 {
		t.Errorf("files %+v", out.Files)
	}
}
