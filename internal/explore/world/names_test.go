package world_test

import (
	"net/netip"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

func names() world.Names {
	return world.NewSystem(world.Rules{}, []world.Node{
		{Name: "n1", Addrs: []netip.Addr{netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("fd00::1")}},
		{Name: "n2", Addrs: []netip.Addr{netip.MustParseAddr("10.0.0.2"), netip.MustParseAddr("fd00::2")}},
	}).Names()
}

func deliver(p ariadne.Protocol, to ariadne.NodeID, src, dst string, epoch, seq int) ariadne.Action {
	f := ariadne.Flow{Proto: p, Src: netip.MustParseAddrPort(src), Dst: netip.MustParseAddrPort(dst), Epoch: epoch}
	return ariadne.Action{Kind: ariadne.ActDeliver, Node: to, Flow: f, Seq: seq}
}

func TestActionNames(t *testing.T) {
	n := names()
	lost := deliver(ariadne.UDP, 1, "10.0.0.1:53", "10.0.0.2:53", 0, 1)
	lost.Kind = world.Lose
	event := ariadne.Action{Kind: world.AppEvent, Node: 1,
		Flow: ariadne.OwnFlow(ariadne.App, netip.MustParseAddr("10.0.0.2"), 0), Seq: 3}
	later := event
	later.Flow.Epoch = 2
	for _, c := range []struct {
		action ariadne.Action
		name   string
	}{
		{ariadne.Action{Kind: ariadne.ActStart, Node: 1}, "start n2"},
		{ariadne.Action{Kind: ariadne.ActFire}, "timer n1"},
		{ariadne.Action{Kind: world.Crash, Node: 1, What: "1m5s"}, "crash n2 for 1m5s"},
		{ariadne.Action{Kind: world.Stop, What: "ever"}, "stop n1 for ever"},
		{ariadne.Action{Kind: world.Kill, What: "redis-server#2"}, "kill n1 redis-server#2"},
		{ariadne.Action{Kind: world.Jump, What: "+1h0m0s"}, "jump n1 by +1h0m0s"},
		{ariadne.Action{Kind: world.Drift, Node: 1, What: "-50ppm"}, "drift n2 by -50ppm"},
		{deliver(ariadne.TCP, 1, "10.0.0.1:40001", "10.0.0.2:2380", 0, 3), "deliver n1:40001>n2:2380 #3"},
		{deliver(ariadne.TCP, 1, "10.0.0.1:40001", "10.0.0.2:2380", 2, 3), "deliver n1:40001>n2:2380@2 #3"},
		{deliver(ariadne.UDP, 1, "10.0.0.1:53", "10.0.0.2:53", 0, 1), "deliver udp n1:53>n2:53 #1"},
		{deliver(ariadne.TCP, 0, "[fd00::2]:80", "[fd00::1]:9", 0, 1), "deliver [fd00::2]:80>[fd00::1]:9 #1"},
		{deliver(ariadne.UDP, 1, "10.0.0.1:53", "10.0.0.255:53", 0, 1), "deliver udp n1:53>10.0.0.255:53 #1 to n2"},
		{lost, "lose udp n1:53>n2:53 #1"},
		{event, "event n2 #3"},
		{ariadne.Action{Kind: world.Synced, Node: 1,
			Flow: ariadne.OwnFlow(ariadne.Disk, netip.MustParseAddr("10.0.0.2"), 1), Seq: 2}, "synced n2@1 #2"},
		{later, "event n2@2 #3"},
		{ariadne.Action{Kind: ariadne.ActFire, Vary: "fail:EIO@7/fsync:/a%20with%2C#2"},
			"timer n1 with fail:EIO@7/fsync:/a%20with%2C#2"},
		{ariadne.Action{Kind: ariadne.ActStart, Vary: "fail:EIO@7/fsync#1,fail:ENOSPC@8/write#2"},
			"start n1 with fail:EIO@7/fsync#1,fail:ENOSPC@8/write#2"},
	} {
		if got := n.Action(c.action); got != c.name {
			t.Errorf("got %q, want %q", got, c.name)
		}
		got, err := n.Parse(c.name)
		if err != nil || got != c.action {
			t.Errorf("%s parsed as %+v, %v", c.name, got, err)
		}
	}
}

func TestBadActionNames(t *testing.T) {
	for name, want := range map[string]string{
		"":                                    "want " + world.KindNames(),
		"event n1":                            "want event NODE #NUMBER",
		"synced n1":                           "want synced NODE #NUMBER",
		"event n1@0 #1":                       "its name is \"event n1 #1\"",
		"event n3 #1":                         "no node \"n3\"",
		"event n1@x #1":                       "bad epoch \"x\"",
		"event n1 #x":                         "bad number \"x\"",
		"timer n1 with ":                      "its name is \"timer n1\"",
		"timer n1 with fail:EIO":              `bad variation "fail:EIO@": want KIND:WHAT@PLACE, more of them after commas`,
		"timer n1 with fail:EIO@x y":          `bad variation "fail:EIO@x y": want KIND:WHAT@PLACE, more of them after commas`,
		"timer n1 with duplicate:x@1":         `bad variation "duplicate:x@1": nothing in a step is of kind "duplicate"`,
		"fail n1":                             "want " + world.KindNames(),
		"crash n1":                            "want crash NODE for WHAT",
		"crash n1 for x":                      `time: invalid duration "x"`,
		"stop n1 for 65s":                     `its name is "stop n1 for 1m5s"`,
		"halt n1":                             "want " + world.KindNames(),
		"start n3":                            `no node "n3"`,
		"timer n1 ":                           `no node "n1 "`,
		"deliver n1:1>n2:2":                   "want SOURCE>DESTINATION #NUMBER",
		"deliver n1:1>n2:2 #x":                `bad number "#x"`,
		"deliver n1:1>n2:2 3":                 `its name is "deliver n1:1>n2:2 #3"`,
		"deliver n1:1>n2:2@ #3":               `bad epoch ""`,
		"deliver n1:1>n2:2@0 #3":              `its name is "deliver n1:1>n2:2 #3"`,
		"deliver 10.0.0.1:1>n2:2 #3":          `its name is "deliver n1:1>n2:2 #3"`,
		"deliver n1:1>n2:99999 #3":            `bad port "99999"`,
		"deliver n1:1>n9:2 #3":                `bad address "n9:2"`,
		"deliver n1:1 #3":                     `bad address ""`,
		"deliver udp n1:1>10.0.0.255:2 #3":    "no node has the address 10.0.0.255",
		"deliver udp n1:1>n2:2 #3 to n2":      `its name is "deliver udp n1:1>n2:2 #3"`,
		"deliver udp n1:1>n2:2 #3 for n2":     `its name is "deliver udp n1:1>n2:2 #3"`,
		"deliver udp n1:1>10.0.0.9:2 #3 to x": `no node "x"`,
	} {
		_, err := names().Parse(name)
		if w := `bad action "` + name + `": ` + want; err == nil || err.Error() != w {
			t.Errorf("got %v, want %s", err, w)
		}
	}
}

func FuzzActionNames(f *testing.F) {
	f.Add("deliver udp n1:5353>n2:5353@1 #3 to n2")
	f.Add("start n1")
	f.Fuzz(func(t *testing.T, name string) {
		a, err := names().Parse(name)
		if err == nil && names().Action(a) != name {
			t.Errorf("%q is printed as %q", name, names().Action(a))
		}
	})
}

// TestNamesOfLateEvents: what happens late has the name of what it is, and by how much.
func TestNamesOfLateEvents(t *testing.T) {
	n := world.NewNames([]world.Node{{Name: "n1"},
		{Name: "timer", Addrs: []netip.Addr{netip.MustParseAddr("10.0.0.2")}}}, nil)
	for _, name := range []string{"late timer n1 by 51ms", "late timer timer by 1.5s",
		"late udp timer:1000>timer:2000 #3 by 2ms"} {
		a, err := n.Parse(name)
		if err != nil || n.Action(a) != name || a.Kind != world.Late {
			t.Errorf("%q: %+v, %v", n.Action(a), a, err)
		}
		if on := world.OnTime(a); on.Kind == world.Late || on.Flow != a.Flow || on.Node != a.Node || on.What != "" {
			t.Errorf("%q on time: %+v", name, on)
		}
	}
	for _, name := range []string{"late timer n1", "late timer n3 by 1s", "late timer n1 by 0s", "late timer n1 by -1s",
		"late n1 by 1s"} {
		if a, err := n.Parse(name); err == nil {
			t.Errorf("%q: %+v", name, a)
		}
	}
}
