//go:build linux

package node_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/machine/node"
	"github.com/ariadne-mc/ariadne/internal/machine/tracee"
	"github.com/ariadne-mc/ariadne/internal/system/machines"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// renewed is a node that is frozen after each step, and goes on as something else.
type renewed struct {
	*node.Node
	as string // "": as itself; else one of renewals
	// restored counts how often it was restored, and how often of these in place.
	restored, inPlace int
	// every: so many restores in place apart it is compared with a copy.
	every int
}

// renewals are how it goes on: as a copy of its checkpoint; as one that was encoded; as itself,
// restored to what it was before the step, which it then takes once more; so, in place.
var renewals = []string{"thawed", "decoded", "restored", asInPlace}

const asInPlace = "restored in place"

func (r *renewed) Apply(in ariadne.Input) (out ariadne.Output, err error) {
	again := r.as == "restored" || r.as == asInPlace
	if again && r.SwitchedOn() {
		return r.again(in)
	}
	out, err = r.Node.Apply(in)
	if err != nil || r.as == "" || again || out.Done {
		return out, err
	}
	c, err := r.Freeze()
	if err != nil {
		return out, err
	}
	n, err := r.from(c)
	if err != nil {
		return out, err
	}
	if err := r.Close(); err != nil {
		return out, err
	}
	r.Node = n
	return out, c.Drop()
}

// from is the node that goes on from a checkpoint.
func (r *renewed) from(c *node.Checkpoint) (*node.Node, error) {
	if r.as != "decoded" {
		return c.Thaw()
	}
	b, err := c.Encode()
	if err != nil {
		return nil, err
	}
	return c.ThawAs(b)
}

// again takes a step, goes back, and takes it once more.
func (r *renewed) again(in ariadne.Input) (out ariadne.Output, err error) {
	c, err := r.Freeze()
	if err != nil {
		return out, err
	}
	first, err := r.Node.Apply(in)
	if err != nil {
		return out, err
	}
	ok, err := r.Restore(c)
	if err != nil {
		return out, err
	}
	if r.restored++; ok {
		r.inPlace++
		if r.inPlace%r.every == 0 {
			differs, err := r.Differences(c)
			if err != nil {
				return out, err
			}
			if len(differs) > 0 {
				return out, fmt.Errorf("restored in place it is not what a copy is: %s", differs[0])
			}
		}
	}
	if out, err = r.Node.Apply(in); err == nil && out.Digest != first.Digest {
		err = fmt.Errorf("once more it does %+v, not %+v", out, first)
	}
	return out, errors.Join(err, c.Drop())
}

// member is a node, or stands for one.
type member interface {
	ariadne.Automaton
	Close() error
}

// natural runs a system along its natural schedule, no more than most steps, and returns
// each step's name and digest. wrap makes its members, which are closed when the test ends.
func natural(t *testing.T, s *spec.Spec, most int, c node.Config, wrap func(*node.Node) member) (steps []string) {
	t.Helper()
	runtime.LockOSThread()
	if err := tracee.Pin(0); err != nil {
		t.Fatal(err)
	}
	var members []world.Node
	var automata []ariadne.Automaton
	for i := range s.Nodes {
		d := &s.Nodes[i]
		c.Machine = machines.Of(s, i, uint64(i)+1)
		m := wrap(node.Start(c))
		t.Cleanup(func() {
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		})
		members = append(members,
			world.Node{Name: d.Name, Addrs: d.Addrs, Client: d.Client, Start: ariadne.Time(d.Start)})
		automata = append(automata, m)
	}
	w := worldtest.New(world.Rules{Latency: s.Latency}, members, automata)
	for len(steps) < most && !w.ClientsDone() {
		enabled := w.Enabled()
		if len(enabled) == 0 {
			t.Fatal("nothing is enabled")
		}
		st, err := w.Apply(enabled[0])
		if err != nil {
			t.Fatal(err)
		}
		if st.Output.Diverged != "" {
			t.Fatalf("%s: %s", st.Name, st.Output.Diverged)
		}
		steps = append(steps, st.Name+" "+st.Output.Digest.String())
	}
	return steps
}

// realSystem fetches and reads an example.
func realSystem(t *testing.T, example string) *spec.Spec {
	t.Helper()
	dir, _ := path.Split(example)
	if out, err := exec.Command("../../../examples/" + dir + "fetch").CombinedOutput(); err != nil {
		t.Skipf("not fetched: %v\n%s", err, out)
	}
	s, err := spec.Read("../../../examples/" + example + ".yaml")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestRealSystemsAsCopiesOfThemselves: a real system whose nodes are frozen and replaced by the
// copy after every single step, or brought back to before it, does, call by call, what it does
// undisturbed.
func TestRealSystemsAsCopiesOfThemselves(t *testing.T) {
	examples := []string{"raftkv/raftkv", "redis/replication"}
	if os.Getenv("ARIADNE_LONG") != "" {
		examples = append(examples, "etcd/etcd-3.4", "etcd/etcd-3.5", "craft/craft", "nats/nats", "serf/serf",
			"consul/consul",
			"pysyncobj/pysyncobj", "postgres/postgres", "zookeeper/zookeeper")
	}
	for _, example := range examples {
		t.Run(example, func(t *testing.T) {
			s := realSystem(t, example)
			run := func(name, as string) (steps []string) {
				t.Run(name, func(t *testing.T) {
					var all []*renewed
					steps = natural(t, s, math.MaxInt, node.Config{Pages: as == asInPlace}, func(n *node.Node) member {
						r := &renewed{Node: n, as: as, every: 8}
						all = append(all, r)
						return r
					})
					restored, inPlace := 0, 0
					for _, r := range all {
						restored, inPlace = restored+r.restored, inPlace+r.inPlace
					}
					if restored > 0 {
						t.Logf("restored %d times, %d of these in place", restored, inPlace)
					}
					if as == asInPlace && inPlace < restored/4 && node.CanFollow() {
						t.Errorf("few of %d were restored in place: %d", restored, inPlace)
					}
				})
				return steps
			}
			want := run("undisturbed", "")
			for _, as := range renewals {
				got := run(as, as)
				for i := range want {
					if i >= len(got) || got[i] != want[i] {
						t.Errorf("%s, step %d of %d: want %s, got %s", as, i+1, len(want), want[i],
							append(got, "nothing")[min(i, len(got))])
						break
					}
				}
			}
			t.Logf("%d steps", len(want))
		})
	}
}

// TestInPlaceAnyWay: programs that change their mappings, or what these hold, in ways that do not
// show in the mappings go on as they do undisturbed.
func TestInPlaceAnyWay(t *testing.T) {
	for _, way := range []string{"plain", "toggle", "none", "roremap", "remap", "privfile", "privfile2", "resethand",
		"guard",
		"brk", "slice", "standin", "exec", "vfork", "fds", "shrink", "dontunmap"} {
		t.Run(way, func(t *testing.T) { inPlaceIs(t, "testdata/ways.c", way, 20, 0) })
	}
}

// TestInPlaceWhateverChanges: a program that changes all that Linux has of a process goes on as it
// does undisturbed when it is brought back after each step, in place where nothing but memory has
// changed and by a copy elsewhere.
func TestInPlaceWhateverChanges(t *testing.T) { inPlaceIs(t, "testdata/changes.c", "", 80, 10) }

// TestInPlaceWithFilesAndActions: a program that changes files and the actions of signals is
// brought back in place where it opens and closes none.
func TestInPlaceWithFilesAndActions(t *testing.T) { inPlaceIs(t, "testdata/filesteps.c", "", 112, 40) }

// TestInPlaceWithSharedMemory: processes that share memory are brought back in place.
func TestInPlaceWithSharedMemory(t *testing.T) { inPlaceIs(t, "testdata/sharing.c", "", 60, 30) }

// TestInPlaceWithSharedMemoryAnyWay: so are those that change what is mapped of it, and by whom.
func TestInPlaceWithSharedMemoryAnyWay(t *testing.T) {
	for _, way := range []string{"readonly", "toggle", "none", "attach", "twice", "part", "shrink", "give", "forks",
		"calls", "mutexes", "leader", "memfd"} {
		t.Run(way, func(t *testing.T) { inPlaceIs(t, "testdata/sharedways.c", way, 20, 0) })
	}
}

// beside is a node that is brought back in each step. Before it is, a copy from before its second
// step takes that step, and is brought back, too.
type beside struct {
	*renewed
	steps int
	c     *node.Checkpoint
	in    ariadne.Input
	other *node.Node
}

func (b *beside) Apply(in ariadne.Input) (out ariadne.Output, err error) {
	switch b.steps++; {
	case b.steps == 2:
		b.in = in
		if b.c, err = b.Freeze(); err == nil {
			b.other, err = b.c.Thaw()
		}
	case b.steps > 2:
		if _, err = b.other.Apply(b.in); err == nil {
			_, err = b.other.Restore(b.c)
		}
	}
	if err != nil {
		return out, err
	}
	return b.renewed.Apply(in)
}

func (b *beside) Close() error {
	return errors.Join(b.other.Close(), b.c.Drop(), b.renewed.Close())
}

// TestInPlaceBesideOneThatAttaches: memory that a node shares is brought back where a copy has
// written to it that shared none before.
func TestInPlaceBesideOneThatAttaches(t *testing.T) {
	s := programIn(t, "testdata/attaching.c", "")
	want := natural(t, s, math.MaxInt, node.Config{}, func(n *node.Node) member { return n })
	got := natural(t, s, math.MaxInt, node.Config{Pages: true}, func(n *node.Node) member {
		return &beside{renewed: &renewed{Node: n, as: asInPlace, every: 1}}
	})
	if !slices.Equal(got, want) {
		t.Errorf("it does\n%s\nand undisturbed\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// programIn is a system of one node that runs a program.
func programIn(t *testing.T, source, arg string) *spec.Spec {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("cc", "-O1", "-w", "-pthread", "-o", path.Join(dir, "p"),
		source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text := "name: changes\nnodes:\n  - {name: a, command: ./bin/p " + arg + ", client: true}\n"
	if err := os.Mkdir(path.Join(dir, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path.Join(dir, "p"), path.Join(dir, "bin", "p")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path.Join(dir, "spec.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := spec.Read(path.Join(dir, "spec.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// inPlaceIs runs a program undisturbed, and brought back behind each of its steps; so often in
// place at least.
func inPlaceIs(t *testing.T, source, arg string, steps, inPlace int) {
	s := programIn(t, source, arg)
	var r *renewed
	run := func(as string) []string {
		return natural(t, s, math.MaxInt, node.Config{Pages: as == asInPlace}, func(n *node.Node) member {
			r = &renewed{Node: n, as: as, every: 1}
			return r
		})
	}
	want, got := run(""), run(asInPlace)
	if !slices.Equal(got, want) {
		t.Errorf("it does\n%s\nand undisturbed\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	t.Logf("%d steps, restored %d times, %d of these in place", len(got), r.restored, r.inPlace)
	if len(want) < steps || node.CanFollow() && (r.inPlace < inPlace || r.inPlace == r.restored && inPlace > 0) {
		t.Errorf("%d steps, restored %d times, %d of these in place", len(want), r.restored, r.inPlace)
	}
}
