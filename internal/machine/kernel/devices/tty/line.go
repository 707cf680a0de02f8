package tty

import (
	"github.com/ariadne-mc/ariadne/internal/machine/kernel"

	"golang.org/x/sys/unix"
)

// The line discipline (termios(3), Linux's n_tty): what a typed character does.

// receive takes a character that was typed.
func (x *Terminal) receive(n *kernel.Node, c byte) {
	if x.literal {
		x.literal = false
		x.store(c)
		return
	}
	if x.Iflag&unix.ISTRIP != 0 {
		c &= 0x7f
	}
	if x.Iflag&unix.IXON != 0 {
		switch {
		case c == x.CC[unix.VSTART]:
			x.start()
			return
		case c == x.CC[unix.VSTOP]:
			x.stopped = true
			return
		case x.stopped && x.Iflag&unix.IXANY != 0:
			x.start()
		}
	}
	if x.Lflag&unix.ISIG != 0 {
		for _, k := range [...]struct {
			key    int
			signal unix.Signal
		}{{unix.VINTR, unix.SIGINT}, {unix.VQUIT, unix.SIGQUIT}, {unix.VSUSP, unix.SIGTSTP}} {
			if x.is(c, k.key) {
				x.signal(n, c, k.signal)
				return
			}
		}
	}
	switch {
	case c == '\r' && x.Iflag&unix.IGNCR != 0:
		return
	case c == '\r' && x.Iflag&unix.ICRNL != 0:
		c = '\n'
	case c == '\n' && x.Iflag&unix.INLCR != 0:
		c = '\r'
	}
	if x.Lflag&unix.ICANON != 0 && x.edits(c) {
		return
	}
	x.store(c)
}

// is reports whether c is a special character; one that is 0 is none.
func (x *Terminal) is(c byte, key int) bool { return c != 0 && c == x.CC[key] }

func (x *Terminal) has(flag uint32) bool { return x.Lflag&flag != 0 }

func (x *Terminal) start() {
	x.stopped = false
	x.slaveChanged.Notify(kernel.Out)
}

// signal is what ^C and its kind do.
func (x *Terminal) signal(n *kernel.Node, c byte, s unix.Signal) {
	signalGroup(n, x.Group, s)
	if !x.has(unix.NOFLSH) {
		x.lines, x.edit, x.out = nil, nil, nil
	}
	if x.Iflag&unix.IXON != 0 {
		x.start()
	}
	x.echo(c)
}

// edits does what c means in a line that is being typed, if anything.
func (x *Terminal) edits(c byte) bool {
	extended := x.has(unix.IEXTEN)
	switch {
	case x.is(c, unix.VERASE), x.is(c, unix.VKILL), extended && x.is(c, unix.VWERASE):
		x.erase(c)
	case extended && x.is(c, unix.VLNEXT):
		x.literal = true
		if x.has(unix.ECHO) && x.has(unix.ECHOCTL) {
			x.emit('^')
			x.emit('\b')
		}
	case extended && x.has(unix.ECHO) && x.is(c, unix.VREPRINT):
		x.echo(c)
		x.emit('\n')
		x.begin = x.column
		for _, e := range x.edit {
			x.echo(e)
		}
	case c == '\n':
		if x.has(unix.ECHO) || x.has(unix.ECHONL) {
			x.emit('\n')
			x.masterChanged.Notify(kernel.In)
		}
		x.push(append(x.edit, c), false)
	case x.is(c, unix.VEOF):
		x.push(x.edit, true)
	case x.is(c, unix.VEOL), extended && x.is(c, unix.VEOL2):
		x.echo(c)
		x.push(append(x.edit, c), false)
	default:
		return false
	}
	return true
}

// push makes a line readable.
func (x *Terminal) push(line []byte, eof bool) {
	x.lines = append(x.lines, input{line, eof})
	x.edit = nil
	x.slaveChanged.Notify(kernel.In)
}

// store takes a character as it is.
func (x *Terminal) store(c byte) {
	if x.has(unix.ICANON) && len(x.edit) >= maxLine-1 {
		return
	}
	if len(x.edit) == 0 {
		x.begin = x.column
	}
	x.echo(c)
	if x.has(unix.ICANON) {
		x.edit = append(x.edit, c)
		return
	}
	if len(x.lines) == 0 || x.lines[len(x.lines)-1].eof {
		x.lines = append(x.lines, input{})
	}
	l := &x.lines[len(x.lines)-1]
	l.data = append(l.data[:len(l.data):len(l.data)], c)
	x.slaveChanged.Notify(kernel.In)
}

// echo shows a character that was typed.
func (x *Terminal) echo(c byte) {
	if !x.has(unix.ECHO) {
		return
	}
	if x.has(unix.ECHOCTL) && control(c) && c != '\t' && c != '\n' {
		x.emit('^')
		x.emit(c ^ 0x40)
	} else {
		x.emit(c)
	}
	x.masterChanged.Notify(kernel.In)
}

func control(c byte) bool { return c < ' ' || c == 0x7f }

// emit gives a character to the master, changed as the settings want.
func (x *Terminal) emit(c byte) {
	if x.Oflag&unix.OPOST == 0 {
		x.out = append(x.out, c)
		return
	}
	switch {
	case c == '\n':
		if x.Oflag&unix.ONLRET != 0 {
			x.column = 0
		}
		if x.Oflag&unix.ONLCR != 0 {
			x.out = append(x.out, '\r')
			x.column = 0
		}
	case c == '\r':
		if x.Oflag&unix.ONOCR != 0 && x.column == 0 {
			return
		}
		x.column = 0
		if x.Oflag&unix.OCRNL != 0 {
			c = '\n'
		}
	case c == '\t':
		spaces := 8 - x.column%8
		x.column += spaces
		if x.Oflag&unix.TABDLY == unix.XTABS {
			for range spaces {
				x.out = append(x.out, ' ')
			}
			return
		}
	case c == '\b':
		x.column = max(0, x.column-1)
	default:
		if x.Oflag&unix.OLCUC != 0 && c >= 'a' && c <= 'z' {
			c -= 'a' - 'A'
		}
		if !control(c) && !x.continues(c) {
			x.column++
		}
	}
	x.out = append(x.out, c)
}

// continues reports whether a byte goes on with a character of UTF-8.
func (x *Terminal) continues(c byte) bool { return x.Iflag&unix.IUTF8 != 0 && c&0xc0 == 0x80 }

// erase takes back a character, a word or the line.
func (x *Terminal) erase(key byte) {
	if len(x.edit) == 0 {
		return
	}
	if x.is(key, unix.VKILL) {
		if !x.has(unix.ECHO) {
			x.edit = nil
			return
		}
		if !x.has(unix.ECHOK) || !x.has(unix.ECHOKE) || !x.has(unix.ECHOE) {
			x.edit = nil
			x.echo(key)
			if x.has(unix.ECHOK) {
				x.emit('\n')
			}
			return
		}
	}
	word, seen := x.is(key, unix.VWERASE), false
	for len(x.edit) > 0 {
		last := len(x.edit) - 1
		for last > 0 && x.continues(x.edit[last]) {
			last--
		}
		c := x.edit[last]
		if word {
			letter := c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0xc0
			if !letter && seen {
				break
			}
			seen = seen || letter
		}
		x.edit = x.edit[:last]
		switch {
		case !x.has(unix.ECHO):
		case !x.has(unix.ECHOE) && x.is(key, unix.VERASE):
			x.echo(key)
		default:
			x.rubOut(c)
		}
		if x.is(key, unix.VERASE) {
			break
		}
	}
	x.masterChanged.Notify(kernel.In)
}

// rubOut removes the last character from the screen.
func (x *Terminal) rubOut(c byte) {
	switch {
	case c == '\t':
		column := x.begin
		for _, e := range x.edit {
			switch {
			case e == '\t':
				column += 8 - column%8
			case control(e) && x.has(unix.ECHOCTL):
				column += 2
			case !control(e) && !x.continues(e):
				column++
			}
		}
		for range 8 - column%8 {
			x.emit('\b')
		}
	case control(c) && !x.has(unix.ECHOCTL):
	default:
		width := 1
		if control(c) {
			width = 2
		}
		for range width {
			x.emit('\b')
			x.emit(' ')
			x.emit('\b')
		}
	}
}
