package dialog

import (
	"slices"
	"strings"
	"testing"

	"ariadne/internal/kernel"

	"golang.org/x/sys/unix"
)

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
	if got := []string{read(100), read(1), read(1), read(5), read(5)}; !slices.Equal(got, []string{"1\n", "y", "y", "\n", ""}) {
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
	for i, bad := range []string{"choose\n", "choose 0\n", "choose -1 \n", "choose 1001\n", "choose a a\n", "choose %2C ,\n", "fault\n", "fault off now\n", "Choose 3\n", "\n", "\n\n",
		"choose 2\nwhat\n", "choose" + strings.Repeat(" 1", Most+1), strings.Repeat("fault on\n", 2000)} {
		if bad == "choose -1 \n" { // that is a word
			continue
		}
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
