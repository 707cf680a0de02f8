package ariadne

import (
	"strconv"
	"strings"
)

// Exposed is the Stream of the lines by which a program says itself, on /dev/ariadne, what it exposes.
const Exposed = 3

// Exposure is what such a line says: "expose NAME VALUE...", or "conceal NAME", where NAME may have a key behind
// it, as in "value[x]". A value in quotes, as Go has them, may have spaces.
type Exposure struct {
	Name, Key string
	Values    []string
	Ends      bool // it is exposed no more
}

// ParseExposure understands a line; not ok: it is something else.
func ParseExposure(line string) (e Exposure, ok bool) {
	words := fields(line)
	if len(words) < 2 || words[0] != "expose" && words[0] != "conceal" {
		return e, false
	}
	var key string
	var keyed bool
	e.Name, key, keyed = strings.Cut(words[1], "[")
	if keyed {
		if e.Key, ok = strings.CutSuffix(key, "]"); !ok || e.Key == "" {
			return e, false
		}
	}
	e.Values, e.Ends = words[2:], words[0] == "conceal"
	return e, IsExposable(e.Name) && !(e.Ends && len(e.Values) > 0)
}

// fields are the words of a line. One in quotes, as strconv.Quote makes them, may have spaces.
func fields(line string) (words []string) {
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		word, rest := line, ""
		if quoted, err := strconv.QuotedPrefix(line); err == nil && line[0] == '"' {
			word, _ = strconv.Unquote(quoted)
			rest = line[len(quoted):]
		} else if i := strings.IndexAny(line, " \t\r\n\v\f"); i >= 0 {
			word, rest = line[:i], line[i:]
		}
		words, line = append(words, word), rest
	}
	return words
}

// probed begins the line by which Ariadne says that a function or variable of which the spec exposes something was found in a
// program.
const probed = "probes "

// ProbedLine says so of what is "function F" or "variable V".
func ProbedLine(what string) string { return probed + what }

// Probed is what a line says was found.
func Probed(line string) (what string, ok bool) { return strings.CutPrefix(line, probed) }

// IsExposable reports whether something can be exposed by a name: one that a script can use.
func IsExposable(name string) bool {
	for i, c := range name {
		if letter := 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_'; !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}
