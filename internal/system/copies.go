//go:build linux

package system

import (
	"cmp"
	"fmt"
	"time"

	"github.com/ariadne-mc/ariadne/internal/machine/kernel/files/inode"
	"github.com/ariadne-mc/ariadne/internal/machine/sandbox"
	"github.com/ariadne-mc/ariadne/internal/system/spec"
)

// measureFor is how long it is looked at how much nodes are to be given copies of.
const measureFor = 3 * time.Second

// Room is what there is for the copies of files that nodes get.
type Room struct {
	Bytes  int64
	Copies int64  // of each node's files
	For    string // what makes them so many, or ""
	Raise  string // what else to do about it than to name less, or ""
}

// Fits sees that what nodes get copies of fits on their disks and in memory, before
// anything is copied.
func (y *System) Fits(r Room) error {
	until := time.Now().Add(measureFor)
	var total int64
	var largest spec.Error
	var most int64
	for i := range y.Spec.Nodes {
		n := &y.Spec.Nodes[i]
		size, what, err := y.copied(n, until)
		if err != nil {
			return err
		}
		total += size
		if size > most {
			most, largest = size, spec.Error{Path: y.Spec.Path, Line: n.Line, Node: n.Name, Text: what}
		}
	}
	if total > r.Bytes/r.Copies {
		largest.Text = fmt.Sprintf("%s, and all nodes' copies%s take %s of memory, of which %s may be used: copy less%s",
			largest.Text, r.For, bytesText(total*r.Copies), bytesText(r.Bytes), r.Raise)
		return spec.Errors{largest}
	}
	return nil
}

// copied is how much a node gets copies of, and says what takes most.
func (y *System) copied(n *spec.Node, until time.Time) (total int64, what string, err error) {
	limit := cmp.Or(n.Disk, inode.DefaultDisk)
	var most int64
	all := true
	for i, dir := range append([]string{n.Dir}, n.Writable...) {
		if dir == "" {
			continue
		}
		field, hidden := "writable", []string(nil)
		if i == 0 {
			field, hidden = "dir", y.Spec.Hidden
		}
		size, whole, err := sandbox.Measure(dir, hidden, until)
		if err != nil {
			return 0, "",
				spec.Errors{{Path: y.Spec.Path, Line: n.Line, Node: n.Name,
					Text: fmt.Sprintf("%s %s: %v", field, dir, err)}}
		}
		total, all = total+size, all && whole
		if size > most || what == "" {
			least := ""
			if !whole {
				least = "at least "
			}
			most, what = size, fmt.Sprintf("%s %s holds %s%s", field, dir, least, bytesText(size))
		}
	}
	switch {
	case total > limit:
		if total > most {
			what += fmt.Sprintf(", all copies have %s", bytesText(total))
		}
		what += fmt.Sprintf(", more than disk: %s: raise disk, or copy less", bytesText(limit))
	case !all:
		what += fmt.Sprintf(", and is too large to be measured in %v: copy less", measureFor)
	default:
		return total, what, nil
	}
	return 0, "", spec.Errors{{Path: y.Spec.Path, Line: n.Line, Node: n.Name, Text: what}}
}

// bytesText is a number of bytes as the fields of a spec have it, rounded.
func bytesText(n int64) string {
	for _, u := range []struct {
		size   int64
		suffix string
	}{{1 << 30, "G"}, {1 << 20, "M"}, {1 << 10, "K"}} {
		switch {
		case n >= u.size && n%u.size == 0 || n >= 10*u.size:
			return fmt.Sprintf("%d%s", n/u.size, u.suffix)
		case n >= u.size:
			return fmt.Sprintf("%.1f%s", float64(n)/float64(u.size), u.suffix)
		}
	}
	return fmt.Sprint(n)
}
