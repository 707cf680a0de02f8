//go:build linux

package node_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/node"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// follower is a node of one executor, and one of another executor that takes over its checkpoints:
// it executes every other step only, and is brought to where the first is in the others.
type follower struct {
	*node.Node
	second *node.Node
	t      *testing.T
	steps  int
	bases  map[any]*node.Checkpoint // of the second, by what the first one's refer to
	all    []*node.Checkpoint
	took   *taken
	store  store
}

// store is a node.PageStore in memory.
type store struct{ pages map[int64][]byte }

func (s *store) Store(page []byte) (at int64, ok bool) {
	if s.pages == nil {
		s.pages = map[int64][]byte{}
	}
	at = int64(len(s.pages))
	s.pages[at] = slices.Clone(page)
	return at, true
}

func (s *store) Load(at int64, page []byte) error { copy(page, s.pages[at]); return nil }
func (s *store) Free(int64)                       {}

// taken counts checkpoints that were taken over. same: the whole state is that of the node which
// has executed the step itself. That is not so where the step has made files: these have other
// numbers.
type taken struct{ portable, adopted, moved, executed, compared, same int }

func (f *follower) Apply(in ariadne.Input) (out ariadne.Output, err error) {
	if out, err = f.Node.Apply(in); err != nil || out.Done {
		return out, err
	}
	f.steps++
	c, err := f.freeze(f.Node)
	if err != nil {
		return out, err
	}
	if f.steps == 2 { // its pages are followed from now on
		if _, err := f.Restore(c); err != nil {
			return out, err
		}
		if _, err := f.Restore(c); err != nil {
			return out, err
		}
	}
	p := c.Portable()
	base := f.bases[c.Origin()]
	if p != nil {
		f.took.portable++
	}
	if p != nil && base != nil && f.steps%2 == 1 {
		return out, f.adopt(base, p)
	}
	second, err := f.second.Apply(in)
	if err != nil {
		return out, err
	}
	if second.Digest != out.Digest {
		f.t.Errorf("step %d: the second one does %+v, not %+v", f.steps, second, out)
	}
	own, err := f.freeze(f.second)
	if err != nil {
		return out, err
	}
	if p == nil {
		if f.bases[c.Origin()] == nil {
			f.bases[c.Origin()] = own
		}
		return out, nil
	}
	if base == nil {
		return out, nil
	}
	f.took.executed++
	if err := f.adopt(base, p); err != nil {
		return out, err
	}
	return out, f.compare(own)
}

func (f *follower) freeze(n *node.Node) (*node.Checkpoint, error) {
	c, err := n.Freeze()
	if err == nil {
		f.all = append(f.all, c)
	}
	return c, err
}

// adopt brings the second node to a checkpoint of the first.
func (f *follower) adopt(base *node.Checkpoint, p *node.Portable) error {
	c, err := base.Adopt(p)
	if err != nil {
		return err
	}
	f.took.adopted++
	f.all = append(f.all, c)
	if c.Move(&f.store) {
		f.took.moved++
		if err := c.Return(); err != nil {
			return err
		}
	}
	_, err = f.second.Restore(c)
	return err
}

// compare sees that the second node, which has taken over a checkpoint, is what it was when it had
// executed the same step itself.
func (f *follower) compare(own *node.Checkpoint) error {
	if f.steps%8 != 0 && os.Getenv("ARIADNE_LONG") == "" {
		return nil
	}
	all, err := f.second.Differences(own)
	for _, d := range all {
		f.t.Errorf("step %d: taken over, it is not what it was executed: %s", f.steps, d)
	}
	f.took.compared++
	if len(node.StateDiffers(f.all[len(f.all)-1], own)) == 0 {
		f.took.same++
	}
	return err
}

func (f *follower) Close() error {
	var errs []error
	for _, c := range f.all {
		errs = append(errs, c.Drop())
	}
	return errors.Join(append(errs, f.second.Close(), f.Node.Close())...)
}

// TestAdoptFixedFiles: a node that takes over checkpoints knows files that it cannot change by the
// same numbers, also those that it sees for the first time.
func TestAdoptFixedFiles(t *testing.T) {
	if !node.CanFollow() {
		t.Skip("this machine does not tell which pages are written")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "fixed.yaml")
	for name, text := range map[string]string{
		"fixed.yaml": "name: fixed\nnodes: [{name: n1, command: ./looks}]\n",
		"looks": `#!/usr/bin/python3
import os, time
for name in ('/etc/hosts', '/etc/resolv.conf', '/etc', '/etc/nsswitch.conf', '/') * 3:
    time.sleep(1)
    print(name, os.stat(name).st_ino, flush=True)
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s, err := spec.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	var took taken
	natural(t, s, 14, node.Config{Pages: true}, func(n *node.Node) member {
		return &follower{Node: n, second: node.Start(n.Config()), t: t, took: &took,
			bases: map[any]*node.Checkpoint{}}
	})
	t.Logf("%+v", took)
	if took.adopted < 5 || took.executed == 0 {
		t.Errorf("few checkpoints were taken over: %+v", took)
	}
}

// TestAdoptMappings: so does one of which a process had mapped memory since its fork when another
// process was forked.
func TestAdoptMappings(t *testing.T) {
	if !node.CanFollow() {
		t.Skip("this machine does not tell which pages are written")
	}
	dir := t.TempDir()
	if out, err := exec.Command("cc", "-O2", "-Wall", "-o", filepath.Join(dir, "mappings"),
		"testdata/mappings.c").CombinedOutput(); err != nil {
		t.Skipf("cc: %v\n%s", err, out)
	}
	for seed := range 3 {
		file := filepath.Join(dir, "mappings.yaml")
		text := fmt.Sprintf("name: mappings\nnodes: [{name: n1, command: ./mappings %d beside}]\n", seed)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		s, err := spec.Read(file)
		if err != nil {
			t.Fatal(err)
		}
		var took taken
		natural(t, s, 60, node.Config{Pages: true}, func(n *node.Node) member {
			return &follower{Node: n, second: node.Start(n.Config()), t: t, took: &took,
				bases: map[any]*node.Checkpoint{}}
		})
		if took.adopted < 20 || took.executed == 0 {
			t.Errorf("seed %d: few checkpoints were taken over: %+v", seed, took)
		}
	}
}

// TestAdoptCheckpoints: a node that takes over the checkpoints of another executor's node, of the
// same spec, is the same and goes on as that one does.
func TestAdoptCheckpoints(t *testing.T) {
	if !node.CanFollow() {
		t.Skip("this machine does not tell which pages are written")
	}
	steps := 100
	if os.Getenv("ARIADNE_LONG") != "" {
		steps = 400
	}
	for _, example := range []string{"raftkv/raftkv", "redis/replication", "memcached/memcached", "etcd/one-write"} {
		t.Run(example, func(t *testing.T) {
			s := realSystem(t, example)
			var took taken
			natural(t, s, steps, node.Config{Pages: true}, func(n *node.Node) member {
				return &follower{Node: n, second: node.Start(n.Config()), t: t, took: &took,
					bases: map[any]*node.Checkpoint{}}
			})
			t.Logf("%+v", took)
			if took.adopted < 10 || took.adopted < took.portable/2 || took.executed == 0 || took.moved == 0 ||
				took.same < took.compared/2 {
				t.Errorf("few checkpoints were taken over: %+v", took)
			}
		})
	}
}
