//go:build linux

package crash

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"ariadne/internal/disk"
)

// Group is the failing images that the same loss is to blame for.
type Group struct {
	Lost   string `json:"lost,omitempty"` // nothing: a stop of the program alone leaves such files
	Kept   string `json:"kept"`           // what reached the disk all the same
	Images int    `json:"images"`
	// Example is the one that lacks least.
	Example *Failure `json:"example"`

	call bool // that failed, and what the command says; nothing is lost
}

// String says what is to blame.
func (g Group) String() string {
	if g.call {
		return g.Kept
	}
	return blame(g.Lost, g.Kept)
}

func blame(lost, kept string) string {
	if lost == "" {
		return kept + ", and nothing after it"
	}
	return kept + " before " + lost
}

// Failure is an image that the checker has rejected, or that is advised to be looked at.
type Failure struct {
	Operation int      `json:"operation"` // after which the power was lost, from 1
	Last      string   `json:"last"`      // that operation
	Lost      []string `json:"lost"`
	Name      string   `json:"name"` // of the image: the parts of operations that it lacks
	Status    string   `json:"status,omitempty"`
	Output    string   `json:"output,omitempty"` // its last lines

	missing    []disk.Part
	at         int  // the place in the log of the last operation on the disk
	again      bool // another image was the same to the checker
	killed     bool // a kill leaves the same
	lost, kept string
}

// short shows paths as they are from the home.
func short(s string) string { return strings.ReplaceAll(s, home+"/", "") }

func words(all []string) []string {
	for i := range all {
		all[i] = short(all[i])
	}
	return all
}

// escapes are the sequences by which programs colour what they say.
var escapes = regexp.MustCompile("\x1b\\[[0-?]*[ -/]*[@-~]")

// tail are the last lines of an output, without colours.
func tail(s string) string {
	s = escapes.ReplaceAllString(s, "")
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(len(lines)-6, 0):], "\n")
}

// lacks reports whether an image lacks something of an operation.
func lacks(f *Failure, op int) bool {
	return slices.ContainsFunc(f.missing, func(p disk.Part) bool { return p.Op == op })
}

// group divides what failed by what is to blame.
func (c *column) group() {
	if c.Model == Kill {
		c.stretches()
	} else {
		c.blame()
	}
}

// stretches divides what kills leave by the operations between which it fails: each from one on, until another.
func (c *column) stretches() {
	for i, f := range c.failures {
		if f.again {
			continue
		}
		if i == 0 || !c.adjacent(c.failures[i-1], f) {
			c.Groups = append(c.Groups, Group{Kept: f.kept, Example: f})
		}
		c.Groups[len(c.Groups)-1].Images++
	}
	if len(c.Groups) > 0 {
		c.Shortest = c.Groups[0].Example
	}
}

// adjacent reports whether no operation between two changes anything.
func (c *column) adjacent(f, g *Failure) bool {
	return !slices.ContainsFunc(c.Log[f.Operation:g.Operation-1], (*disk.Op).Changes)
}

// blame divides failing images that no kill leaves: of each it looks for the earliest failing one that
// lacks something only of operations of which this one does as well, and whose last operation this one has. Without
// that operation the files had been accepted, or they would have been found earlier.
func (c *column) blame() {
	failures := slices.DeleteFunc(slices.Clone(c.failures), func(f *Failure) bool { return f.killed })
	slices.SortStableFunc(failures, func(a, b *Failure) int {
		return cmp.Or(a.Operation-b.Operation, len(a.missing)-len(b.missing))
	})
	var first []*Failure
	groups := map[[2]string]*Group{}
	for _, f := range failures {
		i := slices.IndexFunc(first, func(g *Failure) bool {
			for _, p := range g.missing {
				if !lacks(f, p.Op) {
					return false
				}
			}
			return f.Operation == g.Operation || !lacks(f, g.at)
		})
		if i < 0 {
			i, first = len(first), append(first, f)
		}
		by := first[i]
		key := [2]string{by.lost, by.kept}
		if groups[key] == nil {
			groups[key] = &Group{Lost: by.lost, Kept: by.kept, Example: by}
		}
		if !f.again {
			groups[key].Images++
		}
		if s := c.Shortest; s == nil || len(f.missing) < len(s.missing) {
			c.Shortest = f
		}
	}
	for _, g := range groups {
		if g.Images > 0 {
			c.Groups = append(c.Groups, *g)
		}
	}
	sortGroups(c.Groups)
}

// sortGroups sorts groups, the largest first.
func sortGroups(groups []Group) {
	slices.SortFunc(groups, func(a, b Group) int {
		return cmp.Or(b.Images-a.Images, strings.Compare(a.String(), b.String()))
	})
}
