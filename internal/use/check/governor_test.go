//go:build linux

package check

import (
	"os/exec"
	"testing"
	"time"
)

// TestGovern: whatever checkpoints really cost, the room for them settles where all
// together take about the budget, and not more.
func TestGovern(t *testing.T) {
	const mb = 1 << 20
	// cost: of what is estimated, in tenths
	for _, c := range []struct{ budget, own, living, cost int64 }{
		{300, 50, 60, 10}, {300, 50, 60, 50}, {300, 30, 60, 2}, {4000, 400, 100, 30}, {300, 290, 60, 10},
	} {
		all, room, held := c.budget*mb, int64(30*mb), int64(0)
		nodes := func() int64 { return c.living*mb + held/10*c.cost }
		for range 40 {
			held = min(room, held+100*mb) // a search fills what there is
			room = govern(room, held, usage{own: c.own * mb, nodes: nodes()}, all)
		}
		held = min(held, room)
		got, least := c.own*mb+nodes(), all/100*60
		if c.cost < 5 || c.own+c.living > c.budget*8/10 {
			least = 0 // the room has an upper bound; or there is none
		}
		if over := max(c.budget*mb, (c.own+c.living+5)*mb); got > over || got < least {
			t.Errorf("%+v: %d MB, room %d MB", c, got/mb, room/mb)
		}
	}
}

// TestMeasure: what a child takes is seen, and no longer when it has ended.
func TestMeasure(t *testing.T) {
	before := measureUsage()
	if before.own < 1<<20 {
		t.Errorf("%d bytes", before.own)
	}
	// awk holds 32 MB in one string.
	cmd := exec.Command("awk", `BEGIN { s = "0123456789abcdef"; while (length(s) < 32*1024*1024) s = s s; print "held"; fflush(); getline }`)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	line := make([]byte, 5)
	if _, err := out.Read(line); err != nil {
		t.Fatal(err)
	}
	during := measureUsage()
	in.Close()
	cmd.Wait()
	if got := during.nodes - before.nodes; got < 32<<20 {
		t.Errorf("%d bytes more", got)
	}
	for begin := time.Now(); measureUsage().nodes > during.nodes-32<<20; time.Sleep(10 * time.Millisecond) {
		if time.Since(begin) > 5*time.Second {
			t.Fatalf("still %d bytes", measureUsage().nodes)
		}
	}
}
