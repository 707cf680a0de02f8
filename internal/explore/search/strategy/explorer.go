// Package strategy has the ways of choosing what happens next, one file each, each with
// its row (row.go). An explorer chooses and never applies: it sees the path so far and what
// is enabled, and names one. It holds no clock and no randomness but its seed's, so
// the same explorer in the same space makes the same paths.
//
// Read next: natural.go, random.go, depth.go; internal/explore/search, which does what they say.
package strategy

import "github.com/ariadne-mc/ariadne/internal/explore/space"

// Explorer chooses the paths of a search, path after path; a path may begin like the one
// before. Where nodes live (space.Space.Restart) every path begins at the first state,
// whatever Begin keeps.
type Explorer interface {
	// Begin is asked when a path has ended. The next one begins with the first keep
	// steps of it. Not ok: there is nothing left to explore.
	Begin(p *space.Path) (keep int, ok bool)
	// Next chooses one of the events in p.Last().Enabled, of which there is at least
	// one. Not ok: the path ends here.
	Next(p *space.Path) (event int, ok bool)
	// End tells that a path has ended, and how.
	End(p *space.Path, e End) error
}

// End is how a path ended.
type End uint8

const (
	// Complete: nothing more can happen within the bounds.
	Complete End = iota
	// Cut: the last step ended it, whatever else could have happened: a violation,
	// the last client's exit.
	Cut
	// Given: the explorer had enough.
	Given
)

// Exhaustive explorers know whether they have missed anything, besides what the
// bounds of the paths took away.
type Exhaustive interface {
	Explorer
	// Missed says what was left out, or "".
	Missed() string
}

// Sider is an explorer that makes some paths aside: no state on them counts as known,
// nor becomes known by them.
type Sider interface {
	Explorer
	// Aside reports whether the path that has begun last is such a one.
	Aside() bool
}

// Aside reports whether an explorer makes its path aside.
func Aside(e Explorer) bool {
	s, ok := e.(Sider)
	return ok && s.Aside()
}

// Follower is an explorer that is told which way to go. Where nothing happens any more but faults
// that have no time of their own, it alone says whether its path ends there.
type Follower interface {
	Explorer
	// GoesOn reports whether there is more to follow where the path ends, in one of the events that
	// are enabled there.
	GoesOn(p *space.Path) bool
}

// GoesOn reports whether an explorer follows something that goes on at the end of a path.
func GoesOn(e Explorer, p *space.Path) bool {
	f, ok := e.(Follower)
	return ok && f.GoesOn(p)
}

// FaultTrier is an explorer that may go on where nothing happens any more but faults that have no
// time of their own. For all others a path ends there.
type FaultTrier interface {
	Explorer
	// TriesFaultsAtRest reports whether it goes on now.
	TriesFaultsAtRest() bool
}

// TriesFaultsAtRest reports whether an explorer goes on where nothing happens any more but faults.
func TriesFaultsAtRest(e Explorer) bool {
	t, ok := e.(FaultTrier)
	return ok && t.TriesFaultsAtRest()
}

// draw is a source of random numbers: SplitMix64.
type draw struct{ state uint64 }

func (d *draw) next() uint64 {
	d.state += 0x9e3779b97f4a7c15
	z := d.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below returns a number from 0 to n-1.
func (d *draw) below(n int) int { return int(d.next() % uint64(n)) }

// Below implements space.Drawer.
func (d *draw) Below(n int) int { return d.below(n) }
