//go:build linux

package crash

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ariadne-mc/ariadne/internal/leaf/disk"
)

// Group is the failing images that the same loss is to blame for: the least that has to be lost.
type Group struct {
	Lost   string `json:"lost,omitempty"` // nothing: a stop of the program alone leaves such files
	Kept   string `json:"kept"`           // what reached the disk all the same
	Images int    `json:"images"`
	// Example is the one that lacks least.
	Example *Failure `json:"example"`
	// Alike is how many other losses are called the same but for numbers in the names, and are
	// counted with it.
	Alike int `json:"alike,omitempty"`

	// Dir is where the example is kept, if it is.
	Dir string `json:"dir,omitempty"`

	alike []*Failure
	call  bool // that failed, and what the command says; nothing is lost
}

// String says what is to blame.
func (g Group) String() string {
	switch {
	case g.call:
		return g.Kept
	case g.Example != nil && len(g.Example.Lost) > 1:
		return fmt.Sprintf("%s and %d more", blame(g.Lost, g.Kept), len(g.Example.Lost)-1)
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
	// Recovery is the first loss, when this one is during the recovery from it. Then the operations
	// are those of the recovery.
	Recovery *Failure `json:"recovery_of,omitempty"`

	missing    []disk.Part
	at         int  // the place in the log of the last operation on the disk
	again      bool // another image was the same to the checker
	killed     bool // a kill leaves the same
	lost, kept string
	recovery   *judge // of the log of the recovery, or nil
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

// stretches divides what kills leave by the operations between which it fails: each from one on,
// until another.
func (c *column) stretches() {
	for i, f := range c.failures {
		if f.again {
			continue
		}
		if len(c.Groups) == 0 || !c.adjacent(c.failures[i-1], f) {
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

// sortGroups sorts groups, the largest first.
func sortGroups(groups []Group) {
	slices.SortFunc(groups, func(a, b Group) int {
		return cmp.Or(b.Images-a.Images, strings.Compare(a.String(), b.String()))
	})
}
