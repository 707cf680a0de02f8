//go:build linux

package node_test

import (
	"math"
	"os"
	"slices"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/node"
)

// recorded is a node that keeps what it was given, what it did, and checkpoints of every
// so many steps.
type recorded struct {
	*node.Node
	t     *testing.T
	every int
	ins   []ariadne.Input
	outs  []ariadne.Output
	kept  []early
}

// early is a checkpoint of after so many steps.
type early struct {
	*node.Checkpoint
	steps int
}

func (r *recorded) Apply(in ariadne.Input) (ariadne.Output, error) {
	out, err := r.Node.Apply(in)
	if err != nil {
		return out, err
	}
	r.ins, r.outs = append(r.ins, in), append(r.outs, out)
	if !out.Done && len(r.ins)%r.every == 0 {
		if c, err := r.Freeze(); err == nil {
			r.kept = append(r.kept, early{c, len(r.ins)})
		} else {
			r.t.Logf("not frozen after step %d: %v", len(r.ins), err)
		}
	}
	return out, err
}

func (r *recorded) Close() error {
	for _, c := range r.kept {
		if err := c.Drop(); err != nil {
			r.t.Error(err)
		}
	}
	return r.Node.Close()
}

// again thaws a checkpoint, gives the copy the inputs that came next, most of them, and
// compares its calls with those of the first time.
func (r *recorded) again(c early, most int) {
	n, err := c.Thaw()
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() {
		if err := n.Close(); err != nil {
			r.t.Error(err)
		}
	}()
	for i := c.steps; i < min(len(r.ins), c.steps+most); i++ {
		got, err := n.Apply(r.ins[i])
		if err != nil {
			r.t.Fatal(err)
		}
		want := r.outs[i]
		if got.Unreplayable || want.Unreplayable {
			return
		}
		if got.Digest == want.Digest && slices.Equal(got.CallTrace, want.CallTrace) {
			continue
		}
		same := 0
		for same < min(len(got.CallTrace), len(want.CallTrace)) && got.CallTrace[same] == want.CallTrace[same] {
			same++
		}
		next := func(o ariadne.Output) []ariadne.CallRecord {
			return o.CallTrace[same:min(same+3, len(o.CallTrace))]
		}
		r.t.Errorf("thawed after step %d, its step %d differs from call %d on: %+v, was %+v; %d calls, were %d; clock %v, was %v",
			c.steps, i+1, same+1, next(got), next(want), got.Calls, want.Calls, got.Clock, want.Clock)
		return
	}
}

// TestRealSystemsAsLateCopies: copies of a real system's nodes that are thawed when others have
// gone far ahead do, call by call, what was done the first time. All copies share files and memory
// without a name.
func TestRealSystemsAsLateCopies(t *testing.T) {
	type system struct {
		example     string
		every, most int
	}
	systems := []system{{"redis/replication", 5, math.MaxInt}}
	if os.Getenv("ARIADNE_LONG") != "" {
		systems = append(systems, system{"rabbitmq/rabbitmq", 15, 1500}, system{"postgres/postgres", 5, math.MaxInt},
			system{"zookeeper/zookeeper", 10, math.MaxInt}, system{"etcd/etcd-3.5", 10, math.MaxInt})
	}
	for _, sys := range systems {
		t.Run(sys.example, func(t *testing.T) {
			s := realSystem(t, sys.example)
			var nodes []*recorded
			steps := natural(t, s, sys.most, node.Config{TraceCalls: true}, func(n *node.Node) member {
				nodes = append(nodes, &recorded{Node: n, t: t, every: sys.every})
				return nodes[len(nodes)-1]
			})
			copies := 0
			for _, r := range nodes {
				for k := range r.kept { // last, first, last but one, second, ...
					i := k / 2
					if k%2 == 0 {
						i = len(r.kept) - 1 - i
					}
					r.again(r.kept[i], 2*sys.every)
					copies++
				}
			}
			if copies == 0 {
				t.Error("nothing was copied")
			}
			t.Logf("%d steps, %d copies", len(steps), copies)
		})
	}
}
