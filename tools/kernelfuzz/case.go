package main

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Case is a list of system calls, one per line, as testdata/interp.c takes them.
type Case struct {
	Name  string
	Lines []string
}

// two says whether the case needs two machines: processes from 3 on are those of the second.
func (c Case) two() bool {
	return slices.ContainsFunc(c.Lines, func(l string) bool { return l[0] >= '3' && l[0] <= '5' })
}

// write writes cases as the interpreter reads them.
func write(w io.Writer, cases []Case) {
	for _, c := range cases {
		fmt.Fprintf(w, "case %s\n%s\nend\n", c.Name, strings.Join(c.Lines, "\n"))
	}
}

// parse reads what write writes; lines that begin with # are comments.
func parse(text string) ([]Case, error) {
	var cases []Case
	open := false
	for n, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		switch name, isCase := strings.CutPrefix(line, "case "); {
		case line == "" || line[0] == '#':
		case isCase && !open:
			cases, open = append(cases, Case{Name: name}), true
		case line == "end" && open:
			open = false
		case open && !isCase:
			c := &cases[len(cases)-1]
			c.Lines = append(c.Lines, line)
		default:
			return nil, fmt.Errorf("line %d: %q is outside of a case", n+1, line)
		}
	}
	if open {
		return nil, fmt.Errorf("case %s has no end", cases[len(cases)-1].Name)
	}
	return cases, nil
}

// Outcome is what the interpreter printed of each case.
type Outcome map[string][]string

// observe reads the interpreter's output.
func observe(text string) Outcome {
	out := Outcome{}
	name := ""
	in := bufio.NewScanner(strings.NewReader(text))
	in.Buffer(nil, 1<<22)
	for in.Scan() {
		line := in.Text()
		switch s, isCase := strings.CutPrefix(line, "case "); {
		case isCase:
			name = s
			out[name] = []string{}
		case line == "end":
			name = ""
		case name != "":
			out[name] = append(out[name], line)
		}
	}
	return out
}

// Difference is where two outcomes of one case part.
type Difference struct {
	Native, Ariadne string
}

// Kind is what differences have in common that are likely to have one cause: the call, and both
// results without their details.
func (d Difference) Kind() string {
	call, a := kind(d.Native)
	call2, b := kind(d.Ariadne)
	if call == "" {
		call = call2
	}
	return call + ": " + a + " / " + b
}

func kind(line string) (call, result string) {
	words := strings.Fields(line)
	if len(words) < 3 {
		return "", line
	}
	_, result, found := strings.Cut(line, " = ")
	if !found {
		result = words[len(words)-1]
	}
	if w := strings.Fields(result); len(w) > 0 {
		result = w[0]
	}
	if result != "" && strings.Trim(result, "-0123456789") == "" && result != "0" {
		result = "n"
	}
	return words[2], result
}

// compare returns the first difference of two outcomes of a case, if there is one.
func compare(native, ariadne []string) (Difference, bool) {
	for i := range max(len(native), len(ariadne)) {
		var d Difference
		if i < len(native) {
			d.Native = native[i]
		}
		if i < len(ariadne) {
			d.Ariadne = ariadne[i]
		}
		if d.Native != d.Ariadne {
			return d, true
		}
	}
	return Difference{}, false
}
