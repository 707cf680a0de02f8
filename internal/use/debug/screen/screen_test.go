//go:build linux

package screen_test

import (
	"context"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ariadne-mc/ariadne/internal/system"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
	"github.com/ariadne-mc/ariadne/internal/use/debug"
	"github.com/ariadne-mc/ariadne/internal/use/debug/screen"

	"github.com/gdamore/tcell/v2"
)

// terminal keeps what it shows as a text.
type terminal struct {
	tcell.SimulationScreen
	mu      sync.Mutex
	shown   string
	changed chan struct{} // has a value when shown may have changed
}

func (t *terminal) Show() {
	t.SimulationScreen.Show()
	cells, width, _ := t.GetContents()
	var b strings.Builder
	for i, c := range cells {
		if i > 0 && i%width == 0 {
			b.WriteString("\n")
		}
		b.WriteString(string(c.Runes))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.shown = b.String()
	select {
	case t.changed <- struct{}{}:
	default: // it has one already
	}
}

func (t *terminal) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.shown
}

// TestScreen: keys lead through the steps of an execution, to another node and to commands, on a
// wide and on a narrow terminal.
func TestScreen(t *testing.T) {
	for _, width := range []int{160, 80} {
		if out, err := exec.Command("../../../../examples/planted/fetch").CombinedOutput(); err != nil {
			t.Skipf("not fetched: %v\n%s", err, out)
		}
		s, err := spec.Read("../../../../examples/planted/commit.yaml")
		if err != nil {
			t.Fatal(err)
		}
		d, err := debug.Open(t.Context(), s, debug.Options{System: system.Options{Version: "test"}, Memory: 300 << 20})
		if err != nil {
			t.Fatal(err)
		}
		terminal := &terminal{SimulationScreen: tcell.NewSimulationScreen("UTF-8"), changed: make(chan struct{}, 1)}
		shows := screen.New(d, terminal)
		ended := make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { ended <- shows.Run(ctx) }()
		wait := func(wanted ...string) {
			t.Helper()
			for late := time.After(time.Minute); ; {
				text, missing := terminal.text(), ""
				for _, w := range wanted {
					if !strings.Contains(text, w) {
						missing = w
					}
				}
				if missing == "" {
					return
				}
				select {
				case <-terminal.changed:
				case <-late:
					cancel()
					t.Fatalf("%d columns: no %q on\n%s", width, missing, text)
				}
			}
		}
		typed := func(text string) {
			for _, r := range text {
				terminal.InjectKey(tcell.KeyRune, r, tcell.ModNone)
			}
		}
		wait("before all steps", "go to another step", "was not switched on yet")
		terminal.SetSize(width, 40)
		typed(":run 12")
		terminal.InjectKey(tcell.KeyEnter, 0, tcell.ModNone)
		wait("step 12 of 12", "step 12 ", "system calls, digest")
		terminal.InjectKey(tcell.KeyUp, 0, tcell.ModNone)
		terminal.InjectKey(tcell.KeyUp, 0, tcell.ModNone)
		wait("step 10 of 12")
		terminal.InjectKey(tcell.KeyTab, 0, tcell.ModNone)
		wait("─ "+d.Names()[1]+" ─", "processes and threads")
		typed("c")
		wait("choices", "(as on this branch)")
		for _, c := range [][2]string{{"goto 12", "step 12 of 12"}, {"keep well", "on well"},
			{"goto 5", "step 5 of 12"},
			{"wander 6 3", "step 11 of 11, "}, {"together well", "steps, and those of well"}} {
			typed(":" + c[0])
			terminal.InjectKey(tcell.KeyEnter, 0, tcell.ModNone)
			wait(c[1])
		}
		wait("#    ", "well: differs since step ")
		typed(":node nobody")
		terminal.InjectKey(tcell.KeyEnter, 0, tcell.ModNone)
		wait(`no node is called "nobody"`)
		t.Logf("\n%s", terminal.text())
		typed("q")
		if err := <-ended; err != nil {
			t.Error(err)
		}
		cancel()
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}
