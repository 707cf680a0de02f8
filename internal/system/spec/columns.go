package spec

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"
)

// The form of three columns is MODIST's (NSDI 2009, figure 2), one node a line:
//
//	# command            working dir    inject failure?
//	./node -id 1         node1          yes
//	./client test        -              no
//
// Columns are separated by two blanks or more, or by tabs. A dash is an empty
// working directory. Nodes are called n1, n2, ...

var columnGap = regexp.MustCompile(` {2,}|[ ]*\t[ \t]*`)

// isColumns tells by the file's name, or else by its first line with content,
// whether data is in three columns.
func isColumns(path string, data []byte) bool {
	switch filepath.Ext(path) {
	case ".txt", ".spec":
		return true
	case ".yaml", ".yml", ".json":
		return false
	}
	for line := range bytes.Lines(data) {
		if c := splitColumns(string(line)); c != nil {
			if len(c) != 3 {
				return false
			}
			_, ok := parseFlag(c[2])
			return ok
		}
	}
	return false
}

// splitColumns returns the columns of a line, or nil when it says nothing.
func splitColumns(line string) []string {
	line = strings.TrimSpace(line)
	if line == "" || line[0] == '#' {
		return nil
	}
	return columnGap.Split(line, -1)
}

// columns reads a spec of three columns.
func (r *reader) columns(data []byte) []nodeText {
	var nodes []nodeText
	number := 0
	for line := range bytes.Lines(data) {
		number++
		c := splitColumns(string(line))
		if c == nil {
			continue
		}
		if len(c) != 3 {
			r.fail(number, "a spec in a file with this name has three columns in each line (command, working dir, inject failure?), with two blanks or a tab between them; this line has %d", len(c))
			continue
		}
		if strings.ContainsRune(string(line), 0) {
			r.fail(number, "a NUL byte cannot stand here")
			continue
		}
		nodes = append(nodes, r.row(number, c))
	}
	if len(nodes) == 0 && len(r.errs) == 0 {
		r.fail(0, "no nodes: a line with command, working dir, inject failure? is needed")
	}
	return nodes
}

func (r *reader) row(line int, columns []string) nodeText {
	n := nodeText{line: line, commands: []text{{columns[0], line}}}
	n.CPUs = 1
	if columns[1] != "-" {
		n.dir = text{columns[1], line}
	}
	flag, ok := parseFlag(columns[2])
	if !ok {
		r.fail(line, "%q in the third column is neither yes nor no", columns[2])
	}
	n.MayFail = flag
	return n
}
