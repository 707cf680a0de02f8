package dialog

import (
	"slices"
	"strings"
	"testing"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// TestEvents: a read waits until what was told of happens, and answers come in the order of what
// was asked.
func TestEvents(t *testing.T) {
	n := kernel.NewNode(2, "n3", 1)
	n.Boots = 1
	_, th := n.NewProcess(nil)
	th.M = &told{}
	f, other := &File{}, &File{}
	write := func(f *File, s string) {
		t.Helper()
		if k, e := f.Write(th, []byte(s)); e != 0 || k != len(s) {
			t.Fatalf("%q: %d, %v", s, k, e)
		}
	}
	read := func(f *File, want string) {
		t.Helper()
		b := make([]byte, 100)
		k, e := f.Read(th, b)
		if got := string(b[:k]); want == "" && e != unix.EAGAIN || want != "" && (e != 0 || got != want) {
			t.Errorf("read %q, %v, want %q", got, e, want)
		}
		if waits := f.Ready()&kernel.In == 0; waits && len(f.answers) == 0 || !waits && len(f.answers) > 0 &&
			f.answers[0].event != 0 {
			t.Errorf("ready: %v", f.Ready())
		}
	}
	happens := func(i int) { t.Helper(); Deliver(n, &n.Out[i]) }

	write(f, "event {\"op\": \"a\"}\nchoose 3\n")
	write(other, `  event  {"op":"b","n":[1,{"x":"\u00e9"}]}`)
	write(f, "event {}")
	read(f, "")
	if len(n.Out) != 3 || string(n.Out[1].Data) != `{"op":"b","n":[1,{"x":"\u00e9"}]}` {
		t.Fatalf("told of %v", n.Out)
	}
	for i, m := range n.Out {
		if m.From != 2 || m.To != 2 || m.Seq != i+1 || m.Flow.Proto != ariadne.App || m.Flow.Epoch != 1 {
			t.Errorf("event %d: %+v", i, m)
		}
	}
	happens(2) // in any order
	read(f, "")
	happens(1)
	read(other, "go\n")
	happens(0)
	read(f, "go\n")
	read(f, "2\n")
	read(f, "go\n")
	if s := states.Peek(n); len(s.waits) != 0 {
		t.Errorf("%d files wait", len(s.waits))
	}
	// Nobody hears of it any more.
	write(f, "event {}")
	f.Release(n)
	happens(3)
	early := n.Out[3]
	early.Flow.Epoch = 0
	write(other, "event {}")
	early.Seq = 5
	Deliver(n, &early)
	read(other, "")
	for _, bad := range []string{"event", "event {", "event 1", "event null", "event [1]", `event "x"`, "event {} {}",
		"event {'a': 1}", "event {\"a\":\n1}", "event {\"a\": \"\xff\"}", "eventual {}"} {
		out, asked := len(n.Out), len(other.answers)
		n.Refusals = nil
		if _, e := other.Write(th, []byte(bad)); e != unix.EINVAL || len(n.Refusals) != 1 || n.Refusals[0].Harmless ||
			len(n.Out) != out || len(other.answers) != asked {
			t.Errorf("%q: %v, refused %v", bad, e, n.Refusals)
		}
	}
}

// told is a thread that is told the last of all alternatives.
type told struct {
	kernel.Tracee
	asked []string
}

func (m *told) Choose(question string, alternatives []string) int {
	m.asked = append(m.asked, question+" "+strings.Join(alternatives, " "))
	return len(alternatives)
}

func TestAnswers(t *testing.T) {
	n := kernel.NewNode(0, "n1", 1)
	m := &told{}
	_, th := n.NewProcess(nil)
	th.M = m
	f := &File{}
	say := func(s string) kernel.Errno {
		t.Helper()
		k, e := f.Write(th, []byte(s))
		if e == 0 && k != len(s) {
			t.Errorf("%q: %d bytes of %d", s, k, len(s))
		}
		return e
	}
	read := func(most int) string {
		b := make([]byte, most)
		k, e := f.Read(th, b)
		if e != 0 {
			t.Errorf("read: %v", e)
		}
		return string(b[:k])
	}
	if got := read(10); got != "" {
		t.Errorf("before any question %q", got)
	}
	for _, c := range []struct{ question, answer, asked string }{
		{"choose 3\n", "2\n", "3 choose:1 choose:2"},
		{"choose 3", "2\n", "3 choose:1 choose:2"},
		{"  choose\tget  put\n", "put\n", "get|put choose:put"},
		{"choose 5 7\n", "7\n", "5|7 choose:7"},
		{"choose 0 -1\n", "-1\n", "0|-1 choose:-1"},
		{"choose a,b c@d\n", "c@d\n", "a,b|c@d choose:c%40d"},
		{"choose 1\n", "0\n", ""},
		{"choose only\n", "only\n", ""},
	} {
		m.asked = nil
		if e := say(c.question); e != 0 {
			t.Errorf("%q: %v", c.question, e)
		}
		if got := read(100); got != c.answer || strings.Join(m.asked, ",") != c.asked {
			t.Errorf("%q: %q, asked %q", c.question, got, m.asked)
		}
	}
	say("choose 2\nchoose x yy\nfault off\n")
	if got := []string{read(100), read(1), read(1), read(5), read(5)}; !slices.Equal(got,
		[]string{"1\n", "y", "y", "\n", ""}) {
		t.Errorf("read %q", got)
	}
	if !Spared(n) {
		t.Error("faults are not off")
	}
	if say("fault on"); Spared(n) {
		t.Error("faults are off")
	}
	if len(n.Refusals) > 0 {
		t.Errorf("refused: %v", n.Refusals)
	}
	for i, bad := range []string{"choose\n", "choose 0\n", "choose -1 \n", "choose 1001\n", "choose 5000000000\n",
		"choose 99999999999999999999\n", "choose a a\n", "choose %2C ,\n", "fault\n", "fault off now\n", "Choose 3\n",
		"\n", "\n\n",
		"choose 2\nwhat\n", "choose" + strings.Repeat(" 1", Most+1), strings.Repeat("fault on\n", 2000)} {
		if e := say(bad); e != unix.EINVAL {
			t.Errorf("%.30q: %v", bad, e)
		}
		if len(n.Refusals) != 1 || n.Refusals[0].Harmless || n.Refusals[0].Count > i+1 {
			t.Fatalf("%.30q: refused %v", bad, n.Refusals)
		}
		if got := read(10); got != "" {
			t.Errorf("%.30q is answered %q", bad, got)
		}
	}
}
