package ariadne

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Variation lists the choices by which a step differs from the undisturbed step, in the order in
// which the step reaches them, joined by commas. The text is its stable name. "" means that the
// step goes undisturbed.
type Variation string

// Choice is an alternative at a place of a step. As a text it is ALTERNATIVE@PLACE, as in
//
//	fail:EIO@7/fsync:/node/wal#2
type Choice struct {
	Alternative string // KIND:WHAT; the kind is that of the budget which it costs, if it costs any
	Place       string // Place.Name
}

// Place is a visible operation of a step at which there is a choice: a call that may fail, or a
// question of a program. Choices of faults are listed only if the spec has a budget for them.
type Place struct {
	// Name is stable. It consists of the thread, the call, the file or other object if that has a
	// name, and the number among the places with the same name in the step, from 1. It has no
	// spaces.
	Name         string
	Alternatives []string // at least one
	// Taken is the alternative that happened, or "" when the place went undisturbed. A fault that
	// takes the node down may have had another length.
	Taken string
}

// Draw makes choices in a step whose places are not known yet. It counts alternatives over the
// places in their order, and those of each kind separately, also where a place has several kinds.
type Draw struct {
	// Kinds are those that count, and After by kind how many alternatives there are up to the
	// first that is taken, it included, then behind its place up to the next, and so on. Fewer, and
	// it goes undisturbed.
	Kinds []string
	After [][]int
	// Only are by kind the calls, by name, and the sites (SiteOf) at whose places alternatives
	// count; nil, or fewer: all.
	Only [][]string
	// Free are kinds of which every place is drawn by itself, by Seed and how many places come
	// before it (Pick): each of its alternatives is as likely as none.
	Free []string
	// Seldom are, by kind, further lengths of a fault that takes the node down: one fault in three
	// lasts for one of them, by Seed and how many places come before it.
	Seldom [][]time.Duration
	Seed   uint64
	From   int // places before that are not drawn so
}

// The kinds of alternatives that nodes list, besides those of a NodeFault and of questions.
const (
	CallFails  = "fail"    // and by which error, or by what else
	ThreadLate = "preempt" // and which one goes first
	SyncStalls = "stall"   // and for how long
	DiskImage  = "disk"    // which image a loss of power leaves
)

// The alternatives at a call, besides errors that have a number in Linux.
const (
	CallShort = "SHORT" // it moves a part of the bytes
	CallFull  = "FULL"  // ENOSPC, and from then on the disk is full
	// CallReset is Linux's, and the connection is reset at both ends.
	CallReset = "ECONNRESET"
)

// Kind is what kind of alternatives it has. Those that cost nothing are never with others; a node
// may go down in several ways, and Kind is that of the first.
func (p *Place) Kind() string { return KindOf(p.Alternatives[0]) }

func (c Choice) String() string { return c.Alternative + "@" + c.Place }

// Kind is what kind of alternative it is.
func (c Choice) Kind() string { return KindOf(c.Alternative) }

// KindOf is the kind of an alternative.
func KindOf(alternative string) string {
	kind, _, _ := strings.Cut(alternative, ":")
	return kind
}

// Choices takes a variation apart. A text that is no variation has choices without a kind or a
// place.
func (v Variation) Choices() (all []Choice) {
	if v == "" {
		return nil
	}
	for _, text := range strings.Split(string(v), ",") {
		alternative, place, _ := strings.Cut(text, "@")
		all = append(all, Choice{alternative, place})
	}
	return all
}

// And is the variation with one more choice, that comes after its others.
func (v Variation) And(c Choice) Variation {
	if v == "" {
		return Variation(c.String())
	}
	return v + "," + Variation(c.String())
}

// Check says what is wrong with the text of a variation.
func (v Variation) Check() error {
	for _, c := range v.Choices() {
		if kind, what, ok := strings.Cut(c.Alternative, ":"); !ok || kind == "" || what == "" || c.Place == "" ||
			Plain(c.Place) != c.Place || Plain(c.Alternative) != c.Alternative {
			return fmt.Errorf("bad variation %q: want KIND:WHAT@PLACE, more of them after commas", c.String())
		}
	}
	return nil
}

// Plain is a text as it stands in names of places: spaces and what separates choices are
// written %XX, as is all that does not print in ASCII. A plain text stays as it is.
func Plain(s string) string {
	special := func(i int) bool {
		switch c := s[i]; {
		case c <= ' ' || c >= 0x7f || c == ',' || c == '@' || c == '"':
			return true
		case c == '%':
			return i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2])
		}
		return false
	}
	n := 0
	for i := range len(s) {
		if special(i) {
			n++
		}
	}
	if n == 0 {
		return s
	}
	b := make([]byte, 0, len(s)+2*n)
	for i := range len(s) {
		if special(i) {
			b = fmt.Appendf(b, "%%%02X", s[i])
		} else {
			b = append(b, s[i])
		}
	}
	return string(b)
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'A' <= c && c <= 'F' }

// Variation is how the step was varied.
func (o *Output) Variation() (v Variation) {
	for i := range o.Places {
		if p := &o.Places[i]; p.Taken != "" {
			v = v.And(Choice{p.Taken, p.Name})
		}
	}
	return v
}

// More are the choices that may follow those by which the step was varied: every
// alternative at the places after the last of them, in order.
func (o *Output) More() (all []Choice) {
	for i := o.Settled(); i < len(o.Places); i++ {
		for _, a := range o.Places[i].Alternatives {
			all = append(all, Choice{a, o.Places[i].Name})
		}
	}
	return all
}

// Settled is how many places there are up to the last one at which something else happened.
func (o *Output) Settled() (n int) {
	for i := range o.Places {
		if o.Places[i].Taken != "" {
			n = i + 1
		}
	}
	return n
}

// Course is what a node knows in a step of its variation. It makes the list of places.
type Course struct {
	Places []Place

	want  []Choice
	draw  *Draw
	after [][]int        // what is left of draw.After
	count map[string]int // of places, by name
}

// NewCourse is that of a step with an input.
func NewCourse(in *Input) Course {
	c := Course{want: in.Vary.Choices(), draw: in.Draw}
	if c.draw != nil {
		c.after = c.draw.copy()
	}
	return c
}

// Takes reports whether a step with the input, if it comes to these places, takes at each of them
// what was taken.
func (in *Input) Takes(places []Place) bool {
	c := NewCourse(in)
	for i := range places {
		p := Place{Name: places[i].Name, Alternatives: places[i].Alternatives}
		if c.take(&p) != places[i].Taken {
			return false
		}
		c.Places = append(c.Places, p)
	}
	return true
}

// At enters a place, at which a thread makes a call on something ("" if that has no stable
// name), and returns the alternative that is to happen there, or "".
func (c *Course) At(thread int, call, object string, alternatives []string) string {
	name := strconv.Itoa(thread) + "/" + call
	if object != "" {
		name += ":" + Plain(object)
	}
	if c.count == nil {
		c.count = map[string]int{}
	}
	c.count[name]++
	p := Place{Name: name + "#" + strconv.Itoa(c.count[name]), Alternatives: alternatives}
	p.Taken = c.take(&p)
	c.Places = append(c.Places, p)
	return p.Taken
}

func (c *Course) take(p *Place) string {
	if len(c.want) > 0 && c.want[0].Place == p.Name {
		for _, a := range p.Alternatives {
			if want := c.want[0].Alternative; a == want || SameButLength(a, want) {
				c.want = c.want[1:]
				return want
			}
		}
	}
	if c.draw != nil && index(c.draw.Free, p.Kind()) >= 0 && len(c.Places) >= c.draw.From {
		if i := Pick(c.draw.Seed, len(c.Places), len(p.Alternatives)+1); i > 0 {
			return p.Alternatives[i-1]
		}
		return ""
	}
	return c.counted(p)
}

// counted is the alternative of a place at which a count ends, or "".
func (c *Course) counted(p *Place) string {
	if c.draw == nil {
		return ""
	}
	for _, a := range p.Alternatives {
		i := index(c.draw.Kinds, KindOf(a))
		if i < 0 || len(c.after[i]) == 0 || !c.draw.counts(i, p) {
			continue
		}
		if c.after[i][0]--; c.after[i][0] == 0 {
			c.after[i] = c.after[i][1:]
			return c.draw.lasts(i, a, len(c.Places))
		}
	}
	return ""
}

// lasts is an alternative of a kind at a place with so many before it, for as long as is drawn.
func (d *Draw) lasts(kind int, alternative string, before int) string {
	if kind >= len(d.Seldom) || len(d.Seldom[kind]) == 0 || Pick(^d.Seed, before, 3) > 0 {
		return alternative
	}
	o := OutageIn(alternative)
	if o.Down == Up {
		return alternative
	}
	o.For = d.Seldom[kind][Pick(d.Seed, before, len(d.Seldom[kind]))]
	return Alternative(o)
}

// SameButLength reports whether both are faults that take the same nodes down in the same way.
func SameButLength(a, b string) bool {
	o, p := OutageIn(a), OutageIn(b)
	return o.Down != Up && o.Down == p.Down && o.With == p.With
}

// counts reports whether alternatives of a kind count at a place.
func (d *Draw) counts(kind int, p *Place) bool {
	return kind >= len(d.Only) || len(d.Only[kind]) == 0 || IsAmong(d.Only[kind], p.Name)
}

// OnFiles, among calls and sites, is every call on a file.
const OnFiles = "*:"

// IsAmong reports whether a place of this name is at one of some calls and sites (Draw.Only).
func IsAmong(only []string, place string) bool {
	for _, o := range only {
		switch {
		case o == OnFiles:
			if FileOf(place) != "" {
				return true
			}
		case strings.IndexByte(o, ':') < 0:
			if o == CallOf(place) {
				return true
			}
		case isAt(o, place):
			return true
		}
	}
	return false
}

// siteIn is the part of a place's name that its site is made of: without the thread, and the number
// among places.
func siteIn(place string) string {
	_, site, _ := strings.Cut(place, "/")
	if end := strings.LastIndexByte(site, '#'); end >= 0 {
		site = site[:end]
	}
	return site
}

// SiteOf is where a program comes to places of this name: the call and what it is about, separated
// by a colon, each number written 0. So it is the same for all threads, nodes, and files that
// differ by numbers, as in
//
//	write/before:/node/data/0.wal
func SiteOf(place string) string {
	var b strings.Builder
	number, colon := false, false
	for _, c := range []byte(siteIn(place)) {
		digit := '0' <= c && c <= '9'
		if !digit {
			b.WriteByte(c)
		} else if !number {
			b.WriteByte('0')
		}
		number, colon = digit, colon || c == ':'
	}
	if !colon {
		b.WriteByte(':')
	}
	return b.String()
}

// isAt reports whether SiteOf of a place is a site.
func isAt(site, place string) bool {
	number, colon := false, false
	for _, c := range []byte(siteIn(place)) {
		digit := '0' <= c && c <= '9'
		if digit && number {
			continue
		}
		if number = digit; digit {
			c = '0'
		}
		if site == "" || site[0] != c {
			return false
		}
		site, colon = site[1:], colon || c == ':'
	}
	return colon && site == "" || !colon && site == ":"
}

// HashSite goes on with a hash (FNV-1a) by SiteOf of a place.
func HashSite(h uint64, place string) uint64 {
	number := false
	for _, c := range []byte(siteIn(place)) {
		digit := '0' <= c && c <= '9'
		if digit && number {
			continue
		}
		if number = digit; digit {
			c = '0'
		}
		h = (h ^ uint64(c)) * 0x100000001b3
	}
	return h
}

// CallOf is the call at a place of this name.
func CallOf(place string) string {
	_, call, _ := strings.Cut(place, "/")
	if end := strings.IndexAny(call, "/:#"); end >= 0 {
		return call[:end]
	}
	return call
}

// AtFunction reports whether a place of this name is one at which a function is called.
func AtFunction(place string) bool { return strings.HasSuffix(CallOf(place), "()") }

// FileOf is the name of the file that the call at a place is about, or "".
func FileOf(place string) string {
	_, file, _ := strings.Cut(place, ":")
	if end := strings.LastIndexByte(file, '#'); end >= 0 {
		file = file[:end]
	}
	return file
}

// Pick returns the random number from 0 to n-1 that a seed has for a place of a step, of which
// there are so many before it (SplitMix64).
func Pick(seed uint64, place, n int) int {
	z := seed + uint64(place+1)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return int((z ^ z>>31) % uint64(n))
}

// index is where a kind is among others, or -1.
func index(kinds []string, kind string) int {
	for i, k := range kinds {
		if k == kind {
			return i
		}
	}
	return -1
}

// Rest is what is left of After when a step that was drawn so has come to its end.
func (d *Draw) Rest(o *Output) [][]int {
	c := Course{draw: d, after: d.copy()}
	for i := range o.Places {
		c.counted(&o.Places[i])
	}
	return c.after
}

func (d *Draw) copy() (after [][]int) {
	for _, a := range d.After {
		after = append(after, append([]int(nil), a...))
	}
	return after
}
