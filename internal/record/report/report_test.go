package report

import (
	"bytes"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/explore/world"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const ms = ariadne.Time(time.Millisecond)

func flow(from, to string) ariadne.Flow {
	return ariadne.Flow{Proto: ariadne.TCP, Src: netip.MustParseAddrPort(from), Dst: netip.MustParseAddrPort(to)}
}

// scenario is a little of everything that a timeline can show.
func scenario() []ariadne.Step {
	there := flow("10.0.0.2:40001", "10.0.0.1:80")
	message := func(seq int, flags ariadne.Flags, data string) ariadne.Message {
		return ariadne.Message{From: 1, To: 0, Flow: there, Seq: seq, Flags: flags, Data: []byte(data), Sent: 1 * ms}
	}
	start := func(n ariadne.NodeID) ariadne.Action { return ariadne.Action{Kind: ariadne.ActStart, Node: n} }
	deliver := func(seq int) ariadne.Action {
		return ariadne.Action{Kind: ariadne.ActDeliver, Node: 0, Flow: there, Seq: seq}
	}
	fire := ariadne.Action{Kind: ariadne.ActFire, Node: 0}
	line := func(at ariadne.Time, text string) []ariadne.LogLine {
		return []ariadne.LogLine{{At: at, Stream: 1, PID: 1, Text: text}}
	}
	steps := []ariadne.Step{
		{Action: start(0),
			Output: ariadne.Output{Logs: line(0, "listening\ton :80\x1b[1m"),
				Left: ariadne.Left{Timer: "epoll_wait/3"}}},
		{Action: start(1), Output: ariadne.Output{Messages: []ariadne.Message{
			message(1, ariadne.SYN, ""),
			message(2, 0, "\x00\x01PUT /k HTTP/1.1\r\n\r\n"+strings.Repeat("long ", 40)),
			message(3, ariadne.FIN, ""),
		}}},
		{Action: deliver(1), At: 2 * ms, Output: ariadne.Output{Left: ariadne.Left{Timer: "epoll_wait/3"}}},
		{Action: deliver(2), At: 32 * ms,
			Output: ariadne.Output{Logs: line(32*ms, strings.Repeat("0123456789", 12)),
				Left: ariadne.Left{Timer: "nanosleep"}}},
	}
	for range 6 {
		steps = append(steps,
			ariadne.Step{Action: fire, At: 40 * ms, Output: ariadne.Output{Left: ariadne.Left{Timer: "nanosleep"}}})
	}
	steps = append(steps,
		ariadne.Step{Action: deliver(9), Name: "deliver n2:1>n1:2 #9", At: 41 * ms},
		ariadne.Step{Action: deliver(3), At: 50 * ms,
			Output: ariadne.Output{Diverged: "5000000 calls", Fatal: "io_uring_setup",
				Exits: []ariadne.Exit{{At: 50 * ms, Status: 0}, {At: 50 * ms, Command: 1, Status: 3},
					{At: 51 * ms, Command: 2, Status: -1, Signal: 11}}, Left: ariadne.Left{Clock: 50 * ms},
				Noted: ariadne.Noted{Unreplayable: true}}})
	for i := range steps {
		steps[i].Index = i + 1
		steps[i].Output.Deadline = ariadne.Never
	}
	return steps
}

// TestWrap: on a terminal nothing is lost of a line that is too long, and no line is.
func TestWrap(t *testing.T) {
	for _, c := range []struct {
		width int
		text  string
		want  string
	}{
		{0, "  " + strings.Repeat("word ", 40) + "\x1b", "  " + strings.Repeat("word ", 40) + "·"},
		{50, "  short", "  short"},
		{50, "  link to .git/objects/59/56ee before data of .git/objects/59/56ee: 3 images fail", "  link to .git/objects/59/56ee before data of\n    .git/objects/59/56ee: 3 images fail"},
		{50, "  data of " + strings.Repeat("0123456789", 10) + " end", "  data of\n    012345678901234567890123456789012345678901234\n    567890123456789012345678901234567890123456789\n    0123456789 end"},
		{50, strings.Repeat("x", 49), strings.Repeat("x", 49)},
		{50, strings.Repeat("x", 50), strings.Repeat("x", 49) + "\n  x"},
		{50, strings.Repeat("x", 49) + " y", strings.Repeat("x", 49) + "\n  y"},
	} {
		if got := (Style{Width: c.width}).Wrap(c.text); got != c.want {
			t.Errorf("%d columns: got\n%s\nwant\n%s", c.width, got, c.want)
		}
	}
}

// TestColumns: what programs write in any script takes no more columns than there are.
func TestColumns(t *testing.T) {
	family := "\U0001F468\u200D\U0001F469\u200D\U0001F467" // one character of two columns
	for _, c := range []struct {
		text string
		want int
		cut  string // to four columns
	}{
		{"leader", 6, "lea…"},
		{"日本語", 6, "日…"},
		{"e\u0301te\u0301", 3, "e\u0301te\u0301"},
		{"xe\u0301te\u0301s", 5, "xe\u0301t…"},
		{family + family + "x", 5, family + "…"},
		{"\u009b31m", 4, "\u009b31m"},
	} {
		if got := columns(printable(c.text)); got != c.want {
			t.Errorf("%q takes %d columns, want %d", c.text, got, c.want)
		}
		if got := cut(c.text, 4); got != c.cut {
			t.Errorf("%q cut to four columns: %q, want %q", c.text, got, c.cut)
		}
	}
	if got := printable("\u009b31m\x1b\u0085\xff"); got != "·31m···" {
		t.Errorf("control characters became %q", got)
	}

	for _, l := range strings.Split(Style{Width: 80}.List("", slices.Repeat([]string{"日本語日本語"}, 20)), "\n") {
		if columns(l) > 79 {
			t.Errorf("%d columns: %q", columns(l), l)
		}
	}
	style := Style{Width: 50}
	tl := NewTimeline([]string{"n1"}, time.Millisecond, Style{Width: 80})
	for _, text := range []string{strings.Repeat("日本語 ", 40), strings.Repeat("日本", 60), strings.Repeat(family, 60),
		strings.Repeat(" ", 100) + strings.Repeat("日 ", 60)} {
		for _, l := range append(strings.Split(style.Wrap(text), "\n"), style.Line(text)) {
			if columns(l) > 49 {
				t.Errorf("%d columns: %q", columns(l), l)
			}
		}
		if got := strings.Join(strings.Fields(style.Wrap(text)), ""); got != strings.Join(strings.Fields(text), "") {
			t.Errorf("%q lost a part of %q", got, text)
		}
		row := tl.format(row{node: 0, from: ariadne.NoNode, kind: logRow, text: text}, false)
		if columns(row) > 80 {
			t.Errorf("%d columns: %q", columns(row), row)
		}
	}
}

func TestTimeline(t *testing.T) {
	var out bytes.Buffer
	for _, style := range []Style{{}, {Width: 80}, {Width: 200, Colour: true}} {
		tl := NewTimeline([]string{"n1", "client-one"}, time.Millisecond, style)
		lines := []string{tl.Head()}
		for _, s := range scenario() {
			lines = append(lines, tl.Step(s)...)
		}
		lines = append(lines, tl.End()...)
		out.WriteString(strings.Join(lines, "\n") + "\n\n")
	}
	golden(t, "testdata/timeline.golden", out.Bytes())
}

// TestTimelineOfCommands: where it is known what commands are called, the timeline says so.
func TestTimelineOfCommands(t *testing.T) {
	tl := NewTimeline([]string{"a"}, 0, Style{})
	tl.Commands = func(_ ariadne.NodeID, command int) string { return [...]string{"serve", "look at files"}[command] }
	lines := strings.Join(tl.Step(ariadne.Step{Index: 1, Action: ariadne.Action{Kind: ariadne.ActStart},
		Output: ariadne.Output{Exits: []ariadne.Exit{{Command: 1, Status: 3}, {Signal: 9}}}}), "\n")
	for _, want := range []string{"look at files: exit status 3", "serve: killed by signal 9"} {
		if !strings.Contains(lines, want) {
			t.Errorf("%s\nwant %s", lines, want)
		}
	}
}

// TestTimelineOfFaults: what happens to the network is no node's, and a fault is held back by
// nothing.
func TestTimelineOfFaults(t *testing.T) {
	tl := NewTimeline([]string{"a", "b"}, time.Millisecond, Style{Width: 80})
	timer := ariadne.Output{Left: ariadne.Left{Deadline: 5 * ms, Timer: "nanosleep"}}
	var lines []string
	for i, s := range []ariadne.Step{
		{Action: ariadne.Action{Kind: ariadne.ActStart, Node: 0}, Output: timer},
		{Action: ariadne.Action{Kind: 20, Node: ariadne.NoNode}, Name: "cut a|b for 1s", At: 1 * ms},
		{Action: ariadne.Action{Kind: 21, Node: 1}, Name: "crash b for 1s", At: 2 * ms,
			Output: ariadne.Output{Left: ariadne.Left{Deadline: ariadne.Never}}},
		{Action: ariadne.Action{Kind: ariadne.ActFire, Node: 0, Vary: "fail:EIO@7/fsync:/x#1"}, At: 5 * ms,
			Output: timer},
		{Action: ariadne.Action{Kind: 22, Node: 1}, Name: "power b for 1s", At: 6 * ms,
			Output: ariadne.Output{Lost: []string{"write of 4 bytes at 0 to db", "creation of db"},
				Left: ariadne.Left{Clock: 1000 * ms, Deadline: ariadne.Never}}},
		{Action: ariadne.Action{Kind: ariadne.ActFire, Node: 0}, At: 7 * ms, Output: timer},
	} {
		s.Index = i + 1
		lines = append(lines, tl.Step(s)...)
	}
	lines = append(lines, tl.End()...)
	got, want := strings.Join(lines, "\n"), `   0.000000s     1  a        start
   0.001000s     2! network  cut a|b for 1s
   0.002000s     3! b        crash b for 1s
   0.005000s     4! a        timer nanosleep
   0.005000s      ! a        fail EIO at 7/fsync:/x#1
   0.006000s     5! b        power b for 1s
   0.006000s      ! b        lost: write of 4 bytes at 0 to db
   0.006000s      ! b        lost: creation of db
   0.007000s     6  a        timer nanosleep`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	e := Excerpt{Tail: 1}
	e.Add(lines...)
	if got := e.Lines(tl, "x"); len(got) != 10 || !slices.Equal(got[1:8], lines[1:8]) {
		t.Errorf("an excerpt is\n%s", strings.Join(got, "\n"))
	}
}

// TestTimelineOfCutSync: a sync that a loss of power has cut short is not waited for; one that a
// pause holds up is.
func TestTimelineOfCutSync(t *testing.T) {
	for down, want := range map[ariadne.Down]int{ariadne.PowerLost: 0, ariadne.Stopped: 0, ariadne.Crashed: 1,
		ariadne.Paused: 1} {
		tl := NewTimeline([]string{"a"}, time.Millisecond, Style{})
		sync := ariadne.Message{Flow: ariadne.Flow{Proto: ariadne.Disk}, Seq: 1, Data: []byte("fsync of db")}
		tl.Step(ariadne.Step{Index: 1, Action: ariadne.Action{Kind: ariadne.ActStart},
			Output: ariadne.Output{Messages: []ariadne.Message{sync}, Left: ariadne.Left{Deadline: ariadne.Never}}})
		tl.Step(ariadne.Step{Index: 2, At: 1 * ms, Action: ariadne.Action{Kind: 22}, Name: "power a for 1s",
			Output: ariadne.Output{Left: ariadne.Left{Deadline: ariadne.Never, Down: down}}})
		tl.Step(ariadne.Step{Index: 3, At: 90 * ms, Action: ariadne.Action{Kind: ariadne.ActFire},
			Output: ariadne.Output{Left: ariadne.Left{Deadline: ariadne.Never}}})
		if got := tl.Undelivered(); len(got) != want {
			t.Errorf("%v: %q, want %d lines", down, got, want)
		}
	}
}

// TestTimelineOfStruckMessages: what a fault hits on its way shows as that, and not as what has not
// arrived.
func TestTimelineOfStruckMessages(t *testing.T) {
	tl := NewTimeline([]string{"a", "b"}, time.Millisecond, Style{Width: 80})
	udp, tcp := ariadne.Flow{Proto: ariadne.UDP, Src: netip.MustParseAddrPort("10.0.0.1:5"),
		Dst: netip.MustParseAddrPort("10.0.0.2:7")}, ariadne.Flow{Proto: ariadne.TCP}
	tcp.Src, tcp.Dst = udp.Src, udp.Dst
	sends := ariadne.Output{Messages: []ariadne.Message{{To: 1, Flow: udp, Seq: 1, Data: []byte("gone")},
		{To: 1, Flow: udp, Seq: 2, Data: []byte("late")}, {To: 1, Flow: tcp, Seq: 1, Data: []byte("hello")}},
		Left: ariadne.Left{Deadline: ariadne.Never}}
	for i, word := range []string{"one, ", "two, ", "three"} {
		sends.Messages = append(sends.Messages, ariadne.Message{To: 1, Flow: tcp, Seq: 2 + i, Data: []byte(word)})
	}
	nothing := ariadne.Output{Left: ariadne.Left{Deadline: ariadne.Never}}
	var lines []string
	for i, s := range []ariadne.Step{
		{Action: ariadne.Action{Kind: ariadne.ActStart, Node: 1}, Output: nothing},
		{Action: ariadne.Action{Kind: ariadne.ActStart, Node: 0}, Output: sends},
		{Action: ariadne.Action{Kind: world.Lose, Node: ariadne.NoNode, Flow: udp, Seq: 1}, Name: "lose udp a:5>b:7 #1",
			At: 1 * ms},
		{Action: ariadne.Action{Kind: world.Split, Node: 1, Flow: tcp, Seq: 1, What: "1"},
			Name: "split a:5>b:7 #1 behind 1", At: 1 * ms, Output: nothing},
		{Action: ariadne.Action{Kind: ariadne.ActDeliver, Node: 1, Flow: tcp, Seq: 1}, At: 2 * ms, Output: nothing},
		{Action: ariadne.Action{Kind: world.Join, Node: 1, Flow: tcp, Seq: 2, What: "4"}, Name: "join a:5>b:7 #2 to #4",
			At: 2 * ms, Output: nothing},
	} {
		s.Index = i + 1
		lines = append(lines, tl.Step(s)...)
	}
	got, want := strings.Join(append(append(lines, tl.End()...), tl.Undelivered()...), "\n"), `   0.000000s     1  b        start
   0.000000s     2  a        start
   0.001000s     3! network  lose udp a:5>b:7 #1  4 B  gone
   0.001000s     4! a -> b   tcp 5>7 1 B (first of 5 B)  h
   0.002000s     5* a -> b   tcp 5>7 4 B (1ms late)  ello
   0.002000s     6! a -> b   tcp 5>7 15 B (3 messages together)  one, two, three
   0.002000s      * a -> b   udp 5>7 4 B (not delivered, due at 0.001000s)  late`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestTimelineOfLostMessages: what partitions and machines that are off take is lost, and what is
// sent again and again is not.
func TestTimelineOfLostMessages(t *testing.T) {
	to := func(node int, p ariadne.Protocol, port uint16, seq int, sent ariadne.Time,
		flags ariadne.Flags) ariadne.Message {
		return ariadne.Message{To: ariadne.NodeID(node), Seq: seq, Sent: sent, Flags: flags,
			Flow: ariadne.Flow{Proto: p, Src: netip.MustParseAddrPort("10.0.0.1:5"),
				Dst: netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(node + 1)}), port)}}
	}
	sends := func(all ...ariadne.Message) ariadne.Output {
		return ariadne.Output{Messages: all, Left: ariadne.Left{Deadline: ariadne.Never}}
	}
	network := func(k ariadne.ActionKind, what string) ariadne.Action {
		return ariadne.Action{Kind: k, Node: ariadne.NoNode, What: what}
	}
	off := ariadne.Output{Left: ariadne.Left{Deadline: ariadne.Never, Down: ariadne.Stopped, Back: 9 * ms}}
	tl := NewTimeline([]string{"a", "a-node-with-a-long-name", "c"}, time.Millisecond, Style{Width: 120})
	for i, s := range []ariadne.Step{
		{Action: ariadne.Action{Kind: ariadne.ActStart, Node: 1}, Output: sends()},
		{Action: ariadne.Action{Kind: ariadne.ActStart, Node: 2}, Output: sends()},
		{Action: ariadne.Action{Kind: ariadne.ActStart, Node: 0},
			Output: sends(to(1, ariadne.UDP, 1, 1, 0, 0), to(1, ariadne.TCP, 2, 1, 0, ariadne.SYN),
				to(1, ariadne.TCP, 3, 1, 0, 0), to(2, ariadne.UDP, 4, 1, 0, 0))},
		{Action: network(world.Cut, "a>a-node-with-a-long-name for 1s"), At: 1 * ms},
		{Action: ariadne.Action{Kind: ariadne.ActFire, Node: 0}, At: 2 * ms,
			Output: sends(to(1, ariadne.UDP, 1, 2, 2*ms, 0))},
		{Action: network(world.Heal, "a>a-node-with-a-long-name for 1s"), At: 3 * ms},
		{Action: ariadne.Action{Kind: world.Stop, Node: 2}, At: 4 * ms, Output: off},
		{Action: ariadne.Action{Kind: ariadne.ActFire, Node: 0}, At: 5 * ms,
			Output: sends(to(1, ariadne.UDP, 1, 3, 5*ms, 0), to(2, ariadne.UDP, 6, 1, 5*ms, 0))},
		{Action: ariadne.Action{Kind: ariadne.ActStart, Node: 2}, At: 8 * ms, Output: sends()},
	} {
		s.Index = i + 1
		tl.Step(s)
	}
	got, want := strings.Join(tl.Undelivered(), "\n"), `   0.008000s      * a -> a-node-with…             tcp 5>3 (not delivered, due at 0.001000s)
   0.008000s      * a -> a-node-with…             udp 5>1 (not delivered, due at 0.006000s)
   0.008000s      ! a -> a-node-with…             udp 5>1 (lost, and 1 more)
   0.008000s      ! a -> a-node-with…             tcp 5>2 SYN (lost)
   0.008000s      ! a -> c                        udp 5>4 (lost)
   0.008000s      ! a -> c                        udp 5>6 (lost)`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestQuietStretches: of a stretch of quiet steps the first and the last show; none is lost.
func TestQuietStretches(t *testing.T) {
	for n := range 9 {
		tl := NewTimeline([]string{"n1"}, 0, Style{})
		var lines []string
		for i := range n {
			lines = append(lines, tl.Step(ariadne.Step{Index: i + 1, Action: ariadne.Action{Kind: ariadne.ActFire}})...)
		}
		lines = append(lines, tl.End()...)
		lines = append(lines, tl.End()...)
		want := n
		if n > 3 {
			want = 3
			if middle := fmt.Sprintf("%d more", n-2); !strings.Contains(lines[1], middle) {
				t.Errorf("%d steps: %q", n, lines)
			}
		}
		if len(lines) != want {
			t.Errorf("%d steps: %d lines", n, len(lines))
		}
	}
}

// FuzzTimelineWidth: no line is wider than it may be, whatever the programs write.
func FuzzTimelineWidth(f *testing.F) {
	f.Add("text", []byte("payload"), 80)
	f.Add("wide ✓ \x00\x1b[2J\u0085", []byte("\xff\xfe\n"), 1000)
	f.Fuzz(func(t *testing.T, text string, data []byte, width int) {
		style := Style{Width: width}
		tl := NewTimeline([]string{text, "n2"}, 0, style)
		m := ariadne.Message{From: 1, To: 0, Flow: flow("10.0.0.2:65535", "[fd00::1]:65535"), Seq: 1, Data: data,
			Flags: 31}
		steps := []ariadne.Step{
			{Index: 1 << 20, Action: ariadne.Action{Kind: ariadne.ActStart, Node: 1},
				Output: ariadne.Output{Messages: []ariadne.Message{m}}},
			{Index: 1<<20 + 1, Action: ariadne.Action{Kind: ariadne.ActDeliver, Node: 0, Flow: m.Flow, Seq: 1},
				Output: ariadne.Output{Logs: []ariadne.LogLine{{Text: text}}, Diverged: text}},
		}
		for _, s := range steps {
			for _, line := range append(append(tl.Step(s), tl.End()...), tl.Undelivered()...) {
				if n := utf8.RuneCountInString(line); n > style.width() {
					t.Fatalf("%d columns: %q", n, line)
				}
				if strings.ContainsAny(line, "\n\x1b\x00\r") {
					t.Fatalf("control characters in %q", line)
				}
			}
		}
	})
}

func TestLogLine(t *testing.T) {
	l := ariadne.LogLine{At: 1_234_567, Stream: 2, Text: "a\tb"}
	if got, want := LogLine("n1", 0, 4, l, Style{}), "n1      0.001234s ! a b"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestProgressLine(t *testing.T) {
	tests := []struct {
		check Check
		want  string
	}{
		{Check{}, "   0.0s  0 executions  0 steps"},
		{Check{Elapsed: 2 * time.Second, Executions: 1, Steps: 100}, "   2.0s  1 execution  100 steps  50 steps/s"},
		{Check{Elapsed: 2500 * time.Millisecond, Time: time.Minute, Executions: 30, Executable: 100, Steps: 5000,
			Violations: 1},
			"   2.5s  30 executions  5000 steps  2000 steps/s  1 violation  left: 58s, 70 executions"},
		{Check{Elapsed: 2 * time.Second, Executions: 200, Different: 7, Steps: 400}, "   2.0s  200 executions (7 different)  400 steps  200 steps/s"},
		{Check{Elapsed: 2 * time.Second, Executions: 7, Different: 7, Steps: 40},
			"   2.0s  7 executions  40 steps  20 steps/s"},
		{Check{Elapsed: 70 * time.Second, Time: time.Minute}, "  70.0s  0 executions  0 steps  0 steps/s  left: 0s"},
	}
	for _, tt := range tests {
		if got := ProgressLine(tt.check, Style{}); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; got\n%s", path, got)
	}
}
