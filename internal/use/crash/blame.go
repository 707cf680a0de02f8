//go:build linux

package crash

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
)

// leastBound is how many images are looked at in any case to find out what is to blame.
const leastBound = 256

// blamer finds out what is to blame for failing images: of what they lack it puts back what does
// not matter.
type blamer struct {
	*column
	model disk.Model
	left  int  // checks that may yet be made
	cut   bool // another one was wanted
}

// lossAt is what a power loss may leave at one point, alone: of a log that was followed up to
// there.
type lossAt struct {
	at int // the place of the last operation
	*left
}

// follow goes along the log up to an operation.
func (j *judge) follow(m disk.Model, at int) (*lossAt, error) {
	t, p := j.start.clone(), newPowerLosses(j, m)
	for k, op := range j.Log[:at+1] {
		if err := t.apply(op); err != nil {
			return nil, err
		}
		p.after(t, k, none)
	}
	return &lossAt{at, &left{of: p, now: t, last: j.Log[at]}}, nil
}

// lacking is the image there that lacks parts of the log.
func (l *lossAt) lacking(parts []disk.Part) *lossAt {
	var of []disk.Part
	for _, p := range parts {
		if k, there := slices.BinarySearch(l.of.ops, p.Op); there {
			of = append(of, disk.Part{Op: k, Part: p.Part})
		}
	}
	return l.with(l.of.walk.Lacking(of))
}

func (l *lossAt) with(i *disk.Images) *lossAt {
	return &lossAt{l.at, &left{Images: i, of: l.of, now: l.now, last: l.last}}
}

// missing are the parts of the log that it lacks.
func (l *lossAt) missing() []disk.Part { return l.inLog(l.Missing(0)) }

// fails reports whether the checker rejects an image, but not what a kill leaves there. Unless that
// is known it is checked, as far as the bound allows.
func (b *blamer) fails(ctx context.Context, l *lossAt) (bool, error) {
	if b.cut || len(l.Missing(0)) == 0 || b.stops[l.at] != nil {
		return false, nil
	}
	t, err := l.form(0)
	if err != nil {
		return false, err
	}
	files := t.sum()
	if b.killed[b.known(files, l.at)] {
		return false, nil
	}
	job := b.job(t, files, l.at, func() []disk.Loss { return l.losses(0) })
	v := b.verdicts[job.sum]
	if e := b.epochs[l.at]; v == nil && files == b.accepted && !e.Owes() && (b.rejected || e.Begun == 0 && !b.Tell) {
		return false, nil // as column.form has it
	}
	if v == nil {
		if b.cut = b.left == 0; b.cut {
			return false, nil
		}
		b.left--
		b.Shrunk++
		if v, err = b.check(ctx, job, b.Result); err != nil {
			return false, err
		}
		b.mu.Lock()
		b.verdicts[job.sum] = v
		b.mu.Unlock()
	}
	if v.undecided || v.passed {
		return false, nil
	}
	l.verdict = v
	return true, nil
}

// units are the parts of a list in pieces: one for each operation, or for each part.
func units(parts []disk.Part, whole bool) (all [][]disk.Part) {
	for i, p := range parts {
		if whole && i > 0 && parts[i-1].Op == p.Op {
			all[len(all)-1] = append(all[len(all)-1], p)
		} else {
			all = append(all, []disk.Part{p})
		}
	}
	return all
}

// smaller puts back, half of them first and single ones last, what a failing image lacks, as long
// as it fails.
func (b *blamer) smaller(ctx context.Context, l *lossAt) (*lossAt, error) {
	for _, whole := range []bool{true, false} {
		lost := units(l.missing(), whole)
		for size := (len(lost) + 1) / 2; size > 0 && len(lost) > 1; {
			restored := false
			for to := len(lost); to > 0 && len(lost) > 1; { // what came first is rather to blame
				back := slices.Concat(lost[max(to-size, 0):to]...)
				less := l.with(l.Restored(0, l.inWalk(back)))
				fails, err := b.fails(ctx, less)
				if err != nil {
					return nil, err
				}
				if !fails {
					to -= size
					continue
				}
				l, restored = less, true
				lost = units(l.missing(), whole)
				to = min(to-size, len(lost))
			}
			switch {
			case size > 1:
				size = min((size+1)/2, (len(lost)+1)/2)
			case !restored:
				size = 0
			}
		}
	}
	return l, nil
}

// inWalk are parts of the log as parts of the walk's operations.
func (l *left) inWalk(parts []disk.Part) []disk.Part {
	parts = slices.Clone(parts)
	for i := range parts {
		parts[i].Op, _ = slices.BinarySearch(l.of.ops, parts[i].Op)
	}
	return parts
}

// earlier looks for the operation with which an image begins to fail that lacks these parts.
func (b *blamer) earlier(ctx context.Context, l *lossAt) (*lossAt, error) {
	missing := l.missing()
	low, high := missing[0].Op, l.at // it fails at high
	for low < high && !b.pointed {
		at, err := b.follow(b.model, (low+high)/2)
		if err != nil {
			return nil, err
		}
		at = at.lacking(missing)
		fails, err := b.fails(ctx, at)
		switch {
		case err != nil:
			return nil, err
		case fails:
			l, high = at, at.at
		default:
			low = at.at + 1
		}
	}
	return l, nil
}

// minimal is a failing image that is as f, but lacks only what has to be lost that it fails, as
// early as it does.
func (b *blamer) minimal(ctx context.Context, f *Failure) (*Failure, error) {
	l, err := b.follow(b.model, f.Operation-1)
	if err != nil {
		return nil, err
	}
	l = l.lacking(f.missing)
	for was := -1; was != l.at && !b.cut; {
		was = l.at
		if l, err = b.smaller(ctx, l); err != nil {
			return nil, err
		}
		if l, err = b.earlier(ctx, l); err != nil {
			return nil, err
		}
	}
	if l.verdict == nil { // it is what it was
		return f, nil
	}
	n := l.failure(0)
	n.Operation, n.Last, n.Status, n.Output = l.at+1, short(b.Log[l.at].String()), l.verdict.status,
		tail(l.verdict.output)
	return n, nil
}

// blame divides failing images that no kill leaves. Where a kill leaves failing files, that is to
// blame, whatever else is lost. Of each other one it looks for one that lacks something only of
// operations of which this one does as well, and whose last operation this one has. Without one,
// the image itself is made as small as possible. Those that lack the same are one group.
func (c *column) blame(ctx context.Context, m disk.Model) (err error) {
	failures := slices.DeleteFunc(slices.Clone(c.failures), func(f *Failure) bool { return f.killed })
	slices.SortStableFunc(failures, func(a, b *Failure) int {
		return cmp.Or(a.Operation-b.Operation, len(a.missing)-len(b.missing))
	})
	b := &blamer{column: c, model: m, left: max(leastBound, c.Distinct)}
	if c.spare != nil {
		b.left = *c.spare
		defer func() { *c.spare = b.left }()
	}
	var first []*Failure
	groups := map[string]*Group{}
	for _, f := range failures {
		i := slices.IndexFunc(first, func(g *Failure) bool { return g.explains(f) })
		if stop := c.stops[f.Operation-1]; stop != nil {
			if i = slices.Index(first, stop); i < 0 {
				i, first = len(first), append(first, stop)
			}
		} else if i < 0 {
			by := f
			if err == nil && !b.cut {
				if by, err = b.minimal(ctx, f); err != nil {
					by = f
				}
			}
			if b.cut || err != nil {
				c.Uncertain++
			}
			i, first = len(first), append(first, by)
		}
		by := first[i]
		key := by.key()
		g := groups[key]
		if g == nil {
			g = &Group{Lost: by.lost, Kept: by.kept, Example: by}
			groups[key] = g
		}
		if !f.again {
			g.Images++
		}
		if by != g.Example && !slices.Contains(g.alike, by) {
			g.alike = append(g.alike, by)
		}
		if s := c.Shortest; s == nil || by.lost != "" && (s.lost == "" || len(by.missing) < len(s.missing)) {
			c.Shortest = by
		}
	}
	for _, g := range groups {
		if g.Alike = len(g.alike); g.Images > 0 {
			c.Groups = append(c.Groups, *g)
		}
	}
	sortGroups(c.Groups)
	return err
}

// explains reports whether another image fails for the same reason: it lacks something of all
// operations of which this one does, and the last one on the disk it has.
func (f *Failure) explains(g *Failure) bool {
	if len(f.missing) == 0 {
		return false // it is a kill's
	}
	for _, p := range f.missing {
		if !lacks(g, p.Op) {
			return false
		}
	}
	return f.Operation == g.Operation || f.Operation < g.Operation && !lacks(g, f.at)
}

// key is the same for images that lack the same, but for numbers and drawn letters in the names.
func (f *Failure) key() string {
	text := numbers.ReplaceAllString(fmt.Sprintf("%s\n%s", f.kept, strings.Join(f.Lost, "\n")), "N")
	return drawn.ReplaceAllStringFunc(text, func(s string) string {
		// a word
		if upper := strings.ToUpper(s); upper == s && !strings.Contains(s, "N") || strings.ToLower(s) == s {
			return s
		}
		return s[:1] + "N"
	})
}

// drawn are letters as mkstemp draws them for the names of files, behind a separator, with N for
// numbers; and words.
var drawn = regexp.MustCompile(`[-_.][A-Za-z]{3,}`)
