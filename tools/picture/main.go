// Command picture turns the output of a command in a terminal, which it reads from its standard
// input, into an SVG picture for a document. The picture has a light and a dark form, and a browser
// shows the one that the reader prefers. scripts/picture makes docs/demo.svg with it.
//
//	bin/ariadne check SPEC | go run ./tools/picture -head 8 -tail 20 >docs/demo.svg
package main

import (
	"bytes"
	"encoding/xml"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"
)

func main() {
	head := flag.Int("head", 0, "lines to show from the beginning; with -tail")
	tail := flag.Int("tail", 0, "lines to show from the end; 0: all")
	flag.Parse()
	in, err := io.ReadAll(os.Stdin)
	if err == nil {
		lines := wrap(cut(strings.Split(strings.TrimRight(string(in), "\n"), "\n"), *head, *tail))
		_, err = os.Stdout.Write(draw(lines))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

// A picture is as wide as a terminal of that many columns; sizes are in pixels.
const (
	columns    = 106
	lineHeight = 18
	charWidth  = 8 // at most, of the fonts below at 13 pixels
	margin     = 16
)

// gap stands for lines that were left out. It has no number: lines for which the command itself
// printed a gap may be among them.
const gap = "           …        earlier lines, left out of this picture"

// cut leaves out the lines between the first head and the last tail ones, with a line in their
// place.
func cut(lines []string, head, tail int) []string {
	if tail == 0 || head+tail >= len(lines) {
		return lines
	}
	return append(append(append([]string{}, lines[:head]...), gap), lines[len(lines)-tail:]...)
}

// continued stands before the rest of a line that was broken.
const continued = "    "

// wrap breaks lines that are wider than the picture at a space.
func wrap(lines []string) (all []string) {
	for _, line := range lines {
		for utf8.RuneCountInString(line) > columns {
			room := string([]rune(line)[:columns])
			at := strings.LastIndexByte(room, ' ')
			if at < columns/2 {
				at = len(room)
			}
			all = append(all, line[:at])
			line = continued + strings.TrimLeft(line[at:], " ")
		}
		all = append(all, line)
	}
	return all
}

// classes are the looks of lines, by what they match; the first that matches counts.
var classes = []struct {
	name string
	line *regexp.Regexp
}{
	{"command", regexp.MustCompile(`^\$ `)},
	{"bad", regexp.MustCompile(`^violation: [a-z]`)},
	{"odd", regexp.MustCompile(`^ +\d+\.\d+s +\d+[*~!] `)},
	{"log", regexp.MustCompile(`^ +\d+\.\d+s {7,}`)},
	{"dim", regexp.MustCompile(`^ +…|^ +time  step|^\* late or early`)},
}

// class is the look of a line that follows one with another look; "": that of most. The rest of a
// line that was broken looks as its beginning.
func class(line, before string) string {
	if rest, ok := strings.CutPrefix(line, continued); ok && !strings.HasPrefix(rest, " ") {
		return before
	}
	for _, c := range classes {
		if c.line.MatchString(line) {
			return c.name
		}
	}
	return ""
}

// draw is the picture of lines.
func draw(lines []string) []byte {
	var b bytes.Buffer
	width, height := columns*charWidth+2*margin, len(lines)*lineHeight+2*margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img">
<!-- Made by scripts/picture. -->
<title>Output of ariadne in a terminal</title>
<style>
svg { background: #ffffff } rect { fill: #ffffff; stroke: #d0d7de }
text { font: 13px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #1f2328; white-space: pre }
.command { fill: #1a7f37; font-weight: bold } .bad { fill: #cf222e; font-weight: bold }
.odd { fill: #9a6700 } .log { fill: #0550ae; font-weight: bold } .dim { fill: #656d76 }
@media (prefers-color-scheme: dark) {
  svg { background: #0d1117 } rect { fill: #0d1117; stroke: #30363d } text { fill: #e6edf3 }
  .command { fill: #3fb950 } .bad { fill: #ff7b72 } .odd { fill: #d29922 } .log { fill: #79c0ff } .dim { fill: #8b949e }
}
</style>
<rect x="0.5" y="0.5" width="%d" height="%d" rx="6"/>
`, width, height, width, height, width-1, height-1)
	look := ""
	for i, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		look = class(line, look)
		attribute := ""
		if look != "" {
			attribute = ` class="` + look + `"`
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d"%s xml:space="preserve">`, margin, margin+i*lineHeight+13, attribute)
		if err := xml.EscapeText(&b, []byte(line)); err != nil {
			panic(err) // a buffer takes all
		}
		b.WriteString("</text>\n")
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}
