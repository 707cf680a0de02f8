//go:build linux

package crash

import (
	"cmp"
	"path"
	"regexp"
	"slices"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk"

	"golang.org/x/sys/unix"
)

// Advice is about files that a loss leaves far from what they are before the first operation and
// after the last one. Where there is no checker it says where to look: it is no verdict. After C³
// (Jiang and others, FSE 2016).
type Advice struct {
	File string `json:"file"` // from the home, with N for numbers; or Output
	// what it is: gone, empty, zeros, other; where a call has failed also: as before, left behind
	Found string `json:"found"`
	// bytes to be edited at most, to the nearer of before and after, or to From
	Distance int `json:"distance"`
	// From is what is to be there, where a call has failed: before, when the command reports an
	// error, or after.
	From   string `json:"from,omitempty"`
	Images int    `json:"images"`
	Blame  string `json:"blame"` // what is lost in the example, and what is there all the same
	// Example is that of the first operations; of these the one that lacks least.
	Example *Failure `json:"example"`
}

// adviceKey is what advice is about.
type adviceKey struct{ file, found, from, call string }

// Output is the File of what a reader prints.
const Output = "output"

// view is what somebody finds after a restart: files by their paths from the home, or what a reader
// prints.
type view map[string]*file

// view is that of who looks at the files.
func (t *tree) view() view {
	v := view{}
	var visit func(name string, f *file)
	visit = func(name string, f *file) {
		if name != "" {
			v[name] = f
		}
		for child, g := range f.names.each() {
			visit(path.Join(name, child), g)
		}
	}
	visit("", t.find(home))
	return v
}

// printed is the view of a reader.
func printed(text string) view {
	return view{Output: {attr: disk.Attr{Mode: unix.S_IFREG}, data: newContent([]byte(text))}}
}

// advisor knows what is usual to find.
type advisor struct {
	before, after view
	// usual is how far a file is at most from what it is before and after, when a kill leaves it.
	usual   map[string]int
	learned *file // the home as the last kill leaves it
}

// changes is a view of what is other in a home than in another one: nil where a file is there
// alone.
func changes(from, to *file) view {
	v := view{}
	var visit func(at string, a, b *file)
	visit = func(at string, a, b *file) {
		var in, now *names
		if a != nil {
			in = a.names
		}
		if b != nil {
			now = b.names
		}
		differing(in, now, func(name string, a, b *file) {
			name = path.Join(at, name)
			v[name] = b
			visit(name, a, b)
		})
	}
	visit("", from, to)
	return v
}

// distances are how far files are from what they are before and after, whichever is nearer, but for
// those that are the same. Of changes it looks at no others.
func (a *advisor) distances(v view, changes bool) map[string]int {
	far := map[string]int{}
	look := func(name string) {
		if _, done := far[name]; done {
			return
		}
		d := v[name].distance(a.before[name])
		if d > 0 {
			d = min(d, v[name].distance(a.after[name]))
		}
		far[name] = d
	}
	for name := range v {
		look(name)
	}
	for _, others := range []view{a.before, a.after} {
		for name := range others {
			if changes {
				break
			}
			look(name)
		}
	}
	for name, d := range far {
		if d == 0 {
			delete(far, name)
		}
	}
	return far
}

// learn enters what a kill leaves.
func (a *advisor) learn(v view, changes bool) {
	for name, d := range a.distances(v, changes) {
		a.usual[name] = max(a.usual[name], d)
	}
}

// distance is how much is to be edited to make one file of another. Nil is none.
func (f *file) distance(g *file) int {
	switch {
	case f == g:
		return 0
	case f == nil:
		return 1 + int(g.data.len()) + len(g.target)
	case g == nil:
		return 1 + int(f.data.len()) + len(f.target)
	case f.attr.Mode&unix.S_IFMT != g.attr.Mode&unix.S_IFMT:
		return 2 + int(f.data.len()+g.data.len()) + len(f.target) + len(g.target)
	}
	return f.data.distance(g.data) + edits([]byte(f.target), []byte(g.target))
}

// mostEdits is how large the table of an edit distance may be. Beyond, bytes are compared place by
// place, which is an upper bound.
const mostEdits = 1 << 18

// edits is how many bytes are to be inserted, deleted or replaced to make b of a.
func edits(a, b []byte) int {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) == 0 || len(a)*len(b) > mostEdits {
		d := len(b) - len(a)
		for i := range a {
			if a[i] != b[i] {
				d++
			}
		}
		return d
	}
	row := make([]int, len(a)+1) // to the first i bytes of a, from the first j of b
	for i := range row {
		row[i] = i
	}
	for j, c := range b {
		diagonal := row[0]
		row[0] = j + 1
		for i := range a {
			d := diagonal
			if a[i] != c {
				d = 1 + min(diagonal, row[i], row[i+1])
			}
			diagonal, row[i+1] = row[i+1], d
		}
	}
	return row[len(a)]
}

// found says what a file is, in a word.
func (f *file) found() string {
	switch {
	case f == nil:
		return "gone"
	case f.attr.Mode&unix.S_IFMT == unix.S_IFREG && f.data.len() == 0:
		return "empty"
	case f.data.len() > 0 && f.data.zeros():
		return "zeros"
	}
	return "other"
}

// numbers in the names of files, also such as of git's objects.
var numbers = regexp.MustCompile(`[0-9a-f]{2}/[0-9a-f]{8,}|[0-9a-f]{8,}|[0-9]+`)

// adviseOn looks at an image that no checker judges, at a point at which a kill leaves some files.
// Files that are the same there are as usual.
func (c *column) adviseOn(t *tree, kill *file, images images, n, at int) {
	if home := t.find(home); c.Model == Kill {
		c.advisor.learn(changes(c.advisor.learned, home), true)
		c.advisor.learned = home
	} else {
		c.advise(changes(kill, home), true, images, n, at)
	}
}

// adviseOnOutput likewise, but at what a reader prints.
func (c *column) adviseOnOutput(v view, images images, n, at int) {
	if c.Model == Kill {
		c.advisor.learn(v, false)
	} else {
		c.advise(v, false, images, n, at)
	}
}

func (c *column) advise(v view, changes bool, images images, n, at int) {
	var f *Failure
	far := map[adviceKey]int{}
	for name, d := range c.advisor.distances(v, changes) {
		if d <= c.advisor.usual[name] {
			continue
		}
		if f == nil {
			c.Far++
			c.marks[at]++
			f = images.failure(n)
			f.Operation, f.Last = at+1, short(c.Log[at].String())
		}
		key := adviceKey{file: numbers.ReplaceAllString(name, "N"), found: v[name].found()}
		far[key] = max(far[key], d)
	}
	for key, d := range far {
		c.enter(key, d, f)
	}
}

// enter enters advice about files of an image, or of an execution.
func (c *column) enter(key adviceKey, distance int, f *Failure) {
	a := c.advice[key]
	if a == nil {
		a = &Advice{File: key.file, Found: key.found, From: key.from, Example: f}
		c.advice[key] = a
	}
	a.Distance = max(a.Distance, distance)
	a.Images++
	if f.Operation == a.Example.Operation && len(f.missing) < len(a.Example.missing) {
		a.Example = f
	}
}

// advised sorts advice: what is there in spite of an error comes behind what is not there, and what
// is only left behind last; then the farthest comes first.
func (c *column) advised() {
	for _, a := range c.advice {
		if a.Blame = a.Example.kept; a.From == "" {
			a.Blame = blame(a.Example.lost, a.Example.kept)
		}
		c.Advice = append(c.Advice, *a)
	}
	slices.SortFunc(c.Advice, func(a, b Advice) int {
		return cmp.Or(a.rank()-b.rank(), b.Distance-a.Distance, cmp.Compare(a.File, b.File),
			cmp.Compare(a.Found, b.Found), cmp.Compare(a.Blame, b.Blame))
	})
}

// rank is how late it comes among advice.
func (a *Advice) rank() int {
	switch {
	case a.Found == "left behind":
		return 2
	case a.From == "before":
		return 1
	}
	return 0
}
