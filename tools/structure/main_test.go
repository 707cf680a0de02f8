package main

import (
	"slices"
	"testing"
	"testing/fstest"
)

func TestSurvey(t *testing.T) {
	all, err := survey(fstest.MapFS{
		"go.mod":                            {Data: []byte("module example.org/m\n\ngo 1.26.0\n")},
		"internal/machine/kernel/a.go":      {Data: []byte("package kernel\n\nimport \"example.org/m/internal/use/run\"\n\ntype Node struct{ A, B int }\n\nfunc (n *Node) C() {}\n\nfunc d() { run.X() }\n")},
		"internal/machine/kernel/a_test.go": {Data: []byte("package kernel\n\nfunc E() {}\n")},
		"internal/leaf/disk/d.go":           {Data: []byte("package disk\n\nimport (\n\t\"example.org/m\"\n\t\"example.org/m/internal/machine/kernel\"\n\t\"example.org/m/internal/system/spec\"\n)\n")},
		"internal/use/run/b.go":             {Data: []byte("package run\n\nfunc X() {}\n\nconst Y, z = 1, 2\n")},
		"examples/x/main.go":                {Data: []byte("package main\n")},
	})
	if err != nil || len(all) != 3 {
		t.Fatalf("%d packages, %v", len(all), err)
	}
	d, k, r := all[0], all[1], all[2]
	if name, size := k.largest(); k.Files != 1 || k.Lines != 9 || k.Names != 2 || name != "Node" || size != 3 ||
		!slices.Equal(k.Upwards, []string{"internal/use/run"}) {
		t.Errorf("kernel: %+v", k)
	}
	if !slices.Equal(d.Upwards, []string{"internal/system/spec"}) {
		t.Errorf("disk: a spec is above: %+v", d)
	}
	if r.Names != 2 || r.Upwards != nil {
		t.Errorf("run: %+v", r)
	}
}
