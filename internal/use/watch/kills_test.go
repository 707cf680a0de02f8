package watch

import (
	"math"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/system/native"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// TestKills: a kill comes every so often, and about half of them come soon after a node has shown
// something, about half of these at that node. Without anything shown, all of them come later.
func TestKills(t *testing.T) {
	const (
		every = 3 * time.Second
		shown = 700 * time.Millisecond // from one node that shows something to the next
		step  = ariadne.Time(time.Millisecond)
	)
	n := &watched{}
	run := func(shows bool) (all, soon, there int) {
		var k kills
		k.begin(every, 4, 0)
		for now := ariadne.Time(0); now < ariadne.Time(3000*time.Second); now += step {
			if shows && now%ariadne.Time(shown) == 0 {
				k.shows(n, now)
			}
			if !k.due(now) {
				continue
			}
			if all++; k.after {
				soon++
			}
			if k.at == n {
				there++
			}
			k.done(now)
		}
		return all, soon, there
	}
	all, soon, there := run(true)
	if all < 700 || all > 1100 || soon < all*2/5 || soon > all*3/5 || there < soon*2/5 || there > soon*3/5 {
		t.Errorf("%d kills, %d after something was shown, %d of these there", all, soon, there)
	}
	all, soon, there = run(false)
	if all < 500 || all > 800 || soon != 0 || there != 0 {
		t.Errorf("nothing is shown: %d kills, %d after that, %d there", all, soon, there)
	}
}

// TestSeldomKills: nothing is killed soon if kills are to be as seldom as a duration can say.
func TestSeldomKills(t *testing.T) {
	for seed := range uint64(20) {
		var k kills
		k.begin(math.MaxInt64, seed, 0)
		if now := ariadne.Time(time.Hour); k.due(now) || k.waits {
			t.Errorf("seed %d: the first kill is due after %v", seed, time.Duration(k.next))
		}
	}
}

// TestRestartWaits: a node that was killed does not start again before its program has ended.
func TestRestartWaits(t *testing.T) {
	n := &watched{def: &spec.Node{Name: "n1"}}
	r := &launch{node: n, program: &native.Running{}, waiting: true}
	a := &Agent{started: started{running: []*launch{r}}}
	if err := a.restart(); err != nil || !r.waiting || r.starts != 0 {
		t.Errorf("the node was started beside its program: %v", err)
	}
}
