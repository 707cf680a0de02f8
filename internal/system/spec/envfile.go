package spec

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/leaf/readfile"
)

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// maxEnvFile is how much a file with environment may hold.
const maxEnvFile = 1 << 20

// envFile enters the variables that a file sets.
func (r *reader) envFile(env map[string]string, t text) {
	if t.string == "" {
		return
	}
	data, err := readfile.AtMost(r.absolute(t.string), maxEnvFile)
	if err != nil {
		r.fail(t.line, "env_file %q: %s", t.string, cause(err))
		return
	}
	r.read = append(r.read, data...)
	if err := parseEnv(string(data), env); err != nil {
		r.fail(t.line, "env_file %q, %s", t.string, err)
	}
}

// parseEnv enters the variables of a text into env, as systemd.exec(5) says of EnvironmentFile.
// Blank lines and comments (# or ;) count for nothing. A value may be in quotes. A backslash takes
// the meaning of the next character, or the end of a line, except in single quotes. Nothing is
// expanded. A line without NAME= is an error here, where systemd ignores it.
func parseEnv(s string, env map[string]string) error {
	for p := (envText{s, 1}); p.rest != ""; {
		line := p.line
		head, after, _ := strings.Cut(p.rest, "\n")
		head = strings.TrimSpace(head)
		if head == "" || head[0] == '#' || head[0] == ';' {
			p.rest, p.line = after, p.line+1
			for ; strings.HasSuffix(head, `\`) && p.rest != ""; p.line++ { // a comment goes on
				head, p.rest, _ = strings.Cut(p.rest, "\n")
			}
			continue
		}
		key, _, ok := strings.Cut(head, "=")
		key = strings.TrimSpace(strings.TrimPrefix(key, "export "))
		if !ok || !variableName.MatchString(key) {
			return fmt.Errorf("line %d: NAME=value is needed, not %q", line, head)
		}
		p.rest = p.rest[strings.IndexByte(p.rest, '=')+1:]
		value, ok := p.value()
		switch {
		case !ok:
			return fmt.Errorf("line %d: a quote is not closed", line)
		case strings.ContainsRune(value, 0):
			return fmt.Errorf("line %d: a NUL byte cannot stand in a value", line)
		}
		env[key] = value
	}
	return nil
}

// envText is what is still to be read of a file with environment.
type envText struct {
	rest string
	line int // from 1
}

// next takes a byte; it is a line's end at the end of the text.
func (p *envText) next() byte {
	if p.rest == "" {
		return '\n'
	}
	c := p.rest[0]
	p.rest = p.rest[1:]
	if c == '\n' {
		p.line++
	}
	return c
}

// value takes a value and the end of its line. It is not ok when a quote is not closed.
func (p *envText) value() (s string, ok bool) {
	var v strings.Builder
	const begin = -1 // nothing, or a quoted part, is before: a quote begins here
	blanks := begin  // how many blanks at the end do not count, unless more follows
	for {
		switch c := p.next(); {
		case c == '\n':
			s = v.String()
			return s[:len(s)-max(0, blanks)], true
		case blanks == begin && (c == '"' || c == '\''):
			if !p.quoted(&v, c) {
				return "", false
			}
		case c == '\\':
			if c = p.next(); c != '\n' {
				v.WriteByte(c)
			}
			blanks = 0
		case strings.IndexByte(" \t\r", c) < 0:
			v.WriteByte(c)
			blanks = 0
		case blanks != begin:
			v.WriteByte(c)
			blanks++
		}
	}
}

// quoted takes what is in quotes, and the quote at its end.
func (p *envText) quoted(v *strings.Builder, quote byte) (closed bool) {
	for p.rest != "" {
		c := p.next()
		switch {
		case c == quote:
			return true
		case c == '\\' && quote == '"':
			if c = p.next(); strings.IndexByte("\"\\`$\n", c) < 0 {
				v.WriteByte('\\')
			}
			if c != '\n' {
				v.WriteByte(c)
			}
		default:
			v.WriteByte(c)
		}
	}
	return false
}
