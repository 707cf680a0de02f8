package watch

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/ariadne-mc/ariadne"
)

// kills ends nodes that were started here, now and then. Most bugs need a kill at the right moment:
// when a node has just become the leader, and nobody else has heard of it. A random time is hardly
// ever such a moment. So half of the kills come soon after a node has shown something, half of
// these at that node.
type kills struct {
	every  time.Duration // on average, or a little more
	random *rand.Rand    // nil: nothing is killed
	next   ariadne.Time  // when the next one comes, or waits for a node that shows something
	waits  bool          // it does, until next
	after  bool          // it comes after something that was shown
	at     *watched      // the node to kill; nil: any
	count  int
}

const (
	// Times are drawn evenly over their orders of magnitude: nobody knows those that matter. A kill
	// comes so soon after something was shown:
	soonestKill, latestKill = time.Millisecond, time.Second
	// A node starts again after:
	soonestStart, latestStart = 50 * time.Millisecond, 6 * time.Second
	// rarestKills bounds the average, so that a multiple of it is still a time.
	rarestKills = 365 * 24 * time.Hour
)

// begin begins kills every so often.
func (k *kills) begin(every time.Duration, seed uint64, now ariadne.Time) {
	if every > 0 {
		k.every, k.random = min(every, rarestKills), rand.New(rand.NewPCG(seed, 0))
		k.next = now.Add(k.wait())
	}
}

// wait is a random time between two kills.
func (k *kills) wait() time.Duration { return time.Duration(k.random.ExpFloat64() * float64(k.every)) }

// between draws a time, evenly over the orders of magnitude.
func (k *kills) between(least, most time.Duration) time.Duration {
	return time.Duration(float64(least) * math.Pow(float64(most)/float64(least), k.random.Float64()))
}

// shows tells that a node has shown something.
func (k *kills) shows(n *watched, now ariadne.Time) {
	if !k.waits {
		return
	}
	k.waits, k.after = false, true
	k.next = now.Add(k.between(soonestKill, latestKill))
	if k.random.IntN(2) == 0 {
		k.at = n
	}
}

// due reports whether a node is to be killed now.
func (k *kills) due(now ariadne.Time) bool {
	switch {
	case k.random == nil || now < k.next:
		return false
	case !k.waits && !k.after && k.random.IntN(2) == 0:
		k.waits, k.next = true, now.Add(k.every) // nothing may be shown
		return false
	}
	return true
}

// done begins the time to the next kill.
func (k *kills) done(now ariadne.Time) {
	k.waits, k.after, k.at, k.next = false, false, nil, now.Add(k.wait())
}

// killing ends a node if its time has come.
func (a *Agent) killing() error {
	k, now := &a.kills, a.now()
	if !k.due(now) {
		return nil
	}
	var all, those []*launch
	for _, r := range a.running {
		if !r.node.def.Client && r.node.process != nil && !r.waiting {
			if all = append(all, r); r.node == k.at {
				those = append(those, r)
			}
		}
	}
	if those != nil {
		all = those
	}
	k.done(now)
	if all == nil {
		return nil
	}
	k.count++
	return a.kill(all[k.random.IntN(len(all))].node, k.between(soonestStart, latestStart))
}
