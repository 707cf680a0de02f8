package screen

import (
	"strings"

	"github.com/gdamore/tcell/v2"
)

// Keys says what the keys do.
const Keys = `up, down, page up, page down, home, end
           go to another step
enter      show all of this step
tab, 1-9   show another node
v          go to the violation
c          list what can happen next; then  :choose 3
:          type a command; up and down show those before
           :help lists all commands
/          go to the next step whose line has this text
[ ]        scroll the node
{ }        scroll the answer
ctrl-c     end the command that is under way
?          show these keys
q          quit
`

// bind gives keys their meaning.
func (s *Screen) bind() {
	s.steps.SetSelectionChangedFunc(func(row, _ int) {
		if int64(row) != s.want.Load() {
			s.want.Store(int64(row))
			select {
			case s.moved <- struct{}{}:
			default: // the worker has not looked yet
			}
		}
	})
	s.app.SetInputCapture(func(k *tcell.EventKey) *tcell.EventKey {
		if k.Key() == tcell.KeyCtrlC {
			if s.busy.Load() {
				s.d.Cancel()
			} else {
				s.app.Stop()
			}
			return nil
		}
		if s.command.HasFocus() {
			return k
		}
		return s.key(k)
	})
	s.command.SetDoneFunc(func(k tcell.Key) {
		line := strings.TrimSpace(s.command.GetText())
		s.command.SetText("").SetLabel(": ")
		s.app.SetFocus(s.steps)
		if k == tcell.KeyEnter && line != "" {
			s.typed = append(s.typed, line)
			s.enter(line)
		}
	})
	back := 0
	s.command.SetInputCapture(func(k *tcell.EventKey) *tcell.EventKey {
		switch k.Key() {
		case tcell.KeyUp:
			back = min(back+1, len(s.typed))
		case tcell.KeyDown:
			back = max(back-1, 0)
		default:
			if k.Key() == tcell.KeyEnter || k.Key() == tcell.KeyEscape {
				back = 0
			}
			return k
		}
		if back == 0 {
			s.command.SetText("")
		} else {
			s.command.SetText(s.typed[len(s.typed)-back])
		}
		return nil
	})
}

// key does what a key stands for, and returns those that move among the steps.
func (s *Screen) key(k *tcell.EventKey) *tcell.EventKey {
	switch k.Key() {
	case tcell.KeyEnter:
		s.enter("step")
		return nil
	case tcell.KeyTab:
		s.choose(int(s.which.Load()) + 1)
		return nil
	case tcell.KeyBacktab:
		s.choose(int(s.which.Load()) - 1)
		return nil
	case tcell.KeyRune:
	default:
		return k
	}
	switch r := k.Rune(); {
	case r == 'q':
		s.app.Stop()
	case r == '?':
		s.do(func() (string, string, error) { return "keys", Keys, nil })
	case r == ':' || r == '/':
		s.command.SetText(map[rune]string{'/': "next text ", ':': ""}[r])
		s.app.SetFocus(s.command)
	case r == 'v':
		s.enter("goto violation")
	case r == 'c':
		s.enter("choices")
	case '1' <= r && r <= '9':
		if i := int(r - '1'); i < len(s.d.Names()) {
			s.choose(i)
		}
	case r == '[' || r == ']':
		row, column := s.node.GetScrollOffset()
		s.node.ScrollTo(max(0, row+map[rune]int{'[': -5, ']': 5}[r]), column)
	case r == '{' || r == '}':
		row, column := s.answer.GetScrollOffset()
		s.answer.ScrollTo(max(0, row+map[rune]int{'{': -5, '}': 5}[r]), column)
	default: // k and j, g and G move, as in other programs
		return k
	}
	return nil
}

// choose shows another node.
func (s *Screen) choose(i int) {
	n := len(s.d.Names())
	s.which.Store(int64((i + n) % n))
	title, answer := s.now.title, s.now.answer
	s.do(func() (string, string, error) { return title, answer, nil })
}

// enter executes a command. Commands that say where the debugger stands then show the step.
func (s *Screen) enter(line string) {
	s.do(func() (string, string, error) {
		before := s.d.Position()
		text, err := s.d.Execute(line)
		if err == nil && s.d.Position() != before {
			return "", "", nil
		}
		return line, text, err
	})
}

// do has the worker do something.
func (s *Screen) do(job func() (title, answer string, err error)) {
	select {
	case s.jobs <- job:
		s.busy.Store(true)
	default: // so many keys nobody waits for
	}
}
