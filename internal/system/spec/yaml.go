package spec

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ariadne-mc/ariadne"

	"go.yaml.in/yaml/v3"
)

// document reads a YAML spec into s and returns it as written.
func (r *reader) document(s *Spec, data []byte) specText {
	r.lines = slices.Collect(bytes.Lines(data))
	var doc, more yaml.Node
	st := specText{Spec: s, explore: exploreText{Explore: &s.Explore}}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	switch err := dec.Decode(&doc); {
	case err == io.EOF:
		r.fail(0, "is empty: a list of nodes is needed")
		return st
	case err != nil:
		r.failYAML(err, data)
		return st
	}
	if err := dec.Decode(&more); err == nil {
		r.fail(more.Line, "a second document begins here: a spec is one document")
	} else if err != io.EOF {
		r.failYAML(err, data)
	}
	readFields(r, specFields, &st, doc.Content[0])
	s.Digest = digest(data, doc.Content[0])
	if len(st.nodes) == 0 && len(r.errs) == 0 {
		r.fail(doc.Content[0].Line, "no nodes: a list under nodes: is needed")
	}
	return st
}

// outside are the sections that may change without anything else changing.
var outside = []string{"explore", "expose", "stages", "history", "properties", "finally", "definitions", "watch"}

// digest is over the spec's bytes without the sections outside. It is over all of them when these
// cannot be told from the rest by their lines, or when the rest may refer to what stands in them.
func digest(data []byte, doc *yaml.Node) ariadne.Digest {
	all := ariadne.Digest(sha256.Sum256(data))
	if doc.Kind != yaml.MappingNode || doc.Style&yaml.FlowStyle != 0 {
		return all
	}
	lines := slices.Collect(bytes.Lines(data))
	end := len(lines)
	for i := len(doc.Content) - 2; i >= 0; i -= 2 {
		from := doc.Content[i].Line - 1
		if slices.Contains(outside, doc.Content[i].Value) {
			if from >= end || anchored(doc.Content[i+1]) {
				return all
			}
			lines = slices.Delete(lines, from, end)
		}
		end = from
	}
	return sha256.Sum256(bytes.Join(lines, nil))
}

// anchored reports whether an alias elsewhere may stand for a part of v.
func anchored(v *yaml.Node) bool {
	return v.Anchor != "" || slices.ContainsFunc(v.Content, anchored)
}

var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)`)

// failYAML records an error of the YAML library in data.
func (r *reader) failYAML(err error, data []byte) {
	text := err.Error()
	var types *yaml.TypeError
	if errors.As(err, &types) {
		text = "yaml: " + types.Errors[0]
	}
	line := 0
	if m := yamlLine.FindStringSubmatch(strings.ReplaceAll(text, "\n", " ")); m != nil {
		line, _ = strconv.Atoi(m[1])
		text = m[2]
	}
	// The library names the line before, or that on which the list began, unless a key
	// stands alone: more of the text is YAML then.
	if !strings.Contains(text, "could not find expected ':'") {
		line = cmp.Or(firstBad(data), line)
	}
	r.fail(line, "not YAML: %s%s", text,
		advised(strings.Contains(text, "mapping values are not allowed") || tornAt(data, line)))
}

// torn is what to do about a command of which YAML makes something else.
const torn = "; YAML gives a meaning to `: `, ` #`, quotes, commas between braces and some first letters: " +
	"write `command: |`, and the command in the next line, indented further"

func advised(yes bool) string {
	if yes {
		return torn
	}
	return ""
}

// tagged reports whether a tag of YAML stands before a value. The library does not always say so.
func (r *reader) tagged(v *yaml.Node) bool {
	if v.Line <= 0 || v.Line > len(r.lines) {
		return v.Style&yaml.TaggedStyle != 0
	}
	line := []rune(string(r.lines[v.Line-1]))
	return v.Column > 0 && v.Column <= len(line) && line[v.Column-1] == '!'
}

// commandFields are the fields that have a command.
const commandFields = "command|restart|after_crash|finally"

// isCommand reports whether the innermost of some fields has a command.
func isCommand(fields []string) bool {
	return len(fields) > 0 && slices.Contains(strings.Split(commandFields, "|"), fields[len(fields)-1])
}

// tornMapping reports whether YAML makes a mapping of what looks like a command.
func tornMapping(v *yaml.Node) bool {
	return v.Kind == yaml.MappingNode && v.Style&yaml.FlowStyle == 0 && strings.ContainsRune(v.Content[0].Value, ' ')
}

// tornAt reports whether a command that is no block stands on a line that YAML does not take: it
// begins there or on the line before.
func tornAt(data []byte, line int) bool {
	lines := slices.Collect(bytes.Lines(data))
	if line <= 0 || line > len(lines) {
		return false
	}
	here := lines[line-1]
	if tornCommand.Match(here) || line == 1 {
		return tornCommand.Match(here)
	}
	before := tornCommand.FindSubmatchIndex(lines[line-2]) // where its field begins
	return before != nil && len(here)-len(bytes.TrimLeft(here, " ")) > before[2]
}

// tornCommand matches the beginning of a command that is no block.
var tornCommand = regexp.MustCompile(`\b(` + commandFields + `):\s+[^\s|>]`)

// maxSearched is how long a text is searched line by line for what is wrong with it.
const (
	maxSearched = 64 << 10
	maxLines    = 1000
)

// firstBad is the line from which on data is no YAML, whatever follows; 0 when it is
// not searched.
func firstBad(data []byte) int {
	if len(data) > maxSearched {
		return 0
	}
	lines := slices.Collect(bytes.Lines(data))
	if len(lines) > maxLines {
		return 0
	}
	for n := len(lines); n > 0; n-- {
		var doc yaml.Node
		dec := yaml.NewDecoder(bytes.NewReader(bytes.Join(lines[:n-1], nil)))
		err := dec.Decode(&doc)
		for err == nil {
			err = dec.Decode(&doc)
		}
		if err == io.EOF {
			return n
		}
	}
	return 0
}

// nodeText reads the i-th node, counted from 0.
func (r *reader) nodeText(i int, v *yaml.Node) nodeText {
	v = dereference(v)
	n := nodeText{line: v.Line}
	r.node = "n" + strconv.Itoa(i+1)
	if name := lookup(v, "name"); name != nil && name.Kind == yaml.ScalarNode && name.Value != "" {
		r.node = name.Value
	}
	within := r.fields
	r.fields = nil
	defer func() { r.node, r.fields = "", within }()
	n.CPUs = 1
	readFields(r, nodeFields, &n, v)
	return n
}

// readFields reads a mapping, each key by the row of its name.
func readFields[T any](r *reader, fields []field[T], into *T, v *yaml.Node) {
	v = dereference(v)
	if v.Kind != yaml.MappingNode {
		r.fail(v.Line, "lines of \"field: value\" are needed here (fields: %s)", names(fields))
		return
	}
	seen := map[string]bool{}
	for i := 0; i < len(v.Content); i += 2 {
		key, value := v.Content[i], dereference(v.Content[i+1])
		f := find(fields, key.Value)
		switch {
		case f == nil:
			r.fail(key.Line, "unknown field %q (known: %s)%s", key.Value, names(fields),
				advised(strings.ContainsAny(key.Value, `'"();$ `)))
		case seen[key.Value]:
			r.fail(key.Line, "field %q is written twice", key.Value)
		case value.Tag == "!!null":
			r.fail(key.Line, "field %q has no value", key.Value)
		default:
			seen[key.Value] = true
			r.fields = append(r.fields, key.Value)
			f.set(r, into, value)
			r.fields = r.fields[:len(r.fields)-1]
		}
	}
}

func find[T any](fields []field[T], name string) *field[T] {
	for i := range fields {
		if fields[i].name == name {
			return &fields[i]
		}
	}
	return nil
}

func names[T any](fields []field[T]) string {
	var s []string
	for _, f := range fields {
		s = append(s, f.name)
	}
	return strings.Join(s, ", ")
}

func lookup(v *yaml.Node, key string) *yaml.Node {
	if v.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i < len(v.Content); i += 2 {
		if v.Content[i].Value == key {
			return dereference(v.Content[i+1])
		}
	}
	return nil
}

// dereference follows an alias to what it stands for.
func dereference(v *yaml.Node) *yaml.Node {
	if v.Kind == yaml.AliasNode {
		return v.Alias
	}
	return v
}

// scalar reads a scalar as it is written, whatever YAML takes it for.
func (r *reader) scalar(v *yaml.Node) (t text, ok bool) {
	v = dereference(v)
	if v.Kind != yaml.ScalarNode {
		r.fail(v.Line, "one value is needed here, not a list or a mapping%s", advised(tornMapping(v)))
		return text{line: v.Line}, false
	}
	if r.tagged(v) {
		r.fail(v.Line, "YAML leaves out the ! before %q%s", v.Value, advised(true))
		return text{line: v.Line}, false
	}
	if v.Style&yaml.FoldedStyle != 0 && isCommand(r.fields) && commented(v.Value) {
		r.fail(v.Line, "to a shell the lines of a folded block (>) are one line, and # makes a comment of the rest of it: "+
			"write | in place of >")
		return text{line: v.Line}, false
	}
	return text{v.Value, v.Line}, true
}

// text reads a scalar that is to reach a program as an argument or a name.
func (r *reader) text(v *yaml.Node) text {
	t, _ := r.scalar(v)
	if strings.ContainsRune(t.string, 0) {
		r.fail(t.line, "a NUL byte cannot stand in %q", t.string)
	}
	return t
}

// maxTexts is how long a list may be.
const maxTexts = 1000

// texts reads one text or a list of them.
func (r *reader) texts(v *yaml.Node) []text {
	if v.Kind != yaml.SequenceNode {
		return []text{r.text(v)}
	}
	if len(v.Content) == 0 {
		r.fail(v.Line, "%s: the list is empty", strings.Join(r.fields, ": "))
	}
	if len(v.Content) > maxTexts {
		r.fail(v.Line, "the list is longer than %d", maxTexts)
		return nil
	}
	var ts []text
	for _, item := range v.Content {
		ts = append(ts, r.text(item))
	}
	return ts
}

func (r *reader) flag(v *yaml.Node) bool {
	t, ok := r.scalar(v)
	if !ok {
		return false
	}
	b, ok := parseFlag(t.string)
	if !ok {
		r.fail(t.line, "%q is neither true nor false", t.string)
	}
	return b
}

func parseFlag(s string) (value, ok bool) {
	switch strings.ToLower(s) {
	case "true", "yes", "1":
		return true, true
	case "false", "no", "0":
		return false, true
	}
	return false, false
}

func (r *reader) count(v *yaml.Node, low, high int) int {
	t, ok := r.scalar(v)
	if !ok {
		return low
	}
	n, err := strconv.Atoi(strings.ReplaceAll(t.string, "_", ""))
	if err != nil || n < low || n > high {
		r.fail(t.line, "bad number %q: a whole number from %d to %d is needed", t.string, low, high)
		return low
	}
	return n
}

// date reads what clocks show at first.
func (r *reader) date(v *yaml.Node) time.Time {
	t, ok := r.scalar(v)
	if !ok {
		return DefaultDate
	}
	d, err := ParseDate(t.string)
	if err != nil {
		r.fail(t.line, "%v", err)
	}
	return d
}

// ParseDate reads what clocks show at first: a day, ten minutes before its end, or a time.
func ParseDate(text string) (time.Time, error) {
	d, err := time.Parse(time.DateOnly, text)
	if err == nil {
		d = d.Add(24*time.Hour - 10*time.Minute)
	} else if d, err = time.Parse(time.RFC3339, text); err != nil {
		return d, fmt.Errorf("bad date %q: write 2026-11-21 or 2026-11-21T09:30:00Z", text)
	}
	// Files that come from the host are of the beginning of 2020, and clocks count nanoseconds in
	// 63 bits.
	if d.Year() < 2020 || d.Year() > 2200 {
		return d, fmt.Errorf("bad date %q: from 2020 to 2200", text)
	}
	return d.UTC(), nil
}

// seed reads a number of 64 bits.
func (r *reader) seed(v *yaml.Node) uint64 {
	t, ok := r.scalar(v)
	if !ok {
		return 0
	}
	n, err := strconv.ParseUint(t.string, 0, 64)
	if err != nil {
		r.fail(t.line, "bad seed %q: a whole number from 0 to 2^64-1 is needed", t.string)
	}
	return n
}

// minSize is the least that a size may be.
const minSize = 1 << 20

func (r *reader) size(v *yaml.Node) int64 {
	t, ok := r.scalar(v)
	if !ok {
		return 0
	}
	n, ok := parseSize(t.string)
	if !ok || n < minSize || n > 1<<50 {
		r.fail(t.line, "bad size %q: a number with its unit is needed, as in 64M or 4G, and 1M at least", t.string)
	}
	return n
}

func parseSize(s string) (int64, bool) {
	if s == "" {
		return 0, false
	}
	shift := 10 * (1 + strings.IndexByte("KMGT", s[len(s)-1]))
	n, err := strconv.ParseFloat(s[:len(s)-1], 64)
	if err != nil || shift == 0 || !(n > 0 && n < 1<<20) {
		return 0, false
	}
	return int64(n * float64(int64(1)<<shift)), true
}

// maxDuration is far from where virtual time ends, also when some are added up.
const maxDuration = 10 * 365 * 24 * time.Hour

func (r *reader) duration(v *yaml.Node, low time.Duration) time.Duration {
	t, ok := r.scalar(v)
	if !ok {
		return low
	}
	d, err := time.ParseDuration(t.string)
	switch {
	case err != nil:
		r.fail(t.line, "bad duration %q: write a number with its unit, as in 5ms, 2s or 1m", t.string)
	case d < 0:
		r.fail(t.line, "bad duration %q: it cannot be negative", t.string)
	case d < low && low == 1:
		r.fail(t.line, "bad duration %q: more than 0 is needed", t.string)
	case d < low:
		r.fail(t.line, "bad duration %q: %v at least", t.string, low)
	case d > maxDuration:
		r.fail(t.line, "bad duration %q: %v at most", t.string, maxDuration)
	}
	return d
}
