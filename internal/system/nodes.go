package system

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/memo"
	"github.com/ariadne-mc/ariadne/internal/explore/space"
	"github.com/ariadne-mc/ariadne/internal/machine/hostfiles"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// Factory starts nodes. Processes does, with real processes; tests do, with automata of a
// few lines.
type Factory interface {
	// Start returns a node that has not been switched on yet. It is called, and
	// the node used and closed, on one goroutine that is locked to its thread. Strategies
	// that remember need nodes that are memo.Freezables.
	Start(NodeConfig) (memo.Instance, error)
}

// Places is a Factory that cares where its nodes run.
type Places interface {
	// Enter makes the thread that calls it the place of worker number i's nodes.
	Enter(i int) error
}

// NodeConfig is what a node needs to know.
type NodeConfig struct {
	Spec *spec.Spec
	Node *spec.Node // of Spec.Nodes
	// Calls asks for Output.CallTrace.
	Calls bool
	// Learnt, when not nil, is told the Output.Files of each step before the step is over.
	Learnt func([]ariadne.File)
	// Sought, when not nil, collects where the node's programs look for what only the host has.
	Sought *Sought
	// Seen is what nodes were first shown of the host's files.
	Seen *hostfiles.Seen
	// Interrupt returns a channel that ends the step under way where it is, when it is closed.
	Interrupt func() <-chan struct{}
}

// OnThread runs f on a goroutine and thread of its own, which end with it: the
// nodes belong to the thread that makes them. It is the place of worker i.
func (y *System) OnThread(i int, f func() error) (err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if p, ok := y.nodes.(Places); ok {
			if err = p.Enter(i); err != nil {
				return
			}
		}
		err = f()
	}()
	<-done
	return err
}

// Live lends f the space of living nodes, on the thread of the goroutine. A panic is a Bug that
// says where. All that stages compute there by what has changed is computed without as well: what
// is found in a search is confirmed in such a space, so none of it rests on a mistake there.
// Numbers without bounds are seen there alone.
func (y *System) Live(f func(*space.Space) error) (err error) {
	nodes := y.Living(y.ctx, nil)
	defer func() {
		if p := recover(); p != nil {
			err = Bug{fmt.Errorf("panic: %v\n%s", p, debug.Stack())}
		}
		if e := nodes.Close(); err == nil && e != nil {
			err = AsBug(e)
		}
	}()
	return f(y.judgedBy(y.ctx, y.watched, space.Live(y.World(), nodes), 1))
}
