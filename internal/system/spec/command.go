package spec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Path is where programs without a slash are looked for, and PATH inside nodes.
const Path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// command turns a command line into a program and its arguments.
func (r *reader) command(t text) Command {
	line := strings.TrimSpace(t.string)
	c := Command{Line: t.line}
	words, shell, err := split(line)
	switch {
	case err != nil:
		r.fail(t.line, "command %q: %s%s", line, err, advised(err == errOpenQuote))
		return c
	case shell:
		c.Args = []string{"/bin/sh", "-c", line}
	case len(words) == 0:
		r.fail(t.line, "the command is empty")
		return c
	default:
		c.Args = words
	}
	c.Args[0] = r.program(text{c.Args[0], t.line})
	return c
}

// errOpenQuote: a quote is not closed, perhaps because YAML has cut the command off.
var errOpenQuote = errors.New("a quote is not closed")

// split cuts a command line into words as a shell does, or says that it needs a
// shell: it has an operator, an expansion or a comment outside quotes, or begins with exec or !.
func split(line string) (words []string, shell bool, err error) {
	var word strings.Builder
	inWord := false
	quote := byte(0)
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote == '\'' && c != '\'':
			word.WriteByte(c)
		case quote == '"' && c == '\\' && i+1 < len(line) && strings.IndexByte("\\\"$`\n", line[i+1]) >= 0,
			quote == 0 && c == '\\' && i+1 < len(line):
			i++
			if line[i] != '\n' { // a backslash takes the line's end with it
				word.WriteByte(line[i])
				inWord = true
			}
		case quote == 0 && c == '\\':
			return nil, false, errors.New("it ends in a backslash")
		case c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, inWord = c, true
		case quote != '\'' && (c == '$' || c == '`'):
			return nil, true, nil
		case quote != 0:
			word.WriteByte(c)
		case c == ' ' || c == '\t':
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		case strings.IndexByte("|&;<>()*?[\n", c) >= 0, !inWord && (c == '#' || c == '~'),
			len(words) == 0 && inWord && c == '=':
			return nil, true, nil
		default:
			word.WriteByte(c)
			inWord = true
		}
	}
	if quote != 0 {
		return nil, false, errOpenQuote
	}
	if inWord {
		words = append(words, word.String())
	}
	if len(words) > 0 && (words[0] == "exec" || words[0] == "!") {
		// no programs: one is often written out of habit, the other turns a status round
		return nil, true, nil
	}
	return words, false, nil
}

// commented reports whether a shell takes the end of one of the lines for a comment.
func commented(lines string) bool {
	quote := byte(0)
	for i := 0; i < len(lines); i++ {
		switch c := lines[i]; {
		case c == '\\' && quote != '\'':
			i++
		case c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote = c
		case quote == 0 && c == '#' && (i == 0 || strings.IndexByte(" \t\n;|&(", lines[i-1]) >= 0):
			return true
		}
	}
	return false
}

// program returns the path, as a node sees it, of the program called t.
func (r *reader) program(t text) string {
	if !strings.Contains(t.string, "/") {
		for _, dir := range filepath.SplitList(Path) {
			p := filepath.Join(dir, t.string)
			switch err := runnable(p); {
			case err == nil:
				return p
			case !errors.Is(err, errMissing):
				r.fail(t.line, "program %q: %s: %s", t.string, p, err)
				return t.string
			}
		}
		r.fail(t.line, "no program %q in %s%s", t.string, Path, r.beside(t.string))
		return t.string
	}
	p := r.absolute(t.string)
	switch err := runnable(p); {
	case errors.Is(err, errMissing):
		r.fail(t.line, "program %q: there is no %s (names with a slash start at the spec's directory)", t.string, p)
	case err != nil:
		r.fail(t.line, "program %q: %s", t.string, err)
	}
	if rel, err := filepath.Rel(r.dir, p); err == nil && filepath.IsLocal(rel) {
		return filepath.Join("/spec", rel)
	}
	if slices.ContainsFunc(private, func(dir string) bool { return below(dir, p) }) {
		r.fail(t.line, "program %q: nodes do not see the host's %s: put it into %s, which they see as /spec", t.string, filepath.Dir(p), r.dir)
	}
	return p
}

// beside advises when the program is there after all, beside the spec.
func (r *reader) beside(name string) string {
	if runnable(filepath.Join(r.dir, name)) != nil {
		return ""
	}
	return "; the one beside the spec is ./" + name
}

var errMissing = errors.New("no such file")

// runnable says why the file at p is not a program that a node can run.
func runnable(p string) error {
	info, err := os.Stat(p)
	switch {
	case os.IsNotExist(err):
		return errMissing
	case err != nil:
		return errors.New(cause(err))
	case info.IsDir():
		return errors.New("it is a directory")
	case !info.Mode().IsRegular():
		return errors.New("it is not a regular file")
	case info.Mode()&0o111 == 0:
		return errors.New("it is not executable (chmod +x)")
	}
	f, err := os.Open(p)
	if err != nil {
		return nil // executable but not readable for us: its format stays unknown
	}
	defer f.Close()
	head := make([]byte, 256)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return errors.New(cause(err))
	}
	return format(head[:n])
}

// format says what is wrong with a program that begins with head.
func format(head []byte) error {
	if script, ok := bytes.CutPrefix(head, []byte("#!")); ok {
		first, _, _ := bytes.Cut(script, []byte("\n"))
		words := strings.Fields(string(first))
		if len(words) == 0 {
			return errors.New("its #! line names no interpreter")
		}
		if _, err := os.Stat(words[0]); err != nil && filepath.IsAbs(words[0]) {
			return errors.New("its interpreter " + words[0] + " is missing")
		}
		return nil
	}
	const classAt, class64, machineAt, machineX86_64 = 4, 2, 18, 62
	if !bytes.HasPrefix(head, []byte("\x7fELF")) || len(head) < machineAt+2 {
		return errors.New("it is neither an ELF file nor a script (which begins with #!)")
	}
	if head[classAt] != class64 || binary.LittleEndian.Uint16(head[machineAt:]) != machineX86_64 {
		return errors.New("it is not built for x86-64")
	}
	return nil
}

// Words cuts a command line as commands of a spec are cut: into words, or into a shell's with the
// line.
func Words(line string) ([]string, error) {
	words, shell, err := split(line)
	if err == nil && shell {
		return []string{"/bin/sh", "-c", line}, nil
	}
	if err == nil && len(words) == 0 {
		err = errors.New("the command is empty")
	}
	return words, err
}
