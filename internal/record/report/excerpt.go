package report

import (
	"fmt"
	"strings"
)

// Marks stand behind the number of a step that does not follow the natural schedule.
const (
	markLate      = '*' // late: a delayed message, a timer out of turn
	markOvertaken = '~' // something that was due later came first
	markFault     = '!' // a fault, what ends one, or something else within the step
)

// Legend explains the marks.
const Legend = "* late or early   ~ overtaken by what was due later   ! fault or choice"

// mark is that of a line of a timeline, or a space.
func mark(line string) byte {
	const times = 13 // columns before the number
	if len(line) < times {
		return ' '
	}
	rest := strings.TrimLeft(line[times:], " 0123456789")
	if len(rest) < 2 || rest[1] != ' ' || !strings.ContainsRune("*~!", rune(rest[0])) {
		return ' '
	}
	return rest[0]
}

// Excerpt is what is printed of a timeline: its last lines, and of those before them
// the ones in which it left the natural schedule. The zero value needs Tail.
type Excerpt struct {
	Tail   int // how many of the last lines
	tail   []string
	before []marked
	count  int // all lines
	passed int // of before, those that were only overtaken
	seen   bool
}

type marked struct {
	index int
	line  string
}

// maxOvertaken is how many lines an excerpt shows, besides its tail, that were only
// overtaken. In a random walk most steps are.
const maxOvertaken = 20

// Add takes the next lines.
func (e *Excerpt) Add(lines ...string) {
	for _, l := range lines {
		e.seen = e.seen || mark(l) != ' '
		e.tail = append(e.tail, l)
		e.count++
		if len(e.tail) <= e.Tail {
			continue
		}
		switch first := e.tail[0]; mark(first) {
		case markOvertaken:
			e.passed++
			if e.passed <= maxOvertaken {
				e.before = append(e.before, marked{e.count - len(e.tail), first})
			}
		case markLate, markFault:
			e.before = append(e.before, marked{e.count - len(e.tail), first})
		}
		e.tail = append(e.tail[:0], e.tail[1:]...)
	}
}

// Lines returns the excerpt of a timeline that is whole in the file where.
func (e *Excerpt) Lines(t *Timeline, where string) []string {
	var lines []string
	next := 0
	skip := func(to int, text string) {
		if to > next {
			noun := "lines"
			if to-next == 1 {
				noun = "line"
			}
			lines = append(lines, t.gap(fmt.Sprintf("%d earlier %s%s", to-next, noun, text)))
		}
	}
	for _, m := range e.before {
		if e.passed <= maxOvertaken || mark(m.line) != markOvertaken {
			skip(m.index, "")
			lines = append(lines, m.line)
			next = m.index + 1
		}
	}
	skip(e.count-len(e.tail), " in "+where)
	lines = append(lines, e.tail...)
	legend := Legend
	if e.passed > maxOvertaken {
		legend += fmt.Sprintf(" (not shown: %d)", e.passed)
	}
	if e.seen {
		lines = append(lines, t.style.paint(faint, legend))
	}
	return lines
}
