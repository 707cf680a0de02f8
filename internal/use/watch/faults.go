package watch

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/ariadne-mc/ariadne"
)

// faults happen to nodes that were started here, now and then. Most bugs need a fault at the right
// moment: when a node has just become the leader, and nobody else has heard of it. A random time is
// hardly ever such a moment. So half of the faults come soon after a node has shown something, half
// of these at that node.
type faults struct {
	every  time.Duration // on average, or a little more
	random *rand.Rand    // nil: there are none
	next   ariadne.Time  // when the next one comes, or waits for a node that shows something
	waits  bool          // it does, until next
	after  bool          // it comes after something that was shown
	at     *watched      // the node that it hits; nil: any
	count  int
}

const (
	// Times are drawn evenly over their orders of magnitude: nobody knows those that matter. A
	// fault comes so soon after something was shown:
	soonestFault, latestFault = time.Millisecond, time.Second
	// It lasts:
	shortestFault, longestFault = 50 * time.Millisecond, 6 * time.Second
	// rarestFaults bounds the average, so that a multiple of it is still a time.
	rarestFaults = 365 * 24 * time.Hour
)

// faultKind is the kind of a fault, which also tells the random numbers of kinds apart.
type faultKind uint64

const (
	killing faultKind = iota
	cutting
)

var faultNames = [...]string{killing: "kill", cutting: "cut"}

// begin begins faults of a kind every so often.
func (f *faults) begin(every time.Duration, seed uint64, kind faultKind, now ariadne.Time) {
	if every > 0 {
		f.every, f.random = min(every, rarestFaults), rand.New(rand.NewPCG(seed, uint64(kind)))
		f.next = now.Add(f.wait())
	}
}

// wait is a random time between two faults.
func (f *faults) wait() time.Duration { return time.Duration(f.random.ExpFloat64() * float64(f.every)) }

// between draws a time, evenly over the orders of magnitude.
func (f *faults) between(least, most time.Duration) time.Duration {
	return time.Duration(float64(least) * math.Pow(float64(most)/float64(least), f.random.Float64()))
}

// shows tells that a node has shown something.
func (f *faults) shows(n *watched, now ariadne.Time) {
	if !f.waits {
		return
	}
	f.waits, f.after = false, true
	f.next = now.Add(f.between(soonestFault, latestFault))
	if f.random.IntN(2) == 0 {
		f.at = n
	}
}

// due reports whether a fault is to happen now.
func (f *faults) due(now ariadne.Time) bool {
	switch {
	case f.random == nil || now < f.next:
		return false
	case !f.waits && !f.after && f.random.IntN(2) == 0:
		f.waits, f.next = true, now.Add(f.every) // nothing may be shown
		return false
	}
	return true
}

// done begins the time to the next fault.
func (f *faults) done(now ariadne.Time) {
	f.waits, f.after, f.at, f.next = false, false, nil, now.Add(f.wait())
}

// shows tells the faults that a node has shown something.
func (a *Agent) shows(n *watched, now ariadne.Time) {
	a.kills.shows(n, now)
	a.cuts.shows(n, now)
}

// strike returns one of the nodes that may be hit, and for how long, if the time of a fault has
// come; else nil.
func (f *faults) strike(all []*launch, may func(*launch) bool, now ariadne.Time) (*launch, time.Duration) {
	if !f.due(now) {
		return nil, 0
	}
	var those []*launch
	for _, r := range all {
		if !may(r) {
			continue
		}
		if r.node == f.at {
			those = []*launch{r}
			break
		}
		those = append(those, r)
	}
	f.done(now)
	if those == nil {
		return nil, 0
	}
	f.count++
	return those[f.random.IntN(len(those))], f.between(shortestFault, longestFault).Round(time.Millisecond)
}

// runs reports whether a node runs that faults may hit.
func (r *launch) runs() bool { return !r.node.def.Client && r.node.process != nil && !r.waiting }

// canBeCut reports whether a node can be cut off from the network of the others.
func (r *launch) canBeCut() bool { return r.runs() && r.node.hasNetwork() && r.joins == 0 }

// tellFault tells what happens to a node.
func (a *Agent) tellFault(r *launch, kind faultKind, what string) {
	if a.onFault != nil {
		a.onFault(Change{At: a.now(), Node: r.node.def.Name, What: what, Kind: faultNames[kind]})
	}
}

// inject kills a node or cuts it off, if the time for that has come. It connects the nodes again
// that were cut off for long enough.
func (a *Agent) inject() error {
	now := a.now()
	for _, r := range a.running {
		if r.joins == 0 || now < r.joins {
			continue
		}
		r.joins = 0
		a.tellFault(r, cutting, "is connected again")
		if err := a.lab.Join(r.node.number()); err != nil {
			return fmt.Errorf("node %s: %w", r.node.def.Name, err)
		}
	}
	if r, down := a.kills.strike(a.running, (*launch).runs, now); r != nil {
		a.tellFault(r, killing, fmt.Sprintf("is killed for %v", down))
		if err := a.kill(r.node, down); err != nil {
			return err
		}
	}
	if r, apart := a.cuts.strike(a.running, (*launch).canBeCut, now); r != nil {
		r.joins = now.Add(apart)
		a.tellFault(r, cutting, fmt.Sprintf("is cut off for %v", apart))
		if err := a.lab.Cut(r.node.number()); err != nil {
			return fmt.Errorf("node %s: %w", r.node.def.Name, err)
		}
	}
	return nil
}
