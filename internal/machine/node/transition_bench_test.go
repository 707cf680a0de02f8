//go:build linux

package node_test

import (
	"os/exec"
	"path"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
	"github.com/ariadne-mc/ariadne/internal/explore/world/worldtest"
	"github.com/ariadne-mc/ariadne/internal/machine/node"
	"github.com/ariadne-mc/ariadne/internal/machine/tracee"
	"github.com/ariadne-mc/ariadne/internal/system/machines"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// BenchmarkTransition is what a new transition of a real node costs: the node goes back to a
// checkpoint, in place or as a copy, is given its next input and frozen. The states are those in
// the middle of the natural schedule, of the node that has most inputs. Medians of the parts are
// reported apart, in µs.
func BenchmarkTransition(b *testing.B) {
	for _, example := range []string{"memcached/memcached", "redis/replication", "raftkv/raftkv", "etcd/etcd-3.5"} {
		for _, inPlace := range []bool{false, true} {
			how := map[bool]string{false: "copies", true: "in place"}[inPlace]
			b.Run(path.Base(example)+"/"+how, func(b *testing.B) {
				dir, _ := path.Split(example)
				if out, err := exec.Command("../../../examples/" + dir + "fetch").CombinedOutput(); err != nil {
					b.Skipf("not fetched: %v\n%s", err, out)
				}
				s, err := spec.Read("../../../examples/" + example + ".yaml")
				if err != nil {
					b.Fatal(err)
				}
				runtime.LockOSThread()
				if err := tracee.Pin(0); err != nil {
					b.Fatal(err)
				}
				transition(b, s, inPlace)
			})
		}
	}
}

// BenchmarkRestart is how long it takes, in the middle of the natural schedule, until a server
// whose machine stops listens again where it did.
func BenchmarkRestart(b *testing.B) {
	for _, name := range []string{"redis", "etcd", "postgres"} {
		b.Run(name, func(b *testing.B) {
			if out, err := exec.Command("../../../examples/restart/fetch").CombinedOutput(); err != nil {
				b.Skipf("not fetched: %v\n%s", err, out)
			}
			s, err := spec.Read("../../../examples/restart/" + name + ".yaml")
			if err != nil {
				b.Fatal(err)
			}
			runtime.LockOSThread()
			if err := tracee.Pin(0); err != nil {
				b.Fatal(err)
			}
			restart(b, s)
		})
	}
}

// listening are the addresses on which a node waits for connections.
func listening(b *testing.B, n *node.Node) (all []string) {
	b.Helper()
	v, err := n.Look()
	if err != nil {
		b.Fatal(err)
	}
	for _, p := range v.Processes {
		for _, d := range p.Descriptors {
			if address, ok := strings.CutSuffix(d.What, " listening"); ok {
				_, address, _ = strings.Cut(address, " ")
				all = append(all, address)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func restart(b *testing.B, s *spec.Spec) {
	index, list := inputs(b, s)
	n := node.Start(node.Config{Machine: machines.Of(s, index, uint64(index)+1)})
	defer n.Close()
	apply := func(n *node.Node, in ariadne.Input) ariadne.Output {
		out, err := n.Apply(in)
		if err != nil {
			b.Fatal(err)
		}
		return out
	}
	var out ariadne.Output
	for _, in := range list[:len(list)/2] {
		out = apply(n, in)
	}
	want := listening(b, n)
	c, err := n.Freeze()
	if err != nil || len(want) == 0 {
		b.Fatalf("it listens at %q, %v", want, err)
	}
	defer c.Drop()
	fault := ariadne.Input{Kind: ariadne.Fault, At: out.Clock,
		Fault: ariadne.Outage{Down: ariadne.Stopped, For: time.Second}}
	fires := -1 // timers until it is ready: not known yet
	var took []time.Duration
	for b.Loop() {
		m, err := c.Thaw()
		if err != nil {
			b.Fatal(err)
		}
		began := time.Now()
		out := apply(m, fault)
		out = apply(m, ariadne.Input{Kind: ariadne.Start, At: out.Back})
		if fires < 0 {
			for fires = 0; !slices.Equal(listening(b, m), want); fires++ {
				if out.Deadline == ariadne.Never || fires > 1000 {
					b.Fatalf("it listens at %q, and did at %q", listening(b, m), want)
				}
				out = apply(m, ariadne.Input{Kind: ariadne.Fire, At: out.Deadline})
			}
		} else {
			for range fires {
				out = apply(m, ariadne.Input{Kind: ariadne.Fire, At: out.Deadline})
			}
			took = append(took, time.Since(began))
		}
		if err := m.Close(); err != nil {
			b.Fatal(err)
		}
	}
	slices.Sort(took)
	if len(took) > 0 {
		b.ReportMetric(float64(took[len(took)/2].Nanoseconds())/1e3, "ready-µs")
	}
}

// taped is a node that notes its inputs.
type taped struct {
	*node.Node
	inputs []ariadne.Input
}

func (n *taped) Apply(in ariadne.Input) (ariadne.Output, error) {
	n.inputs = append(n.inputs, in)
	return n.Node.Apply(in)
}

// inputs are those of the node that has most, not counting clients, on the natural
// schedule.
func inputs(b *testing.B, s *spec.Spec) (index int, list []ariadne.Input) {
	var members []world.Node
	var automata []ariadne.Automaton
	var nodes []*taped
	for i := range s.Nodes {
		d := &s.Nodes[i]
		n := &taped{Node: node.Start(node.Config{Machine: machines.Of(s, i, uint64(i)+1)})}
		defer n.Close()
		nodes = append(nodes, n)
		members = append(members,
			world.Node{Name: d.Name, Addrs: d.Addrs, Client: d.Client, Start: ariadne.Time(d.Start)})
		automata = append(automata, n)
	}
	w := worldtest.New(world.Rules{Latency: s.Latency}, members, automata)
	for !w.ClientsDone() {
		if _, err := w.Apply(w.Enabled()[0]); err != nil {
			b.Fatal(err)
		}
	}
	for i, n := range nodes {
		if !s.Nodes[i].Client && len(n.inputs) > len(list) {
			index, list = i, n.inputs
		}
	}
	return index, list
}

func transition(b *testing.B, s *spec.Spec, inPlace bool) {
	check := func(err error) {
		b.Helper()
		if err != nil {
			b.Fatal(err)
		}
	}
	index, list := inputs(b, s)
	n := node.Start(node.Config{Machine: machines.Of(s, index, uint64(index)+1), Pages: inPlace})
	defer func() { check(n.Close()) }()
	const states = 8
	from := len(list) / 2
	var points []*node.Checkpoint
	for i, in := range list[:min(from+states, len(list)-1)] {
		_, err := n.Apply(in)
		check(err)
		if i >= from {
			c, err := n.Freeze()
			check(err)
			points = append(points, c)
		}
	}
	var thaw, step, freeze, end []time.Duration
	copied := 0
	for i := 0; b.Loop(); i++ {
		p := i * 5 % len(points)
		began := time.Now()
		m := n
		if inPlace {
			was, err := n.Restore(points[p])
			if check(err); !was {
				copied++
			}
		} else {
			var err error
			m, err = points[p].Thaw()
			check(err)
		}
		thawed := time.Now()
		_, err := m.Apply(list[from+p+1])
		check(err)
		stepped := time.Now()
		c, err := m.Freeze()
		check(err)
		frozen := time.Now()
		check(c.Drop())
		if !inPlace {
			check(m.Close())
		}
		thaw, step, freeze = append(thaw, thawed.Sub(began)), append(step, stepped.Sub(thawed)),
			append(freeze, frozen.Sub(stepped))
		end = append(end, time.Since(frozen))
	}
	for _, c := range points {
		check(c.Drop())
	}
	for name, d := range map[string][]time.Duration{"thaw": thaw, "step": step, "freeze": freeze, "end": end} {
		slices.Sort(d)
		b.ReportMetric(float64(d[len(d)/2].Nanoseconds())/1e3, name+"-µs")
	}
	if inPlace {
		b.ReportMetric(float64(copied)/float64(len(thaw)), "copied/op")
	}
}
