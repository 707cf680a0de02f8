//go:build linux

package crash

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"
)

// Recovered says which recoveries a loss during them was judged of.
type Recovered struct {
	Operations int `json:"operations"` // of all of them together
	// Unchanged are those that change nothing, so that no loss can leave anything else.
	Unchanged int `json:"unchanged"`
	LeftOut   int `json:"left_out,omitempty"` // images whose recovery was not executed
	// Undecided are those of which nothing can be said, and Why says why, each reason once.
	Undecided int      `json:"undecided,omitempty"`
	Why       []string `json:"why,omitempty"`
}

// survivor is an image that the checker accepts, from which a recovery begins.
type survivor struct {
	tree  *tree
	loss  *Failure   // what it lacks
	epoch disk.Epoch // what the program had said
	order int        // among all
	rank  uint64     // by the seed: where there are too many, the lowest ones are taken
}

// survivors are those of one kind of loss.
type survivors struct {
	all   []*survivor // up to as many as there are to be recoveries
	count int
	last  int // of all, the one of the highest rank
}

// add takes in an image.
func (s *survivors) add(x *survivor, most int) {
	x.order = s.count
	s.count++
	switch {
	case len(s.all) < most:
		s.all = append(s.all, x)
	case x.rank < s.all[s.last].rank:
		s.all[s.last] = x
	default:
		return
	}
	for i, y := range s.all {
		if y.rank > s.all[s.last].rank {
			s.last = i
		}
	}
}

// survives notes an image that the checker accepts.
func (c *column) survives(p *point, n int) {
	if c.Recovery == nil || p.again[n] {
		return
	}
	sum := p.of[n]
	loss := p.failure(n)
	loss.Operation, loss.Last = p.at+1, short(c.Log[p.at].String())
	c.survivors.add(&survivor{tree: p.trees[n], loss: loss, epoch: c.epochs[p.at],
		rank: binary.LittleEndian.Uint64(sum[:]) ^ c.Seed*0x9e3779b97f4a7c15}, c.Recovery.Most)
}

// recoveries executes the recovery of each survivor of the losses that were judged last, and judges
// what losses of the same kind leave during it. After a kill, nothing is lost; after a loss of
// power, the recovery may be killed, or lose power in turn. m is nil after a kill.
func (j *judge) recoveries(ctx context.Context, m *disk.Model) (*Result, error) {
	began := time.Now()
	from := j.survivors
	slices.SortFunc(from.all, func(a, b *survivor) int { return cmp.Compare(a.order, b.order) })
	r := &Result{Model: Kill, Operations: len(from.all), Statuses: map[string]int{}, began: began,
		Recovered: &Recovered{LeftOut: from.count - len(from.all)}}
	if m != nil {
		r.Model = m.String()
	}
	dir := filepath.Join(j.Temp, "recovery")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return r, err
	}
	a := &secondLosses{judge: j, r: r, model: m, slot: newSlot(filepath.Join(dir, imageDir)), seen: map[sum]bool{},
		spare: leastBound, groups: map[string]*Group{}}
	defer a.slot.close()
	var err error
	for _, x := range from.all {
		if err = a.during(ctx, x); err != nil {
			break
		}
		r.Judged++
		if j.Progress != nil && time.Since(j.shown) > max(j.Pause, 200*time.Millisecond) {
			j.shown = time.Now()
			j.Progress(r)
		}
	}
	for _, g := range a.groups {
		r.Groups = append(r.Groups, *g)
	}
	sortGroups(r.Groups)
	for i := range r.Groups {
		if e := r.Groups[i].Example; r.Shortest == nil || e.size() < r.Shortest.size() {
			r.Shortest = e
		}
	}
	r.RealTime = time.Since(began)
	return r, err
}

// secondLosses judges losses during recoveries.
type secondLosses struct {
	*judge
	r      *Result
	model  *disk.Model
	slot   *slot        // where recoveries find the images
	seen   map[sum]bool // images of all recoveries that are counted
	spare  int          // checks that may yet be made to find out what is to blame
	groups map[string]*Group
}

// during executes the recovery of an image, and judges what losses during it leave.
func (a *secondLosses) during(ctx context.Context, x *survivor) error {
	if err := a.slot.put(x.tree); err != nil {
		return err
	}
	first, why := x.tree.times()
	var log []*disk.Op
	var err error
	if why == "" {
		log, why, err = a.Recovery.Run(ctx, a.slot.dir, first, a.changedLinks())
	}
	switch of := a.r.Recovered; {
	case err != nil:
		return err
	case why != "":
		if of.Undecided++; !slices.Contains(of.Why, why) {
			of.Why = append(of.Why, why)
		}
		return nil
	case !slices.ContainsFunc(log, (*disk.Op).Changes):
		of.Unchanged++
		return nil
	}
	a.r.Recovered.Operations += len(log)
	o := a.Options
	o.Log, o.Recovery, o.Attempts = log, nil, nil
	if a.Progress != nil {
		o.Progress = func(r *Result) {
			now := *a.r
			now.add(r)
			a.Progress(&now)
		}
	}
	inner := &judge{Options: o, start: x.tree.whole(), checkers: a.checkers, verdicts: a.verdicts, merged: a.merged,
		signed: a.signed,
		killed: map[sum]bool{}, stops: make([]*Failure, len(log)), formed: map[sum]bool{},
		epochs: epochsAfter(x.epoch, log), pointed: pointed(log), shown: a.shown, spare: &a.spare}
	kinds := []losses{kills{inner}}
	if a.model != nil {
		kinds = append(kinds, newPowerLosses(inner, *a.model))
	}
	for _, l := range kinds {
		r, err := inner.judgeLosses(ctx, l, a.seen)
		a.shown = inner.shown
		a.r.add(r)
		for i := range r.Groups {
			a.group(&r.Groups[i], x, inner)
		}
		if r.Undecidable != nil && a.r.Undecidable == nil {
			a.r.Undecidable = r.Undecidable.during(x, inner)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// group adds a group of failing images of one recovery to those of all.
func (a *secondLosses) group(g *Group, x *survivor, inner *judge) {
	e := g.Example.during(x, inner)
	all := a.groups[e.key()]
	if all == nil {
		all = &Group{Lost: g.Lost, Kept: g.Kept, Example: e, Alike: g.Alike}
		a.groups[e.key()] = all
	}
	if all.Images += g.Images; e.size() < all.Example.size() {
		all.Lost, all.Kept, all.Example = g.Lost, g.Kept, e
	}
}

// during is an image of a recovery, told of the loss from which that recovers.
func (f *Failure) during(x *survivor, inner *judge) *Failure {
	g := *f
	g.Recovery, g.recovery = x.loss, inner
	return &g
}

// size is how much an image lacks, in parts of operations.
func (f *Failure) size() int {
	n := len(f.missing)
	if f.Recovery != nil {
		n += len(f.Recovery.missing)
	}
	return n
}

// add adds the images of one recovery to those of others.
func (r *Result) add(o *Result) {
	r.Points += o.Points
	r.Images += o.Images
	r.Distinct += o.Distinct
	r.Checked += o.Checked
	r.Merged += o.Merged
	r.Audited += o.Audited
	r.Equal += o.Equal
	r.Passed += o.Passed
	r.Failed += o.Failed
	r.Undecided += o.Undecided
	r.Flaky += o.Flaky
	r.LeftOut, r.AtLeast = min(r.LeftOut+o.LeftOut, math.MaxFloat64), r.AtLeast || o.AtLeast
	r.Shrunk += o.Shrunk
	r.Uncertain += o.Uncertain
	r.Forming += o.Forming
	r.Writing += o.Writing
	r.Checking += o.Checking
	for status, n := range o.Statuses {
		r.Statuses[status] += n
	}
}

// String says what came of recoveries.
func (o *Recovered) String() string {
	text := some(o.Operations, "operation")
	if o.Unchanged > 0 {
		text += fmt.Sprintf(", %d change nothing", o.Unchanged)
	}
	return text
}

// times are the commands of a shell that give files the times that a node does not see: it finds
// those of the beginning. why says that it would not see all, or is "".
func (t *tree) times() (script, why string) {
	files := map[int64][]string{}
	var visit func(name string, f *file)
	visit = func(name string, f *file) {
		if f.attr.Modify != inode.Epoch {
			files[f.attr.Modify] = append(files[f.attr.Modify], name)
		}
		if len(f.xattrs) > 0 {
			why = "files have extended attributes, and a node is given none"
		}
		for child, g := range f.names.each() {
			visit(path.Join(name, child), g)
		}
	}
	visit(".", t.find(home))
	for _, at := range slices.Sorted(maps.Keys(files)) {
		script += fmt.Sprintf("touch -c -h -m -d @%d.%09d -- %s\n", at/1e9, at%1e9, quoted(files[at]))
	}
	return script, why
}

// whole returns the same files, to which operations can be applied.
func (t *tree) whole() *tree {
	seen := map[uint64]*draft{}
	var of func(f *file) *draft
	of = func(f *file) *draft {
		if d := seen[f.id]; d != nil {
			return d
		}
		d := &draft{file: *f}
		seen[f.id] = d
		d.file.names = nil
		if f.directory() {
			d.names = map[string]*draft{}
			for name, child := range f.names.each() {
				d.names[name] = of(child)
			}
		}
		return d
	}
	return newTree(of(t.root))
}
