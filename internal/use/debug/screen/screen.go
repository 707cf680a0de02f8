// Package screen shows a debugger of executions on a terminal: the steps on one side, a node and
// the answer to the last command on the other, and a line for commands.
//
// It is no other debugger. Each key stands for commands of debug.Debugger, and the screen shows
// their answers.
//
// Invariants: the debugger is used by one goroutine, the worker. The terminal shows what the worker
// has found last, and takes keys while the worker is busy.
//
// Read next: screen.go, keys.go; internal/use/debug/command.go.
package screen

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/ariadne-mc/ariadne/internal/record/causal"
	"github.com/ariadne-mc/ariadne/internal/use/debug"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"
)

// wide is from how many columns on the parts stand side by side.
const wide = 110

// found is what the worker has found where the debugger stands.
type found struct {
	step      int
	events    []causal.Event
	position  string
	node      string // what the chosen node looks like
	answer    string // to the last command, or what the step is
	title     string // of the answer
	violation int    // the step that shows it, or 0
	notes     map[int]string
	companion *debug.Companion // nil: none is shown
	quit      bool
}

// Screen is a debugger on a terminal.
type Screen struct {
	d   *debug.Debugger
	app *tview.Application

	steps   *tview.Table
	tabs    *tview.TextView // names of the nodes
	node    *tview.TextView
	answer  *tview.TextView
	command *tview.InputField
	status  *tview.TextView
	body    *tview.Flex
	beside  bool // the parts stand side by side

	jobs  chan func() (title, answer string, err error)
	moved chan struct{} // want has changed
	want  atomic.Int64  // the step to which the user has moved
	which atomic.Int64  // the node that is shown
	busy  atomic.Bool
	now   found // of the goroutine that draws
	typed []string
}

// New returns a screen for a debugger. terminal is where it is drawn; nil: where the process is.
func New(d *debug.Debugger, terminal tcell.Screen) *Screen {
	plain()
	s := &Screen{d: d, app: tview.NewApplication(), steps: tview.NewTable(), tabs: tview.NewTextView(),
		node: tview.NewTextView(), answer: tview.NewTextView(), command: tview.NewInputField(),
		status: tview.NewTextView(), body: tview.NewFlex(),
		jobs: make(chan func() (string, string, error), 100), moved: make(chan struct{}, 1)}
	if terminal != nil {
		s.app.SetScreen(terminal)
	}
	s.steps.SetContent(&rows{screen: s}).SetSelectable(true, false).SetEvaluateAllRows(false)
	s.steps.SetSelectedStyle(tcell.StyleDefault.Reverse(true))
	s.steps.SetBorder(true).SetTitle(" steps ")
	s.node.SetWrap(false).SetBorder(true)
	s.answer.SetWrap(false).SetBorder(true)
	s.tabs.SetDynamicColors(true)
	s.command.SetLabel(": ").SetFieldStyle(tcell.StyleDefault)
	s.bind()
	s.arrange(true)
	page := tview.NewFlex().SetDirection(tview.FlexRow).
		AddItem(s.tabs, 1, 0, false).AddItem(s.body, 0, 1, true).
		AddItem(s.command, 1, 0, false).AddItem(s.status, 1, 0, false)
	s.app.SetRoot(page, true).SetFocus(s.steps)
	s.app.SetBeforeDrawFunc(func(t tcell.Screen) bool {
		width, _ := t.Size()
		if beside := width >= wide && s.now.companion == nil; beside != s.beside {
			s.arrange(beside)
		}
		return false
	})
	return s
}

// plain lets the terminal's own colours be.
func plain() {
	tview.Styles = tview.Theme{PrimitiveBackgroundColor: tcell.ColorDefault,
		ContrastBackgroundColor: tcell.ColorDefault, MoreContrastBackgroundColor: tcell.ColorDefault,
		BorderColor: tcell.ColorDefault, TitleColor: tcell.ColorDefault, GraphicsColor: tcell.ColorDefault,
		PrimaryTextColor: tcell.ColorDefault, SecondaryTextColor: tcell.ColorDefault,
		TertiaryTextColor: tcell.ColorDefault, InverseTextColor: tcell.ColorDefault,
		ContrastSecondaryTextColor: tcell.ColorDefault}
}

// arrange places the parts beside each other, or one above the other.
func (s *Screen) arrange(beside bool) {
	s.beside = beside
	s.body.Clear()
	if beside {
		right := tview.NewFlex().SetDirection(tview.FlexRow).
			AddItem(s.node, 0, 3, false).AddItem(s.answer, 0, 2, false)
		s.body.SetDirection(tview.FlexColumn).AddItem(s.steps, 0, 1, true).AddItem(right, 0, 1, false)
		return
	}
	s.body.SetDirection(tview.FlexRow).
		AddItem(s.steps, 0, 3, true).AddItem(s.node, 0, 2, false).AddItem(s.answer, 0, 2, false)
}

// Run shows the screen until the user quits or ctx ends.
func (s *Screen) Run(ctx context.Context) error {
	stop := context.AfterFunc(ctx, s.app.Stop)
	defer stop()
	ended, worked := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(worked)
		s.work(ended)
	}()
	err := s.app.Run()
	close(ended)
	s.d.Cancel()
	<-worked
	return err
}

// work does what the user asks for, one after the other, and has the result shown.
func (s *Screen) work(ended <-chan struct{}) {
	title, answer, err := "", "", error(nil)
	for {
		f := s.look(title, answer, err)
		s.busy.Store(false)
		shown := make(chan struct{})
		go func() {
			s.app.QueueUpdateDraw(func() { s.show(&f) })
			close(shown)
		}()
		select {
		case <-ended: // nobody takes what is queued any more
			return
		case <-shown:
		}
		select {
		case <-ended:
			return
		case job := <-s.jobs:
			s.busy.Store(true)
			title, answer, err = job()
		case <-s.moved:
			s.busy.Store(true)
			title, answer, err = "", "", s.d.Goto(int(s.want.Load()))
		}
	}
}

// look is what there is to see where the debugger stands. Without a title the answer is what the
// step is.
func (s *Screen) look(title, answer string, err error) found {
	f := found{step: s.d.Step(), events: s.d.Events(), position: s.d.Position(), title: title, answer: answer,
		violation: s.d.ViolationStep(), notes: map[int]string{}, quit: errors.Is(err, debug.ErrQuit)}
	if c := s.d.Companion(); c != nil {
		f.companion = &debug.Companion{Name: c.Name, Events: c.Events, Common: c.Common}
	}
	for step := range len(f.events) + 1 {
		if note := s.d.Note(step); note != "" {
			f.notes[step] = note
		}
	}
	switch {
	case err != nil:
		f.answer = err.Error()
	case title == "" && f.step > 0:
		f.title = fmt.Sprintf("step %d", f.step)
		f.answer = s.ask("step")
	case title == "":
		f.title, f.answer = "keys", Keys
	}
	f.node = s.ask("node " + s.d.Names()[s.which.Load()])
	return f
}

// ask is the answer to a command, or why there is none.
func (s *Screen) ask(line string) string {
	text, err := s.d.Execute(line)
	if err != nil {
		return err.Error()
	}
	return text
}

// show shows what the worker has found.
func (s *Screen) show(f *found) {
	if f.quit {
		s.app.Stop()
		return
	}
	s.now = *f
	if len(s.moved) == 0 { // else the user is further already
		s.want.Store(int64(f.step))
		s.steps.Select(f.step, 0)
	}
	s.node.SetTitle(" " + s.d.Names()[s.which.Load()] + " ")
	setText(s.node, f.node)
	s.answer.SetTitle(" " + tview.Escape(f.title) + " ")
	setText(s.answer, f.answer)
	s.tabs.SetText(s.names())
	title := " steps "
	if f.companion != nil {
		title = fmt.Sprintf(" steps, and those of %s ", f.companion.Name)
	}
	s.steps.SetTitle(tview.Escape(title))
	s.status.SetText(strings.ReplaceAll(f.position, "\n", "; "))
}

// setText replaces a text, and shows its beginning.
func setText(v *tview.TextView, text string) {
	if v.GetText(false) != text {
		v.SetText(text).ScrollToBeginning()
	}
}

// names are those of the nodes, the one that is shown reversed.
func (s *Screen) names() string {
	var b strings.Builder
	for i, name := range s.d.Names() {
		style := ""
		if int64(i) == s.which.Load() {
			style = "[::r]"
		}
		fmt.Fprintf(&b, " %s%d %s[::-]", style, i+1, tview.Escape(name))
	}
	return b.String() + "   ? keys   : commands   q quit"
}

// rows are the steps as lines of a table: row 0 is before all of them.
type rows struct {
	tview.TableContentReadOnly
	screen *Screen
}

func (r *rows) GetRowCount() int { return len(r.screen.now.events) + 1 }
func (r *rows) GetColumnCount() int {
	if r.screen.now.companion != nil {
		return 2
	}
	return 1
}

func (r *rows) GetCell(row, column int) *tview.TableCell {
	events := r.screen.now.events
	if row < 0 || row > len(events) {
		return nil
	}
	cell := r.cell(row)
	c := r.screen.now.companion
	if c != nil {
		if column == 1 {
			cell = tview.NewTableCell(tview.Escape(c.Line(row))).SetExpansion(1)
		}
		if row == c.Common+1 {
			cell.SetTextColor(tcell.ColorYellow)
		}
		_, _, width, _ := r.screen.steps.GetInnerRect()
		cell.SetMaxWidth((width - 1) / 2)
	}
	return cell
}

// cell is a step of the debugger's own branch.
func (r *rows) cell(row int) *tview.TableCell {
	if row == 0 {
		return tview.NewTableCell("      before all steps").SetExpansion(1)
	}
	events := r.screen.now.events
	e := &events[row-1]
	text := fmt.Sprintf("%5d %12v  %s", e.Step, e.At, debug.Line(e))
	if note := r.screen.now.notes[row]; note != "" {
		text = fmt.Sprintf("%5d %12v  [%s]  %s", e.Step, e.At, note, debug.Line(e))
	}
	cell := tview.NewTableCell(tview.Escape(text)).SetExpansion(1)
	chosen := func(o causal.Outcome) bool { return o.Kind == causal.Chosen }
	switch {
	case row == r.screen.now.violation:
		cell.SetTextColor(tcell.ColorRed)
	case e.Kind == causal.Struck || slices.ContainsFunc(e.Outcomes, chosen):
		cell.SetTextColor(tcell.ColorYellow)
	}
	return cell
}
