package expose

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ariadne-mc/ariadne"
	"github.com/ariadne-mc/ariadne/internal/leaf/hash"
)

// Source is a rule by which lines of nodes become tuples.
type Source struct {
	Name string
	// Line is what a line is like that shows the tuple. Its groups are the fields. nil: only the
	// program itself tells.
	Line *regexp.Regexp
	// Until, when not nil, is what a line is like that ends it; where it has the groups of the key,
	// the tuple with that key, else all of the name.
	Until *regexp.Regexp
	// Fields are the names of the values that a function or a file of the node exposes, in order;
	// "" for those without. Line is nil then.
	Fields []string
	// Key are the groups that tell tuples of the name apart, of Line and, when not nil, of Until;
	// or the places of Fields.
	Key, UntilKey []int
	// Nodes are those whose lines count; nil: all.
	Nodes []ariadne.NodeID
	// Stays: the tuple outlives its node's crash.
	Stays bool
}

// At reports whether it counts at a node.
func (s *Source) At(node ariadne.NodeID) bool {
	return s.Nodes == nil || slices.Contains(s.Nodes, node)
}

// Names are those of the tuples' fields; "" for those without.
func (s *Source) Names() []string {
	if s.Line != nil {
		return s.Line.SubexpNames()[1:]
	}
	return s.Fields
}

// Sources are all rules. Where there is one, what programs write to /dev/ariadne counts as well.
type Sources []Source

// Stay reports whether tuples of a name may outlive the crash of their node.
func (s Sources) Stay(name string) bool {
	return slices.ContainsFunc(s, func(r Source) bool { return r.Name == name && r.Stays })
}

// Expose reports whether a node may have tuples of a name.
func (s Sources) Expose(name string, node ariadne.NodeID) bool {
	return slices.ContainsFunc(s, func(r Source) bool { return r.Name == name && r.At(node) })
}

// HaveKeys reports whether tuples of a name may have keys.
func (s Sources) HaveKeys(name string) bool {
	return slices.ContainsFunc(s, func(r Source) bool { return r.Name == name && r.Key != nil })
}

// Tuple is something that a node exposes. Of a name and key a node exposes one at a time.
type Tuple struct {
	Name string
	Key  string // "" unless it has one
	// the texts of all groups, those of the key among them; of a match without groups, all of it
	Values []string
	Fields []string // names of Values; "" for those without; nil: none has one
	Stays  bool     // it outlives the node's crash
}

func compare(a, b Tuple) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Key, b.Key)) }

// String is as in "leader(2, n1)".
func (t Tuple) String() string {
	var b strings.Builder
	b.WriteString(t.Name)
	for i, v := range t.Values {
		b.WriteString([]string{", ", "("}[btoi(i == 0)])
		if i < len(t.Fields) && t.Fields[i] != "" {
			b.WriteString(t.Fields[i] + "=")
		}
		b.WriteString(v)
	}
	if len(t.Values) > 0 {
		b.WriteByte(')')
	}
	return b.String()
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Change is what a step does to the tuples of its node.
type Change struct {
	Tuple
	Ends bool // Name with Key is exposed no more, or whatever its key is with All
	All  bool
}

// Changes are those of a node's step, in order.
func (s Sources) Changes(id ariadne.NodeID, out *ariadne.Output) (all []Change) {
	for l, e := range out.Said() {
		if e != nil {
			c := changeOf(&e.Exposure)
			if k := slices.IndexFunc(s, func(r Source) bool { return r.Name == c.Name }); k >= 0 {
				s[k].tells(&c)
			}
			all = append(all, c)
			continue
		}
		if l.Stream == ariadne.Exposed {
			continue // it asserts something
		}
		for k := range s {
			if r := &s[k]; r.Line != nil && (r.Nodes == nil || slices.Contains(r.Nodes, id)) {
				all = r.changes(all, l.Text)
			}
		}
	}
	return all
}

// tells adds to what a program or a function of it has told what the rule says of it.
func (r *Source) tells(c *Change) {
	if c.Stays = r.Stays; r.Fields != nil && len(c.Values) == len(r.Fields) {
		c.Fields, c.Key = r.Fields, key(c.Values, r.Key)
	}
}

func (r *Source) changes(all []Change, line string) []Change {
	if r.Until != nil {
		if m := r.Until.FindStringSubmatch(line); m != nil {
			all = append(all,
				Change{Tuple: Tuple{Name: r.Name, Key: key(m, r.UntilKey)}, Ends: true, All: r.UntilKey == nil})
		}
	}
	m := r.Line.FindStringSubmatch(line)
	if m == nil {
		return all
	}
	t := Tuple{Name: r.Name, Key: key(m, r.Key), Stays: r.Stays}
	if t.Values = m[1:]; len(m) == 1 {
		t.Values = m
	} else if names := r.Line.SubexpNames()[1:]; slices.ContainsFunc(names, func(n string) bool { return n != "" }) {
		t.Fields = names
	}
	return append(all, Change{Tuple: t})
}

// key is the key of a tuple of some groups.
func key(groups []string, of []int) string {
	var texts []string
	for _, i := range of {
		texts = append(texts, groups[i])
	}
	return Key(texts)
}

// Key is the key of a tuple by some texts.
func Key(texts []string) string { return ariadne.ExposureKey(texts) }

// changeOf is the change of tuples that an exposure makes.
func changeOf(e *ariadne.Exposure) Change {
	return Change{Tuple: Tuple{Name: e.Name, Key: e.Key, Values: e.Values}, Ends: e.Ends, All: e.Ends && e.Key == ""}
}

// Set is what a node exposes, in order of name and key. It does not change; nil: nothing.
type Set struct {
	tuples []Tuple
	hash   hash.Hash
}

// Tuples are those of a set, not to be changed.
func (s *Set) Tuples() []Tuple {
	if s == nil {
		return nil
	}
	return s.tuples
}

// Hash stands for the set.
func (s *Set) Hash() hash.Hash {
	if s == nil {
		return hash.Hash{}
	}
	return s.hash
}

// Named are the tuples of a name.
func (s *Set) Named(name string) []Tuple {
	all := s.Tuples()
	from, _ := slices.BinarySearchFunc(all, Tuple{Name: name}, compare)
	to := from
	for to < len(all) && all[to].Name == name {
		to++
	}
	return all[from:to]
}

// After is the set after some changes.
func (s *Set) After(changes []Change) *Set {
	if len(changes) == 0 {
		return s
	}
	tuples := slices.Clone(s.Tuples())
	for i := range changes {
		c := &changes[i]
		at, found := slices.BinarySearchFunc(tuples, c.Tuple, compare)
		switch {
		case c.Ends && c.All:
			tuples = slices.DeleteFunc(tuples, func(t Tuple) bool { return t.Name == c.Name })
		case c.Ends && found:
			tuples = slices.Delete(tuples, at, at+1)
		case c.Ends:
		case found:
			tuples[at] = c.Tuple
		default:
			tuples = slices.Insert(tuples, at, c.Tuple)
		}
	}
	return newSet(tuples)
}

// Staying are the tuples that outlive the node's crash.
func (s *Set) Staying() *Set { return s.only(func(t *Tuple) bool { return t.Stays }) }

func (s *Set) only(in func(*Tuple) bool) *Set {
	var tuples []Tuple
	for i := range s.Tuples() {
		if t := &s.tuples[i]; in(t) {
			tuples = append(tuples, *t)
		}
	}
	if len(tuples) == len(s.Tuples()) {
		return s
	}
	return newSet(tuples)
}

// newSet is the set of tuples that are in order.
func newSet(tuples []Tuple) *Set {
	if len(tuples) == 0 {
		return nil
	}
	next := &Set{tuples: tuples, hash: hash.Of(0, 0, 17)}
	for i := range tuples {
		t := &tuples[i]
		for _, text := range append([]string{t.Name, t.Key, strconv.Itoa(len(t.Values))}, t.Values...) {
			next.hash = next.hash.Plus(hash.OfText(text))
		}
	}
	return next
}

// Snapshot is what all nodes expose in one global state. A node that is down is not in it, but for
// what stays; one that is cut off is.
type Snapshot struct {
	Sets    []*Set // by node
	Up      []bool // likewise: its programs may run
	Past    *Past  // of clients' operations
	Earlier *Earlier
	World   World // where some property reads it (Sights.World), else nil
}

// World is what properties may read of the system itself, in one global state.
type World interface {
	Hash() hash.Hash
	// Messages are those in flight.
	Messages() []Message
	// Timer is when a node's next timer is due, or ariadne.Never; not ok: it is not on, or has
	// ended.
	Timer(ariadne.NodeID) (at ariadne.Time, ok bool)
	// Clock is a node's own.
	Clock(ariadne.NodeID) ariadne.Time
}

// Message is one in flight.
type Message struct {
	*ariadne.Message
	Arrival ariadne.Time // ariadne.Never: it is not known
	Delayed bool
	Name    func() string // of its delivery
}

// Sights are what properties read beside tuples.
type Sights struct {
	Up    bool // which nodes are up
	World bool // messages, timers or clocks: each step changes them
	Past  bool // clients' operations
}

// And are both.
func (s Sights) And(o Sights) Sights {
	return Sights{Up: s.Up || o.Up, World: s.World || o.World, Past: s.Past || o.Past}
}

// Moment says when a snapshot is judged.
type Moment uint8

// The moments.
const (
	Between Moment = iota // something may happen yet
	Ended                 // the execution has ended by itself
	CutOff                // it goes no further, because of bounds or limits
)

// Hash stands for the snapshot.
func (s *Snapshot) Hash() (h hash.Hash) {
	for i, set := range s.Sets {
		up := uint64(btoi(s.Up[i]))
		h = h.Plus(set.Hash().Plus(hash.Of(uint64(i), up, 18)))
	}
	if s.World != nil {
		h = h.Plus(s.World.Hash())
	}
	return h.Plus(s.Earlier.Hash())
}
